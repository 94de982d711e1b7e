--- The user's settings from `vim.g.rawr` or `setup()`, with defaults.

local M = {}

---@class rawr.BannerConfig
---@field anchor 'NE'|'NW'|'SE'|'SW' the corner of the editor in which the banner is
---@field border? string|string[] as for `nvim_open_win()`; 'winborder' if absent, else `rounded`
---@field width integer how wide its text is at most
---@field timeout integer seconds after which it shrinks to a message of one line; 0: it stays

---@class rawr.Config
---@field cmd string[] how the sidecar is started
---@field home? string the folder of rawr's configuration, prompts and state; the sidecar's own choice if absent
---@field autostart boolean whether threads are watched from the start, not only after the first prompt or `:Rawr`
---@field watch 'all'|'folder' all threads of the home, or those that work in the current folder or below it
---@field heads_up 'float'|'notify'|'off' how a compaction that is near is shown
---@field banner rawr.BannerConfig

---@class rawr.UserBannerConfig: rawr.BannerConfig,{}
---@field anchor? 'NE'|'NW'|'SE'|'SW'
---@field width? integer
---@field timeout? integer

---@class rawr.UserConfig: rawr.Config,{}
---@field cmd? string[]
---@field autostart? boolean
---@field watch? 'all'|'folder'
---@field heads_up? 'float'|'notify'|'off'
---@field banner? rawr.UserBannerConfig

---@type rawr.Config
local DEFAULTS = {
  cmd = { 'rawr', 'serve' },
  autostart = false,
  watch = 'folder',
  heads_up = 'float',
  banner = { anchor = 'NE', width = 64, timeout = 60 },
}

---@param ... string
---@return fun(value: any): boolean
local function one_of(...)
  local values = { ... }
  return function(value)
    return vim.list_contains(values, value)
  end
end

---@param least integer
---@return fun(value: any): boolean
local function whole_number(least)
  return function(value)
    return type(value) == 'number' and value >= least and value == math.floor(value)
  end
end

---@type table<string, fun(value: any): boolean?>
local FITS_BANNER = {
  anchor = one_of('NE', 'NW', 'SE', 'SW'),
  border = function(value)
    return type(value) == 'string' or vim.islist(value)
  end,
  width = whole_number(20),
  timeout = whole_number(0),
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
  watch = one_of('all', 'folder'),
  heads_up = one_of('float', 'notify', 'off'),
  banner = function(value)
    return type(value) == 'table' and (next(value) == nil or not vim.islist(value))
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

---@param problems string[]
---@param settings table
---@param fits table<string, fun(value: any): boolean?>
---@param prefix string
local function check(problems, settings, fits, prefix)
  for key, value in vim.spairs(settings) do
    local fit = fits[key]
    if not fit then
      table.insert(problems, ('there is no setting `%s%s`'):format(prefix, key))
    elseif not fit(value) then
      table.insert(problems, ('`%s%s` cannot be %s'):format(prefix, key, vim.inspect(value)))
    end
  end
end

--- The problems of the settings. An invalid setting is replaced by its default.
---@return string[]
function M.problems()
  local problems, settings = {}, written()
  check(problems, settings, FITS, '')
  if settings.banner and FITS.banner(settings.banner) then
    check(problems, settings.banner, FITS_BANNER, 'banner.')
  end
  return problems
end

---@param into table
---@param settings table
---@param fits table<string, fun(value: any): boolean?>
local function take(into, settings, fits)
  for key, value in pairs(settings) do
    if key ~= 'banner' and fits[key] and fits[key](value) then
      into[key] = value
    end
  end
end

---@return rawr.Config
function M.get()
  local config, settings = vim.deepcopy(DEFAULTS), written()
  take(config, settings, FITS)
  if settings.banner and FITS.banner(settings.banner) then
    take(config.banner, settings.banner, FITS_BANNER)
  end
  if config.home then
    config.home = vim.fs.normalize(config.home)
  end
  return config
end

return M
