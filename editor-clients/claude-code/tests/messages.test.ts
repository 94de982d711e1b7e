import { type Engine, expect } from 'claude-code/testing'
import { check, type Fake, fake, open, SESSION, type } from './fake'

const HELD = expect.stringContaining('rawr keeps this message')
const EARLY_MS = 1_000
const LATER_MS = 61_000

/** rawr takes the message. */
async function hold($: Engine, it: Fake, text: string): Promise<void> {
  it.answer = { hold: true }
  expect(await type($, it, text)).toEqual(HELD)
}

check('a message passes if rawr does not need it', async ($, on) => {
  const it = fake(on)
  await open($, it)
  expect(await type($, it, 'now the docs')).toBeUndefined()
  expect(it.posted).toEqual([
    { event: 'measured', contextWindow: 200_000 },
    { question: 'may_pass', text: 'now the docs' },
  ])
})

check('a message that rawr holds is dropped', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await hold($, it, 'now the docs')
  expect(it.submitted).toEqual([])
})

check('a message behind a turn of rawr is submitted after its start', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = { behind: true }
  expect(await type($, it, 'now the docs')).toEqual(HELD)
  await it.clock.settle()
  expect(it.submitted).toEqual([])
  await $.turn.start({ turnId: 't1', text: 'the handoff' })
  await it.clock.settle()
  expect(it.submitted).toEqual([{ text: 'now the docs', asUser: true }])
})

check('a message behind a turn that does not start is submitted at once', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = { behind: true }
  expect(await type($, it, 'now the docs')).toEqual(HELD)
  it.drop = 'stopped'
  await it.print({ order: 'submit', id: 1, text: 'the handoff', asUser: false })
  expect(it.box).toBe('now the docs')
})

check('after /clear the messages that rawr held are in the input box', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await hold($, it, 'now the docs')
  await hold($, it, 'and the tests')
  it.box = ''
  await $.session.end({ reason: 'clear', sessionId: SESSION, resume: {} as never })
  await it.clock.settle()
  expect(it.box).toBe('now the docs\n\nand the tests')
  expect(it.submitted).toEqual([])
})

check('what a person has typed meanwhile stays in the input box', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await hold($, it, 'now the docs')
  it.box = 'and one more'
  await it.clock.advance(EARLY_MS * 2)
  expect(it.box).toBe('and one more')
})

check('a delivered message is the words of the person, once, also when rawr ends', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await hold($, it, 'now the docs')
  await it.print({ order: 'submit', id: 7, text: 'now the docs', asUser: true })
  await it.end()
  expect(it.submitted).toEqual([{ text: 'now the docs', asUser: true }])
  expect(it.posted).toContainEqual({ event: 'done', id: 7 })
})

check('a message of rawr is not the words of the person', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.print({ order: 'submit', id: 1, text: 'Write your packet.', asUser: false })
  expect(it.submitted).toEqual([{ text: 'Write your packet.', asUser: false }])
})

check('if rawr ends twice, held messages go to the agent in their order', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await hold($, it, 'first')
  await hold($, it, 'second')
  await it.end()
  expect(it.submitted).toEqual([])
  await it.end()
  expect(it.submitted).toEqual([
    { text: 'first', asUser: true },
    { text: 'second', asUser: true },
  ])
})

check('a message passes if rawr cannot be reached', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = { hold: true }
  it.isBroken = true
  expect(await type($, it, 'now the docs')).toBeUndefined()
})

check('a message passes if rawr does not answer, and rawr is started again', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.isHung = true
  const typed = type($, it, 'now the docs')
  await it.clock.advance(5_000)
  expect(await typed).toBeUndefined()
  await it.clock.settle()
  expect(it.started).toHaveLength(2)
})

check('a message passes if the answer of rawr makes the hook fail', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = null
  expect(await type($, it, 'now the docs')).toBeUndefined()
})

check('commands and messages of others pass without a question', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = { hold: true }
  const command = { name: 'review', args: '' }
  const passed = [
    await $.prompt.submit({ text: '/review', command, wait: false, origin: { kind: 'composer' } }),
    await $.prompt.submit({ text: 'a task has ended', wait: false, origin: { kind: 'task-notification' } }),
    await $.prompt.submit({
      text: 'see this',
      attachments: [{ type: 'image' }],
      wait: false,
      origin: { kind: 'composer' },
    }),
  ]
  expect(passed.map(({ drop }) => drop)).toEqual([undefined, undefined, undefined])
  expect(it.posted).toEqual([])
})

check('a message from a phone is asked about like a typed one', async ($, on) => {
  const it = fake(on)
  await open($, it)
  it.answer = { hold: true }
  expect(await $.prompt.submit({ text: 'go on', wait: false, origin: { kind: 'bridge' } })).toEqual({
    drop: HELD,
  })
})

check('rawr is started again by the next message if it ran for some time', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.clock.advance(LATER_MS)
  await it.end()
  await type($, it, 'go on')
  expect(it.started).toHaveLength(2)
})

check('rawr is not started again if it gave up, and the status line says why', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.print({ order: 'give_up', reason: 'stopped: another rawr already runs this session' })
  await it.end()
  await type($, it, 'go on')
  expect(it.started).toHaveLength(1)
  expect(it.status).toBe('stopped: another rawr already runs this session')
})
