--- `:checkhealth rawr`: checks the installation and suggests fixes.

local M = {}

local health = vim.health

local function check_neovim()
  health.start('Neovim')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok(vim.fn.matchstr(vim.fn.execute('version'), [[NVIM v\S*]]))
  else
    health.error('rawr needs Neovim 0.10 or newer')
  end
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

---@return boolean
local function check_binary()
  health.start('The sidecar')
  local binary = require('rawr.config').get().cmd[1] or ''
  if vim.fn.executable(binary) == 0 then
    health.error(
      'failed to run ' .. binary,
      { 'install rawr', 'or set `vim.g.rawr.cmd`, as in `:help rawr-settings`' }
    )
    return false
  end
  local done = vim.system({ binary, '--version' }, { text = true, timeout = 5000 }):wait()
  local path = vim.fn.exepath(binary)
  if done.code == 0 then
    health.ok(('%s: %s'):format(path, vim.trim(done.stdout or '')))
    return true
  end
  health.error(('%s --version failed: %s'):format(path, vim.trim(done.stderr or '')))
  return false
end

---@param client vim.lsp.Client
local function check_running(client)
  local info = client.server_info or {}
  health.ok(('running: %s %s'):format(info.name or 'rawr', info.version or ''))
  local answer
  require('rawr.client').request('rawr/config/get', {}, function(result)
    answer = result
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
  health.info(('%d thread(s)'):format(vim.tbl_count(threads.rows)))
end

function M.check()
  check_neovim()
  check_settings()
  if not check_binary() then
    return
  end
  local client = require('rawr.client')
  local running = client.client()
  if running then
    check_running(running)
  else
    health.info('not running: started by a prompt file, `:Rawr` or `autostart`')
  end
  health.info('log: ' .. client.log_file())
end

return M
