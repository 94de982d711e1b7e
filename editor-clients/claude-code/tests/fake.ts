/** What lies beneath the plugin in a test: a Claude Code from memory, and a rawr that does what the test says. */

import type { On, SessionMessage, TurnUsage } from 'claude-code'
import { type Engine, mock, type MockClock, test, type TestBody, type TestOptions } from 'claude-code/testing'
import type { Answer, Event, Order, Question } from '../hooks/messages'

export const SESSION = '0b6f2a7e-0000-4000-8000-000000000001'
const SOCKET = '/tmp/rawr-1/socket'
export const MESSAGES: SessionMessage[] = [{ role: 'user', text: 'the summary', toolUses: [] }]
const NEVER = new Promise<void>(() => undefined)

export interface Fake {
  clock: MockClock
  /** What the plugin posted, oldest first. */
  posted: (Event | Question)[]
  /** Command lines and inputs of started rawrs. */
  started: { argv: readonly string[]; input: unknown }[]
  /** Command lines of `rawr` that ran and ended. */
  commands: (readonly string[])[]
  /** Messages of the plugin that start a turn. */
  submitted: string[]
  /** Notes of the plugin to the agent. */
  notes: string[]
  toasts: string[]
  /** Instructions of compactions that the plugin asked for. */
  compacted: (string | undefined)[]
  status: string | undefined
  /** What rawr answers to questions. */
  answer: Answer | null
  /** Claude Code's variables. */
  variables: Record<string, string | undefined>
  /** What its commands print. */
  output: string
  /** rawr's socket refuses. */
  isBroken: boolean
  /** rawr's socket never answers. */
  isHung: boolean
  /** What the model's answer costs. */
  usage: TurnUsage | null
  /** What commands of the agent print. */
  stdout: string
  /** Why tools of the agent fail. */
  error: string | undefined
  ranTools: number
  /** Why Claude Code takes no message of the plugin. */
  drop: string | undefined
  /** What `/compact` does. */
  compactCommand: () => Promise<unknown>
  /** Why compactions do not happen. */
  skip: string | undefined
  /** rawr lets the messages go that it holds. */
  release: () => Promise<void>
  print: (...orders: Order[]) => Promise<void>
  printRaw: (text: string) => Promise<void>
  end: () => Promise<void>
}

