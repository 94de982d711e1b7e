--- Which files are rawr's: the prompts of the home and the configuration files. They keep the filetypes `markdown` and `toml`,
--- so that the language servers and plugins for these still attach.

local M = {}

M.FILETYPES = { 'markdown', 'toml' }

---@param name string
---@return string?
local function existing(name)
  local folder = vim.fs.normalize(name)
  return vim.fn.isdirectory(folder) == 1 and folder or nil
end

--- The sidecar looks in the same order.
---@return string
local function home()
  return require('rawr.config').get().home
    or vim.env.RAWR_HOME
    or vim.env.CODEX_HOME
    or existing('~/.rawr')
    or existing('~/.codex')
    or '~/.rawr'
end

---@param folder string
---@return string
local function real(folder)
  local path = vim.fs.normalize(folder)
  return vim.uv.fs_realpath(path) or path
end

---@param path string
---@return boolean
function M.is_ours(path)
  local name, folder = vim.fs.basename(path), vim.fs.dirname(path) or ''
  if name == 'rawr.toml' or name == '.rawr.toml' then
    return true
  elseif name == 'config.toml' then
    -- Codex keeps rawr's tables beside its own.
    local at = real(folder)
    return at == real(home()) or at == real(vim.env.CODEX_HOME or '~/.codex')
  elseif vim.endswith(name, '.md') and vim.fs.basename(folder) == 'auto-compact' then
    -- Other folders may have this name, too.
    return real(vim.fs.dirname(folder) or '') == real(home())
  end
  return false
end

---@param buffer integer
---@return boolean
function M.is_buffer_ours(buffer)
  return vim.bo[buffer].buftype == '' and M.is_ours(vim.api.nvim_buf_get_name(buffer))
end

return M
