--- The status line's few words on the current thread. Pure.

local threads = require('rawr.threads')

local M = {}

local SHORT = {
  awaiting_judgment = 'judge asked',
  awaiting_approval = 'compact now?',
  deferred = 'compacts before next message',
  awaiting_heads_up = 'heads-up',
  awaiting_scratch_write = 'notes',
  awaiting_packet = 'packet',
  awaiting_compaction = 'type /compact',
  compacting = 'compacting',
  awaiting_handoff = 'handoff',
}

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
    table.insert(parts, ('%d%% %s'):format(thread.percentRemaining, thread.tier or 'calm'))
  end
  table.insert(parts, SHORT[thread.phase])
  if thread.breaker then
    table.insert(parts, 'paused')
  end
  if row.guards > 0 then
    table.insert(parts, 'guarded')
  end
  return #parts > 0 and 'rawr ' .. table.concat(parts, ' · ') or 'rawr'
end

return M