export function fake(on: On, variables: Record<string, string | undefined> = {}): Fake {
  const lines: string[] = []
  let wake = (): void => undefined
  let hasEnded = false
  const clock = mock.clock(on)
  /** Questions about messages that rawr holds. */
  let waiting: (() => void)[] = []
  const it: Fake = {
    clock,
    posted: [],
    started: [],
    commands: [],
    submitted: [],
    notes: [],
    toasts: [],
    compacted: [],
    status: undefined,
    answer: {},
    variables,
    output: '',
    isBroken: false,
    isHung: false,
    usage: null,
    stdout: 'a long output',
    error: undefined,
    ranTools: 0,
    drop: undefined,
    compactCommand: () => Promise.resolve(),
    skip: undefined,
    release: () => {
      it.answer = {}
      waiting.forEach((answer) => answer())
      waiting = []
      return clock.settle()
    },
    print: (...orders) => it.printRaw(orders.map((order) => `${JSON.stringify(order)}\n`).join('')),
    printRaw: (text) => {
      lines.push(text)
      wake()
      return clock.settle()
    },
    end: () => {
      hasEnded = true
      wake()
      return clock.settle()
    },
  }

  on('process.spawn', async function* (_, e, next) {
    it.started.push({ argv: e.argv, input: JSON.parse(e.input ?? 'null') as unknown })
    hasEnded = false
    lines.push(`${JSON.stringify({ order: 'listen', socket: SOCKET })}\n`)
    next.signal.addEventListener('abort', () => {
      hasEnded = true
      wake()
    })
    for (;;) {
      const text = lines.shift()
      if (text !== undefined) {
        yield { stream: 'stdout' as const, text }
      } else if (hasEnded) {
        return { value: { code: 0, signal: null } }
      } else {
        await new Promise<void>((resolve) => (wake = resolve))
      }
    }
  })
  on('http.fetch', async (_, e) => {
    const body = e.init?.body
    if (it.isBroken || e.init?.socketPath !== SOCKET || typeof body !== 'string') {
      return { deny: 'connection refused' }
    }
    if (it.isHung) {
      await NEVER
    }
    const posted = JSON.parse(body) as Event | Question
    it.posted.push(posted)
    if ('question' in posted && posted.question === 'still_held' && it.answer?.hold === true) {
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    const text = JSON.stringify('question' in posted ? it.answer : {})
    return { value: { status: 200, ok: true, headers: {}, text } }
  })
  on('process.run', (_, e) => {
    it.commands.push(e.argv)
    const [isStdoutTruncated, isStderrTruncated] = [false, false]
    return { value: { exitCode: 0, stdout: it.output, stderr: '', isStdoutTruncated, isStderrTruncated } }
  })
  session(on)
  agent(on, it)
  screen(on, it)
  return it
}

function session(on: On): void {
  on('session.id', () => ({ value: SESSION }))
  on('session.cwd', () => ({ value: '/repo' }))
  on('session.model', () => ({ value: 'a-model' }))
  on('session.version', () => ({ value: { version: '2.1.330' } }))
  on('session.info', () => ({ value: { transcriptPath: '/home/session.jsonl' } }))
  on('session.usage', () => ({ value: { startedAt: 0, context: { window: 200_000 }, rateLimits: [] } }))
  on('session.start', (_, e) => ({ cwd: e.cwd }))
  on('session.end', (_, e) => ({ sessionId: e.sessionId }))
  on('session.measure', (_, e) => ({ changed: e.changed }))
  on('turn.start', (_, e) => ({ turnId: e.turnId }))
  on('turn.complete', (_, e) => ({ text: e.answer }))
  on('command.register', (_, e) => ({ value: { command: e.name } }))
}

function agent(on: On, it: Fake): void {
  on('prompt.submit', (_, e) => {
    if (e.origin.kind === 'plugin' && it.drop !== undefined) {
      return { drop: it.drop }
    }
    if (e.origin.kind === 'plugin') {
      it.submitted.push(e.text)
    }
    return { text: e.text }
  })
  on('session.append', (_, e, next) => {
    it.notes.push(JSON.stringify(e.message.content))
    return next(e)
  })
  on('env.get', (_, e) => ({ value: it.variables[e.name] }))
  on('env.set', (_, e) => {
    it.variables[e.name] = e.value
    return { value: {} }
  })
  on('session.compact', (_, e) => {
    it.compacted.push(e.instructions)
    return it.skip === undefined ? { messages: MESSAGES, tokensAfter: 4_000 } : { skip: it.skip }
  })
  on('command.run', { command: 'compact' }, async () => {
    await it.compactCommand()
    return {}
  })
  on('turn.step', async function* (_, e) {
    yield { kind: 'text' as const, index: 0, text: 'Committed.' }
    const toolUses = [{ name: 'Bash', input: {} }]
    const { turnId, index } = e
    return { turnId, index, answer: 'Committed.', toolUses, stopReason: 'tool_use' as const, usage: it.usage }
  })
  on('tool.call', () => {
    it.ranTools += 1
    if (it.error !== undefined) {
      return { deny: it.error }
    }
    return { result: { stdout: it.stdout, interrupted: false } }
  })
  on('model.fork', (_, e) => ({
    value: { isAnswered: true, text: `answer to: ${e.prompt}`, usage: {} as never },
  }))
}

function screen(on: On, it: Fake): void {
  on('ui.status', (_, e) => {
    it.status = e.text
    return { value: undefined }
  })
  on('ui.toast', (_, e) => {
    it.toasts.push(e.text)
    return { value: undefined }
  })
}

/** A test with a rawr that runs, where each wait for the plugin takes a second. */
export function check(name: string, body: TestBody, options: TestOptions = {}): void {
  test(name, { timeoutMs: 60_000, ...options }, body)
}

/** A session that a person has just started. */
export async function open($: Engine, it: Fake): Promise<void> {
  await $.session.start({ cwd: '/repo', surface: 'terminal', isInteractive: true })
  await it.clock.settle()
}

/** A message typed at the prompt. Resolves when Claude Code has it. */
export async function type($: Engine, text: string): Promise<string | undefined> {
  const entered = await $.prompt.submit({ text, wait: false, origin: { kind: 'composer' } })
  return entered.drop ?? entered.text
}
