--- The shared fixture of the specs: a temporary home and repository, a real agent session, a real terminal.

local model = require('spec.model')

local M = { model = model }

--- Timeout; only a hang takes this long.
local LIMIT_MS = tonumber(vim.env.RAWR_SPEC_LIMIT_MS) or 60000

--- The binary under test.
M.RAWR = assert(vim.env.RAWR_UNDER_TEST, 'RAWR_UNDER_TEST names no rawr binary')

--- The folder of the plugin.
M.PLUGIN = vim.fs.dirname(vim.fs.dirname(assert(vim.uv.fs_realpath(debug.getinfo(1, 'S').source:sub(2)))))

---@generic T
---@param what string
---@param look fun(): T?
---@return T
function M.wait(what, look)
  local found
  local came = vim.wait(LIMIT_MS, function()
    found = look()
    return found and true or false
  end, 10)
  assert(came, 'did not come: ' .. what)
  return found
end

---@class rawr.spec.Home
---@field path string
---@field work string a repository
---@field env table<string, string>

---@param command string[]
---@param options table
---@return string
local function run(command, options)
  local done = vim.system(command, vim.tbl_extend('force', { text = true }, options)):wait()
  assert(done.code == 0, table.concat(command, ' ') .. ': ' .. (done.stderr or ''))
  return done.stdout
end

--- The environment, without the developer's files. The preset asks no one for a confirmation.
---@return rawr.spec.Home
function M.home()
  local path = vim.fn.tempname()
  local work = path .. '/work'
  vim.fn.mkdir(work, 'p')
  path = assert(vim.uv.fs_realpath(path))
  work = path .. '/work'
  local env = {
    HOME = path,
    RAWR_HOME = path,
    GIT_CONFIG_GLOBAL = '/dev/null',
    GIT_CONFIG_SYSTEM = '/dev/null',
    GIT_AUTHOR_NAME = 'test',
    GIT_AUTHOR_EMAIL = 'test@example.org',
    GIT_COMMITTER_NAME = 'test',
    GIT_COMMITTER_EMAIL = 'test@example.org',
    OPENAI_API_KEY = 'none',
    no_proxy = '127.0.0.1',
    NO_PROXY = '127.0.0.1',
  }
  run({ 'git', 'init', '-q' }, { cwd = work, env = env })
  M.write(path .. '/rawr.toml', '[rawr_auto_compaction]\npreset = "spec"\n')
  return { path = path, work = work, env = env }
end

---@param path string
---@param text string
function M.write(path, text)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local file = assert(io.open(path, 'w'))
  file:write(text)
  file:close()
end

---@param path string
---@return string
function M.read(path)
  local file = assert(io.open(path))
  local text = file:read('*a')
  file:close()
  return text
end

---@class rawr.spec.Session
---@field events table[] what the run printed, oldest first
---@field thread fun(): string known once the first prompt has come
---@field wait_for fun(name: string, test?: fun(event: table): boolean): table
---@field say fun(line: string)
---@field stop fun()
---@field kill fun() as a machine without memory does it, until its sidecar has left the thread, too

--- A real agent session in this home: `rawr exec` with the embedded host, on prompts from its standard input.
---@param home rawr.spec.Home
---@param llm rawr.spec.Model
---@return rawr.spec.Session
function M.session(home, llm)
  local command = { M.RAWR, 'exec', '--host', 'embedded', '--json', '--lines', '--cd', home.work }
  vim.list_extend(command, { '--model', 'scripted-1', '--base-url', llm.url, '--context-window', '32000' })
  local events, rest, errors, ended = {}, '', '', nil
  local process = vim.system(command, {
    env = home.env,
    stdin = true,
    stdout = function(_, chunk)
      rest = rest .. (chunk or '')
      for line in rest:gmatch('([^\n]*)\n') do
        table.insert(events, vim.json.decode(line))
      end
      rest = rest:match('[^\n]*$')
    end,
    stderr = function(_, chunk)
      errors = errors .. (chunk or '')
    end,
  }, function(done)
    ended = done
  end)

  local function wait_for(name, test)
    return M.wait(name .. ' of the session', function()
      local fits = function(event)
        return event.event == name and (not test or test(event))
      end
      return vim.iter(events):find(fits) or (ended and error('the session ended: ' .. errors))
    end)
  end

  return {
    events = events,
    wait_for = wait_for,
    thread = function()
      return wait_for('session').threadId
    end,
    say = function(line)
      process:write(line .. '\n')
    end,
    stop = function()
      process:kill('sigterm')
      process:wait()
    end,
    kill = function()
      process:kill('sigkill')
      process:wait()
      M.wait('a thread that no process runs', function()
        local threads = run({ M.RAWR, 'status', '--json' }, { env = home.env, cwd = home.work })
        return not threads:find('"owner"', 1, true)
      end)
    end,
  }
end

--- A session whose agent has committed, with usage in tier `asap`. Answers to requests that match `held` are delayed.
---@param home rawr.spec.Home
---@param held? string
---@return rawr.spec.Session, rawr.spec.Model
function M.committed(home, held)
  local llm = model.start({
    { '^user: write', { shell = 'git commit -q --allow-empty -m parser', tokens = 20000 } },
    { '^tool:', { text = 'The parser is committed. That is done.', tokens = 22000 } },
  })
  llm.hold(held)
  local session = M.session(home, llm)
  session.say('write a parser')
  return session, llm
end

