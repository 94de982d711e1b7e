--- The state of threads after notifications.

local names = require('rawr.names')
local status = require('rawr.status')
local threads = require('rawr.threads')

---@param id string
---@param more? table
local function summary(id, more)
  local plain = { threadId = id, cwd = '/w/' .. id, phase = 'idle', updatedAtMs = 1, open = false }
  plain.running = more ~= nil and more.owner ~= nil
  return vim.tbl_extend('force', plain, more or {})
end

---@param id string
---@param more? table
local function changed(id, more)
  return vim.tbl_extend('force', { threadId = id, phase = 'idle', guards = {} }, more or {})
end

---@param stage string
local function heads_up(stage)
  return {
    sequenceId = 's1',
    stage = stage,
    title = 'The title',
    reason = 'r',
    message = 'm',
    boundaries = {},
    choices = {},
  }
end

describe('threads', function()
  local all

  before_each(function()
    all = threads.new()
    threads.put(all, summary('a', { updatedAtMs = 1 }))
    threads.put(all, summary('b', { updatedAtMs = 2, owner = 'codex' }))
  end)

  it('are sorted by last use', function()
    local function order()
      return vim.tbl_map(function(row)
        return row.thread.threadId
      end, threads.sorted(all))
    end
    assert.same({ 'b', 'a' }, order())
    assert.truthy(threads.changed(all, changed('a', { percentRemaining = 50, tier = 'ready' }), 3))
    assert.same({ 'a', 'b' }, order())
    assert.equal(50, all.rows.a.thread.percentRemaining)
    assert.falsy(threads.changed(all, changed('c'), 4))
  end)

  it('have at most one banner each, the last one of the sidecar', function()
    local function told(id, stage)
      threads.changed(all, changed(id, { headsUp = stage and heads_up(stage) }), 5)
    end
    told('a', 'will_compact')
    told('b', 'will_compact')
    told('a', 'awaiting_approval')
    assert.equal(2, #all.banners)
    assert.equal('a', threads.banner(all).thread_id)
    assert.equal('awaiting_approval', threads.banner(all, 'a').heads_up.stage)
    told('a')
    assert.equal('b', threads.banner(all).thread_id)
    assert.is_nil(threads.banner(all, 'a'))
  end)

  it('are removed with their banner', function()
    threads.show(all, 'a', heads_up('will_compact'))
    threads.remove(all, 'a')
    assert.is_nil(all.rows.a)
    assert.is_nil(threads.banner(all, 'a'))
  end)

  it('have a current one: with a banner, or running in the folder, or running', function()
    local function current(folder, only_here)
      local row = threads.current(all, folder, only_here or false)
      return row and row.thread.threadId
    end
    threads.put(all, summary('a', { owner = 'codex' }))
    assert.equal('a', current('/w/a'))
    assert.equal('a', current('/w/a/below'))
    assert.equal('b', current('/w'))
    assert.equal('b', current('/elsewhere'))
    assert.is_nil(current('/elsewhere', true))
    threads.put(all, summary('a', { owner = 'codex' }), '/real')
    assert.equal('a', current('/real'))
    threads.show(all, 'a', heads_up('will_compact'))
    assert.equal('a', current('/elsewhere', true))
  end)

  it('that have ended are not current', function()
    threads.put(all, summary('b'))
    assert.is_nil(threads.current(all, '/w/a', false))
    threads.put(all, summary('a', { runsByHooks = true, running = true }))
    assert.equal('a', threads.current(all, '/w/a', false).thread.threadId)
    threads.put(all, summary('a', { runsByHooks = true, open = true }))
    assert.is_nil(threads.current(all, '/w/a', false))
  end)

  it('that have ended have no banner, also if its end was not told', function()
    threads.put(all, summary('a', { owner = 'codex' }))
    threads.show(all, 'a', heads_up('tagged'))
    threads.put(all, summary('a'))
    assert.is_nil(threads.banner(all, 'a'))
    threads.put(all, summary('b'))
    assert.is_nil(threads.current(all, '/w/a', false))
  end)
end)

describe('a sequence that waited for an approval', function()
  local all

  before_each(function()
    all = threads.new()
    threads.put(
      all,
      summary(
        'a',
        { owner = 'codex', lastFate = { decisionId = 'd0', status = 'dropped', text = 'old', atMs = 0 } }
      )
    )
    threads.changed(all, changed('a', { sequenceId = 's1', headsUp = heads_up('awaiting_approval') }), 1)
  end)

  ---@param more? table
  local function ended(more)
    local fate = { decisionId = 'd1', status = 'dropped', text = 'dropped: no answer came in time', atMs = 0 }
    return threads.expired(all, changed('a', { lastFate = vim.tbl_extend('force', fate, more or {}) }))
  end

  it('expired where no one answered', function()
    assert.equal('dropped: no answer came in time', ended())
    -- The list may have brought the fate before.
    local fate = { decisionId = 'd1', status = 'dropped', text = 'dropped: no answer came in time', atMs = 0 }
    threads.put(all, summary('a', { owner = 'codex', lastFate = fate }))
    assert.equal('dropped: no answer came in time', ended())
  end)

  it('did not where a person answered, where it goes on, and for the fate of another one', function()
    assert.is_nil(ended({ by = 'vscode' }))
    assert.is_nil(ended({ status = 'completed' }))
    assert.is_nil(ended({ decisionId = 'd0' }))
    assert.is_nil(threads.expired(all, changed('a')))
    assert.is_nil(threads.expired(all, changed('a', { sequenceId = 's1' })))
    threads.changed(all, changed('a', { sequenceId = 's1', headsUp = heads_up('will_compact') }), 2)
    assert.is_nil(ended())
  end)
end)

describe('names', function()
  local all

  local function told(id)
    return { names.of(all, all.rows[id].thread), names.handle(all, all.rows[id].thread) }
  end

  before_each(function()
    all = threads.new()
  end)

  -- rule: client.name-of-thread
  it('are titles, else folders, and the end of the id only tells apart', function()
    threads.put(all, summary('id-0001', { cwd = '/w/parser' }))
    assert.same({ 'parser', 'parser' }, told('id-0001'))
    threads.put(all, summary('id-0002', { cwd = '/other/parser' }))
    assert.same({ 'parser #0001', 'parser#0001' }, told('id-0001'))
    threads.put(all, summary('id-0002', { cwd = '/other/parser', title = 'Fix: the "Parser"!\n' }))
    assert.same({ 'parser', 'parser' }, told('id-0001'))
    assert.same({ 'Fix: the "Parser"!', 'fix-the-parser' }, told('id-0002'))
    threads.put(all, summary('id-0003', { cwd = '/', title = ' ' }))
    assert.same({ '/', 'id-0003' }, told('id-0003'))
    threads.put(all, summary('id-0004', { title = ('é'):rep(60) .. '\27' }))
    assert.equal(48, vim.fn.strchars(told('id-0004')[1]))
    assert.equal('unknown', names.of_id(all, 'unknown'))
    threads.changed(all, changed('id-0001', { title = 'Now with a title' }), 2)
    assert.equal('Now with a title', told('id-0001')[1])
    threads.changed(all, changed('id-0001'), 2)
    assert.equal('Now with a title', told('id-0001')[1])
  end)

  it('find their thread, as do ids and unique beginnings', function()
    threads.put(all, summary('id-0001', { cwd = '/w/parser' }))
    threads.put(all, summary('id-0002', { title = 'Fix the parser' }))
    for typed, id in pairs({
      parser = 'id-0001',
      pa = 'id-0001',
      ['fix-the-parser'] = 'id-0002',
      fix = 'id-0002',
      ['id-0002'] = 'id-0002',
    }) do
      assert.equal(id, names.find(all, typed).thread.threadId, typed)
    end
    local row, candidates = names.find(all, 'id-')
    assert.is_nil(row)
    assert.same({ 'fix-the-parser', 'parser' }, vim.fn.sort(candidates))
    assert.same({}, select(2, names.find(all, 'nothing')))
  end)

  it('that differ in punctuation, in case or beyond the cut are told apart', function()
    local long = ('word '):rep(10)
    for one, other in pairs({
      ['Fix the bug!'] = 'fix the bug?',
      [long .. 'first'] = long .. 'second',
      ['A title: ' .. ('- '):rep(20) .. 'a'] = 'A title: ' .. ('- '):rep(20) .. 'b',
    }) do
      all = threads.new()
      threads.put(all, summary('id-0001', { title = one }))
      threads.put(all, summary('id-0002', { title = other }))
      local first, second = told('id-0001'), told('id-0002')
      for at = 1, 2 do
        assert.not_equal(first[at], second[at])
      end
      assert.equal('id-0001', names.find(all, first[2]).thread.threadId)
      assert.equal('id-0002', names.find(all, second[2]).thread.threadId)
    end
  end)

  it('that belong to two threads find neither of them', function()
    threads.put(all, summary('id-0001', { title = 'Fix the bug!' }))
    threads.put(all, summary('id-0002', { title = 'Fix the bug?' }))
    local row, candidates = names.find(all, 'fix-the-bug')
    assert.is_nil(row)
    assert.same({ 'fix-the-bug#0001', 'fix-the-bug#0002' }, vim.fn.sort(candidates))
    -- Ids with the same end: only an id tells which one.
    threads.put(all, summary('other-0001', { title = 'Fix the bug' }))
    row, candidates = names.find(all, 'fix-the-bug#0001')
    assert.is_nil(row)
    assert.same({ 'id-0001', 'other-0001' }, vim.fn.sort(candidates))
    -- The id of another thread.
    threads.put(all, summary('id-0003', { title = 'id-0001' }))
    assert.equal('id-0001', names.find(all, 'id-0001').thread.threadId)
    assert.equal('id-0003', names.find(all, names.handle(all, all.rows['id-0003'].thread)).thread.threadId)
  end)

  it('that belong to two threads make a command list them and do nothing', function()
    local client = require('rawr.client')
    local request, notify, methods, text = client.request, vim.notify, {}, ''
    local both = {
      summary('id-0001', { title = 'Fix the bug!' }),
      summary('id-0002', { title = 'Fix the bug?' }),
    }
    client.request = function(method, _, answer)
      table.insert(methods, method)
      if method == 'rawr/thread/list' then
        answer({ threads = both })
      end
    end
    vim.notify = function(message)
      text = text .. message
    end
    require('rawr.live').lost()
    require('rawr.command').run({ 'cancel', 'fix-the-bug' })
    vim.wait(1000, function()
      return text ~= ''
    end)
    client.request, vim.notify = request, notify
    require('rawr.live').lost()
    assert.same({ 'rawr/thread/list' }, methods)
    for _, words in ipairs({ 'is ambiguous', 'fix-the-bug#0001', 'fix-the-bug#0002' }) do
      assert.truthy(text:find(words, 1, true), text)
    end
  end)
end)

describe('the status line', function()
  local all

  ---@param folder? string
  ---@param only_here? boolean
  local function text(folder, only_here)
    local shown = status.of(all, folder or '/w/a', only_here or false)
    return shown and shown.text or ''
  end

  before_each(function()
    all = threads.new()
  end)

  it('shows percent, tier, phase and guards', function()
    assert.equal('', text())
    threads.put(all, summary('a', { owner = 'codex' }))
    assert.equal('rawr', text())
    threads.changed(all, changed('a', { percentRemaining = 93 }), 2)
    assert.equal('rawr 93% left', text())
    threads.changed(
      all,
      changed('a', { percentRemaining = 31, tier = 'asap', phase = 'awaiting_packet', sequenceId = 's' }),
      2
    )
    assert.equal('rawr 31% left · asap · Writing the packet', text())
    assert.equal('RawrAsap', status.of(all, '/w/a', false).group)
    threads.changed(all, changed('a', { percentRemaining = 31, tier = 'asap', guards = { {} } }), 2)
    assert.equal('rawr 31% left · asap · guarded', text())
    local proposal = { decisionId = 'd1', confirm = 'message', text = 'Compaction proposed (commit); …' }
    threads.changed(
      all,
      changed('a', { percentRemaining = 31, tier = 'asap', phase = 'proposed', proposal = proposal }),
      2
    )
    assert.equal('rawr 31% left · asap · Compaction proposed', text())
    assert.equal(proposal, all.rows.a.thread.proposal)
    assert.is_nil(threads.banner(all, 'a'))
    threads.changed(all, changed('a'), 2)
    assert.is_nil(all.rows.a.thread.proposal)
  end)

  it('shows what is only recommended', function()
    threads.put(all, summary('a', { owner = 'codex' }))
    threads.changed(all, changed('a', { percentRemaining = 31, headsUp = heads_up('recommended') }), 2)
    assert.equal('rawr 31% left · Compaction recommended', text())
  end)

  it('names the thread where it is not the only one here', function()
    threads.put(all, summary('a', { owner = 'codex', percentRemaining = 31 }))
    assert.equal('rawr 31% left', text('/w/a'))
    assert.equal('rawr a 31% left', text('/elsewhere'))
    threads.put(all, summary('a2', { owner = 'codex', cwd = '/w/a/more', updatedAtMs = 0 }))
    assert.equal('rawr a 31% left', text('/w/a'))
  end)

  it('drops a thread that has ended', function()
    threads.put(all, summary('a', { percentRemaining = 31 }))
    assert.equal('', text('/w/a'))
    threads.put(all, summary('a', { percentRemaining = 31, owner = 'codex' }))
    assert.equal('', text('/elsewhere', true))
  end)
end)
