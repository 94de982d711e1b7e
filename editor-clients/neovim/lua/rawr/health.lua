--- `:checkhealth rawr`: checks the installation and suggests fixes.

local compatible = require('rawr.compatible')
local version = require('rawr.version')

local M = {}

local health = vim.health

local function check_neovim()
  health.start('Neovim')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. tostring((vim.version --[[@as fun(): vim.Version]])()))
  else
    health.error('rawr needs Neovim 0.10 or newer')
  end
  health.info(('rawr.nvim %s, protocol %d'):format(version.PLUGIN, version.PROTOCOL))
end

local function check_settings()
  health.start('Settings')
  local problems = require('rawr.config').problems()
  for _, problem in ipairs(problems) do
    health.warn(problem, { 'see `:help rawr-settings`' })
  end
  if #problems == 0 then
    health.ok('`vim.g.rawr` and `setup()` are understood')
  end
end

---@param name string
---@param result table the answer to `initialize`
---@return boolean
local function check_answer(name, result)
  local problem = compatible.problem(result)
  if problem then
    local protocol = compatible.protocol(result.capabilities) or 'none'
    local numbers = ('protocol: %s; of the plugin: %d'):format(protocol, version.PROTOCOL)
    health.error(('%s: %s'):format(name, problem), { numbers, 'then `:Rawr restart`' })
    return false
  end
  health.ok(('%s: rawr %s, protocol %d'):format(name, compatible.release(result), version.PROTOCOL))
  return true
end

--- Starts the binary, because one that prints its version may still fail to serve.
local function check_binary()
  local config = require('rawr.config').get()
  local binary = config.cmd[1] or ''
  if vim.fn.executable(binary) == 0 then
    return health.error(
      'failed to run ' .. binary,
      { 'install rawr', 'or set `vim.g.rawr.cmd`, as in `:help rawr-settings`' }
    )
  end
  local probe = require('rawr.probe').run(config.cmd, config.home)
  local path = vim.fn.exepath(binary)
  if probe.result then
    if check_answer(path, probe.result) then
      health.info('not running now: started by a prompt file, `:Rawr` or `autostart`')
    end
    return
  end
  local command = table.concat(config.cmd, ' ')
  health.error(
    ('`%s` %s'):format(command, probe.failure),
    { ('run `%s` in a terminal to see why'):format(command), 'update rawr' }
  )
end

---@param client vim.lsp.Client
local function check_running(client)
  local config = require('rawr.config').get()
  local name = vim.fn.exepath(config.cmd[1] or '')
  local result = { capabilities = client.server_capabilities, serverInfo = client.server_info }
  -- Neovim 0.10 keeps no server's version.
  if not client.server_info then
    result = require('rawr.probe').run(config.cmd, config.home).result or result
  end
  if not check_answer(name ~= '' and name or 'the sidecar', result) then
    return
  end
  health.ok('running')
  local answer
  require('rawr.client').request('rawr/config/get', {}, function(found)
    answer = found
  end)
  vim.wait(2000, function()
    return answer ~= nil
  end)
  if not answer then
    return health.warn('the sidecar does not answer', { 'see `:Rawr log`', '`:Rawr restart`' })
  end
  health.info('configuration comes from: ' .. table.concat(answer.layers, ', '))
  for _, problem in ipairs(answer.problems) do
    health.warn(
      ('%s: %s'):format(problem.file or 'configuration', problem.message),
      problem.help and { problem.help }
    )
  end
  local threads = require('rawr.live').threads
  health.info(require('rawr.words').counted(vim.tbl_count(threads.rows), 'thread'))
end

function M.check()
  check_neovim()
  check_settings()
  health.start('The sidecar')
  local client = require('rawr.client')
  local running = client.client()
  if running then
    check_running(running)
  else
    check_binary()
  end
  health.info('log: ' .. client.log_file())
end

return M
