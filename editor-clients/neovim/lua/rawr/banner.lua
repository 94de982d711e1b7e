--- The banner: a float that announces a compaction and its reason, with keys to respond. It must not take the focus, and must not
--- change to another compaction while it has it.

local config = require('rawr.config')
local live = require('rawr.live')
local text = require('rawr.banner_text')
local words = require('rawr.words')

local M = {}

local NAMESPACE = vim.api.nvim_create_namespace('rawr.banner')

--- Nothing happens at these stages unless the user asks for it: they are in the status line, and the banner only opens on
--- request.
local QUIET = { tagged = true, recommended = true }

---@type integer?
local window
---@type integer?
local buffer
---@type uv.uv_timer_t?
local timer
--- What the float shows, which is what its keys answer.
---@type rawr.Banner?
local displayed
--- The sequence that was answered in the float, which closes once that has an effect.
---@type string?
local answered
--- Sequences whose banner was hidden, shrunk, or shown with `vim.notify`.
---@type table<string, boolean?>
local seen = {}
--- Quiet ones that the user opened.
---@type table<string, boolean?>
local opened = {}
--- When each was first shown.
---@type table<string, integer?>
local since = {}

---@param banner rawr.Banner
---@return string
local function name_of(banner)
  local heads_up = banner.heads_up
  return banner.thread_id .. heads_up.sequenceId .. heads_up.stage
end

--- The next one to show: the newest.
---@return rawr.Banner?
local function wanted()
  for at = #live.threads.banners, 1, -1 do
    local banner = live.threads.banners[at]
    local name = name_of(banner)
    if not seen[name] and (opened[name] or not QUIET[banner.heads_up.stage]) then
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
    or {
      threadId = id,
      cwd = vim.uv.cwd() or '',
      phase = 'idle',
      updatedAtMs = 0,
      open = false,
      running = false,
    }
end

local function close()
  if timer then
    timer:close()
    timer = nil
  end
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_close(window, true)
  end
  window, displayed, answered = nil, nil, nil
end

--- The current state of what the float shows; nothing once that sequence has ended.
---@return rawr.Banner?
local function current()
  local banner = displayed and require('rawr.threads').banner(live.threads, displayed.thread_id)
  if displayed and banner and banner.heads_up.sequenceId == displayed.heads_up.sequenceId then
    return banner
  end
end

---@param choice rawr.Choice
local function answer(choice)
  local banner = current()
  if not banner or not text.offered(banner, choice) then
    return
  end
  local thread, sequence = thread_of(banner), banner.heads_up.sequenceId
  if choice == 'edit_packet' then
    return require('rawr.packet').open(thread)
  end
  answered = name_of(banner)
  local turns = choice == 'snooze' and 1 or nil
  live.respond(thread, choice, { turns = turns, sequenceId = sequence })
end

--- Hides the banner; the sequence continues as it would without an answer.
---@param thread_id? string only the one of this thread
function M.hide(thread_id)
  local banner = displayed or wanted()
  if banner and (not thread_id or banner.thread_id == thread_id) then
    seen[name_of(banner)] = true
    close()
    M.draw()
  end
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
  for _, one in ipairs(text.KEYS) do
    map(one.key, function()
      answer(one.choice)
    end)
  end
  map('q', function()
    M.hide()
  end)
  map('e', function()
    if displayed then
      require('rawr.explain').open(thread_of(displayed))
    end
  end)
  -- What came up meanwhile is shown once the keys go elsewhere.
  vim.api.nvim_create_autocmd('WinLeave', { buffer = made, callback = vim.schedule_wrap(M.draw) })
  return made
end

