--- The user's settings from `vim.g.rawr` or `setup()`, with defaults.

local M = {}

---@class rawr.Config
---@field cmd string[] how the sidecar is started
---@field home? string the folder of rawr's configuration, prompts and state; the sidecar's own choice if absent
---@field autostart boolean whether threads are watched from the start, not only after the first prompt or `:Rawr`
---@field watch 'all'|'folder' all threads of the home, or those that work in the current folder or below it
---@field heads_up 'float'|'notify'|'off' how a compaction that is near is shown

---@class rawr.UserConfig: rawr.Config,{}
---@field cmd? string[]
---@field autostart? boolean
---@field watch? 'all'|'folder'
---@field heads_up? 'float'|'notify'|'off'

---@type rawr.Config
local DEFAULTS = {
  cmd = { 'rawr', 'serve' },
  autostart = false,
  watch = 'all',
  heads_up = 'float',
}

---@type table<string, fun(value: any): boolean?>
local FITS = {
  cmd = function(value)
    if not vim.islist(value) or #value == 0 then
      return false
    end
    for _, word in ipairs(value) do
      if type(word) ~= 'string' then
        return false
      end
    end
    return true
  end,
  home = function(value)
    return type(value) == 'string' and value ~= ''
  end,
  autostart = function(value)
    return type(value) == 'boolean'
  end,
  watch = function(value)
    return value == 'all' or value == 'folder'
  end,
  heads_up = function(value)
    return value == 'float' or value == 'notify' or value == 'off'
  end,
}

---@type rawr.UserConfig
local given = {}

--- Overrides `vim.g.rawr`. Optional.
---@param options? rawr.UserConfig
function M.set(options)
  given = options or {}
end

---@return table
local function written()
  local global = vim.g.rawr
  if type(global) == 'function' then
    global = global()
  end
  return vim.tbl_extend('force', type(global) == 'table' and global or {}, given)
end

--- The problems of the settings. An invalid setting is replaced by its default.
---@return string[]
function M.problems()
  local problems = {}
  for key, value in vim.spairs(written()) do
    local fits = FITS[key]
    if not fits then
      table.insert(problems, ('there is no setting `%s`'):format(key))
    elseif not fits(value) then
      table.insert(problems, ('`%s` cannot be %s'):format(key, vim.inspect(value)))
    end
  end
  return problems
end

---@return rawr.Config
function M.get()
  local config = vim.deepcopy(DEFAULTS)
  for key, value in pairs(written()) do
    if FITS[key] and FITS[key](value) then
      config[key] = value
    end
  end
  if config.home then
    config.home = vim.fs.normalize(config.home)
  end
  return config
end

return M
