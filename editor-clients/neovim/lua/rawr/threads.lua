--- The state of threads: a fold of the sidecar's messages. Pure.

local M = {}

---@class rawr.Row
---@field thread rawr.ThreadSummary
---@field folder string where it works, without links
---@field sequence? string the sequence that runs
---@field guards integer

---@class rawr.Banner
---@field thread_id string
---@field heads_up rawr.HeadsUp
---@field fate_before? rawr.DecisionFate the thread's last one when the banner came up, which is of an earlier decision

---@class rawr.Threads
---@field rows table<string, rawr.Row?>
---@field banners rawr.Banner[] at most one a thread, the newest last

---@return rawr.Threads
function M.new()
  return { rows = {}, banners = {} }
end

---@param all rawr.Threads
---@param thread rawr.ThreadSummary
---@param folder? string where it works, without links
function M.put(all, thread, folder)
  local row = all.rows[thread.threadId]
  folder = folder or thread.cwd
  if row then
    row.thread, row.folder = thread, folder
  else
    all.rows[thread.threadId] = { thread = thread, folder = folder, guards = 0 }
  end
  -- The banner stands only while the agent runs.
  if not thread.running then
    M.show(all, thread.threadId)
  end
end

--- Sets or removes the banner as reported by the sidecar.
---@param all rawr.Threads
---@param thread_id string
---@param heads_up? rawr.HeadsUp
function M.show(all, thread_id, heads_up)
  local known = M.banner(all, thread_id)
  if known and heads_up and known.heads_up.stage == heads_up.stage then
    known.heads_up = heads_up
    return
  end
  all.banners = vim.tbl_filter(function(banner)
    return banner.thread_id ~= thread_id
  end, all.banners)
  if heads_up then
    local row = all.rows[thread_id]
    local fate = row and row.thread.lastFate
    if known and known.heads_up.sequenceId == heads_up.sequenceId then
      fate = known.fate_before
    end
    table.insert(all.banners, { thread_id = thread_id, heads_up = heads_up, fate_before = fate })
  end
end

--- The thread was removed.
---@param all rawr.Threads
---@param thread_id string
function M.remove(all, thread_id)
  all.rows[thread_id] = nil
  M.show(all, thread_id)
end

--- How a sequence ended that waited for an approval until this change, if no one answered.
---@param all rawr.Threads
---@param changed rawr.ThreadChangedNotification
---@return string?
function M.expired(all, changed)
  local banner, fate = M.banner(all, changed.threadId), changed.lastFate
  if
    not banner
    or banner.heads_up.stage ~= 'awaiting_approval'
    or banner.heads_up.sequenceId == changed.sequenceId
    or not fate
    or fate.by
    or not vim.list_contains({ 'dropped', 'called_off' }, fate.status)
  then
    return nil
  end
  local before = banner.fate_before
  local is_same = before and before.decisionId == fate.decisionId and before.status == fate.status
  return not is_same and fate.text or nil
end

--- Applies a change. Returns false for an unknown thread, whose owner must be requested.
---@param all rawr.Threads
---@param changed rawr.ThreadChangedNotification
---@param now_ms integer
---@return boolean
function M.changed(all, changed, now_ms)
  M.show(all, changed.threadId, changed.headsUp)
  local row = all.rows[changed.threadId]
  if not row then
    return false
  end
  row.sequence, row.guards = changed.sequenceId, #changed.guards
  row.thread.phase, row.thread.tier = changed.phase, changed.tier
  row.thread.percentRemaining, row.thread.updatedAtMs = changed.percentRemaining, now_ms
  row.thread.breaker, row.thread.lastFate = changed.breaker, changed.lastFate
  row.thread.proposal = changed.proposal
  local named = row.thread --[[@as { title?: string }]]
  named.title = (changed --[[@as { title?: string }]]).title or named.title
  return true
end

--- The banner of a thread; without a thread, the newest one.
---@param all rawr.Threads
---@param thread_id? string
---@return rawr.Banner?
function M.banner(all, thread_id)
  for at = #all.banners, 1, -1 do
    if not thread_id or all.banners[at].thread_id == thread_id then
      return all.banners[at]
    end
  end
end

--- All threads, most recently used first.
---@param all rawr.Threads
---@return rawr.Row[]
function M.sorted(all)
  ---@type rawr.Row[]
  local rows = {}
  for _, row in pairs(all.rows) do
    table.insert(rows, row)
  end
  table.sort(rows, function(one, other)
    local a, b = one.thread, other.thread
    if a.updatedAtMs == b.updatedAtMs then
      return a.threadId < b.threadId
    end
    return a.updatedAtMs > b.updatedAtMs
  end)
  return rows
end

---@param folder string
---@param below string
---@return boolean
local function holds(folder, below)
  return below == folder or vim.startswith(below, folder .. '/') or vim.startswith(folder, below .. '/')
end

--- Whether the thread works in the folder, below it, or above it.
---@param row rawr.Row
---@param folder string
---@return boolean
function M.is_in(row, folder)
  return holds(folder, row.folder)
end

--- The thread for a status line: one with a banner, else the last one that runs in this folder, else the last one that runs.
---@param all rawr.Threads
---@param folder string
---@param only_here boolean leave out the threads of other folders
---@return rawr.Row?
function M.current(all, folder, only_here)
  local banner = M.banner(all)
  if banner and all.rows[banner.thread_id] then
    return all.rows[banner.thread_id]
  end
  local elsewhere
  for _, row in ipairs(M.sorted(all)) do
    if row.thread.running then
      if holds(folder, row.folder) then
        return row
      end
      elsewhere = elsewhere or row
    end
  end
  return not only_here and elsewhere or nil
end

return M
