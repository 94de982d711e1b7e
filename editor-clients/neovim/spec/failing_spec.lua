--- Binaries that are missing, crash, or speak another protocol.

local lab = require('spec.lab')

---@param home rawr.spec.Home
---@param script string
---@return string
local function binary(home, script)
  local path = home.path .. '/bin/rawr'
  lab.write(path, '#!/bin/sh\ncase $1 in --version) echo "rawr 9.8.7"; exit ;; esac\n' .. script .. '\n')
  assert(vim.uv.fs_chmod(path, 493))
  return path
end

---@param protocol integer|string
---@return string
local function speaks(protocol)
  local fake = lab.PLUGIN .. '/spec/sidecar.lua'
  return ("exec '%s' --clean -l '%s' %s"):format(vim.v.progpath, fake, protocol)
end

local CRASH = 'echo "the home is broken" >&2; exit 3'

--- What a new Neovim shows when it runs these subcommands, one after the other.
---@param home rawr.spec.Home
---@param path string
---@param commands string[]
---@return string
local function shown(home, path, commands)
  local lines = { ('vim.g.rawr = { cmd = { %q, "serve" }, home = %q }'):format(path, home.path) }
  table.insert(lines, 'vim.ui.input = function(_, done) done("text") end')
  table.insert(lines, ('vim.opt.runtimepath:prepend(%q)'):format(lab.PLUGIN))
  table.insert(lines, 'vim.cmd.runtime("plugin/rawr.lua")')
  for _, command in ipairs(commands) do
    table.insert(lines, ('io.stderr:write("\\n> %s\\n")'):format(command))
    table.insert(lines, ('local ok, why = pcall(vim.cmd, "Rawr %s")'):format(command))
    table.insert(lines, 'if not ok then io.stderr:write("EXCEPTION " .. tostring(why)) end')
    table.insert(lines, 'vim.wait(400)')
  end
  table.insert(lines, 'io.stderr:write("\\n> end\\n")')
  local script = home.path .. '/shown.lua'
  for at, line in ipairs(lines) do
    lines[at] = line:gsub('^local ok', 'ok')
  end
  lab.write(script, table.concat(lines, '\n'))
  local command =
    { vim.v.progpath, '--clean', '--headless', '-i', 'NONE', '-c', 'luafile ' .. script, '-c', 'qall!' }
  return vim.system(command, { env = home.env, cwd = home.work, text = true, timeout = 60000 }):wait().stderr
end

describe(':Rawr', function()
  local names = vim.tbl_keys(require('rawr.command').COMMANDS)
  table.sort(names)
  table.insert(names, 1, '')

  for case, script in pairs({ missing = false, ['that crashes'] = CRASH }) do
    it('prints no traceback with a binary ' .. case, function()
      local home = lab.home()
      local path = script and binary(home, script) or '/nowhere/rawr'
      local text = shown(home, path, names)
      assert.truthy(text:find('> end', 1, true), text)
      for _, bad in ipairs({ 'EXCEPTION', 'traceback', 'Error executing', 'quit with exit code', '.lua:' }) do
        assert.falsy(text:find(bad, 1, true), text)
      end
    end)
  end

  it('says once why a binary that crashes at its start does not work', function()
    local home = lab.home()
    local text = shown(home, binary(home, CRASH), { 'status' })
    assert.equal(1, select(2, text:gsub('rawr: ', '')), text)
    assert.truthy(text:find('code 3', 1, true), text)
    assert.truthy(text:find(':checkhealth rawr', 1, true), text)
  end)
end)

describe('a binary of another protocol', function()
  local home

  before_each(function()
    home = lab.home()
  end)

  after_each(lab.leave)

  ---@param protocol integer|string
  ---@return string
  local function told(protocol)
    lab.use(home, { cmd = { binary(home, speaks(protocol)), 'serve' } })
    return lab.told({ 'this plugin' }, function()
      vim.cmd.Rawr('start')
    end)
  end

  it('is refused with what to update', function()
    assert.truthy(
      told(0):find(
        'rawr: version 9.8.7 is too old for this plugin: update rawr, then `:Rawr restart`',
        1,
        true
      )
    )
  end)

  it('is the reason to update the plugin if it is newer', function()
    assert.truthy(told(99):find('newer than this plugin supports: update the plugin', 1, true))
  end)

  it('is not started again and again', function()
    local started = 0
    local start = vim.lsp.rpc.start
    vim.lsp.rpc.start = function(...)
      started = started + 1
      return start(...)
    end
    told('')
    lab.wait('its end', function()
      return #vim.lsp.get_clients({ name = 'rawr', _uninitialized = true }) == 0
    end)
    lab.told({ 'too old for this plugin' }, function()
      vim.cmd.Rawr('threads')
    end)
    lab.write(home.path .. '/rawr.toml', '')
    vim.cmd.edit(home.path .. '/rawr.toml')
    vim.wait(200)
    vim.lsp.rpc.start = start
    assert.equal(1, started)
    -- An update is noticed by a restart.
    lab.use(home)
    vim.cmd.Rawr('restart')
    lab.wait('the sidecar', require('rawr.client').client)
  end)
end)

