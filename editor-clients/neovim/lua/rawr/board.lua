--- `rawr://threads`: all threads, live, with keys to respond.

local client = require('rawr.client')
local live = require('rawr.live')
local page = require('rawr.page')
local threads = require('rawr.threads')
local view = require('rawr.view')

local M = {}

local NAME = 'rawr://threads'
local DECISIONS = 10

---@type integer?
local buffer
--- Expanded threads, with their details once loaded.
---@type table<string, boolean?>
local open = {}
---@type table<string, rawr.Details?>
local details = {}
--- One pending request per thread, because notifications may be faster than answers.
---@type table<string, string?>
local requests = {}

local HELP = {
  { '<CR>', 'expand or collapse the thread or the decision under the cursor' },
  { 's', 'snooze: no compaction for one turn' },
  { 'S', 'snooze for a number of turns, or minutes as in 20m' },
  { 'c', 'compact as soon as the agent is idle, or approve the pending compaction' },
  { 'x', 'cancel the compaction' },
  { 'gu', 'guard: no compaction until it is cleared; again to clear' },
  { 'ge', 'explain why a compaction happened, or why none did' },
  { 'gs', "the agent's notes" },
  { 'gp', 'the packet; :RawrHandOver in it hands it over' },
  { 'gf', "the thread's folder" },
  { 'R', 'refresh' },
  { 'g?', 'these keys' },
}

---@return boolean
local function is_shown()
  return buffer ~= nil and vim.api.nvim_buf_is_loaded(buffer)
end

local function render()
  if not buffer or not is_shown() then
    return
  end
  local lines, now = {}, live.now()
  local rows = threads.sorted(live.threads)
  for _, row in ipairs(rows) do
    local id = row.thread.threadId
    page.thread(lines, row, live.name(id), open[id] or false, details[id], now)
  end
  if #rows == 0 then
    local text = client.client() and 'No threads yet: run an agent with rawr in a terminal.'
      or client.is_running() and 'The sidecar is starting.'
      or 'The sidecar is not running: `:Rawr start`, or `:checkhealth rawr`.'
    table.insert(lines, { text = text, fold = '0', group = 'Comment' })
  end
  table.insert(lines, { text = '', fold = '0' })
  table.insert(lines, { text = 'g? shows the keys', fold = '0', group = 'Comment' })
  view.show(buffer, lines)
end

--- Ends the request. Returns whether the thread changed since it was sent.
---@param id string
---@return boolean
local function finish_request(id)
  local again = requests[id] == 'again'
  requests[id] = nil
  return again
end

---@param thread rawr.ThreadSummary
local function request_details(thread)
  local id = thread.threadId
  if requests[id] then
    requests[id] = 'again'
    return
  end
  requests[id] = 'once'
  local function failed(error)
    requests[id] = nil
    client.complain(error)
  end
  client.on_thread(thread, 'rawr/thread/get', {}, function(found)
    client.on_thread(thread, 'rawr/decision/list', { limit = DECISIONS }, function(list)
      local again = finish_request(id)
      if not again then
        threads.put(live.threads, found.thread)
      end
      details[id] = { thread = found, decisions = list.decisions }
      render()
      if again then
        request_details(found.thread)
      end
    end, failed)
  end, failed)
end

--- One thread changed, or all.
---@param thread_id? string
local function news(thread_id)
  if not is_shown() then
    return
  end
  local row = thread_id and live.threads.rows[thread_id]
  if row and open[thread_id] then
    request_details(row.thread)
  end
  render()
end

---@return rawr.ThreadSummary?
local function here()
  local line = buffer and view.under_cursor(buffer)
  local row = line and line.thread and live.threads.rows[line.thread]
  return row and row.thread or nil
end

local function toggle()
  local line, thread = buffer and view.under_cursor(buffer), here()
  if not line or not thread then
    return
  elseif line.decision then
    vim.cmd.normal({ 'za', bang = true })
  else
    open[thread.threadId] = not open[thread.threadId] or nil
    if open[thread.threadId] then
      request_details(thread)
    end
    render()
  end
end

---@param command string
---@param ... string
---@return fun()
local function on_thread(command, ...)
  local more = { ... }
  return function()
    local thread = here()
    if thread then
      local words = { command, 'thread=' .. thread.threadId }
      require('rawr.command').run(vim.list_extend(words, more))
    end
  end
end

local function snooze_for()
  local thread = here()
  if not thread then
    return
  end
  vim.ui.input({ prompt = 'Snooze for a number of turns, or minutes as in 20m: ' }, function(typed)
    if typed and vim.trim(typed) ~= '' then
      require('rawr.command').run({ 'snooze', 'thread=' .. thread.threadId, vim.trim(typed) })
    end
  end)
end

local function guard()
  local thread = here()
  if thread then
    local row = live.threads.rows[thread.threadId]
    local is_guarded = row ~= nil and row.guards > 0
    local words = { 'guard', 'thread=' .. thread.threadId, is_guarded and 'clear' or 'released' }
    require('rawr.command').run(words)
  end
end

local function folder()
  local thread = here()
  if thread then
    vim.cmd.split(vim.fn.fnameescape(thread.cwd))
  end
end

local function refresh()
  live.list(function()
    for id in pairs(open) do
      local row = live.threads.rows[id]
      if row then
        request_details(row.thread)
      end
    end
  end)
end

local function help()
  local lines = {}
  for _, one in ipairs(HELP) do
    table.insert(lines, ('%-5s %s'):format(one[1], one[2]))
  end
  require('rawr.float').open('Keys', lines, #'<CR>')
end

local function map_keys()
  local keys = {
    ['<CR>'] = toggle,
    s = on_thread('snooze'),
    S = snooze_for,
    c = on_thread('compact'),
    x = on_thread('cancel'),
    gu = guard,
    ge = on_thread('explain'),
    gs = on_thread('scratch'),
    gp = on_thread('packet'),
    gf = folder,
    R = refresh,
    ['g?'] = help,
  }
  for _, one in ipairs(HELP) do
    local key, about = one[1], one[2]
    vim.keymap.set('n', key, keys[key], { buffer = buffer, nowait = true, silent = true, desc = about })
  end
end

--- For `BufReadCmd`.
---@param into integer
function M.read(into)
  buffer = into
  view.prepare(into, 'rawr-threads')
  map_keys()
  live.view('board', news)
  -- Threads of other folders may be listed, but they are not watched.
  vim.api.nvim_create_autocmd({ 'BufEnter', 'FocusGained' }, {
    group = vim.api.nvim_create_augroup('rawr.board', { clear = true }),
    buffer = into,
    callback = function()
      if client.client() then
        live.list()
      end
    end,
  })
  render()
  live.list(function()
    -- The most likely thread of interest.
    local current = threads.current(live.threads, vim.uv.cwd() or '', false)
      or threads.sorted(live.threads)[1]
    if current and next(open) == nil then
      open[current.thread.threadId] = true
    end
    for _, window in ipairs(vim.fn.win_findbuf(into)) do
      vim.api.nvim_win_set_cursor(window, { 1, 0 })
    end
    refresh()
  end)
end

--- Expands a thread and puts the cursor on it.
---@param thread rawr.ThreadSummary
function M.open_thread(thread)
  open[thread.threadId] = true
  M.open()
  render()
  request_details(thread)
  local line = buffer and view.line_of(buffer, thread.threadId)
  if line then
    vim.api.nvim_win_set_cursor(0, { line, 0 })
  end
end

function M.open()
  local window = vim.fn.bufwinid(NAME)
  if window > 0 then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd('botright split ' .. NAME)
  end
end

return M
