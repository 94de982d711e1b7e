--- A float with a few lines to read, closed by any of `q`, `<Esc>` and `g?`.

local M = {}

local NAMESPACE = vim.api.nvim_create_namespace('rawr.float')

--- 'winborder' where it is set.
---@return string|string[]
function M.border()
  local chosen = vim.fn.exists('&winborder') == 1 and vim.o.winborder or ''
  if chosen == '' then
    return 'rounded'
  end
  return chosen:find(',', 1, true) and vim.split(chosen, ',', { plain = true }) or chosen
end

---@param title string
---@param lines string[]
---@param key_width? integer columns at the start of each line that are a key
function M.open(title, lines, key_width)
  require('rawr.highlights').define()
  local width = 1
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line))
  end
  width = math.max(math.min(width, vim.o.columns - 4), 1)
  local height = math.max(math.min(#lines, vim.o.lines - 4), 1)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].filetype = 'rawr-float'
  for at, line in ipairs(lines) do
    local to = math.min(key_width or 0, #line)
    vim.api.nvim_buf_set_extmark(buffer, NAMESPACE, at - 1, 0, { end_col = to, hl_group = 'RawrKey' })
  end
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = 'editor',
    row = math.max(math.floor((vim.o.lines - height) / 2) - 1, 0),
    col = math.max(math.floor((vim.o.columns - width) / 2) - 1, 0),
    width = width,
    height = height,
    style = 'minimal',
    border = M.border() --[[@as any]],
    title = (' rawr: %s '):format(title),
  })
  vim.wo[window].wrap, vim.wo[window].linebreak, vim.wo[window].breakindent = true, true, true
  -- The lines that are wrapped need more.
  local needed = vim.api.nvim_win_text_height(window, {}).all
  vim.api.nvim_win_set_height(window, math.min(needed, math.max(vim.o.lines - 4, 1)))
  local function close()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
  end
  for _, key in ipairs({ 'q', '<Esc>', 'g?' }) do
    vim.keymap.set('n', key, close, { buffer = buffer, nowait = true, silent = true, desc = 'close' })
  end
  -- The window is in the way of what is done next.
  vim.api.nvim_create_autocmd(
    'WinLeave',
    { buffer = buffer, once = true, callback = vim.schedule_wrap(close) }
  )
end

return M
