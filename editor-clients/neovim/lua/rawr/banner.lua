--- The banner: a float that announces a compaction and its reason, with keys to respond. It must not take the focus.

local config = require('rawr.config')
local live = require('rawr.live')
local words = require('rawr.words')

local M = {}

local WIDTH = 64

--- The keys in the banner and their choices.
local KEYS = {
  { key = 'a', choice = 'approve' },
  { key = 'c', choice = 'compact_now' },
  { key = 's', choice = 'snooze' },
  { key = 'x', choice = 'cancel' },
  { key = 'p', choice = 'edit_packet' },
}

---@type integer?
local window
---@type integer?
local buffer
---@type uv.uv_timer_t?
local timer
--- Sequences whose banner was hidden, or shown with `vim.notify`.
---@type table<string, boolean?>
local seen = {}

---@param banner rawr.Banner
---@return string
local function name_of(banner)
  local heads_up = banner.heads_up
  return banner.thread_id .. heads_up.sequenceId .. heads_up.stage
end

---@return rawr.Banner?
local function shown()
  for at = #live.threads.banners, 1, -1 do
    local banner = live.threads.banners[at]
    if not seen[name_of(banner)] then
      return banner
    end
  end
end

---@param banner rawr.Banner
---@return rawr.ThreadSummary
local function thread_of(banner)
  local id = banner.thread_id
  local row = live.threads.rows[id]
  return row and row.thread
    or { threadId = id, cwd = vim.uv.cwd() or '', phase = 'idle', updatedAtMs = 0, open = false }
end

---@param banner rawr.Banner
---@param choice rawr.Choice
---@return rawr.OfferedChoice?
local function offered(banner, choice)
  for _, one in ipairs(banner.heads_up.choices) do
    if one.choice == choice then
      return one
    end
  end
end

---@param banner rawr.Banner
---@return string
local function hint(banner)
  local keys = {}
  for _, one in ipairs(KEYS) do
    local choice = offered(banner, one.choice)
    if choice then
      table.insert(keys, one.key .. ' ' .. words.one_line(choice.label))
    end
  end
  vim.list_extend(keys, { 'e why', 'q hide' })
  return table.concat(keys, ' · ')
end

--- The content of the float. Pure.
---@param banner rawr.Banner
---@param others integer
---@param now_ms integer
---@return string[]
function M.lines(banner, others, now_ms)
  local heads_up = banner.heads_up
  local lines = { words.one_line(banner.thread_id) }
  vim.list_extend(lines, words.banner(heads_up, WIDTH))
  table.insert(lines, words.deadline(heads_up, now_ms))
  if others > 0 then
    table.insert(lines, ('And %d more: `:Rawr threads`.'):format(others))
  end
  table.insert(lines, '')
  vim.list_extend(lines, words.wrapped('CTRL-W w or `:Rawr banner`, then: ' .. hint(banner), WIDTH))
  return lines
end

local function close()
  if timer then
    timer:close()
    timer = nil
  end
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_close(window, true)
  end
  window = nil
end

---@param choice rawr.Choice
local function answer(choice)
  local banner = shown()
  if not banner or not offered(banner, choice) then
    return
  end
  local thread, sequence = thread_of(banner), banner.heads_up.sequenceId
  if choice == 'edit_packet' then
    return require('rawr.packet').open(thread)
  end
  local turns = choice == 'snooze' and 1 or nil
  live.respond(thread, choice, { turns = turns, sequenceId = sequence })
end

--- Hides the banner; the sequence continues as it would without an answer.
function M.hide()
  local banner = shown()
  if banner then
    seen[name_of(banner)] = true
  end
  M.draw()
end

---@return integer
local function make_buffer()
  if buffer and vim.api.nvim_buf_is_valid(buffer) then
    return buffer
  end
  local made = vim.api.nvim_create_buf(false, true)
  buffer = made
  vim.bo[made].filetype = 'rawr-banner'
  local function map(key, run)
    vim.keymap.set('n', key, run, { buffer = made, nowait = true, silent = true })
  end
  for _, one in ipairs(KEYS) do
    map(one.key, function()
      answer(one.choice)
    end)
  end
  map('q', M.hide)
  map('e', function()
    local banner = shown()
    if banner then
      require('rawr.explain').open(thread_of(banner))
    end
  end)
  return made
end

---@param lines string[]
---@return vim.api.keyset.win_config
local function place(lines)
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line))
  end
  local below_tabline = vim.o.showtabline == 2 or vim.o.showtabline == 1 and #vim.api.nvim_list_tabpages() > 1
  return {
    relative = 'editor',
    anchor = 'NE',
    row = below_tabline and 1 or 0,
    col = vim.o.columns,
    width = math.max(math.min(width, vim.o.columns - 2), 1),
    height = math.max(math.min(#lines, vim.o.lines - 4), 1),
  }
end

--- A float belongs to a tab page.
---@return boolean
local function is_here()
  if not window or not vim.api.nvim_win_is_valid(window) then
    return false
  end
  return vim.api.nvim_win_get_tabpage(window) == vim.api.nvim_get_current_tabpage()
end

---@param banner rawr.Banner
local function show(banner)
  local lines = M.lines(banner, #live.threads.banners - 1, live.now())
  local buf = make_buffer()
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  local layout = place(lines)
  layout.title = (' rawr: %s '):format(words.one_line(banner.heads_up.title))
  if is_here() then
    vim.api.nvim_win_set_config(assert(window), layout)
  else
    close()
    layout.style, layout.border, layout.focusable, layout.noautocmd = 'minimal', 'rounded', true, true
    local opened = vim.api.nvim_open_win(buf, false, layout)
    window = opened
    vim.wo[opened].wrap = true
    vim.wo[opened].winhighlight = 'FloatBorder:DiagnosticWarn,FloatTitle:DiagnosticWarn'
  end
  if banner.heads_up.deadlineAtMs and not timer then
    timer = assert(vim.uv.new_timer())
    timer:start(1000, 1000, vim.schedule_wrap(M.draw))
  end
end

---@param banner rawr.Banner
local function notify(banner)
  seen[name_of(banner)] = true
  local heads_up = banner.heads_up
  local lines = words.banner(heads_up, WIDTH)
  table.insert(lines, 1, ('rawr: %s (%s)'):format(words.one_line(heads_up.title), banner.thread_id))
  table.insert(lines, 'Respond with `:Rawr choose`.')
  vim.notify(table.concat(lines, '\n'), vim.log.levels.WARN, { title = 'rawr' })
end

--- Updates the float to the current state.
function M.draw()
  local how, banner = config.get().heads_up, shown()
  if not banner or how == 'off' then
    close()
  elseif how == 'notify' then
    notify(banner)
  else
    show(banner)
  end
end

--- Focuses the banner, so that its keys work; shows a hidden one again.
function M.focus()
  if not shown() then
    seen = {}
    M.draw()
  end
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_set_current_win(window)
  else
    require('rawr.client').say('no compaction is pending')
  end
end

--- Enables banners.
function M.enable()
  live.view('banner', M.draw)
  local group = vim.api.nvim_create_augroup('rawr.banner', { clear = true })
  vim.api.nvim_create_autocmd({ 'VimResized', 'TabEnter' }, { group = group, callback = M.draw })
end

return M
