--- A user at a real Neovim, with a real agent session in another process of the same home.

local lab = require('spec.lab')

--- Shows the `User` events so far and the status line.
local WATCHER = [[
  local heard = {}
  vim.api.nvim_create_autocmd('User', { pattern = 'Rawr*', callback = function(event)
    heard[event.match] = true
    vim.o.tabline = table.concat(vim.fn.sort(vim.tbl_keys(heard)), ' ')
  end })
  vim.o.showtabline = 2
  vim.o.laststatus = 2
  vim.o.statusline = "[%{v:lua.require'rawr'.statusline()}]"
]]

describe('the banner on the screen', function()
  local home, llm, session, terminal

  before_each(function()
    home = lab.home()
    lab.write(home.path .. '/watcher.lua', WATCHER)
  end)

  after_each(function()
    terminal.stop()
    session.stop()
    llm.stop()
  end)

  ---@param status? string
  local function open_editor(status)
    terminal = lab.terminal(home, { '-c', 'luafile ' .. home.path .. '/watcher.lua' })
    terminal.type(':Rawr start\n')
    terminal.wait_for(status or '[rawr')
  end

  it('snoozes by a key, which is recorded as an event of this client', function()
    lab.write(home.path .. '/rawr.toml', '[rawr_auto_compaction]\npreset = "spec"\nmode = "ask"\n')
    session, llm = lab.committed(home, '^user: write')
    local thread = session.thread()
    open_editor()
    llm.release()
    terminal.wait_for(
      'rawr: Waiting for your approval',
      'a phase ended here (commit',
      '31% left · asap · commit'
    )
    terminal.wait_for('s Not now', '[rawr 31% left · asap · Waiting for your approval]')
    assert.equal(0, #lab.recorded(home, thread, 'responded'))
    terminal.press('C-w', 'w')
    terminal.press('s')
    terminal.wait_for('Snoozed: no compaction for 1 turn')
    terminal.wait_until_gone('rawr: Waiting for your approval')
    terminal.wait_for('[rawr 31% left · asap · guarded]')
    local responded = lab.recorded(home, thread, 'responded')
    assert.equal(1, #responded)
    assert.equal('snooze', responded[1].choice)
    assert.equal('Neovim', responded[1].by)
    terminal.wait_for('RawrReady', 'RawrHeadsUp', 'RawrDecided', 'RawrChanged')
  end)

  it('never takes the focus', function()
    session, llm = lab.committed(home, ':packet_request]')
    session.thread()
    open_editor()
    terminal.press('i')
    terminal.wait_for('Compacting soon')
    terminal.type('still here')
    assert.truthy(terminal.wait_for('still here'):find('\nstill here', 1, true))
    llm.release()
    terminal.wait_until_gone('rawr: Compacting soon')
  end)

  it('is shown for a sequence that started earlier, until its end', function()
    session, llm = lab.committed(home, ':packet_request]')
    session.wait_for('heads_up')
    open_editor()
    terminal.wait_for(
      'rawr: Compacting soon',
      'The agent writes a packet',
      'Continues on its own in',
      '[rawr 31% left · asap · Writing the packet]'
    )
    llm.release()
    session.wait_for('handoff')
    terminal.wait_until_gone('rawr: Compacting soon')
    terminal.wait_for('[rawr 97% left]', 'write a parser: context compacted: 9,010 → ')
    terminal.wait_for(
      'RawrReady',
      'RawrHeadsUp',
      'RawrChanged',
      'RawrCompacting',
      'RawrCompacted',
      'RawrHandoff'
    )
  end)

  it('is not shown for a sequence whose agent was killed', function()
    session, llm = lab.committed(home, ':packet_request]')
    session.wait_for('heads_up')
    session.kill()
    open_editor('[]')
    terminal.type(':Rawr choose\n')
    terminal.wait_for('write a parser: no compaction is pending')
    terminal.type('q\n')
  end)

  it('closes when another client answers, and names that client', function()
    lab.write(home.path .. '/rawr.toml', '[rawr_auto_compaction]\npreset = "spec"\nmode = "ask"\n')
    session, llm = lab.committed(home)
    local thread = session.thread()
    session.wait_for('heads_up')
    open_editor()
    terminal.wait_for('rawr: Waiting for your approval')
    vim.system({ lab.RAWR, 'compact', thread, '--cancel' }, { env = home.env, cwd = home.work }):wait()
    terminal.wait_for('answered by rawr compact: Skip this one')
    terminal.wait_until_gone('rawr: Waiting for your approval')
  end)
end)
