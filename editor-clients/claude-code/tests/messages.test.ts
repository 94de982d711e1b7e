import { type Engine, expect } from 'claude-code/testing'
import { check, type Fake, fake, MESSAGES, open, SESSION, type } from './fake'

const WINDOW = 'CLAUDE_CODE_AUTO_COMPACT_WINDOW'
const LATER_MS = 61_000

/** rawr holds the message. Returns when Claude Code will have it. */
async function held($: Engine, it: Fake, text: string): Promise<Promise<string | undefined>[]> {
  it.answer = { hold: true }
  const typed = type($, text)
  await it.clock.settle()
  return [typed]
}

check('a message passes if rawr does not need it', async ($, on) => {
  const it = fake(on)
  await open($, it)
  expect(await type($, 'now the docs')).toBe('now the docs')
  expect(it.posted).toEqual([
    { event: 'measured', contextWindow: 200_000 },
    { question: 'may_pass', messageId: 'm1', text: 'now the docs' },
  ])
})

check('a message that rawr holds passes when rawr releases it, unchanged', async ($, on) => {
  const it = fake(on)
  await open($, it)
  const [typed] = await held($, it, 'now the docs, see @SPEC.md')
  await it.release()
  expect(await typed).toBe('now the docs, see @SPEC.md')
  expect(it.submitted).toEqual([])
})

check('a compaction before a message lowers the window for the start of its turn', async ($, on) => {
  const it = fake(on, { [WINDOW]: '500000' })
  await open($, it)
  const [typed] = await held($, it, 'now the docs')
  await it.print({ order: 'compact', id: 7, instructions: 'Keep the packet.' })
  expect(await typed).toBe('now the docs')
  expect(it.variables[WINDOW]).toBe('100000')
  await $.turn.start({ turnId: 't1', text: 'now the docs' })
  const compacted = $.session.compact({ trigger: 'auto', messages: MESSAGES })
  await it.clock.settle()
  expect(it.posted).toContainEqual({ event: 'done', id: 7, tokensAfter: 4_000 })
  await it.print({ order: 'append', id: 8, text: 'the handoff' })
  await it.release()
  expect(await compacted).toEqual({ messages: MESSAGES, tokensAfter: 4_000 })
  expect(it.compacted).toEqual(['Keep the packet.'])
  expect(it.notes).toHaveLength(1)
  expect(it.variables[WINDOW]).toBe('500000')
})

check('a turn that does not begin with a compaction goes on without it', async ($, on) => {
  const it = fake(on)
  await open($, it)
  const [typed] = await held($, it, 'now the docs')
  await it.print({ order: 'compact', id: 7, instructions: '' })
  await typed
  await $.turn.start({ turnId: 't1', text: 'now the docs' })
  for await (const _ of $.turn.step({ turnId: 't1', index: 0, model: 'a-model', messageCount: 1 }));
  await it.clock.settle()
  const error = 'Claude Code did not compact at the start of the turn'
  expect(it.posted).toContainEqual({ event: 'done', id: 7, error })
  expect(it.variables[WINDOW]).toBeUndefined()
})

check('a turn that does not start here ends the compaction before it', async ($, on) => {
  const it = fake(on)
  await open($, it)
  const [typed] = await held($, it, 'now the docs')
  await it.print({ order: 'compact', id: 7, instructions: '' })
  await typed
  await it.clock.advance(11_000)
  expect(it.posted).toContainEqual({ event: 'withdrawn', messageId: 'm1' })
  expect(it.variables[WINDOW]).toBeUndefined()
})

check('a compaction that Claude Code refuses leaves the message alone', async ($, on) => {
  const it = fake(on)
  await open($, it)
  const [typed] = await held($, it, 'now the docs')
  await it.print({ order: 'compact', id: 7, instructions: '' })
  await typed
  it.skip = 'another plugin said no'
  await $.session.compact({ trigger: 'auto', messages: MESSAGES })
  await it.clock.settle()
  expect(it.posted).toContainEqual({ event: 'done', id: 7, error: 'another plugin said no' })
})

check('a compaction before a message that was taken back is not carried out', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.print({ order: 'compact', id: 7, instructions: '', beforeMessage: true })
  await it.clock.settle()
  expect(it.posted).toContainEqual({ event: 'done', id: 7, error: 'the compaction was interrupted' })
  expect(it.compacted).toEqual([])
})

check('a packet replaces the conversation before the message', async ($, on) => {
  const it = fake(on)
  await open($, it)
  const [typed] = await held($, it, 'now the docs')
  await it.print({ order: 'compact', id: 7, instructions: '', replacement: 'See the packet.' })
  await typed
  const compacted = $.session.compact({ trigger: 'auto', messages: MESSAGES })
  await it.clock.settle()
  await it.release()
  const replaced = [{ role: 'user', text: 'See the packet.', toolUses: [] }, ...MESSAGES]
  expect(await compacted).toEqual({ messages: replaced })
  expect(it.compacted).toEqual([])
})

