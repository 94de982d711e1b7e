--- A week in fast motion: threads come and end, several ask at once, homes move, sidecars hang and die.

local lab = require('spec.lab')
local live = require('rawr.live')

local WINDOW = 10000
--- Usage at the end of a turn: 45% and 10% of the window are left.
local ASAP, EMERGENCY = WINDOW * 0.55, WINDOW * 0.9

---@class rawr.spec.Host
---@field ask fun(method: string, params: table): any
---@field open fun(thread: string)
---@field ends_a_phase fun(thread: string, tokens: integer)
---@field close fun(thread: string)
---@field kill fun()

--- A program that runs many threads at once: one process that owns them, and reports turns without any agent.
---@param home rawr.spec.Home
---@return rawr.spec.Host
local function start_host(home)
  local before = vim.api.nvim_get_proc_children(vim.uv.os_getpid())
  local rpc = vim.lsp.rpc.start({ lab.RAWR, 'serve' }, {
    notification = function() end,
    on_exit = function() end,
  }, { env = home.env })
  local pid = assert(vim.iter(vim.api.nvim_get_proc_children(vim.uv.os_getpid())):find(function(id)
    return not vim.list_contains(before, id)
  end))
  local host, turns = {}, 0
  function host.ask(method, params)
    local answered, failure, result
    rpc.request(method, params, function(error, found)
      answered, failure, result = true, error, found
    end)
    lab.wait('the answer to ' .. method, function()
      return answered
    end)
    assert(not failure, vim.inspect(failure))
    return result
  end
  function host.open(thread)
    host.ask('rawr/thread/open', {
      threadId = thread,
      cwd = home.work,
      role = 'owner',
      host = { name = 'scripted', capabilities = { injectTurn = true, compact = true } },
      contextWindow = WINDOW,
    })
  end
  function host.ends_a_phase(thread, tokens)
    turns = turns + 1
    local of = { threadId = thread, turnId = 'turn-' .. turns }
    local function with(more)
      return vim.tbl_extend('force', of, more)
    end
    host.ask('rawr/turn/started', with({ origin = 'user', text = 'Task ' .. thread }))
    local signal = { kind = 'command_finished', command = 'git commit -m parser', exitCode = 0 }
    host.ask('rawr/signal/report', with({ signal = signal }))
    local usage = { contextTokens = tokens }
    local ended =
      { status = 'completed', lastAgentMessage = 'The parser is written and committed.', usage = usage }
    host.ask('rawr/turn/completed', with(ended))
  end
  function host.close(thread)
    host.ask('rawr/thread/close', { threadId = thread })
  end
  function host.kill()
    vim.uv.kill(pid, 'sigkill')
    lab.wait('the end of the host', rpc.is_closing)
  end
  host.ask('initialize', { clientInfo = { name = 'host' }, capabilities = vim.empty_dict() })
  return host
end

---@param home rawr.spec.Home
---@param mode string
local function configure(home, mode)
  lab.write(
    home.path .. '/rawr.toml',
    ('[rawr_auto_compaction]\npreset = "spec"\nmode = "%s"\n'):format(mode)
  )
end

---@return string
local function status_line()
  return require('rawr').statusline()
end

local function nothing_runs()
  lab.wait('the end of what runs', function()
    return status_line() == '' and #live.threads.banners == 0
  end)
end

