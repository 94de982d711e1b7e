--- The state of threads after notifications.

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

  it('are found by a unique prefix', function()
    threads.put(all, summary('abc'))
    assert.equal('a', threads.find(all, 'a').thread.threadId)
    assert.equal('abc', threads.find(all, 'ab').thread.threadId)
    threads.put(all, summary('abd'))
    local row, candidates = threads.find(all, 'ab')
    assert.is_nil(row)
    assert.same({ 'abc', 'abd' }, candidates)
  end)

  it('have a current one: with a banner, in the folder, or running', function()
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
    threads.show(all, 'a', heads_up('will_compact'))
    assert.equal('a', current('/elsewhere'))
  end)
end)

describe('the status line', function()
  it('shows percent, tier, phase and guards', function()
    local all = threads.new()
    assert.equal('', status.line(all, '/w/a'))
    threads.put(all, summary('a'))
    assert.equal('rawr', status.line(all, '/w/a'))
    threads.changed(all, changed('a', { percentRemaining = 93 }), 2)
    assert.equal('rawr 93% ok', status.line(all, '/w/a'))
    threads.changed(
      all,
      changed('a', { percentRemaining = 31, tier = 'asap', phase = 'awaiting_packet', sequenceId = 's' }),
      2
    )
    assert.equal('rawr 31% asap · Writing the packet', status.line(all, '/w/a'))
    threads.changed(all, changed('a', { percentRemaining = 31, tier = 'asap', guards = { {} } }), 2)
    assert.equal('rawr 31% asap · guarded', status.line(all, '/w/a'))
    local proposal = { decisionId = 'd1', confirm = 'message', text = 'Compaction proposed (commit); …' }
    threads.changed(
      all,
      changed('a', { percentRemaining = 31, tier = 'asap', phase = 'proposed', proposal = proposal }),
      2
    )
    assert.equal('rawr 31% asap · Compaction proposed', status.line(all, '/w/a'))
    assert.equal(proposal, all.rows.a.thread.proposal)
    assert.is_nil(threads.banner(all, 'a'))
    threads.changed(all, changed('a'), 2)
    assert.is_nil(all.rows.a.thread.proposal)
  end)
end)
