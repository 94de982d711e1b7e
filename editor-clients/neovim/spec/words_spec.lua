--- The texts.

local words = require('rawr.words')

---@param more? table
local function heads_up(more)
  return vim.tbl_extend('force', {
    sequenceId = 's1',
    stage = 'will_compact',
    tier = 'asap',
    percentRemaining = 31,
    reason = 'a phase ended here (commit)',
    boundaries = { 'commit', 'agent_done' },
    title = 'The title',
    message = 'What happens next.',
    choices = { { choice = 'snooze', label = 'Later' } },
  }, more or {})
end

describe('words', function()
  it('shows the reason and the message of a banner', function()
    assert.same({
      'a phase ended here (commit)',
      '31% left · asap · commit · agent done',
      'What happens next.',
    }, words.banner(heads_up(), 60))
  end)

  it('omits unknown facts', function()
    local lines = words.banner({ reason = 'r', message = 'm', boundaries = {} }, 60)
    assert.same({ 'r', 'm' }, lines)
    assert.equal('usage unknown', words.pressure(nil, nil))
    assert.equal('99% left · ok', words.pressure(99, nil))
  end)

  it('removes control characters', function()
    assert.equal('a\u{fffd}[2Jb c', words.one_line('a\27[2Jb\r\n\tc'))
    assert.equal('a\u{fffd}b\u{fffd}c\u{fffd}dé', words.one_line('a\u{9b}b\u{202e}c\u{2066}dé'))
    assert.same({ 'a\u{fffd}b', 'c' }, words.wrapped('a\1b\nc', 10))
  end)

  it('shows what happens without an answer', function()
    assert.is_nil(words.deadline(heads_up(), 0))
    local soon = heads_up({ deadlineAtMs = 90000, deadlineLabel = 'Goes on in' })
    assert.equal('Goes on in 90 s.', words.deadline(soon, 0))
    local later = heads_up({ deadlineAtMs = 600000, deadlineLabel = 'Gone in' })
    assert.equal('Gone in 10 min.', words.deadline(later, 0))
  end)

  it('wraps lines between words by display width', function()
    assert.same({ 'one two', 'three' }, words.wrapped('one two three', 7))
    assert.same({ '你好', '你好' }, words.wrapped('你好 你好', 5))
  end)

  it('formats numbers and ages', function()
    assert.same({ '7', '1,234', '1,234,567' }, vim.tbl_map(words.number, { 7, 1234, 1234567 }))
    local told = vim.tbl_map(function(seconds)
      return words.ago(0, seconds * 1000)
    end, { -5, 9, 59, 125, 7200, 172800 })
    assert.same({ 'just now', 'just now', '59 s ago', '2 min ago', '2 h ago', '2 days ago' }, told)
  end)

  it('shows the end of a guard', function()
    assert.equal('for 1 turn', words.until_end({ kind = 'turns', turns = 1 }))
    assert.equal('for 20 minutes', words.until_end({ kind = 'minutes', minutes = 20 }))
    assert.equal('until it is cleared', words.until_end({ kind = 'released' }))
    local guard =
      { guardId = 'g1', ['until'] = { kind = 'next_commit' }, note = 'wait', setAtMs = 0, setBy = 'Neovim' }
    assert.equal('g1 until the next commit (wait), set 5 h ago by Neovim', words.guard(guard, 18000000))
  end)

  it('shows every gate with its evidence and conditions', function()
    local decision = {
      outcome = 'nothing',
      reason = 'no boundary',
      gates = {
        { gate = 'pressure', outcome = 'pass', evidence = '31% left' },
        { gate = 'cooldown', outcome = 'bypassed', evidence = 'one turn ago' },
        { gate = 'boundary', outcome = 'fail', evidence = 'none' },
        { gate = 'mode', outcome = 'not_reached', evidence = '' },
      },
      wouldFireIf = { 'a commit is made' },
    }
    assert.equal('no compaction: no boundary', words.decided(decision))
    assert.same({
      '✓ Context pressure 31% left',
      '⤳ Cooldown         one turn ago (bypassed)',
      '✗ Boundary         none',
      '– Mode             not reached',
      'would come if: a commit is made',
    }, words.gates(decision))
  end)

  it('names a proposal, and says what decides about it', function()
    local text = 'Compaction proposed (commit); your next message decides'
    local proposed = {
      outcome = 'defer',
      confirm = 'message',
      reason = '60% left (asap) at commit; your next message decides',
      gates = {},
      wouldFireIf = { 'the next message opens something new or closes the work' },
    }
    assert.equal(
      'compaction proposed: 60% left (asap) at commit; your next message decides',
      words.decided(proposed)
    )
    assert.same(
      { 'comes if: the next message opens something new or closes the work' },
      words.gates(proposed)
    )
    assert.truthy(
      vim.startswith(words.decided({ outcome = 'ask', reason = 'r' }), 'waiting for your approval: r')
    )
    local over = { outcome = 'ask', reason = 'r', fate = { status = 'dropped', text = 'dropped: late' } }
    assert.equal('approval requested: r · dropped: late', words.decided(over))
    proposed.fate = { decisionId = 'd1', status = 'dropped', atMs = 0, text = 'dropped: it goes on' }
    assert.same({}, words.gates(proposed))
    local thread = { threadId = 't', cwd = '/w', phase = 'proposed', proposal = { text = text } }
    local details = { thread = thread, heldInputs = {}, guards = {}, directives = {}, plan = {} }
    assert.equal('phase      ' .. text, words.facts(details, 0)[4])
  end)

  it('says why an answer is refused', function()
    local ended = 'This answer came too late: the compaction has ended, or was already answered.'
    assert.equal(ended, words.too_late('approve', true, false))
    assert.equal('There is no compaction to answer right now.', words.too_late('cancel', false, false))
    assert.equal('A compaction is already under way.', words.too_late('compact_now', false, true))
  end)

  it('has a label for every displayed name', function()
    local lab = require('spec.lab')
    local schema = vim.json.decode(lab.read(lab.PLUGIN .. '/../../protocol-schema/schema.json'))
    local labels = require('rawr.labels')
    for _, name in ipairs({ 'Phase', 'BannerStage', 'Choice', 'Outcome', 'Tier', 'Boundary', 'Gate' }) do
      for _, variant in ipairs(schema.definitions[name].oneOf) do
        assert.truthy(labels[name][variant.const], name .. ' ' .. variant.const)
      end
    end
  end)
end)