describe('a week', function()
  local home, host

  before_each(function()
    home = lab.home()
    configure(home, 'ask')
    lab.use(home)
    host = start_host(home)
    vim.cmd.Rawr('start')
    lab.wait('the sidecar', require('rawr.client').client)
  end)

  after_each(function()
    host.kill()
    lab.leave()
  end)

  ---@param thread string
  local function asks(thread)
    host.open(thread)
    host.ends_a_phase(thread, ASAP)
    lab.wait('the question of ' .. thread, function()
      return require('rawr.threads').banner(live.threads, thread)
    end)
  end

  ---@param thread string
  ---@return string[]
  local function answers(thread)
    return vim.tbl_map(function(responded)
      return responded.choice
    end, lab.recorded(home, thread, 'responded'))
  end

  ---@return string
  local function float()
    local window = lab.floats()[1]
    local buffer = window and vim.api.nvim_win_get_buf(window)
    return buffer and table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') or ''
  end

  it('of a hundred threads that come and end shows none as running', function()
    configure(home, 'tag')
    for batch = 0, 9 do
      local ids = {}
      for at = 0, 9 do
        table.insert(ids, ('ended-%d'):format(batch * 10 + at))
      end
      vim.iter(ids):each(host.open)
      for _, id in ipairs(ids) do
        host.ends_a_phase(id, EMERGENCY)
      end
      lab.wait('an emergency', function()
        return status_line():find('10% left · emergency', 1, true)
      end)
      vim.iter(ids):each(host.close)
    end
    nothing_runs()
    vim.cmd.Rawr('restart')
    lab.wait('the threads', function()
      return vim.tbl_count(live.threads.rows) >= 32
    end)
    vim.cmd.Rawr()
    lab.wait('all threads', function()
      return vim.tbl_count(live.threads.rows) == 100
    end)
    nothing_runs()
    host.open('runs')
    host.ends_a_phase('runs', ASAP)
    lab.wait('the one that runs', function()
      return status_line():find('rawr 45% left · asap', 1, true)
    end)
    host.close('runs')
    nothing_runs()
  end)

  it('of agents that ask at once gives each its own answer', function()
    asks('alpha')
    lab.wait('its banner', function()
      return float():find('^Task alpha\n')
    end)
    require('rawr.banner').focus()
    asks('beta')
    asks('gamma')
    assert.truthy(float():find('^Task alpha\n'), float())
    vim.api.nvim_feedkeys('x', 'xt', false)
    lab.wait('the answer to alpha', function()
      return #answers('alpha') > 0
    end)
    -- The next one is shown, and not focused.
    lab.wait('the next banner', function()
      return float():find('^Task gamma\n')
    end)
    assert.not_equal(lab.floats()[1], vim.api.nvim_get_current_win())
    -- Where several wait, a command asks which one.
    local select = vim.ui.select
    vim.ui.select = function(rows, _, done)
      done(vim.iter(rows):find(function(row)
        return row.thread.threadId == 'beta'
      end))
    end
    vim.cmd.Rawr('snooze')
    vim.ui.select = select
    lab.wait('the answer to beta', function()
      return #answers('beta') > 0 and #live.threads.banners == 1
    end)
    vim.cmd.Rawr('approve')
    lab.wait('the answer to gamma', function()
      return #answers('gamma') > 0
    end)
    local all = vim.tbl_map(answers, { 'alpha', 'beta', 'gamma' })
    assert.same({ { 'cancel' }, { 'snooze' }, { 'approve' } }, all)
    vim.iter({ 'alpha', 'beta', 'gamma' }):each(host.close)
    nothing_runs()
    lab.wait('no banner', function()
      return #lab.floats() == 0
    end)
  end)

  it('watches a home again that is moved away and made again', function()
    asks('before')
    for _, turn in ipairs({ 'first', 'second' }) do
      host.kill()
      assert(vim.uv.fs_rename(home.path, home.path .. '-' .. turn))
      lab.wait('the end of its threads', function()
        return next(live.threads.rows) == nil
      end)
      nothing_runs()
      vim.fn.mkdir(home.work, 'p')
      configure(home, 'ask')
      host = start_host(home)
      asks(turn)
      lab.wait('its state', function()
        return status_line():find('Waiting for your approval', 1, true)
      end)
      vim.cmd.Rawr({ 'cancel', turn == 'first' and 'task-first' or 'task-second' })
      lab.wait('the answer', function()
        return #answers(turn) > 0 and #live.threads.banners == 0
      end)
      host.close(turn)
      nothing_runs()
    end
  end)

  it('does not show an agent that is killed while it asks', function()
    asks('killed')
    host.kill()
    nothing_runs()
    host = start_host(home)
  end)

  it('ends a sidecar that hangs or dies, and shows the question again', function()
    local client = require('rawr.client')
    local limits = vim.deepcopy(client.LIMITS)
    client.LIMITS.pause, client.LIMITS.answer = 100, 2000
    asks('epsilon')
    for _, signal in ipairs({ 'sigstop', 'sigkill' }) do
      local old = assert(require('rawr.process').id())
      vim.uv.kill(old, signal)
      lab.wait('another sidecar', function()
        local now = require('rawr.process').id()
        return now and now ~= old and client.client()
      end)
      assert.not_equal(0, vim.uv.kill(old, 0))
      lab.wait('the question', function()
        return require('rawr.threads').banner(live.threads, 'epsilon')
      end)
      -- Later it may be restarted again.
      vim.cmd.Rawr('restart')
      lab.wait('the sidecar', client.client)
    end
    client.LIMITS = limits
    lab.wait('the question', function()
      return require('rawr.threads').banner(live.threads, 'epsilon')
    end)
    vim.cmd.Rawr('cancel')
    lab.wait('the answer', function()
      return #answers('epsilon') > 0
    end)
    host.close('epsilon')
    nothing_runs()
  end)
end)
