--- What threads are called: by their title, else by their folder. Ids are only details. Pure.

local threads = require('rawr.threads')
local words = require('rawr.words')

local M = {}

local LONGEST = 48

---@param thread rawr.ThreadSummary
---@return string
local function plain(thread)
  -- Not every sidecar sends titles.
  local title = (thread --[[@as { title?: string }]]).title
  if title and vim.trim(title) ~= '' then
    return vim.trim(title)
  end
  local folder = vim.fs.basename(vim.fs.normalize(thread.cwd))
  return folder ~= '' and folder or thread.cwd
end

---@param all rawr.Threads
---@param thread rawr.ThreadSummary
---@return boolean
local function is_shared(all, thread)
  local own = plain(thread)
  for id, row in pairs(all.rows) do
    if id ~= thread.threadId and plain(row.thread) == own then
      return true
    end
  end
  return false
end

---@param thread rawr.ThreadSummary
---@return string
local function tail(thread)
  return '#' .. words.one_line(thread.threadId:sub(-4))
end

--- A thread's name; the end of its id distinguishes threads of the same name.
---@param all rawr.Threads
---@param thread rawr.ThreadSummary
---@return string
function M.of(all, thread)
  local name = words.one_line(plain(thread))
  if vim.fn.strchars(name) > LONGEST then
    name = vim.fn.strcharpart(name, 0, LONGEST - 1) .. '…'
  end
  return is_shared(all, thread) and name .. ' ' .. tail(thread) or name
end

--- The name of a thread that may be unknown.
---@param all rawr.Threads
---@param thread_id string
---@return string
function M.of_id(all, thread_id)
  local row = all.rows[thread_id]
  return row and M.of(all, row.thread) or words.one_line(thread_id)
end

--- A thread's name as one word of a command line.
---@param all rawr.Threads
---@param thread rawr.ThreadSummary
---@return string
function M.handle(all, thread)
  local name = plain(thread):lower():gsub('[^%w%._\128-\255]+', '-'):gsub('^%-+', '')
  name = vim.fn.strcharpart(name, 0, LONGEST):gsub('%-+$', '')
  if name == '' then
    return words.one_line(thread.threadId)
  end
  return is_shared(all, thread) and name .. tail(thread) or name
end

--- The thread with this id or handle, or with one that begins like this.
---@param all rawr.Threads
---@param name string
---@return rawr.Row?, string[] candidates
function M.find(all, name)
  if all.rows[name] then
    return all.rows[name], {}
  end
  local found, candidates = {}, {}
  for _, row in ipairs(threads.sorted(all)) do
    local handle = M.handle(all, row.thread)
    if handle == name then
      return row, {}
    elseif vim.startswith(handle, name) or vim.startswith(row.thread.threadId, name) then
      table.insert(found, row)
      table.insert(candidates, handle)
    end
  end
  return #found == 1 and found[1] or nil, candidates
end

return M
