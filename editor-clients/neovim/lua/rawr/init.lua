--- rawr in Neovim: what other plugins and a user's configuration may call. Loads the rest when it is needed.

local M = {}

--- Not needed: `vim.g.rawr` says the same.
---@param options? rawr.UserConfig
function M.setup(options)
  require('rawr.config').set(options)
  if require('rawr.config').get().autostart then
    M.start()
  end
end

--- Begins to watch threads.
function M.start()
  require('rawr.client').start()
end

function M.stop()
  require('rawr.client').stop()
end

function M.restart()
  require('rawr.client').restart()
end

--- The current thread in a few words, for `%{…}` in a status line. Empty while nothing is known; starts nothing.
---@return string
function M.statusline()
  local live = package.loaded['rawr.live']
  if not live then
    return ''
  end
  return require('rawr.status').line(live.threads, vim.uv.cwd() or '')
end

--- The same for `%{%…%}`, lualine and heirline, which read `%` as their own.
---@return string
function M.component()
  return (M.statusline():gsub('%%', '%%%%'))
end

--- What is known of threads, the one that something happened in last first.
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

--- Asks the sidecar anything of its protocol. Errors are shown unless `failed` takes them.
---@param method string
---@param params? table
---@param answer? fun(result: any)
---@param failed? fun(error: lsp.ResponseError)
function M.request(method, params, answer, failed)
  require('rawr.client').request(method, params or {}, answer, failed)
end

return M
