--- The text of the status line for the current thread. Pure.

local labels = require('rawr.labels')
local names = require('rawr.names')
local threads = require('rawr.threads')

local M = {}

---@class rawr.Status
---@field text string the status line
---@field group string the highlight group of the tier
---@field name string what the thread is called
---@field thread rawr.ThreadSummary

---@type table<rawr.Tier, string?>
M.GROUP = { early = 'RawrEarly', ready = 'RawrReady', asap = 'RawrAsap', emergency = 'RawrEmergency' }

--- Whether the name tells the thread from another one.
---@param all rawr.Threads
---@param row rawr.Row
---@param folder string
---@return boolean
local function needs_name(all, row, folder)
  if not threads.is_in(row, folder) then
    return true
  end
  for _, other in pairs(all.rows) do
    if other ~= row and other.thread.running and threads.is_in(other, folder) then
      return true
    end
  end
  return false
end

---@param all rawr.Threads
---@param row rawr.Row
---@return string[]
local function parts_of(all, row)
  local thread, parts = row.thread, {}
  if thread.percentRemaining then
    table.insert(parts, ('%d%% left'):format(thread.percentRemaining))
    table.insert(parts, thread.tier and (labels.Tier[thread.tier] or thread.tier) or nil)
  end
  local banner = threads.banner(all, thread.threadId)
  if thread.phase ~= 'idle' then
    table.insert(parts, labels.Phase[thread.phase] or thread.phase)
  elseif banner then
    table.insert(parts, labels.BannerStage[banner.heads_up.stage] or banner.heads_up.stage)
  end
  if thread.breaker then
    table.insert(parts, 'paused')
  end
  if row.guards > 0 then
    table.insert(parts, 'guarded')
  end
  return parts
end

---@param all rawr.Threads
---@param folder string
---@param only_here boolean leave out the threads of other folders
---@return rawr.Status?
function M.of(all, folder, only_here)
  local row = threads.current(all, folder, only_here)
  if not row then
    return nil
  end
  local name, words = names.of(all, row.thread), { 'rawr' }
  if needs_name(all, row, folder) then
    table.insert(words, name)
  end
  local parts = parts_of(all, row)
  if #parts > 0 then
    table.insert(words, table.concat(parts, ' · '))
  end
  local group = row.thread.tier and M.GROUP[row.thread.tier] or 'RawrOk'
  return { text = table.concat(words, ' '), group = group, name = name, thread = row.thread }
end

return M