--- Starts the plugin in this Neovim with this home.
---@param home rawr.spec.Home
---@param more? table
function M.use(home, more)
  vim.g.rawr = vim.tbl_extend('force', { cmd = { M.RAWR, 'serve' }, home = home.path }, more or {})
  vim.cmd.runtime({ 'plugin/rawr.lua', bang = true })
  vim.cmd.runtime({ 'ftdetect/rawr.lua', bang = true })
  vim.cmd.cd(home.work)
  vim.notify = function() end
end

--- Starts that session and the plugin, while the agent writes its packet.
---@return rawr.spec.Home, rawr.spec.Session, rawr.spec.Model, string
function M.at_the_packet()
  local home = M.home()
  local session, llm = M.committed(home, ':packet_request]')
  local thread = session.thread()
  session.wait_for('heads_up')
  M.use(home)
  return home, session, llm, thread
end

--- Resets: no sidecar, one window, one empty buffer.
function M.leave()
  require('rawr.client').stop()
  M.wait('the end of the sidecar', function()
    return #vim.lsp.get_clients({ name = 'rawr', _uninitialized = true }) == 0
  end)
  vim.cmd('silent! tabonly! | silent! only! | enew! | silent! %bwipeout!')
end

--- Collects the notifications while `run` runs, until they contain all of these words.
---@param words string[]
---@param run fun()
---@return string
function M.told(words, run)
  local notify, all = vim.notify, ''
  vim.notify = function(text)
    all = all .. text .. '\n'
  end
  local ok, error = pcall(function()
    run()
    M.wait(table.concat(words, ', ') .. ' in what is told', function()
      return vim.iter(words):all(function(word)
        return all:find(word, 1, true) ~= nil
      end)
    end)
  end)
  vim.notify = notify
  assert(ok, tostring(error) .. '\ntold: ' .. all)
  return all
end

--- The lines of a buffer, once they contain all of these words.
---@param buffer integer
---@param ... string
---@return string
function M.text(buffer, ...)
  local words, text = { ... }, ''
  local ok = pcall(M.wait, 'lines', function()
    text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
    return vim.iter(words):all(function(word)
      return text:find(word, 1, true) ~= nil
    end)
  end)
  assert(ok, vim.inspect(words) .. ' did not come:\n' .. text)
  return text
end

--- The text of the float that has the focus, once it contains all of these words. Closes it.
---@param ... string
---@return string
function M.float(...)
  M.wait('a float', function()
    return vim.api.nvim_win_get_config(0).relative ~= ''
  end)
  local text = M.text(0, ...)
  vim.api.nvim_win_close(0, true)
  return text
end

--- The events of one kind in a thread's log.
---@param home rawr.spec.Home
---@param thread string
---@param kind string
---@return table[]
function M.recorded(home, thread, kind)
  local path = home.path .. '/rawr/auto_compaction/threads/' .. thread .. '/events.jsonl'
  local found = {}
  for line in M.read(path):gmatch('[^\n]+') do
    table.insert(found, vim.json.decode(line).event[kind])
  end
  return found
end

---@class rawr.spec.Terminal
---@field screen fun(): string
---@field wait_for fun(...: string): string
---@field wait_until_gone fun(word: string)
---@field press fun(...: string) keys as tmux names them
---@field type fun(text: string)
---@field stop fun()

--- A Neovim with the plugin in a terminal.
---@param home rawr.spec.Home
---@param arguments? string[]
---@return rawr.spec.Terminal
function M.terminal(home, arguments)
  local socket = home.path .. '/tmux'
  local function tmux(...)
    return run({ 'tmux', '-S', socket, '-f', '/dev/null', ... }, { env = home.env })
  end
  local init = home.path .. '/init.lua'
  local rawr = ('vim.g.rawr = { cmd = %s, home = %q }'):format(vim.inspect({ M.RAWR, 'serve' }), home.path)
  M.write(init, ('vim.opt.runtimepath:prepend(%q)\n%s\nvim.o.swapfile = false\n'):format(M.PLUGIN, rawr))
  local command = { vim.v.progpath, '--clean', '-u', init }
  vim.list_extend(command, arguments or {})
  local env =
    { 'env', '-u', 'NVIM', 'VIMRUNTIME=' .. vim.env.VIMRUNTIME, 'XDG_STATE_HOME=' .. home.path .. '/state' }
  vim.list_extend(
    env,
    { 'XDG_DATA_HOME=' .. home.path .. '/data', 'XDG_CACHE_HOME=' .. home.path .. '/cache' }
  )
  command = vim.list_extend(env, command)
  tmux('new-session', '-d', '-x', '110', '-y', '30', '-c', home.work, '-s', 't', unpack(command))
  local function screen()
    return tmux('capture-pane', '-p', '-t', 't')
  end
  return {
    screen = screen,
    wait_for = function(...)
      local words, text = { ... }, ''
      local came = vim.wait(LIMIT_MS, function()
        text = screen()
        return vim.iter(words):all(function(word)
          return text:find(word, 1, true) ~= nil
        end)
      end, 50)
      assert(came, vim.inspect(words) .. ' did not come:\n' .. text)
      return text
    end,
    wait_until_gone = function(word)
      local came = vim.wait(LIMIT_MS, function()
        return not screen():find(word, 1, true)
      end, 50)
      assert(came, word .. ' stays:\n' .. screen())
    end,
    press = function(...)
      tmux('send-keys', '-t', 't', ...)
    end,
    type = function(text)
      tmux('send-keys', '-t', 't', '-l', text)
    end,
    stop = function()
      tmux('kill-server')
    end,
  }
end

--- The floating windows.
---@return integer[]
function M.floats()
  return vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_config(window).relative ~= ''
  end, vim.api.nvim_list_wins())
end

return M
