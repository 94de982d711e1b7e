--- Buffers under `rawr://`: the plugin's views, and texts that the sidecar serves (a rendered prompt, the shipped text, or a
--- diff), opened at the sidecar's request.

local client = require('rawr.client')

local M = {}

---@type table<string, string?>
local VIEWS = { threads = 'rawr.board', packet = 'rawr.packet', explain = 'rawr.explain' }

---@param buffer integer
---@param text string
local function fill(buffer, text)
  if not vim.api.nvim_buf_is_valid(buffer) then
    return
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, '\n', { plain = true }))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
end

---@param buffer integer
---@param uri string
local function load(buffer, uri)
  client.request('workspace/textDocumentContent', { uri = uri }, function(answer)
    fill(buffer, answer.text)
  end)
end

--- For `BufReadCmd`.
---@param buffer integer
---@param uri string
function M.read(buffer, uri)
  local kind, rest = uri:match('^rawr://([^/]+)/?(.*)$')
  local view = VIEWS[kind or '']
  if view then
    return require(view).read(buffer, rest)
  end
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = kind == 'diff' and 'diff' or 'markdown'
  load(buffer, uri)
end

--- A served text changed.
---@param uri string
function M.refresh(uri)
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(uri, '\\*?[]{},') .. '$')
  if buffer > 0 and vim.api.nvim_buf_is_loaded(buffer) then
    load(buffer, uri)
  end
end

return M
