--- `rawr://explain`: a thread's last decisions, gate by gate. `:edit` refreshes.

local client = require('rawr.client')
local live = require('rawr.live')
local page = require('rawr.page')
local view = require('rawr.view')

local M = {}

local DECISIONS = 30

---@param thread rawr.ThreadSummary
---@param decisions rawr.Decision[]
---@return rawr.Line[]
local function lines_of(thread, decisions)
  local lines = { { text = live.name(thread.threadId), fold = '0', group = 'Title' } }
  if #decisions == 0 then
    local text = 'No decision is recorded yet: one is made at the end of each turn under context pressure.'
    table.insert(lines, { text = text, fold = '0' })
  end
  page.decisions(lines, decisions, thread.threadId, live.now())
  return lines
end

--- For `BufReadCmd`.
---@param buffer integer
---@param thread_id string
function M.read(buffer, thread_id)
  view.prepare(buffer, 'rawr-explain')
  require('rawr.choose').thread(thread_id, function(thread)
    client.on_thread(thread, 'rawr/decision/list', { limit = DECISIONS }, function(answer)
      if not vim.api.nvim_buf_is_valid(buffer) then
        return
      end
      view.show(buffer, lines_of(thread, answer.decisions))
      -- Open the latest decision.
      for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
        vim.api.nvim_win_call(window, function()
          vim.cmd('silent! 2foldopen')
        end)
      end
    end)
  end)
end

---@param thread rawr.ThreadSummary
function M.open(thread)
  local name = 'rawr://explain/' .. thread.threadId
  if vim.fn.bufwinid(name) > 0 then
    vim.api.nvim_set_current_win(vim.fn.bufwinid(name))
    vim.cmd.edit()
  else
    vim.cmd('botright split ' .. vim.fn.fnameescape(name))
  end
end

return M
