--- The public Lua API of the plugin. Loads other modules on demand.

local M = {}

--- Optional: sets the same options as `vim.g.rawr`.
---@param options? rawr.UserConfig
function M.setup(options)
  require('rawr.config').set(options)
  if require('rawr.config').get().autostart then
    M.start()
  end
end

--- Starts watching threads.
function M.start()
  require('rawr.client').start()
end

function M.stop()
  require('rawr.client').stop()
end

function M.restart()
  require('rawr.client').restart()
end

--- The current thread and its status; nothing without a thread that runs. Starts nothing.
---@return rawr.Status?
function M.status()
  local live = package.loaded['rawr.live']
  if not live then
    return nil
  end
  local only_here = require('rawr.config').get().watch == 'folder'
  return require('rawr.status').of(live.threads, vim.uv.cwd() or '', only_here)
end

--- A short status of the current thread, for `%{…}` in a status line. Empty without a thread; starts nothing.
---@return string
function M.statusline()
  local status = M.status()
  return status and status.text or ''
end

--- As `statusline()`, with `%` escaped for `%{%…%}`, lualine and heirline.
---@return string
function M.component()
  return (M.statusline():gsub('%%', '%%%%'))
end

--- As `component()`, in the color of the tier.
---@return string
function M.colored()
  local status = M.status()
  if not status then
    return ''
  end
  require('rawr.highlights').define()
  return ('%%#%s#%s%%*'):format(status.group, (status.text:gsub('%%', '%%%%')))
end

--- The threads, most recently used first.
---@return rawr.ThreadSummary[]
function M.threads()
  local live = package.loaded['rawr.live']
  if not live then
    return {}
  end
  return vim.tbl_map(function(row)
    return vim.deepcopy(row.thread)
  end, require('rawr.threads').sorted(live.threads))
end

--- Sends any request of the protocol. Errors are shown unless `failed` is set.
---@param method string
---@param params? table
---@param answer? fun(result: any)
---@param failed? fun(error: lsp.ResponseError)
function M.request(method, params, answer, failed)
  require('rawr.client').request(method, params or {}, answer, failed)
end

return M
