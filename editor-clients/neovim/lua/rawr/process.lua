--- The sidecar's process, for Neovim's language client.

local config = require('rawr.config')

local M = {}

---@class rawr.Exit
---@field code integer
---@field signal integer

---@type rawr.Exit?
local last
--- The process that was started last, while it runs.
---@type integer?
local running

--- How the last process ended, once. Nothing where the user's `vim.lsp.config` starts it.
---@return rawr.Exit?
function M.take_exit()
  local exit = last
  last = nil
  return exit
end

--- The sidecar's log file.
---@return string
function M.log_file()
  return vim.fn.stdpath('log') .. '/rawr.log'
end

---@return string[]
function M.command()
  local cmd = vim.deepcopy(config.get().cmd)
  -- A sidecar with a custom command may run on another machine.
  if #cmd == 2 and cmd[2] == 'serve' then
    vim.fn.mkdir(vim.fs.dirname(M.log_file()), 'p')
    vim.list_extend(cmd, { '--log-file', M.log_file() })
  end
  return cmd
end

---@return table<integer, true?>
local function children()
  local all = {}
  local own = vim.uv.os_getpid() --[[@as integer]]
  for _, id in ipairs(vim.api.nvim_get_proc_children(own)) do
    all[id] = true
  end
  return all
end

--- The id of the process that runs. None where the user's `vim.lsp.config` starts it.
---@return integer?
function M.id()
  return running
end

--- Ends it by force, after a while: one that hangs ignores everything else.
---@param after_ms integer
function M.kill(after_ms)
  local id = running
  local function kill()
    if id and id == running then
      vim.uv.kill(id, 'sigkill')
    end
  end
  if after_ms > 0 then
    vim.defer_fn(kill, after_ms)
  else
    kill()
  end
end

--- For `cmd` of a client.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
function M.start(dispatchers)
  local on_exit, started = dispatchers.on_exit, nil
  local quiet = vim.tbl_extend('force', dispatchers, {
    on_exit = function(code, signal)
      last = { code = code, signal = signal }
      if running == started then
        running = nil
      end
      -- Neovim would show a message of its own in addition to rawr's.
      on_exit(0, 0)
    end,
  })
  -- Neovim does not tell the id.
  local before = children()
  local client = vim.lsp.rpc.start(M.command(), quiet --[[@as vim.lsp.rpc.Dispatchers]])
  for id in pairs(children()) do
    if not before[id] then
      started = id
    end
  end
  running = started
  vim.api.nvim_create_autocmd('VimLeave', {
    group = vim.api.nvim_create_augroup('rawr.process', { clear = true }),
    desc = 'Leave no sidecar behind that hangs',
    callback = function()
      M.kill(0)
    end,
  })
  return client
end

return M
