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

--- Both forms of a name, computed once: every thread's are compared with every other's.
---@type table<string, { name: string, slug: string }?>
local known_forms = {}

---@param thread rawr.ThreadSummary
---@return { name: string, slug: string } # the slug of a name of punctuation is empty
local function forms(thread)
  local full = plain(thread)
  local known = known_forms[full]
  if known then
    return known
  end
  local name = words.one_line(full)
  if vim.fn.strchars(name) > LONGEST then
    name = vim.fn.strcharpart(name, 0, LONGEST - 1) .. '…'
  end
  local slug = full:lower():gsub('[^%w%._\128-\255]+', '-'):gsub('^%-+', '')
  slug = vim.fn.strcharpart(slug, 0, LONGEST):gsub('%-+$', '')
  known = { name = name, slug = slug }
  known_forms[full] = known
  return known
end

--- Whether the name is the same as another thread's in one of its two forms, or another thread's id.
---@param all rawr.Threads
---@param thread rawr.ThreadSummary
---@return boolean
local function is_shared(all, thread)
  local own = forms(thread)
  for id, row in pairs(all.rows) do
    if id ~= thread.threadId then
      local other = forms(row.thread)
      local is_same_slug = own.slug ~= '' and (own.slug == id or own.slug == other.slug)
      if is_same_slug or own.name == other.name then
        return true
      end
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
  local name = forms(thread).name
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
  local name = forms(thread).slug
  if name == '' then
    return words.one_line(thread.threadId)
  end
  return is_shared(all, thread) and name .. tail(thread) or name
end

--- The thread with this id, else the only one with this handle, else the only one whose handle or id begins like this.
--- Of several, none: a command must not act on an arbitrary one.
---@param all rawr.Threads
---@param name string
---@return rawr.Row?, string[] candidates
function M.find(all, name)
  if all.rows[name] then
    return all.rows[name], {}
  end
  ---@type rawr.Row[], string[]
  local exact, ids = {}, {}
  ---@type rawr.Row[], string[]
  local begun, handles = {}, {}
  for _, row in ipairs(threads.sorted(all)) do
    local handle, id = M.handle(all, row.thread), row.thread.threadId
    if handle == name then
      table.insert(exact, row)
      table.insert(ids, id)
    elseif vim.startswith(handle, name) or vim.startswith(id, name) then
      table.insert(begun, row)
      table.insert(handles, handle)
    end
  end
  if #exact > 0 then
    -- Only their ids differ.
    return #exact == 1 and exact[1] or nil, ids
  end
  return #begun == 1 and begun[1] or nil, handles
end

return M
