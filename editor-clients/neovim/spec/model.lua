--- A scripted OpenAI-compatible endpoint.

local uv = vim.uv

local M = {}

--- The agent's packet.
M.PACKET = table.concat({
  '<continuation_packet>',
  'State: working',
  'Goal: a parser with docs',
  'Decisions: plain text',
  'Next: write the docs',
  '</continuation_packet>',
}, '\n')

---@class rawr.spec.Reply
---@field text? string
---@field shell? string a command that the agent runs first
---@field tokens? integer how large the context is said to be

---@class rawr.spec.Model
---@field url string
---@field asked string[] the last message of each request, oldest first
---@field hold fun(pattern: string) requests whose last message has this wait
---@field release fun() and are answered from here on
---@field stop fun()

---@param text string
---@return string
local function http(text)
  local head =
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n'
  return head:format(#text) .. text
end

---@param reply rawr.spec.Reply
---@return string
local function completion(reply)
  local message = { role = 'assistant', content = reply.text or '' }
  if reply.shell then
    local arguments = vim.json.encode({ command = reply.shell })
    local call =
      { id = 'call-1', type = 'function', ['function'] = { name = 'shell', arguments = arguments } }
    message.tool_calls = { call }
  end
  local reason = reply.shell and 'tool_calls' or 'stop'
  local tokens = reply.tokens or 1000
  return vim.json.encode({
    choices = { { index = 0, message = message, finish_reason = reason } },
    usage = { prompt_tokens = tokens, completion_tokens = 10, total_tokens = tokens + 10 },
  })
end

---@param body string
---@return string
local function last_message(body)
  local messages = vim.json.decode(body).messages
  local last = messages[#messages]
  local content = last.content
  if type(content) == 'table' then
    content = vim.iter(content):fold('', function(all, part)
      return all .. (part.text or '')
    end)
  end
  return last.role .. ': ' .. tostring(content)
end

--- The reply of the first rule whose pattern matches the last message.
---@param rules { [1]: string, [2]: rawr.spec.Reply }[]
---@param last string
---@return rawr.spec.Reply
local function reply_to(rules, last)
  for _, rule in ipairs(rules) do
    if last:find(rule[1]) then
      return rule[2]
    end
  end
  if last:find(':packet_request]', 1, true) then
    return { text = M.PACKET, tokens = 9000 }
  end
  return { text = 'I go on.' }
end

---@param rules { [1]: string, [2]: rawr.spec.Reply }[]
---@return rawr.spec.Model
function M.start(rules)
  local server = assert(uv.new_tcp())
  assert(server:bind('127.0.0.1', 0))
  local asked, waiting, held = {}, {}, nil

  local function answer(client, last)
    client:write(http(completion(reply_to(rules, last))), function()
      client:close()
    end)
  end

  local function whole(client, body)
    local last = last_message(body)
    table.insert(asked, last)
    if held and last:find(held) then
      table.insert(waiting, { client, last })
    else
      answer(client, last)
    end
  end

  server:listen(16, function()
    local client = assert(uv.new_tcp())
    server:accept(client)
    local read = ''
    client:read_start(function(_, chunk)
      read = read .. (chunk or '')
      local _, head_end = read:find('\r\n\r\n', 1, true)
      local length = head_end and tonumber(read:sub(1, head_end):lower():match('content%-length: *(%d+)'))
      if length and #read - head_end >= length then
        client:read_stop()
        local body = read:sub(head_end + 1)
        vim.schedule(function()
          whole(client, body)
        end)
      end
    end)
  end)

  local port = server:getsockname().port
  return {
    url = ('http://127.0.0.1:%d/v1'):format(port),
    asked = asked,
    hold = function(pattern)
      held = pattern
    end,
    release = function()
      held = nil
      for _, one in ipairs(waiting) do
        answer(one[1], one[2])
      end
      waiting = {}
    end,
    stop = function()
      server:close()
    end,
  }
end

return M
