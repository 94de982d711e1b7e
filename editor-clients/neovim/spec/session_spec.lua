--- The sidecar's lifecycle, and the modules that Neovim loads, in separate Neovims where necessary.

local lab = require('spec.lab')

--- The stderr of Lua code in a new Neovim with the plugin.
---@param home rawr.spec.Home
---@param lua string
---@param more? string[]
---@return string
local function fresh(home, lua, more)
  local settings = ('vim.g.rawr = { cmd = %s, home = %q }'):format(
    vim.inspect({ lab.RAWR, 'serve' }),
    home.path
  )
  lab.write(home.path .. '/fresh.lua', lua .. "\nvim.cmd('qall!')\n")
  local command =
    { vim.v.progpath, '--clean', '--headless', '-i', 'NONE', '--cmd', 'set rtp^=' .. lab.PLUGIN }
  vim.list_extend(command, { '--cmd', 'lua ' .. settings })
  vim.list_extend(command, more or {})
  vim.list_extend(command, { '-c', ('autocmd VimEnter * luafile %s/fresh.lua'):format(home.path) })
  local done = vim.system(command, { env = home.env, cwd = home.work, text = true, timeout = 30000 }):wait()
  assert.equal(0, done.code, done.stderr)
  return done.stderr
end

local LOADED = [[
  local loaded = {}
  for name in pairs(package.loaded) do
    if name:find('^rawr') then table.insert(loaded, name) end
  end
  table.sort(loaded)
  io.stderr:write('loaded: ' .. table.concat(loaded, ' ') .. '.\n')
]]

describe('nothing of the plugin', function()
  local home = lab.home()

  it('is loaded at startup or by another file', function()
    lab.write(home.work .. '/other.md', '# other\n')
    assert.truthy(fresh(home, LOADED, { home.work .. '/other.md' }):find('loaded: .', 1, true))
  end)

  it('starts by a file that only has the name of one of rawr', function()
    lab.write(home.work .. '/auto-compact/heads-up.md', 'not of the home\n')
    local said = fresh(home, LOADED, { home.work .. '/auto-compact/heads-up.md' })
    assert.truthy(said:find('loaded: rawr.config rawr.files.', 1, true), said)
  end)

  it('except the API is loaded by a status line, which starts nothing', function()
    local lua = "vim.print(require('rawr').statusline())\n" .. LOADED
    assert.truthy(fresh(home, lua):find('loaded: rawr.\n', 1, true))
  end)

  it('is missing after opening a prompt, `:Rawr`, or autostart', function()
    lab.write(home.path .. '/auto-compact/heads-up.md', 'Hello.\n')
    local waits = "vim.wait(10000, function() return package.loaded['rawr.client'] ~= nil end)\n" .. LOADED
    assert.truthy(
      fresh(home, waits, { home.path .. '/auto-compact/heads-up.md' }):find('rawr.client', 1, true)
    )
    assert.truthy(fresh(home, "vim.cmd('Rawr start')\n" .. LOADED):find('rawr.client', 1, true))
    local auto = "vim.wait(10000, function() return package.loaded['rawr.live'] ~= nil end)\n" .. LOADED
    local settings = 'lua vim.g.rawr = vim.tbl_extend("force", vim.g.rawr, { autostart = true })'
    assert.truthy(fresh(home, auto, { '--cmd', settings }):find('rawr.live', 1, true))
  end)
end)

