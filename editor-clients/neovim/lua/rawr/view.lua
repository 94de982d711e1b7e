--- A read-only buffer with changing lines. Only different lines are replaced, so that cursor and folds stay.

local M = {}

local NAMESPACE = vim.api.nvim_create_namespace('rawr')

---@type table<integer, rawr.Line[]>
local shown = {}

--- For 'foldexpr'.
---@return string
function M.fold()
  local lines = shown[vim.api.nvim_get_current_buf()]
  local line = lines and lines[vim.v.lnum]
  return line and line.fold or '0'
end

--- For 'foldtext': a closed decision looks like an open one.
---@return string
function M.fold_text()
  return vim.fn.getline(vim.v.foldstart) --[[@as string]]
end

---@param buffer integer
---@param filetype string
function M.prepare(buffer, filetype)
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = filetype
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local function set(option, value)
      vim.api.nvim_set_option_value(option, value, { scope = 'local', win = window })
    end
    set('foldmethod', 'expr')
    set('foldexpr', "v:lua.require'rawr.view'.fold()")
    set('foldtext', "v:lua.require'rawr.view'.fold_text()")
    set('foldlevel', 0)
    set('foldenable', true)
    set('fillchars', 'fold: ')
    set('wrap', true)
    set('linebreak', true)
    set('breakindent', true)
    set('breakindentopt', 'shift:2')
  end
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buffer,
    once = true,
    callback = function()
      shown[buffer] = nil
    end,
  })
end

---@param buffer integer
---@param lines rawr.Line[]
local function color(buffer, lines)
  vim.api.nvim_buf_clear_namespace(buffer, NAMESPACE, 0, -1)
  for at, line in ipairs(lines) do
    if line.group then
      vim.api.nvim_buf_set_extmark(
        buffer,
        NAMESPACE,
        at - 1,
        0,
        { end_col = #line.text, hl_group = line.group }
      )
    end
  end
end

---@param lines string[]
---@return string
local function joined(lines)
  return table.concat(lines, '\n') .. '\n'
end

---@param old string[]
---@param new string[]
---@return { old_start: integer, old_count: integer, new_start: integer, new_count: integer }[]
local function hunks_of(old, new)
  -- Renamed in Neovim 0.12.
  local diff = vim.text.diff or (vim --[[@as any]]).diff
  local hunks = diff(joined(old), joined(new), { result_type = 'indices' })
  return vim.tbl_map(function(hunk)
    return { old_start = hunk[1], old_count = hunk[2], new_start = hunk[3], new_count = hunk[4] }
  end, type(hunks) == 'table' and hunks or {})
end

--- Decisions with an open fold in a window.
---@param window integer
---@param lines rawr.Line[]
---@return table<string, boolean?>
local function opened(window, lines)
  local open = {}
  vim.api.nvim_win_call(window, function()
    for at, line in ipairs(lines) do
      if line.decision and line.fold == '>1' and vim.fn.foldclosed(at) < 0 then
        open[line.decision] = true
      end
    end
  end)
  return open
end

--- Opens these folds again, because recomputed folds are closed.
---@param window integer
---@param lines rawr.Line[]
---@param open table<string, boolean?>
local function open_again(window, lines, open)
  vim.api.nvim_win_call(window, function()
    local place = vim.fn.winsaveview()
    vim.cmd.normal({ 'zX', bang = true })
    for at, line in ipairs(lines) do
      if line.decision and line.fold == '>1' and open[line.decision] and vim.fn.foldclosed(at) > 0 then
        vim.cmd(at .. 'foldopen')
      end
    end
    vim.fn.winrestview(place)
  end)
end

---@param buffer integer
---@param lines rawr.Line[]
function M.show(buffer, lines)
  ---@type table<integer, table<string, boolean?>>
  local open = {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    open[window] = opened(window, shown[buffer] or {})
  end
  local texts = vim.tbl_map(function(line)
    return line.text
  end, lines)
  local old = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  shown[buffer] = lines
  local hunks = hunks_of(old, texts)
  vim.bo[buffer].modifiable = true
  for at = #hunks, 1, -1 do
    local hunk = hunks[at]
    -- An insertion is given by the line before it.
    local from = hunk.old_count == 0 and hunk.old_start or hunk.old_start - 1
    local replacement = vim.list_slice(texts, hunk.new_start, hunk.new_start + hunk.new_count - 1)
    vim.api.nvim_buf_set_lines(buffer, from, from + hunk.old_count, false, replacement)
  end
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
  color(buffer, lines)
  for window, decisions in pairs(open) do
    open_again(window, lines, decisions)
  end
end

--- The heading of a thread.
---@param buffer integer
---@param thread_id string
---@return integer?
function M.line_of(buffer, thread_id)
  for at, line in ipairs(shown[buffer] or {}) do
    if line.thread == thread_id then
      return at
    end
  end
end

--- The subject of the line under the cursor.
---@param buffer integer
---@return rawr.Line?
function M.under_cursor(buffer)
  local lines = shown[buffer]
  return lines and lines[vim.api.nvim_win_get_cursor(0)[1]]
end

return M
