import type { Args } from 'claude-code'
import { type Engine, expect } from 'claude-code/testing'
import { check, type Fake, fake, MESSAGES, open, SESSION } from './fake'

const USAGE = { input_tokens: 10, output_tokens: 2, model: 'a-model' } as never

/** The names of what was posted. */
function posted(it: Fake): string[] {
  return it.posted.map((one) => ('event' in one ? one.event : one.question))
}

async function step($: Engine, agentId?: string): Promise<void> {
  const stream = $.turn.step({ turnId: 't1', index: 0, model: 'a-model', messageCount: 1, agentId })
  for await (const _ of stream);
}

async function complete($: Engine, agentId?: string): Promise<void> {
  await $.turn.complete({
    turnId: 't1',
    reason: 'answer',
    answer: 'Done.',
    durationMs: 5,
    isAborted: false,
    agentId,
  })
}

async function compact($: Engine, e: Omit<Args<'session.compact'>, 'messages'>): Promise<void> {
  await $.session.compact({ ...e, messages: MESSAGES })
}

check('a started session starts rawr and tells it what the session is', async ($, on) => {
  const it = fake(on)
  await open($, it)
  expect(it.started).toEqual([
    {
      argv: ['rawr', 'claude-mod'],
      input: {
        sessionId: SESSION,
        cwd: '/repo',
        startedAtMs: 0,
        transcriptPath: '/home/session.jsonl',
        version: '2.1.330',
        model: 'a-model',
        contextWindow: 200_000,
        isFirst: true,
        carriedOut: [],
      },
    },
  ])
})

check(
  'the configured program is started',
  async ($, on) => {
    const it = fake(on)
    await open($, it)
    expect(it.started[0]?.argv).toEqual(['/opt/rawr', 'claude-mod'])
  },
  { options: { path: '/opt/rawr' } },
)

check('rawr does not run where no person is at the prompt', async ($, on) => {
  const it = fake(on)
  await $.session.start({ cwd: '/repo', surface: null, isInteractive: false })
  await it.clock.settle()
  expect(it.started).toEqual([])
})

check('rawr does not run with RAWR_HOOKS=off', async ($, on) => {
  const it = fake(on, { RAWR_HOOKS: 'off' })
  await open($, it)
  expect(it.started).toEqual([])
})

check('a turn is posted in the order in which it happened', async ($, on) => {
  const it = fake(on)
  it.usage = USAGE
  await open($, it)
  await $.turn.start({ turnId: 't1', text: 'commit it' })
  await step($)
  await $.tool.call({ tool: 'Bash', command: 'git commit', tool_use_id: 'c1' })
  await complete($)
  await it.clock.settle()
  expect(posted(it)).toEqual(['turn_started', 'answered', 'tool_started', 'tool_finished', 'turn_completed'])
  expect(it.posted[1]).toEqual({
    event: 'answered',
    text: 'Committed.',
    model: 'a-model',
    usage: USAGE,
    callsTools: true,
  })
})

check('of a command rawr gets the words and how it ended, not its output', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await $.tool.call({ tool: 'Bash', command: 'git commit', tool_use_id: 'c1' })
  await it.clock.settle()
  expect(it.posted[1]).toMatchObject({
    callId: 'c1',
    input: { command: 'git commit' },
    result: { interrupted: false },
  })
  expect(JSON.stringify(it.posted)).not.toContain(it.stdout)
})

check('of other tools rawr gets only the name', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await $.tool.call({ tool: 'Write', file_path: '/repo/secret', content: 'a secret', tool_use_id: 'c1' })
  await it.clock.settle()
  expect(it.posted[1]).toEqual({ event: 'tool_finished', callId: 'c1', tool: 'Write', bySubAgent: false })
})

check('an error is cut between characters', async ($, on) => {
  const it = fake(on)
  it.error = `${'x'.repeat(199)}🚀 and more`
  await open($, it)
  await $.tool.call({ tool: 'Bash', command: 'make', tool_use_id: 'c1' })
  await it.clock.settle()
  expect(it.posted[1]).toMatchObject({ callId: 'c1', error: `${'x'.repeat(199)}🚀` })
})

check('a sub-agent that works is a tool that runs, and its own tools are marked', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await $.turn.start({ turnId: 't1', text: 'look', agentId: 'a1' })
  await step($, 'a1')
  await $.tool.call({ tool: 'Bash', command: 'ls', tool_use_id: 'c1', agentId: 'a1' })
  await complete($, 'a1')
  await it.clock.settle()
  expect(posted(it)).toEqual(['tool_started', 'tool_started', 'tool_finished', 'tool_finished'])
  expect(it.posted[0]).toEqual({ event: 'tool_started', callId: 'a1', tool: 'Agent' })
  expect(it.posted[2]).toMatchObject({ callId: 'c1', bySubAgent: true })
  expect(it.posted[3]).toMatchObject({ callId: 'a1', bySubAgent: true })
})