describe('the sidecar', function()
  --- The name as truncated by the system.
  local process_name = vim.fs.basename(lab.RAWR):sub(1, 15)
  local home

  before_each(function()
    home = lab.home()
    lab.use(home)
  end)

  after_each(lab.leave)

  local function running()
    return require('rawr.client').client()
  end

  ---@return integer
  local function start()
    vim.cmd.Rawr('start')
    return lab.wait('the sidecar', running).id
  end

  it('is started once, without buffers, and receives no text', function()
    local id = start()
    vim.cmd.Rawr('start')
    require('rawr').start()
    assert.equal(1, #vim.lsp.get_clients({ name = 'rawr' }))
    assert.same({}, vim.lsp.get_client_by_id(id).attached_buffers)
  end)

  it('answers requests from before it was ready', function()
    local answer
    require('rawr').request('rawr/config/get', {}, function(result)
      answer = result
    end)
    assert.truthy(lab.wait('the answer', function()
      return answer
    end).effective)
  end)

  it('reports errors to the caller, otherwise to the user', function()
    start()
    local error
    require('rawr').request('rawr/thread/get', { threadId = 'none' }, nil, function(told)
      error = told
    end)
    assert.equal(
      -31001,
      lab.wait('the error', function()
        return error
      end).code
    )
    lab.told({ 'rawr: ' }, function()
      require('rawr').request('rawr/thread/get', { threadId = 'none' })
    end)
  end)

  it('is restarted with its buffers', function()
    lab.write(home.path .. '/rawr.toml', '')
    vim.cmd.edit(home.path .. '/rawr.toml')
    assert.equal('toml', vim.bo.filetype)
    local id = lab.wait('the sidecar', running).id
    vim.cmd.Rawr('restart')
    local again = lab.wait('another', function()
      local client = running()
      return client and client.id ~= id and client
    end)
    lab.wait('its buffer', function()
      return again.attached_buffers[vim.api.nvim_get_current_buf()]
    end)
  end)

  it('is restarted once after it dies, with a message', function()
    local id = start()
    local function kill()
      local found = vim
        .system({ 'pgrep', '-P', tostring(vim.uv.os_getpid()), '-x', process_name }, { text = true })
        :wait().stdout
      vim.uv.kill(assert(tonumber(vim.trim(found)), found), 'sigkill')
    end
    lab.told({ 'signal 9', 'it was restarted' }, kill)
    lab.wait('another', function()
      local client = running()
      return client and client.id ~= id
    end)
    lab.told({ 'again: see `:Rawr log`' }, kill)
    assert.is_nil(running())
  end)

  it('that is missing causes one message', function()
    vim.g.rawr = { cmd = { '/nowhere/rawr', 'serve' } }
    local told = lab.told({ 'failed to run /nowhere/rawr' }, function()
      vim.cmd.Rawr('start')
    end)
    assert.equal(1, select(2, told:gsub('\n', '\n')), told)
  end)

  it('is stopped when Neovim exits, and its log can be opened', function()
    start()
    vim.cmd.Rawr('log')
    assert.equal(require('rawr.client').log_file(), vim.api.nvim_buf_get_name(0))
    local lua = [[
      vim.cmd('Rawr start')
      vim.wait(10000, function() return require('rawr.client').client() ~= nil end)
      local children = vim.system({ 'pgrep', '-P', tostring(vim.uv.os_getpid()), '-x', '%s' }, { text = true }):wait()
      io.stderr:write('child ' .. children.stdout)
    ]]
    local said = fresh(home, lua:format(process_name))
    local child = tonumber(said:match('child (%d+)'))
    assert.truthy(child, said)
    lab.wait('the end of the sidecar', function()
      return not vim.uv.kill(child, 0)
    end)
  end)

  it('keeps the list of threads current', function()
    local session, llm = lab.committed(home)
    session.wait_for('heads_up')
    start()
    local function owner()
      local thread = require('rawr').threads()[1]
      return thread and (thread.owner or 'none')
    end
    lab.wait('a thread that runs', function()
      return owner() and owner() ~= 'none'
    end)
    session.kill()
    lab.wait('a thread that has ended', function()
      return owner() == 'none'
    end)
    assert.equal('', require('rawr').statusline())
    llm.stop()
  end)

  it('only watches the current folder unless configured otherwise', function()
    local session, llm = lab.committed(home, ':packet_request]')
    session.wait_for('heads_up')
    vim.fn.mkdir(home.path .. '/elsewhere')
    vim.cmd.cd(home.path .. '/elsewhere')
    local ready
    vim.api.nvim_create_autocmd('User', {
      pattern = 'RawrReady',
      once = true,
      callback = function(event)
        ready = event.data.threads
      end,
    })
    start()
    assert.same(
      {},
      lab.wait('RawrReady', function()
        return ready
      end)
    )
    -- Requests about other threads still work.
    vim.cmd.Rawr({ 'status', session.thread() })
    lab.float('thread     ' .. session.thread(), 'folder     ' .. home.work)
    assert.equal('', require('rawr').statusline())
    -- The folder is another one now.
    vim.cmd.cd(home.work)
    lab.wait('the thread of this folder', function()
      return require('rawr').statusline():find('31% left · asap', 1, true)
    end)
    lab.wait('its banner', function()
      return #require('rawr.live').threads.banners == 1
    end)
    vim.cmd.cd(home.path .. '/elsewhere')
    assert.same({}, require('rawr.live').threads.banners)
    assert.equal('', require('rawr').statusline())
    session.stop()
    llm.stop()
  end)
end)

describe('the health check', function()
  local home = lab.home()

  after_each(lab.leave)

  local function report()
    vim.cmd('silent checkhealth rawr')
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  end

  it('reports the state of the installation', function()
    lab.use(home, { color = 'red' })
    local before = report()
    for _, words in ipairs({ 'there is no setting `color`', 'not running now', lab.RAWR .. ': rawr ' }) do
      assert.truthy(before:find(words, 1, true), before)
    end
    lab.use(home)
    lab.write(home.path .. '/rawr.toml', 'nonsense = 1\n')
    vim.cmd.Rawr('start')
    lab.wait('the sidecar', require('rawr.client').client)
    local after = report()
    for _, words in ipairs({ 'are understood', 'running', 'rawr.toml', 'nonsense' }) do
      assert.truthy(after:find(words, 1, true), after)
    end
  end)

  it('suggests a fix for a missing binary', function()
    vim.g.rawr = { cmd = { '/nowhere/rawr', 'serve' } }
    assert.truthy(report():find('failed to run /nowhere/rawr', 1, true))
  end)
end)

describe('the help', function()
  it('has a tag for every documented name', function()
    local doc = vim.fn.tempname()
    lab.write(doc .. '/rawr.txt', lab.read(lab.PLUGIN .. '/doc/rawr.txt'))
    vim.cmd.helptags(doc)
    local tags, text = lab.read(doc .. '/tags'), lab.read(doc .. '/rawr.txt')
    for link in text:gmatch('|([%w%-_:%.%(%)]+)|') do
      local is_ours = link:find('[Rr]awr')
      assert.truthy(
        not is_ours or tags:find('\n' .. link .. '\t', 1, true) or vim.startswith(tags, link .. '\t'),
        link
      )
    end
    for name in pairs(require('rawr.command').COMMANDS) do
      assert.truthy(text:find('\n' .. name .. '[%s,]') or text:find('[%s]' .. name .. '[, ]'), name)
    end
    for event in lab.read(lab.PLUGIN .. '/lua/rawr/live.lua'):gmatch("emit%('(%w+)'") do
      assert.truthy(tags:find('\n' .. event .. '\t', 1, true) or vim.startswith(tags, event .. '\t'), event)
    end
    for line in text:gmatch('[^\n]+') do
      assert.truthy(vim.api.nvim_strwidth(line) <= 79, line)
    end
  end)

  it('and README.md have the mappings that there are', function()
    local help, documented = lab.read(lab.PLUGIN .. '/doc/rawr.txt'), {}
    local texts = help .. lab.read(lab.PLUGIN .. '/README.md')
    for name in texts:gmatch('<Plug>%(rawr%-%a+%)') do
      assert.truthy(vim.fn.maparg(name, 'n') ~= '', name)
    end
    for name in help:gmatch('<Plug>%(rawr%-%a+%)') do
      documented[name] = true
    end
    for _, map in ipairs(vim.api.nvim_get_keymap('n')) do
      assert.truthy(not vim.startswith(map.lhs, '<Plug>(rawr-') or documented[map.lhs], map.lhs)
    end
  end)
end)
