--- The banner's float, with synthetic notifications.

local lab = require('spec.lab')
local banner = require('rawr.banner')
local live = require('rawr.live')

--- A change of a thread with a banner with distinct texts; without one if `more` is false.
---@param id string
---@param more? table|false
local function heads_up(id, more)
  local banner = more ~= false
      and vim.tbl_extend('force', {
        sequenceId = 's-' .. id,
        stage = 'awaiting_approval',
        title = 'The title',
        reason = 'a phase ended here (commit)',
        message = 'What happens next.',
        boundaries = { 'commit' },
        percentRemaining = 31,
        tier = 'asap',
        choices = { { choice = 'approve', label = 'Yes' }, { choice = 'snooze', label = 'Later' } },
      }, more or {})
    or nil
  live.note('rawr/thread/changed', {
    threadId = id,
    phase = 'awaiting_approval',
    sequenceId = 's-' .. id,
    guards = {},
    headsUp = banner,
  })
end

---@return string
local function text()
  local float = lab.floats()[1]
  assert.truthy(float, 'there is no float')
  local buffer = vim.api.nvim_win_get_buf(float)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end

describe('the banner', function()
  local requests, request

  before_each(function()
    vim.g.rawr = { cmd = { '/nowhere/rawr' } }
    vim.notify = function() end
    live.lost()
    banner.enable()
    requests = {}
    local client = require('rawr.client')
    request = client.request
    client.request = function(method, params, answer)
      table.insert(requests, { method = method, params = params })
      if method == 'rawr/sequence/respond' then
        answer({ phase = 'idle' })
      end
    end
  end)

  after_each(function()
    require('rawr.client').request = request
    live.lost()
    vim.g.rawr = nil
    vim.cmd('silent! tabonly! | silent! only!')
  end)

  local function press(key)
    banner.focus()
    vim.api.nvim_feedkeys(key, 'xt', false)
  end

  it('shows the newest of several and their number, and does not move the cursor', function()
    local before = vim.api.nvim_get_current_win()
    heads_up('one')
    heads_up('two')
    assert.equal(1, #lab.floats())
    assert.truthy(text():find('^two\n'))
    assert.truthy(text():find('And 1 more', 1, true))
    assert.equal(before, vim.api.nvim_get_current_win())
    heads_up('two', false)
    assert.truthy(text():find('^one\n'))
    heads_up('one', false)
    assert.same({}, lab.floats())
  end)

  ---@return table[]
  local function answers()
    local sent = vim.tbl_filter(function(one)
      return one.method == 'rawr/sequence/respond'
    end, requests)
    return vim.tbl_map(function(one)
      return one.params
    end, sent)
  end

  -- rule: client.answer-what-is-shown
  it('does not change under the fingers: a key answers what it shows', function()
    for _, key in ipairs({ 'a', 's' }) do
      requests = {}
      heads_up('one')
      banner.focus()
      heads_up('two')
      assert.truthy(text():find('^one\n'), text())
      assert.truthy(text():find('And 1 more', 1, true), text())
      heads_up('three')
      vim.api.nvim_feedkeys(key, 'xt', false)
      local sent = answers()
      assert.equal(1, #sent)
      assert.same({ 'one', 's-one' }, { sent[1].threadId, sent[1].sequenceId })
      -- The answer ends it. The next one is not focused.
      heads_up('one', false)
      assert.truthy(text():find('^three\n'), text())
      assert.not_equal(lab.floats()[1], vim.api.nvim_get_current_win())
      heads_up('two', false)
      heads_up('three', false)
    end
  end)

  it('that has ended under the cursor takes no answer, and shows no other one', function()
    heads_up('first')
    banner.focus()
    heads_up('second')
    heads_up('first', false)
    assert.truthy(text():find('^first\n'), text())
    assert.truthy(text():find('This compaction is over', 1, true), text())
    for _, key in ipairs({ 'a', 's', 'x', 'p' }) do
      vim.api.nvim_feedkeys(key, 'xt', false)
    end
    assert.same({}, answers())
    vim.api.nvim_feedkeys('q', 'xt', false)
    assert.truthy(text():find('^second\n'), text())
    assert.not_equal(lab.floats()[1], vim.api.nvim_get_current_win())
    -- The next sequence of a thread is another one, too.
    banner.focus()
    heads_up('second', { sequenceId = 'later' })
    assert.truthy(text():find('This compaction is over', 1, true), text())
    vim.cmd.wincmd('p')
    lab.wait('the next one', function()
      return text():find('What happens next', 1, true)
    end)
  end)

  it('is only changed by the sidecar, not by an answer or a decision', function()
    heads_up('one')
    live.note('rawr/sequence/responded', { threadId = 'one', choice = 'cancel', by = 'vscode' })
    live.note('rawr/decision/recorded', { threadId = 'one' })
    assert.truthy(text():find('What happens next.', 1, true))
    heads_up('one', { title = 'Another', message = 'Then this.', choices = {} })
    assert.truthy(text():find('Then this.', 1, true))
    assert.falsy(text():find('Later', 1, true))
  end)

  it('only offers the available choices', function()
    heads_up('one')
    assert.truthy(text():find('a Yes · s Later · e Explain · q Hide', 1, true), text())
    press('x')
    press('c')
    assert.same(
      {},
      vim.tbl_filter(function(one)
        return one.method == 'rawr/sequence/respond'
      end, requests)
    )
    press('a')
    local last = requests[#requests]
    assert.equal('rawr/sequence/respond', last.method)
    assert.same({ threadId = 'one', sequenceId = 's-one', choice = 'approve' }, last.params)
  end)

  it('does not show a proposal, which takes an answer all the same', function()
    local threads = require('rawr.threads')
    local command = require('rawr.command')
    threads.put(live.threads, { threadId = 'one', cwd = '/w', phase = 'idle', updatedAtMs = 1, open = true })
    local proposal = { decisionId = 'd1', confirm = 'message', text = 'Compaction proposed' }
    live.note(
      'rawr/thread/changed',
      { threadId = 'one', phase = 'proposed', guards = {}, proposal = proposal }
    )
    assert.same({}, lab.floats())
    command.run({ 'compact', 'thread=one' })
    command.run({ 'snooze', 'thread=one', '2' })
    local answers = vim.tbl_map(
      function(one)
        return one.params
      end,
      vim.tbl_filter(function(one)
        return one.method == 'rawr/sequence/respond'
      end, requests)
    )
    assert.same({
      { threadId = 'one', choice = 'compact_now' },
      { threadId = 'one', choice = 'snooze', turns = 2 },
    }, answers)
  end)

  it('can be hidden without an answer and shown again', function()
    heads_up('one')
    press('q')
    assert.same({}, lab.floats())
    live.note('rawr/decision/recorded', { threadId = 'other' })
    assert.same({}, lab.floats())
    banner.focus()
    assert.equal(lab.floats()[1], vim.api.nvim_get_current_win())
    vim.cmd.wincmd('p')
  end)

  it('gives way to the packet of its thread, which has the deadline', function()
    local summary = { threadId = 'one', cwd = '/w/one', phase = 'idle', updatedAtMs = 1, open = true }
    require('rawr.threads').put(live.threads, summary)
    heads_up('two', { choices = {} })
    heads_up('one', { choices = { { choice = 'edit_packet', label = 'Edit' } } })
    press('p')
    assert.equal('rawr://packet/one', vim.api.nvim_buf_get_name(0))
    live.note('rawr/decision/recorded', { threadId = 'other' })
    assert.truthy(vim.startswith(text(), 'two\n'), text())
    require('rawr.packet').open(summary)
    assert.truthy(vim.startswith(text(), 'two\n'), text())
    heads_up('two', false)
    assert.same({}, lab.floats())
    -- The banner comes back where it is asked for.
    banner.focus()
    assert.truthy(vim.startswith(text(), 'one\n'), text())
    vim.cmd('silent! only! | silent! %bwipeout!')
  end)

  it('moves to another tab page, and fits a smaller Neovim', function()
    heads_up('one')
    vim.cmd.tabnew()
    assert.equal(vim.api.nvim_get_current_tabpage(), vim.api.nvim_win_get_tabpage(lab.floats()[1]))
    assert.equal(1, #lab.floats())
    local columns = vim.o.columns
    vim.o.columns = 40
    vim.api.nvim_exec_autocmds('VimResized', {})
    assert.truthy(vim.api.nvim_win_get_width(lab.floats()[1]) <= 38)
    vim.o.columns = columns
  end)

  it('shows the remaining time until the deadline', function()
    heads_up('one', { deadlineAtMs = live.now() + 60500, deadlineLabel = 'Gone in' })
    assert.truthy(text():find('Gone in 60 s', 1, true), text())
    heads_up('one')
    assert.falsy(text():find('Gone in', 1, true))
  end)

  it('can be closed like any window, and comes back with the next change', function()
    heads_up('one')
    vim.api.nvim_win_close(lab.floats()[1], true)
    live.note('rawr/decision/recorded', { threadId = 'other' })
    assert.equal(1, #lab.floats())
  end)

  it('is shown once with vim.notify or not at all, by the setting', function()
    vim.g.rawr = { heads_up = 'notify' }
    local told = {}
    vim.notify = function(message)
      table.insert(told, message)
    end
    heads_up('one')
    live.note('rawr/decision/recorded', { threadId = 'other' })
    assert.equal(1, #told)
    assert.truthy(told[1]:find('The title %(one%)'))
    vim.g.rawr = { heads_up = 'off' }
    heads_up('two')
    assert.equal(1, #told)
    assert.same({}, lab.floats())
  end)

  it('has the name of its thread', function()
    local threads = require('rawr.threads')
    threads.put(
      live.threads,
      { threadId = 'named', cwd = '/w/parser', phase = 'idle', updatedAtMs = 1, open = true }
    )
    heads_up('named')
    assert.truthy(vim.startswith(text(), 'parser\n'), text())
  end)

  it('does not open for what is only said, until that is asked for', function()
    local echoed = {}
    local echo = vim.api.nvim_echo
    vim.api.nvim_echo = function(chunks)
      table.insert(echoed, chunks[1][1])
    end
    heads_up('one', { stage = 'tagged', title = 'Would compact here' })
    assert.same({}, lab.floats())
    assert.same({}, echoed)
    heads_up('two', { stage = 'recommended', title = 'Compaction recommended' })
    live.note('rawr/decision/recorded', { threadId = 'other' })
    vim.api.nvim_echo = echo
    assert.same({}, lab.floats())
    assert.same({ 'rawr: two: Compaction recommended: `:Rawr banner`' }, echoed)
    press('a')
    assert.equal('two', requests[#requests].params.threadId)
  end)

  it('has highlighted keys, and groups of its own', function()
    heads_up('one')
    local buffer = vim.api.nvim_win_get_buf(lab.floats()[1])
    local keys = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, -1, 0, -1, { details = true })) do
      assert.equal('RawrKey', mark[4].hl_group)
      local line = vim.api.nvim_buf_get_lines(buffer, mark[2], mark[2] + 1, false)[1]
      table.insert(keys, line:sub(mark[3] + 1, mark[4].end_col))
    end
    assert.same({ 'a', 's', 'e', 'q' }, keys)
    assert.truthy(vim.wo[lab.floats()[1]].winhighlight:find('FloatBorder:RawrBannerBorder', 1, true))
    for _, group in ipairs({ 'RawrBanner', 'RawrBannerBorder', 'RawrBannerTitle', 'RawrKey', 'RawrAsap' }) do
      assert.truthy(vim.api.nvim_get_hl(0, { name = group }).link, group)
    end
  end)

  it('is where and as the settings say', function()
    vim.g.rawr = { banner = { anchor = 'SW', border = 'double', width = 20 } }
    heads_up('one')
    local layout = vim.api.nvim_win_get_config(lab.floats()[1])
    assert.equal('SW', layout.anchor)
    assert.equal('╔', layout.border[1])
    assert.truthy(text():find('a phase ended here\n(commit)', 1, true), text())
    assert.truthy(layout.row < vim.o.lines)
  end)

  if vim.fn.exists('&winborder') == 1 then
    it("has the border of 'winborder' where that is set", function()
      vim.o.winborder = 'single'
      heads_up('one')
      assert.equal('┌', vim.api.nvim_win_get_config(lab.floats()[1]).border[1])
      vim.o.winborder = ''
    end)
  end

  it('shrinks to one line after a while, unless it has the focus', function()
    vim.g.rawr = { banner = { timeout = 1 } }
    local echoed
    local echo = vim.api.nvim_echo
    vim.api.nvim_echo = function(chunks)
      echoed = chunks[1][1]
    end
    heads_up('one')
    lab.wait('the line', function()
      return echoed
    end)
    vim.api.nvim_echo = echo
    assert.equal('rawr: one: The title: `:Rawr banner`', echoed)
    assert.same({}, lab.floats())
    banner.focus()
    vim.wait(2500)
    assert.equal(1, #lab.floats())
    vim.cmd.wincmd('p')
  end)

  describe('of a long name, at 80 columns', function()
    local columns, echo, notify, shown

    before_each(function()
      columns, echo, notify, shown = vim.o.columns, vim.api.nvim_echo, vim.notify, {}
      vim.o.columns = 80
      vim.api.nvim_echo = function(chunks)
        table.insert(shown, chunks[1][1])
      end
      vim.notify = function(message)
        table.insert(shown, message)
      end
      for _, id in ipairs({ 'id-0001', 'id-0002' }) do
        local title = 'Führe die Änderung am Parser für 漢字 zu Ende und prüfe alles'
        local thread =
          { threadId = id, cwd = '/w', title = title, phase = 'idle', updatedAtMs = 1, open = true }
        require('rawr.threads').put(live.threads, thread)
      end
    end)

    after_each(function()
      vim.o.columns, vim.api.nvim_echo, vim.notify = columns, echo, notify
    end)

    --- A longer line waits for a key.
    ---@return string
    local function line()
      lab.wait('the line', function()
        return #shown > 0
      end)
      assert.equal(1, #shown)
      assert.falsy(shown[1]:find('\n'), shown[1])
      assert.truthy(vim.fn.strdisplaywidth(shown[1]) <= vim.v.echospace, shown[1])
      return shown[1]
    end

    it('echoes one line with the title and the command', function()
      heads_up('id-0001', { stage = 'recommended', title = 'Compaction recommended' })
      local text = line()
      assert.truthy(vim.endswith(text, '…: Compaction recommended: `:Rawr banner`'), text)
      assert.truthy(vim.startswith(text, 'rawr: Führe'), text)
    end)

    it('echoes one line with the command for a long title', function()
      heads_up('id-0001', { stage = 'recommended', title = ('漢字'):rep(40) })
      assert.truthy(vim.endswith(line(), '…: `:Rawr banner`'), shown[1])
    end)

    it('shrinks to one line', function()
      vim.g.rawr = { banner = { timeout = 1 } }
      heads_up('id-0001', { title = 'Waiting for approval' })
      assert.truthy(vim.endswith(line(), '…: Waiting for approval: `:Rawr banner`'), shown[1])
    end)

    it('shows an answer at another client in one line', function()
      live.note('rawr/sequence/responded', { threadId = 'id-0001', choice = 'cancel', by = 'vscode' })
      assert.truthy(line():find('answered by vscode: ', 1, true), shown[1])
    end)

    it('shows an approval that no one gave in one line', function()
      heads_up('id-0001')
      local fate =
        { decisionId = 'd1', status = 'dropped', text = 'dropped: no answer came in time', atMs = 0 }
      live.note('rawr/thread/changed', { threadId = 'id-0001', phase = 'idle', guards = {}, lastFate = fate })
      assert.truthy(vim.endswith(line(), '…: compaction dropped: no answer came in time'), shown[1])
    end)

    it('shows a compaction in one line', function()
      live.note(
        'rawr/compaction/update',
        { threadId = 'id-0001', status = 'completed', tokensBefore = 5494, tokensAfter = 538 }
      )
      assert.truthy(vim.endswith(line(), 'context compacted: 5,494 → 538 tokens'), shown[1])
    end)

    it('shows a compaction that failed in one line', function()
      local why = ('the model refused the request\n'):rep(9)
      live.note('rawr/compaction/update', { threadId = 'id-0001', status = 'failed', error = why })
      assert.truthy(vim.endswith(line(), '…: `:Rawr explain`'), shown[1])
      assert.truthy(shown[1]:find('…: the compaction failed: the ', 1, true), shown[1])
    end)

    it('shows a binary that is missing in one line', function()
      vim.g.rawr = { cmd = { '/nowhere/' .. ('folder/'):rep(20) .. 'rawr' } }
      require('rawr.client').start()
      assert.truthy(vim.endswith(line(), '…: see `:checkhealth rawr`'), shown[1])
    end)
  end)

  it('has mappings that answer without it', function()
    lab.use(lab.home())
    require('rawr.threads').put(
      live.threads,
      { threadId = 'one', cwd = '/w', phase = 'idle', updatedAtMs = 1, open = true }
    )
    heads_up('one')
    for name, choice in pairs({ approve = 'approve', snooze = 'snooze', cancel = 'cancel' }) do
      vim.api.nvim_feedkeys(vim.keycode(('<Plug>(rawr-%s)'):format(name)), 'xt', false)
      assert.equal(choice, requests[#requests].params.choice)
    end
    for name, buffer in pairs({ packet = 'rawr://packet/one', explain = 'rawr://explain/one' }) do
      vim.api.nvim_feedkeys(vim.keycode(('<Plug>(rawr-%s)'):format(name)), 'xt', false)
      assert.equal(buffer, vim.api.nvim_buf_get_name(0))
    end
    vim.cmd('silent! only! | silent! %bwipeout!')
  end)

  it('sanitizes untrusted texts', function()
    heads_up('strange', { reason = 'a\27]0;x\7b\n\u{202e}c' })
    assert.falsy(text():find('[\27\7]'))
    assert.falsy(text():find('\u{202e}', 1, true))
  end)
end)

describe('an older Neovim', function()
  it('is told the required version once, and has no command', function()
    local command = { vim.v.progpath, '--clean', '--headless', '-i', 'NONE' }
    vim.list_extend(
      command,
      { '--cmd', 'lua vim.fn.has = function() return 0 end', '--cmd', 'set rtp^=' .. lab.PLUGIN }
    )
    vim.list_extend(
      command,
      { '-c', 'lua io.stderr:write("command: " .. vim.fn.exists(":Rawr"))', '-c', 'qall!' }
    )
    local said = vim.system(command, { text = true }):wait().stderr
    assert.equal(1, select(2, said:gsub('rawr needs Neovim 0.10 or newer', '')), said)
    assert.truthy(said:find('command: 0', 1, true), said)
  end)
end)