check('sub-agents are not compacted in the window of a message that waits', async ($, on) => {
  const it = fake(on)
  await open($, it)
  const [typed] = await held($, it, 'now the docs')
  await it.print({ order: 'compact', id: 7, instructions: '' })
  await typed
  const asked = await $.session.compact({ trigger: 'auto', agentId: 'a1', messages: MESSAGES })
  expect(asked.skip).toContain('first')
})

check('a text of rawr joins the turn of a message that is on its way', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await held($, it, 'now the docs')
  await it.print({ order: 'submit', id: 3, text: 'the handoff' })
  expect(it.notes).toHaveLength(1)
  expect(it.posted).toContainEqual({ event: 'done', id: 3, joined: true })
})

check('a message of rawr starts a turn', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.print({ order: 'submit', id: 1, text: 'the handoff' })
  expect(it.submitted).toEqual(['the handoff'])
})

check('a held message passes if rawr ends', async ($, on) => {
  const it = fake(on)
  await open($, it)
  const [typed] = await held($, it, 'now the docs')
  it.isBroken = true
  await it.end()
  await it.release()
  expect(await typed).toBe('now the docs')
})

check('a message passes if rawr cannot be reached', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = { hold: true }
  it.isBroken = true
  expect(await type($, 'now the docs')).toBe('now the docs')
})

check('a message passes if rawr does not answer, and rawr is started again', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.isHung = true
  const typed = type($, 'now the docs')
  await it.clock.advance(5_000)
  expect(await typed).toBe('now the docs')
  await it.clock.settle()
  expect(it.started).toHaveLength(2)
})

check('a held message passes if rawr hangs, and the new rawr is not asked about it', async ($, on) => {
  const it = fake(on)
  await open($, it)
  const [typed] = await held($, it, 'now the docs')
  it.isHung = true
  await it.clock.advance(6_000)
  expect(await typed).toBe('now the docs')
  it.isHung = false
  it.posted.length = 0
  await it.clock.settle()
  expect(it.posted).toEqual([])
})

check('a message passes if the answer of rawr makes the hook fail', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = null
  expect(await type($, 'now the docs')).toBe('now the docs')
})

check('commands, queued messages and those of others pass without a question', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = { hold: true }
  const command = { name: 'review', args: '' }
  const composer = { wait: false, origin: { kind: 'composer' } } as const
  const passed = [
    await $.prompt.submit({ text: '/review', command, ...composer }),
    await $.prompt.submit({ text: 'and this', turnId: 't1', ...composer }),
    await $.prompt.submit({ text: 'a task has ended', wait: false, origin: { kind: 'task-notification' } }),
  ]
  expect(passed.map(({ drop }) => drop)).toEqual([undefined, undefined, undefined])
  expect(it.posted).toEqual([])
})

check('messages with an image and from a phone are asked about like typed ones', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await $.prompt.submit({
    text: 'see this',
    attachments: [{ type: 'image' }],
    wait: false,
    origin: { kind: 'composer' },
  })
  await $.prompt.submit({ text: 'go on', wait: false, origin: { kind: 'bridge' } })
  const asked = it.posted.flatMap((one) => ('question' in one && 'text' in one ? [one.text] : []))
  expect(asked).toEqual(['see this', 'go on'])
})

check('rawr is started again by the next message if it ran for some time', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.clock.advance(LATER_MS)
  await it.end()
  await type($, 'go on')
  expect(it.started).toHaveLength(2)
})

check('rawr is not started again if it gave up, and the status line says why', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.print({ order: 'give_up', reason: 'stopped: the folder is not readable' })
  await it.end()
  await type($, 'go on')
  expect(it.started).toHaveLength(1)
  expect(it.status).toBe('stopped: the folder is not readable')
})

check('rawr is started again later if another one still runs the session', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.print({ order: 'retry', reason: 'another rawr still runs this session' })
  await it.end()
  expect(it.status).toBe('another rawr still runs this session')
  expect(it.started).toHaveLength(1)
  await it.clock.advance(5_000)
  expect(it.started).toHaveLength(2)
})

check('after /clear another rawr starts with the next turn', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await $.session.end({ reason: 'clear', sessionId: SESSION, resume: {} as never })
  await it.clock.settle()
  expect(it.posted).toContainEqual({ event: 'left' })
  await type($, 'go on')
  expect(it.started).toHaveLength(2)
})
