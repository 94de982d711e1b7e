--- What is known of threads, as news come in.

local status = require('rawr.status')
local threads = require('rawr.threads')

---@param id string
---@param more? table
local function summary(id, more)
  local plain = { threadId = id, cwd = '/w/' .. id, phase = 'idle', updatedAtMs = 1, open = false }
  return vim.tbl_extend('force', plain, more or {})
end

---@param id string
---@param more? table
local function changed(id, more)
  return vim.tbl_extend('force', { threadId = id, phase = 'idle', guards = {} }, more or {})
end

---@param id string
---@param stage string
local function heads_up(id, stage)
  return {
    threadId = id,
    sequenceId = 's1',
    stage = stage,
    reason = 'r',
    boundaries = {},
    choices = {},
    deadlineAtMs = 9,
  }
end

describe('threads', function()
  local all

  before_each(function()
    all = threads.new()
    threads.put(all, summary('a', { updatedAtMs = 1 }))
    threads.put(all, summary('b', { updatedAtMs = 2, owner = 'codex' }))
  end)

  it('are sorted by what happened last', function()
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

  it('keep one banner each, until it is answered', function()
    threads.heads_up(all, heads_up('a', 'will_compact'))
    threads.heads_up(all, heads_up('a', 'awaiting_approval'))
    threads.heads_up(all, heads_up('b', 'will_compact'))
    assert.equal(2, #all.banners)
    assert.equal('b', threads.banner(all).heads_up.threadId)
    assert.equal('awaiting_approval', threads.banner(all, 'a').heads_up.stage)
    threads.answered(all, 'b')
    assert.equal('a', threads.banner(all).heads_up.threadId)
    assert.is_nil(threads.banner(all, 'b'))
  end)

  it('lose a banner when it says nothing true any more', function()
    for _, case in ipairs({
      { 'will_compact', { phase = 'compacting', sequenceId = 's1' }, true },
      { 'will_compact', { phase = 'idle' }, false },
      { 'awaiting_approval', { phase = 'awaiting_approval', sequenceId = 's1' }, true },
      { 'awaiting_approval', { phase = 'awaiting_packet', sequenceId = 's1' }, false },
      { 'deferred', { phase = 'deferred' }, true },
      { 'deferred', { phase = 'idle' }, false },
      { 'recommended', { phase = 'idle' }, true },
    }) do
      threads.heads_up(all, heads_up('a', case[1]))
      threads.changed(all, changed('a', case[2]), 5)
      assert.equal(case[3], threads.banner(all, 'a') ~= nil, vim.inspect(case))
      threads.answered(all, 'a')
    end
  end)

  it('forget a deadline with the phase that it was of', function()
    threads.heads_up(all, heads_up('a', 'will_compact'))
    threads.changed(all, changed('a', { phase = 'awaiting_packet', sequenceId = 's1' }), 5)
    assert.equal(9, threads.banner(all, 'a').heads_up.deadlineAtMs)
    threads.changed(all, changed('a', { phase = 'compacting', sequenceId = 's1' }), 6)
    assert.is_nil(threads.banner(all, 'a').heads_up.deadlineAtMs)
  end)

  it('keep what was only said until there is something else to say', function()
    threads.heads_up(all, heads_up('a', 'tagged'))
    threads.decided(all, 'a')
    assert.truthy(threads.banner(all, 'a'))
    threads.decided(all, 'a')
    assert.is_nil(threads.banner(all, 'a'))
  end)

  it('are found by the beginning of a name, where it is of one only', function()
    threads.put(all, summary('abc'))
    assert.equal('a', threads.find(all, 'a').thread.threadId)
    assert.equal('abc', threads.find(all, 'ab').thread.threadId)
    threads.put(all, summary('abd'))
    local row, candidates = threads.find(all, 'ab')
    assert.is_nil(row)
    assert.same({ 'abc', 'abd' }, candidates)
  end)

  it('have a current one: of the banner, of the folder, or that somebody runs', function()
    local function current(folder)
      local row = threads.current(all, folder)
      return row and row.thread.threadId
    end
    assert.equal('a', current('/w/a'))
    assert.equal('a', current('/w/a/below'))
    assert.equal('b', current('/w'))
    assert.equal('b', current('/elsewhere'))
    threads.put(all, summary('a'), '/real')
    assert.equal('a', current('/real'))
    threads.heads_up(all, heads_up('a', 'will_compact'))
    assert.equal('a', current('/elsewhere'))
  end)
end)

describe('the status line', function()
  it('follows percent, tier, phase and guards', function()
    local all = threads.new()
    assert.equal('', status.line(all, '/w/a'))
    threads.put(all, summary('a'))
    assert.equal('rawr', status.line(all, '/w/a'))
    threads.changed(all, changed('a', { percentRemaining = 93 }), 2)
    assert.equal('rawr 93% calm', status.line(all, '/w/a'))
    threads.changed(
      all,
      changed('a', { percentRemaining = 31, tier = 'asap', phase = 'awaiting_packet', sequenceId = 's' }),
      2
    )
    assert.equal('rawr 31% asap · packet', status.line(all, '/w/a'))
    threads.changed(all, changed('a', { percentRemaining = 31, tier = 'asap', guards = { {} } }), 2)
    assert.equal('rawr 31% asap · guarded', status.line(all, '/w/a'))
  end)
end)