---@param lines string[]
---@param anchor 'NE'|'NW'|'SE'|'SW'
---@return vim.api.keyset.win_config
local function place(lines, anchor)
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line))
  end
  local below_tabline = vim.o.showtabline == 2 or vim.o.showtabline == 1 and #vim.api.nvim_list_tabpages() > 1
  local above_status = vim.o.cmdheight + (vim.o.laststatus > 0 and 1 or 0)
  local is_top = vim.startswith(anchor, 'N')
  return {
    relative = 'editor',
    anchor = anchor,
    row = not is_top and vim.o.lines - above_status or below_tabline and 1 or 0,
    col = vim.endswith(anchor, 'E') and vim.o.columns or 0,
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

---@return boolean
local function has_focus()
  return is_here() and vim.api.nvim_get_current_win() == window
end

---@param buf integer
---@param layout vim.api.keyset.win_config
---@param border string|string[]
local function show_window(buf, layout, border)
  close()
  require('rawr.highlights').define()
  layout.style, layout.border = 'minimal', border --[[@as any]]
  layout.focusable, layout.noautocmd = true, true
  local made = vim.api.nvim_open_win(buf, false, layout)
  window = made
  vim.wo[made].wrap = true
  vim.wo[made].winhighlight = 'NormalFloat:RawrBanner,FloatBorder:RawrBannerBorder,FloatTitle:RawrBannerTitle'
end

---@param banner rawr.Banner
---@param lines string[]
---@param marks rawr.KeyMark[]
local function open(banner, lines, marks)
  local options = config.get().banner
  if displayed and displayed.heads_up.sequenceId ~= banner.heads_up.sequenceId then
    answered = nil
  end
  local buf = make_buffer()
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  for _, mark in ipairs(marks) do
    local place_of_key = { end_col = mark.to, hl_group = 'RawrKey' }
    vim.api.nvim_buf_set_extmark(buf, NAMESPACE, mark.row, mark.from, place_of_key)
  end
  local layout = place(lines, options.anchor)
  local border = options.border or require('rawr.float').border()
  if border ~= 'none' then
    layout.title = (' rawr: %s '):format(words.one_line(banner.heads_up.title))
  end
  if is_here() then
    vim.api.nvim_win_set_config(assert(window), layout)
  else
    show_window(buf, layout, border)
  end
  -- A copy, because the state changes in place.
  displayed = { thread_id = banner.thread_id, heads_up = banner.heads_up }
end

--- Echoes one line, which needs no key to go on.
---@param banner rawr.Banner
local function echo(banner)
  local short = text.short(banner, live.name(banner.thread_id), vim.v.echospace)
  vim.api.nvim_echo({ { short, 'RawrBannerTitle' } }, false, {})
end

--- Leaves one line of the banner after a while, so that it does not cover the text under it.
---@param banner rawr.Banner
---@param timeout integer
---@return boolean
local function is_over(banner, timeout)
  local name = name_of(banner)
  since[name] = since[name] or vim.uv.now()
  if timeout == 0 or opened[name] or has_focus() or vim.uv.now() - since[name] < timeout * 1000 then
    return false
  end
  seen[name] = true
  echo(banner)
  return true
end

---@param banner rawr.Banner
local function show(banner)
  local options = config.get().banner
  if is_over(banner, options.timeout) then
    return M.draw()
  end
  local others = #live.threads.banners - 1
  open(banner, text.lines(banner, live.name(banner.thread_id), others, live.now(), options.width))
  if (banner.heads_up.deadlineAtMs or options.timeout > 0) and not timer then
    timer = assert(vim.uv.new_timer())
    timer:start(1000, 1000, vim.schedule_wrap(M.draw))
  end
end

---@param banner rawr.Banner
local function notify(banner)
  seen[name_of(banner)] = true
  local heads_up = banner.heads_up
  local lines = words.banner(heads_up, config.get().banner.width)
  local name = live.name(banner.thread_id)
  table.insert(lines, 1, ('rawr: %s (%s)'):format(words.one_line(heads_up.title), name))
  table.insert(lines, 'Respond with `:Rawr choose`.')
  vim.notify(table.concat(lines, '\n'), vim.log.levels.WARN, { title = 'rawr' })
end

--- Echoes a recommendation once.
local function echo_quiet()
  for _, banner in ipairs(live.threads.banners) do
    local name = name_of(banner)
    if banner.heads_up.stage == 'recommended' and not since[name] then
      since[name] = vim.uv.now()
      echo(banner)
    end
  end
end

--- Forgets what ended.
local function prune()
  local alive = {}
  for _, banner in ipairs(live.threads.banners) do
    alive[name_of(banner)] = true
  end
  for _, known in ipairs({ opened, since }) do
    for name in pairs(known) do
      known[name] = alive[name] and known[name] or nil
    end
  end
end

--- Updates the float that has the focus, without a change to another compaction. Returns whether it stays.
---@return boolean
local function keep()
  if not displayed or not has_focus() then
    return false
  end
  local banner = current()
  if banner then
    show(banner)
  elseif answered and vim.startswith(answered, displayed.thread_id .. displayed.heads_up.sequenceId) then
    close()
  else
    open(displayed, text.over(live.name(displayed.thread_id)))
  end
  return displayed ~= nil
end

--- Updates the float to the current state.
function M.draw()
  prune()
  local how = config.get().heads_up
  if how ~= 'off' then
    echo_quiet()
  end
  if keep() then
    return
  end
  local banner = wanted()
  if not banner or how == 'off' then
    close()
  elseif how == 'notify' and not opened[name_of(banner)] then
    notify(banner)
  else
    show(banner)
  end
end

--- Focuses the banner, so that its keys work; shows a hidden or quiet one, too.
function M.focus()
  if not displayed or not is_here() then
    seen = {}
    for _, banner in ipairs(live.threads.banners) do
      opened[name_of(banner)] = true
    end
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