check('a tool runs once and keeps its result while rawr cannot be reached', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.isBroken = true
  const ran = await $.tool.call({ tool: 'Bash', command: 'ls', tool_use_id: 'c1' })
  expect(ran).toMatchObject({ result: { stdout: it.stdout } })
  expect(it.ranTools).toBe(1)
})

check('the size of the context and of its window are posted', async ($, on) => {
  const it = fake(on)
  await open($, it)
  const context = { window: 1_000_000, tokens: 40_000 }
  await $.session.measure({ context, rateLimits: [], changed: ['context'] })
  await it.clock.settle()
  expect(it.posted).toEqual([{ event: 'measured', contextWindow: 1_000_000, contextTokens: 40_000 }])
})

check('a compaction of the person gets the instructions of rawr after their own', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = { instructions: 'Keep the packet.' }
  await compact($, { trigger: 'manual', instructions: 'the plan' })
  await it.clock.settle()
  expect(it.compacted).toEqual(['the plan\n\nKeep the packet.'])
  expect(it.posted).toEqual([
    { event: 'compaction_started', trigger: 'manual' },
    { question: 'summary_instructions' },
    { event: 'compaction_ended', trigger: 'manual', tokensAfter: 4_000 },
  ])
})

check('a summary ahead of time gets the instructions and is no compaction', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = { instructions: 'Keep the packet.' }
  await compact($, { trigger: 'precompute' })
  await it.clock.settle()
  expect(it.compacted).toEqual(['Keep the packet.'])
  expect(it.posted).toEqual([{ question: 'summary_instructions' }])
})

check('a compaction of a sub-agent is left alone', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await compact($, { trigger: 'auto', agentId: 'a1' })
  await it.clock.settle()
  expect(it.posted).toEqual([])
})

check('a compaction goes on if rawr cannot be reached', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.isBroken = true
  await compact($, { trigger: 'auto' })
  expect(it.compacted).toHaveLength(1)
})

check('a compaction passes if the answer of rawr makes the hook fail', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = null
  await compact($, { trigger: 'manual', instructions: 'the plan' })
  expect(it.compacted).toEqual(['the plan'])
})

check('a compaction that rawr orders is reported', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.print({ order: 'compact', id: 3, instructions: 'Keep the packet.' })
  expect(it.compacted).toEqual(['Keep the packet.'])
  expect(it.posted).toEqual([{ event: 'done', id: 3, tokensAfter: 4_000 }])
})

check('the history is replaced by the text of rawr alone, and only once', async ($, on) => {
  const it = fake(on)
  await open($, it)
  let after: unknown
  it.compactCommand = async () => {
    after = await $.session.compact({ trigger: 'manual', messages: MESSAGES } as never)
  }
  await it.print({ order: 'compact', id: 3, instructions: '', replacement: 'the packet' })
  expect(after).toMatchObject({ messages: [{ role: 'user', text: 'the packet' }] })
  expect(it.compacted).toEqual([])
  expect(it.posted).toEqual([{ event: 'done', id: 3 }])
  await compact($, { trigger: 'manual' })
  expect(it.compacted).toHaveLength(1)
})

check('a history that was not replaced is reported', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.print({ order: 'compact', id: 3, instructions: '', replacement: 'the packet' })
  expect(it.posted).toEqual([{ event: 'done', id: 3, error: 'Claude Code did not compact' }])
})

check('an order that is not carried out is reported', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.skip = 'blocked by a hook'
  await it.print({ order: 'compact', id: 3, instructions: '' })
  expect(it.posted).toEqual([{ event: 'done', id: 3, error: 'blocked by a hook' }])
})

check('the packet is asked for outside of the transcript', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.print({ order: 'fork', id: 4, text: 'Write your packet.' })
  expect(it.posted).toEqual([{ event: 'done', id: 4, text: 'answer to: Write your packet.' }])
  expect(it.submitted).toEqual([])
})

check('an order in two pieces is carried out once', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.printRaw('{"order":"toast","te')
  await it.printRaw('xt":"compacted"}\n')
  expect(it.toasts).toEqual(['rawr: compacted'])
})

check('after /clear rawr is told and stopped, and started for the new session', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.clock.advance(61_000)
  await $.session.end({ reason: 'clear', sessionId: SESSION, resume: {} as never })
  await it.clock.settle()
  expect(it.posted).toEqual([{ event: 'left' }])
  await it.clock.advance(6_000)
  await $.turn.start({ turnId: 't2', text: 'hello' })
  await it.clock.settle()
  expect(it.started).toHaveLength(2)
})

check('at the end of Claude Code rawr keeps what it holds', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await $.session.end({ reason: 'prompt_input_exit', sessionId: SESSION, resume: {} as never })
  await it.clock.settle()
  expect(it.posted).toEqual([])
})
