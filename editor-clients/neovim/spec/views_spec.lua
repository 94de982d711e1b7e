--- The buffers under `rawr://` in this Neovim, with a real sidecar and a real session.

local lab = require('spec.lab')
local page = require('rawr.page')
local view = require('rawr.view')

describe('a view', function()
  local function lines(...)
    return vim.tbl_map(function(text)
      return {
        text = text,
        fold = vim.startswith(text, ' ') and '1' or '>1',
        decision = vim.trim(text):sub(1, 1),
      }
    end, { ... })
  end

  it('keeps the cursor and the folds when other lines change', function()
    local buffer = vim.api.nvim_create_buf(true, true)
    vim.api.nvim_set_current_buf(buffer)
    view.prepare(buffer, 'rawr-explain')
    view.show(buffer, lines('b', ' b1', ' b2', 'c', ' c1'))
    vim.api.nvim_win_set_cursor(0, { 4, 0 })
    vim.cmd('4foldopen')
    view.show(buffer, lines('a', ' a1', 'b', ' b1', ' b3', 'c', ' c1'))
    assert.same({ 6, 0 }, vim.api.nvim_win_get_cursor(0))
    assert.equal('c', view.under_cursor(buffer).text)
    assert.equal(-1, vim.fn.foldclosed(6))
    assert.same(
      { 'a', ' a1', 'b', ' b1', ' b3', 'c', ' c1' },
      vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
    )
    view.show(buffer, lines('c'))
    assert.same({ 'c' }, vim.api.nvim_buf_get_lines(buffer, 0, -1, false))
    assert.falsy(vim.bo[buffer].modifiable)
    vim.cmd.bwipeout()
  end)
end)

describe('a page', function()
  local row = {
    guards = 0,
    thread = { threadId = 't', cwd = '/w', phase = 'idle', updatedAtMs = 0, percentRemaining = 31 },
  }

  it('has a line for a thread before its details are loaded', function()
    local closed, open = {}, {}
    page.thread(closed, row, 't', false, nil, 0)
    assert.same(
      { '▸ t  31% left · ok' },
      vim.tbl_map(function(line)
        return line.text
      end, closed)
    )
    page.thread(open, row, 't', true, nil, 0)
    assert.equal('  …', open[2].text)
  end)

  it('folds the gates below each decision, latest first', function()
    local lines = {}
    local function decision(id, reason)
      local gates = { { gate = 'boundary', outcome = 'fail', evidence = 'none' } }
      return {
        decisionId = id,
        outcome = 'nothing',
        reason = reason,
        gates = gates,
        wouldFireIf = {},
        atMs = 0,
      }
    end
    page.decisions(lines, { decision('d1', 'one'), decision('d2', 'two') }, 't', 0)
    assert.same(
      { '>1', '1', '>1', '1' },
      vim.tbl_map(function(line)
        return line.fold
      end, lines)
    )
    assert.same(
      { 'd2', 'd2', 'd1', 'd1' },
      vim.tbl_map(function(line)
        return line.decision
      end, lines)
    )
  end)
end)

--- What is above the packet.
---@return string
local function bar()
  return vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true, maxwidth = 200 }).str
end

