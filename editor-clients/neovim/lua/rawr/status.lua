--- The text of the status line for the current thread. Pure.

local labels = require('rawr.labels')
local threads = require('rawr.threads')

local M = {}

---@param all rawr.Threads
---@param folder string
---@return string
function M.line(all, folder)
  local row = threads.current(all, folder)
  if not row then
    return ''
  end
  local thread, parts = row.thread, {}
  if thread.percentRemaining then
    table.insert(
      parts,
      ('%d%% %s'):format(thread.percentRemaining, thread.tier and labels.Tier[thread.tier] or 'ok')
    )
  end
  if thread.phase ~= 'idle' then
    table.insert(parts, labels.Phase[thread.phase] or thread.phase)
  end
  if thread.breaker then
    table.insert(parts, 'paused')
  end
  if row.guards > 0 then
    table.insert(parts, 'guarded')
  end
  return #parts > 0 and 'rawr ' .. table.concat(parts, ' · ') or 'rawr'
end

return M
