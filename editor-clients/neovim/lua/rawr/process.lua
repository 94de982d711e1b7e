--- The sidecar's process, for Neovim's language client.

local config = require('rawr.config')

local M = {}

---@class rawr.Exit
---@field code integer
---@field signal integer

---@type rawr.Exit?
local last

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

--- For `cmd` of a client.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
function M.start(dispatchers)
  local on_exit = dispatchers.on_exit
  local quiet = vim.tbl_extend('force', dispatchers, {
    on_exit = function(code, signal)
      last = { code = code, signal = signal }
      -- Neovim would show a message of its own in addition to rawr's.
      on_exit(0, 0)
    end,
  })
  return vim.lsp.rpc.start(M.command(), quiet --[[@as vim.lsp.rpc.Dispatchers]])
end

return M
