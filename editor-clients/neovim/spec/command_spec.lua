--- `:Rawr` in this Neovim, with a real sidecar.

local lab = require('spec.lab')
local command = require('rawr.command')

describe('what is typed', function()
  it('may start with a thread', function()
    assert.same({ 't1', { '20m' } }, { command.parse({ 'thread=t1', '20m' }) })
    assert.same({ nil, { 'keep', 'thread=t1' } }, { command.parse({ 'keep', 'thread=t1' }) })
  end)

  it('may contain a duration', function()
    assert.same({ kind = 'turns', turns = 3 }, command.how_long('3'))
    assert.same({ kind = 'turns', turns = 3 }, command.how_long('3t'))
    assert.same({ kind = 'minutes', minutes = 20 }, command.how_long('20m'))
    for _, typed in ipairs({ '', '0', 'm', '3h', '-1', '3mm' }) do
      assert.is_nil(command.how_long(typed), typed)
    end
  end)
end)

describe(':Rawr', function()
  local home, session, llm, thread

  setup(function()
    home, session, llm, thread = lab.at_the_packet()
  end)

  teardown(function()
    lab.leave()
    session.stop()
    llm.stop()
  end)

  it('shows the state of a thread', function()
    vim.cmd.Rawr('status')
    lab.float('31% left · asap', 'Writing the packet', 'thread     ' .. thread)
  end)

  it('gives a status line for every kind of consumer', function()
    local function shown(item)
      return vim.api.nvim_eval_statusline(item, {}).str
    end
    local text = 'rawr 31% left · asap · Writing the packet'
    assert.equal(text, shown("%{v:lua.require'rawr'.statusline()}"))
    assert.equal(text, shown("%{%v:lua.require'rawr'.component()%}"))
    assert.equal(text, shown("%{%v:lua.require'rawr'.colored()%}"))
    local colored = vim.api.nvim_eval_statusline("%{%v:lua.require'rawr'.colored()%}", { highlights = true })
    assert.equal('RawrAsap', colored.highlights[1].group)
    assert.equal('write a parser', require('rawr').status().name)
    assert.equal(thread, require('rawr').threads()[1].threadId)
  end)

  it('completes subcommands, threads and arguments', function()
    local function completed(line)
      return vim.fn.getcompletion(line, 'cmdline')
    end
    local words = completed('Rawr ')
    for _, word in
      ipairs(
        vim.split(
          'status threads explain compact snooze guard pin mark scratch packet prompts log restart',
          ' '
        )
      )
    do
      assert.truthy(vim.list_contains(words, word), word)
    end
    assert.same({ 'scratch', 'snooze', 'start', 'status', 'stop' }, completed('Rawr s'))
    assert.same({ 'write-a-parser' }, completed('Rawr w'))
    assert.same({ 'write-a-parser' }, completed('Rawr explain '))
    assert.same({ '1', '20m', '3', 'thread=write-a-parser' }, completed('Rawr snooze '))
    assert.same({ 'next-commit' }, completed('Rawr guard n'))
    assert.same({ '1', '20m', '3' }, completed('Rawr snooze thread=write-a-parser '))
    assert.same({}, completed('Rawr nothing '))
  end)

  it('sets guards, lists them as the CLI does, and clears them', function()
    lab.told({ 'no compaction until the tests pass' }, function()
      vim.cmd.Rawr({ 'guard', 'tests-pass', 'wait', 'for', 'them' })
    end)
    local set = lab.recorded(home, thread, 'guard_set')
    assert.equal('wait for them', set[#set].note)
    lab.told({ '1 guard cleared.' }, function()
      vim.cmd.Rawr({ 'guard', 'clear' })
    end)
  end)

  it('pins an instruction from an argument or a prompt', function()
    lab.told({ 'Pinned' }, function()
      vim.cmd.Rawr({ 'pin', 'never', 'push' })
    end)
    local input = vim.ui.input
    vim.ui.input = function(_, done)
      done('ask me first')
    end
    lab.told({ 'Pinned' }, function()
      vim.cmd.Rawr('pin')
    end)
    vim.ui.input = input
    local status =
      vim.system({ lab.RAWR, 'pin', thread, '--list' }, { env = home.env, text = true }):wait().stdout
    assert.truthy(status:find('never push', 1, true))
    assert.truthy(status:find('ask me first', 1, true))
  end)

  it('marks the end of a phase from an argument or a prompt', function()
    lab.told({ 'Marked: the parser ends here.' }, function()
      vim.cmd.Rawr({ 'mark', 'the', 'parser' })
    end)
    local input = vim.ui.input
    vim.ui.input = function(_, done)
      done('the tests')
    end
    lab.told({ 'Marked: the tests ends here.' }, function()
      vim.cmd.Rawr('mark')
    end)
    vim.ui.input = input
    local ended = lab.recorded(home, thread, 'phase_ended')
    assert.same({ 'the parser', 'the tests' }, { ended[1].label, ended[2].label })
  end)

  it('refuses unknown input in one line, which needs no key to go on', function()
    for typed, words in pairs({
      ['what'] = { 'no subcommand or thread is called `what`', 'see `:help :Rawr`' },
      ['snooze soon'] = { '20m' },
      ['guard when-it-is-done'] = { 'tests-pass' },
      ['status thread=unknown'] = { 'there is no thread `unknown`' },
    }) do
      local said = lab.told(words, function()
        vim.cmd('Rawr ' .. typed)
      end)
      assert.truthy(vim.api.nvim_strwidth(vim.trim(said)) <= vim.v.echospace, said)
    end
  end)

  it('takes the name, the id or the beginning of the id of a thread', function()
    for _, name in ipairs({ 'write-a-parser', 'wri', thread, thread:sub(1, -3) }) do
      vim.cmd.Rawr(name)
      lab.wait('the thread', function()
        return vim.api.nvim_buf_get_name(0) == 'rawr://threads'
      end)
      assert.truthy(vim.startswith(vim.fn.getline('.'), '▾ write a parser  31% left'), vim.fn.getline('.'))
      vim.cmd.close()
    end
    for _, arguments in ipairs({ { 'status', 'write-a-parser' }, { 'status', 'thread=' .. thread } }) do
      vim.cmd.Rawr(arguments)
      lab.float('thread     ' .. thread)
    end
    lab.told({ 'there is no thread `other`' }, function()
      vim.cmd.Rawr({ 'status', 'other' })
    end)
  end)

  it('opens the notes, and reports if there are none', function()
    lab.told({ 'the agent has written no notes yet' }, function()
      vim.cmd.Rawr('scratch')
    end)
    local path = home.work .. '/' .. session.wait_for('session').scratchFile
    lab.write(path, '# notes\n')
    vim.cmd.Rawr('scratch')
    lab.wait('the notes', function()
      return vim.api.nvim_buf_get_name(0) == path
    end)
    lab.write(path, '# notes\nthe parser is done\n')
    lab.text(0, 'the parser is done')
    vim.cmd.close()
  end)

  it('opens a selected prompt', function()
    local select, seen = vim.ui.select, nil
    vim.ui.select = function(items, options, done)
      seen = vim.tbl_map(options.format_item, items)
      done(vim.iter(items):find(function(prompt)
        return prompt.name == 'handoff'
      end))
    end
    vim.cmd.Rawr('prompts')
    lab.wait('the prompt', function()
      return vim.api.nvim_buf_get_name(0) == home.path .. '/auto-compact/handoff.md'
    end)
    vim.ui.select = select
    assert.equal('markdown', vim.bo.filetype)
    assert.truthy(
      vim.list_contains(seen, 'handoff  shipped') or vim.list_contains(seen, 'handoff  user'),
      vim.inspect(seen)
    )
  end)

  it('answers the banner from a list', function()
    local select, seen = vim.ui.select, nil
    vim.ui.select = function(items, options, done)
      seen = vim.tbl_map(options.format_item, items)
      assert.equal('snooze', items[1].choice)
      done(items[1])
    end
    lab.told({ 'Snoozed: no compaction for 1 turn' }, function()
      vim.cmd.Rawr('choose')
    end)
    vim.ui.select = select
    assert.same({
      'Not now: no compaction for 1 turn, except in an emergency',
      'Skip this one: stops this compaction; nothing is compacted',
      'Edit the packet: opens the packet; nothing is answered yet',
    }, seen)
  end)

  it('asks for the thread if it is ambiguous', function()
    local other, other_llm = lab.committed(home)
    local second = other.thread()
    require('rawr.live').list()
    lab.wait('the second thread', function()
      return vim.tbl_count(require('rawr.live').threads.rows) == 2
    end)
    lab.wait('its title', function()
      return require('rawr.live').name(second):find('write a parser', 1, true)
    end)
    lab.wait('no banner', function()
      return #require('rawr.live').threads.banners == 0
    end)
    local select, seen = vim.ui.select, nil
    vim.ui.select = function(items, options, done)
      seen = vim.tbl_map(options.format_item, items)
      done(nil)
    end
    vim.cmd.Rawr('status')
    lab.wait('the question', function()
      return seen
    end)
    vim.ui.select = select
    assert.equal(2, #seen)
    assert.truthy(
      table.concat(seen, '\n'):find('write a parser #' .. second:sub(-4), 1, true),
      vim.inspect(seen)
    )
    other.stop()
    other_llm.stop()
  end)
end)
