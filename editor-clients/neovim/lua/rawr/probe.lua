--- Starts the binary for a moment, apart from the sidecar in use: does it run, and what does it speak?

local M = {}

---@class rawr.Probe
---@field result? table its answer to `initialize`
---@field failure? string why there is none

local LIMIT_MS = 5000

---@param id integer
---@param method string
---@param params? table
---@return string
local function message(id, method, params)
  local body = vim.json.encode({ jsonrpc = '2.0', id = id, method = method, params = params })
  return ('Content-Length: %d\r\n\r\n%s'):format(#body, body)
end

---@param read string
---@return table?
local function answer(read)
  local _, head_end, digits = read:find('[Cc]ontent%-[Ll]ength: *(%d+).-\r\n\r\n')
  local length = tonumber(digits) --[[@as integer?]]
  if not head_end or not length or #read < head_end + length then
    return nil
  end
  local ok, decoded = pcall(vim.json.decode, read:sub(head_end + 1, head_end + length))
  return ok and type(decoded) == 'table' and decoded or nil
end

---@param done vim.SystemCompleted
---@return string
local function ending(done)
  local last = vim.trim(done.stderr or ''):match('[^\n]*$')
  local why = last ~= '' and ': ' .. last or ''
  local how = done.signal == 0 and 'code ' .. done.code or 'signal ' .. done.signal
  return ('ended with %s at its start%s'):format(how, why)
end

---@param command string[]
---@param home? string
---@return rawr.Probe
function M.run(command, home)
  local read = ''
  ---@type vim.SystemCompleted?
  local done
  local ok, process = pcall(vim.system, command, {
    stdin = true,
    stdout = function(_, chunk)
      read = read .. (chunk or '')
    end,
  }, function(completed)
    done = completed
  end)
  if not ok then
    return { failure = 'cannot be started: ' .. tostring(process) }
  end
  local capabilities = vim.empty_dict()
  local options = home and { home = home } or vim.empty_dict()
  local params = {
    processId = vim.uv.os_getpid(),
    rootUri = vim.NIL,
    capabilities = capabilities,
    clientInfo = { name = 'Neovim' },
    initializationOptions = options,
  }
  process:write(message(1, 'initialize', params))
  ---@type table?
  local found
  vim.wait(LIMIT_MS, function()
    found = answer(read)
    return found ~= nil or done ~= nil
  end, 10)
  process:kill('sigterm')
  if found and type(found.result) == 'table' then
    return { result = found.result }
  elseif found then
    return { failure = 'refused to start: ' .. tostring(vim.tbl_get(found, 'error', 'message')) }
  elseif done then
    return { failure = ending(done) }
  end
  return { failure = ('did not answer within %d seconds'):format(LIMIT_MS / 1000) }
end

return M