describe('rawr://', function()
  local home, session, llm, thread

  before_each(function()
    home, session, llm, thread = lab.at_the_packet()
  end)

  after_each(function()
    lab.leave()
    session.stop()
    llm.stop()
  end)

  it('threads follows changes, and its keys respond', function()
    vim.cmd.Rawr()
    assert.equal('rawr://threads', vim.api.nvim_buf_get_name(0))
    local buffer = vim.api.nvim_get_current_buf()
    lab.text(
      buffer,
      '▾ write a parser  31% left',
      'thread     ' .. thread,
      'Writing the packet',
      'folder     ' .. home.work,
      'compaction decided'
    )
    local line = vim.fn.search('compaction decided')
    assert.equal(line, vim.fn.foldclosed(line))
    assert.truthy(vim.fn.foldclosedend(line) > line + 10)
    local function press(keys)
      vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
    end
    press('<CR>')
    assert.equal(-1, vim.fn.foldclosed(line))
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    lab.told({ 'Snoozed' }, function()
      press('s')
    end)
    lab.text(buffer, 'phase      Idle', 'guard      g1')
    lab.told({ '1 guard cleared.' }, function()
      press('gu')
    end)
    press('g?')
    assert.equal(vim.api.nvim_win_text_height(0, {}).all, vim.api.nvim_win_get_height(0))
    lab.float('gf    the thread')
    press('<CR>')
    assert.truthy(vim.startswith(lab.text(buffer), '▸ write a parser'))
    assert.falsy(lab.text(buffer):find('folder', 1, true))
  end)

  it('threads opens the packet, the notes, the folder and the explanation', function()
    lab.write(home.work .. '/' .. session.wait_for('session').scratchFile, '# notes\n')
    for key, name in pairs({
      gp = 'rawr://packet/' .. thread,
      gs = home.work .. '/' .. session.wait_for('session').scratchFile,
      ge = 'rawr://explain/' .. thread,
    }) do
      vim.cmd.Rawr()
      lab.text(0, 'write a parser')
      vim.api.nvim_win_set_cursor(0, { 1, 0 })
      vim.api.nvim_feedkeys(key, 'xt', false)
      lab.wait(name, function()
        return vim.api.nvim_buf_get_name(0) == name
      end)
      vim.cmd('silent! only!')
    end
  end)

  it('explain shows the gates, with the latest decision open', function()
    vim.cmd.Rawr('explain')
    lab.wait('the buffer', function()
      return vim.api.nvim_buf_get_name(0) == 'rawr://explain/' .. thread
    end)
    lab.text(0, 'write a parser\n', '✓ Context pressure 31% left is below 65% (asap)', '✗ Mode')
    lab.wait('the latest decision to be open', function()
      return vim.fn.foldclosed(2) == -1
    end)
    assert.truthy(vim.fn.foldclosed(vim.fn.search('no compaction')) > 0)
  end)

  it('packet starts with a draft, and only the command delivers it', function()
    vim.cmd.Rawr('packet')
    lab.wait('the buffer', function()
      return vim.api.nvim_buf_get_name(0) == 'rawr://packet/' .. thread
    end)
    lab.text(0, '(Built by rawr', 'write a parser')
    assert.falsy(vim.bo.modified)
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'State: working', 'Goal: mine', 'Next: go on' })
    lab.told({ ':RawrHandOver' }, function()
      vim.cmd('wall')
    end)
    -- An undelivered text is not discarded silently.
    assert.truthy(vim.bo.modified)
    lab.told({ 'continues with this packet' }, vim.cmd.RawrHandOver)
    llm.release()
    assert.truthy(bar():find('This packet was handed over', 1, true), bar())
    local handoff = session.wait_for('handoff')
    assert.truthy(handoff.text:find('Goal: mine', 1, true), handoff.text)
    assert.truthy(handoff.text:find('written by the user', 1, true), handoff.text)
  end)

  it('packet says above the text what delivers it, and until when', function()
    vim.cmd.Rawr('packet')
    lab.text(0, '(Built by rawr')
    local hint = ':RawrHandOver hands it over, :w does not · Continues on its own in %d+ %a+%.$'
    local width = vim.api.nvim_win_get_width
    for columns, name in pairs({ [120] = 'write a parser · ', [88] = 'write a par… · ', [86] = '' }) do
      vim.api.nvim_win_get_width = function()
        return columns
      end
      assert.truthy(bar():find('^' .. name .. hint), columns .. ' ' .. bar())
    end
    vim.api.nvim_win_get_width = width
    vim.cmd.edit(home.work .. '/other')
    assert.equal('', vim.wo.winbar)
    vim.cmd.buffer('rawr://packet/' .. thread)
    assert.truthy(vim.wo.winbar ~= '')
  end)

  it('packet may be closed before it came', function()
    vim.cmd.Rawr('packet')
    lab.wait('the buffer', function()
      return vim.api.nvim_buf_get_name(0) == 'rawr://packet/' .. thread
    end)
    local client = require('rawr.client')
    local answered, on_thread = nil, client.on_thread
    client.on_thread = function(about, method, params, answer, failed)
      return on_thread(about, method, params, function(result)
        vim.cmd('silent! bwipeout! rawr://packet/' .. thread)
        local ok, why = pcall(answer, result)
        answered = ok and 'well' or why
      end, failed)
    end
    vim.cmd.edit({ bang = true })
    lab.wait('the answer', function()
      return answered
    end)
    client.on_thread = on_thread
    assert.equal('well', answered)
  end)

  it("packet replaces the draft by the agent's packet", function()
    vim.cmd.Rawr('packet')
    lab.text(0, '(Built by rawr', 'write a parser')
    llm.release()
    assert.falsy(lab.text(0, 'Goal: a parser with docs'):find('(Built by rawr', 1, true))
    assert.falsy(vim.bo.modified)
  end)

  it('packet keeps edits when another packet is written', function()
    local shown
    vim.api.nvim_create_autocmd('User', {
      pattern = 'RawrPacket',
      once = true,
      callback = function(event)
        shown = event.data
      end,
    })
    vim.cmd.Rawr('packet')
    lab.text(0, '(Built by rawr')
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'mine' })
    llm.release()
    lab.wait('the news of the packet', function()
      return shown
    end)
    assert.equal('taken', shown.change)
    session.wait_for('handoff')
    assert.equal('mine', lab.text(0))
    assert.truthy(vim.bo.modified)
    lab.wait('the end of the sequence', function()
      return bar():find('Too late: this compaction is over', 1, true)
    end)
  end)

  it('packet delivered during an approval is also the answer', function()
    lab.write(home.path .. '/rawr.toml', '[rawr_auto_compaction]\npreset = "spec"\nmode = "ask"\n')
    session.stop()
    session, llm = lab.committed(home, ':packet_request]')
    thread = session.thread()
    session.wait_for('thread_changed', function(event)
      return event.phase == 'awaiting_approval'
    end)
    vim.cmd.Rawr('packet')
    lab.text(0, '(Built by rawr', 'write a parser')
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'State: working', 'Goal: mine', 'Next: go on' })
    lab.told({ 'Approved' }, vim.cmd.RawrHandOver)
    local handoff = session.wait_for('handoff')
    assert.truthy(handoff.text:find('Goal: mine', 1, true), handoff.text)
  end)

  it('packet without a waiting sequence is kept, with a message', function()
    lab.told({ 'Canceled' }, function()
      vim.cmd.Rawr('cancel')
    end)
    session.wait_for('thread_changed', function(event)
      return event.phase == 'idle' and not event.sequenceId
    end)
    lab.wait('the end of the sequence in Neovim', function()
      return require('rawr').status().thread.phase == 'idle'
    end)
    vim.cmd.Rawr('packet')
    lab.text(0, '(Built by rawr')
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'mine' })
    lab.told({ 'There is no compaction to answer right now.' }, function()
      pcall(vim.cmd.RawrHandOver)
    end)
    assert.truthy(vim.bo.modified)
    assert.truthy(bar():find('No compaction is pending: this packet cannot be handed over', 1, true), bar())
  end)
end)
