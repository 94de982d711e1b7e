--- What is said in words.

local words = require('rawr.words')

---@param more? table
local function heads_up(more)
  return vim.tbl_extend('force', {
    threadId = 't',
    sequenceId = 's1',
    stage = 'will_compact',
    tier = 'asap',
    percentRemaining = 31,
    reason = 'a phase ended here (commit)',
    boundaries = { 'commit', 'agent_done' },
    packetAuthor = 'agent',
    choices = { 'snooze', 'cancel' },
  }, more or {})
end

describe('words', function()
  it('says why a banner is shown and what will happen', function()
    assert.same({
      'a phase ended here (commit)',
      '31% left · tier asap · commit, agent_done',
      'The agent writes its continuation packet, the history is',
      'compacted, the packet is handed back, and work goes on.',
    }, words.banner(heads_up(), 60))
    local of_rawr = words.banner(heads_up({ packetAuthor = 'watcher' }), 200)
    assert.truthy(vim.startswith(of_rawr[3], 'rawr writes the continuation packet'))
  end)

  it('leaves out what is not known', function()
    local lines = words.banner({ stage = 'recommended', reason = 'r', boundaries = {}, choices = {} }, 60)
    assert.same({ 'r', '`mode = "suggest"`: nothing happens by itself.' }, lines)
    assert.equal('usage not known', words.pressure(nil, nil))
    assert.equal('99% left · calm', words.pressure(99, nil))
  end)

  it('lets no control character through', function()
    assert.equal('a\u{fffd}[2Jb c', words.one_line('a\27[2Jb\r\n\tc'))
    assert.equal('a\u{fffd}b\u{fffd}c\u{fffd}dé', words.one_line('a\u{9b}b\u{202e}c\u{2066}dé'))
    assert.same({ 'a\u{fffd}b', 'c' }, words.wrapped('a\1b\nc', 10))
  end)

  it('tells what comes without an answer', function()
    assert.is_nil(words.deadline(heads_up(), 0))
    assert.equal('It goes on by itself in 90 s.', words.deadline(heads_up({ deadlineAtMs = 90000 }), 0))
    local asks = heads_up({ stage = 'awaiting_approval', deadlineAtMs = 600000 })
    assert.equal('Without an answer it is called off in 10 min.', words.deadline(asks, 0))
  end)

  it('breaks lines between words, by their width on the screen', function()
    assert.same({ 'one two', 'three' }, words.wrapped('one two three', 7))
    assert.same({ '你好', '你好' }, words.wrapped('你好 你好', 5))
  end)

  it('makes numbers and times readable', function()
    assert.same({ '7', '1,234', '1,234,567' }, vim.tbl_map(words.number, { 7, 1234, 1234567 }))
    local told = vim.tbl_map(function(seconds)
      return words.ago(0, seconds * 1000)
    end, { -5, 9, 59, 125, 7200, 172800 })
    assert.same({ 'just now', 'just now', '59 s ago', '2 min ago', '2 h ago', '2 days ago' }, told)
  end)

  it('says what ends a guard', function()
    assert.equal('for 1 turn', words.until_end({ kind = 'turns', turns = 1 }))
    assert.equal('for 20 minutes', words.until_end({ kind = 'minutes', minutes = 20 }))
    assert.equal('until it is cleared', words.until_end({ kind = 'released' }))
    local guard =
      { guardId = 'g1', ['until'] = { kind = 'next_commit' }, note = 'wait', setAtMs = 0, setBy = 'Neovim' }
    assert.equal('g1 until the next commit (wait), set 5 h ago by Neovim', words.guard(guard, 18000000))
  end)

  it('gives every gate with its evidence, and what would have to change', function()
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
      '✓ pressure        31% left',
      '⤳ cooldown        one turn ago (passed over)',
      '✗ boundary        none',
      '– mode            not reached',
      'would come if: a commit is made',
    }, words.gates(decision))
  end)

  it('has a word for every value of the protocol', function()
    local schema = vim.json.decode(
      require('spec.lab').read(require('spec.lab').PLUGIN .. '/../../protocol-schema/schema.json')
    )
    for name, known in pairs({
      Phase = words.DOING,
      Stage = words.TITLE,
      Choice = words.ANSWER,
      Outcome = words.OUTCOME,
    }) do
      for _, variant in ipairs(schema.definitions[name].oneOf) do
        assert.truthy(known[variant.const], name .. ' ' .. variant.const)
      end
    end
  end)
end)