describe('a sidecar that hangs', function()
  local client = require('rawr.client')
  local home, limits
  local HANG = 'echo $$ > "$(dirname "$0")/pid"; trap \'\' TERM; exec sleep 1000'

  before_each(function()
    home = lab.home()
    limits = vim.deepcopy(client.LIMITS)
  end)

  after_each(function()
    client.LIMITS = limits
    lab.leave()
  end)

  ---@return integer
  local function pid()
    return lab.wait('its process', function()
      local file = io.open(home.path .. '/bin/pid')
      local text = file and file:read('*l')
      return file and file:close() and tonumber(text)
    end)
  end

  ---@param process integer
  local function is_gone(process)
    return vim.uv.kill(process, 0) ~= 0
  end

  ---@return integer
  local function start_hanging()
    lab.use(home, { cmd = { binary(home, HANG), 'serve' } })
    vim.cmd.Rawr('start')
    return pid()
  end

  it('is said to be starting, and ended by a restart, which starts another one', function()
    local hung = start_hanging()
    vim.cmd.Rawr()
    lab.text(0, 'The sidecar is starting')
    lab.use(home)
    vim.cmd.Rawr('restart')
    lab.wait('another sidecar', client.client)
    assert.truthy(is_gone(hung))
    lab.text(0, 'No threads yet')
  end)

  it('is ended after a while, with a message', function()
    client.LIMITS.start = 300
    lab.use(home, { cmd = { binary(home, HANG), 'serve' } })
    lab.told({ 'did not answer', ':checkhealth rawr' }, function()
      vim.cmd.Rawr('start')
    end)
    local hung = pid()
    lab.wait('its end', function()
      return is_gone(hung) and not client.is_running()
    end)
  end)

  it('later is ended and started again', function()
    client.LIMITS.pause, client.LIMITS.answer = 100, 1000
    lab.use(home)
    vim.cmd.Rawr('start')
    local first = lab.wait('the sidecar', client.client).id
    local hung = assert(require('rawr.process').id())
    lab.told({ 'did not answer', 'restarted' }, function()
      vim.uv.kill(hung, 'sigstop')
    end)
    lab.wait('another', function()
      local now = client.client()
      return now and now.id ~= first
    end)
    assert.truthy(is_gone(hung))
  end)

  it('is not left behind by a Neovim that ends', function()
    shown(home, binary(home, HANG), { 'start' })
    local hung = pid()
    lab.wait('its end', function()
      return is_gone(hung)
    end)
  end)
end)

describe('the health check', function()
  local home

  before_each(function()
    home = lab.home()
  end)

  after_each(lab.leave)

  ---@param path string
  ---@return string
  local function report(path)
    lab.use(home, { cmd = { path, 'serve' } })
    vim.cmd('silent checkhealth rawr')
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  end

  ---@param text string
  ---@param ... string
  local function has(text, ...)
    for _, words in ipairs({ ... }) do
      assert.truthy(text:find(words, 1, true), words .. '\n' .. text)
    end
  end

  it('starts the binary and names the versions', function()
    local text = report(lab.RAWR)
    local plugin = require('rawr.version').PLUGIN
    has(text, 'rawr.nvim ' .. plugin .. ', protocol 1', 'Neovim ' .. tostring(vim.version()))
    has(text, lab.RAWR .. ': rawr ' .. plugin .. ', protocol 1', 'not running now')
    assert.falsy(text:find('\nBuild', 1, true), text)
  end)

  it('names the versions of a sidecar that runs', function()
    lab.use(home)
    vim.cmd.Rawr('start')
    lab.wait('the sidecar', require('rawr.client').client)
    has(report(lab.RAWR), lab.RAWR .. ': rawr ' .. require('rawr.version').PLUGIN, 'running')
  end)

  it('asks the binary for its version with the home of the sidecar that runs', function()
    lab.use(home)
    vim.cmd.Rawr('start')
    local client = lab.wait('the sidecar', require('rawr.client').client)
    -- As in Neovim 0.10.
    client.server_info = nil
    local probe, homes = require('rawr.probe'), {}
    local run = probe.run
    probe.run = function(command, of)
      table.insert(homes, of or 'none')
      return run(command, of)
    end
    local text = report(lab.RAWR)
    probe.run = run
    assert.same({ home.path }, homes)
    has(text, lab.RAWR .. ': rawr ' .. require('rawr.version').PLUGIN, 'running')
  end)

  it('finds a binary that crashes', function()
    has(report(binary(home, CRASH)), 'ended with code 3', 'the home is broken', 'update rawr')
  end)

  it('finds a binary that does not fit', function()
    has(
      report(binary(home, speaks(0))),
      'is too old for this plugin: update rawr',
      'protocol: 0; of the plugin: 1'
    )
    has(report(binary(home, speaks(99))), 'update the plugin', 'protocol: 99; of the plugin: 1')
  end)
end)
