--- Prompts and configuration files of rawr are Markdown and TOML that also are rawr's.

---@param name string
---@return string?
local function existing(name)
  local folder = vim.fs.normalize(name)
  return vim.fn.isdirectory(folder) == 1 and folder or nil
end

--- The sidecar looks in the same order.
---@return string
local function home()
  local options = vim.g.rawr
  if type(options) == 'function' then
    options = options()
  end
  local folder = type(options) == 'table' and options.home or nil
  return folder
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

--- Only those of the home: a folder may have such a name anywhere.
---@param path string
---@return string?
local function prompt(path)
  local folder = vim.fs.dirname(vim.fs.dirname(path))
  return folder and real(folder) == real(home()) and 'markdown.rawr' or nil
end

--- Codex keeps rawr's tables beside its own.
---@param path string
---@return string?
local function codex(path)
  local folder = real(vim.fs.dirname(path) or '')
  for _, known in ipairs({ home(), vim.env.CODEX_HOME or '~/.codex' }) do
    if folder == real(known) then
      return 'toml.rawr'
    end
  end
end

vim.filetype.add({
  filename = { ['rawr.toml'] = 'toml.rawr', ['.rawr.toml'] = 'toml.rawr' },
  pattern = {
    ['.*/auto%-compact/[^/]+%.md'] = { prompt, { priority = 10 } },
    ['.*/config%.toml'] = { codex, { priority = 10 } },
  },
})
