--- `nvim -l spec/sidecar.lua PROTOCOL`: a sidecar of another release. It answers `initialize` and nothing else that is about rawr.

local protocol = tonumber(arg[1])

while true do
  local length
  for line in io.stdin:lines() do
    line = line:gsub('\r', '')
    length = tonumber(line:match('^Content%-Length: (%d+)$')) or length
    if line == '' then
      break
    end
  end
  if not length then
    os.exit(0)
  end
  local asked = vim.json.decode(io.stdin:read(length))
  if asked.method == 'exit' then
    os.exit(0)
  elseif asked.id then
    local result = asked.method == 'initialize'
        and {
          capabilities = { experimental = { rawr = { protocolVersion = protocol } } },
          serverInfo = { name = 'rawr', version = '9.8.7' },
        }
      or vim.NIL
    local body = vim.json.encode({ jsonrpc = '2.0', id = asked.id, result = result })
    io.stdout:write(('Content-Length: %d\r\n\r\n%s'):format(#body, body))
    io.stdout:flush()
  end
end
