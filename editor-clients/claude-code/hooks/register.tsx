/**
 * The bridge between Claude Code and rawr. It starts `rawr claude-mod` for the session, posts what happens to the socket that
 * rawr names, and carries out the orders that rawr prints. It decides nothing.
 */

import type { EngineInterface, Register } from 'claude-code'
import type { Answer, Event, Order, Question, Screen } from './messages'
import { carryOut, deliver, forget, pending, release } from './orders'

/** The running rawr. */
interface Link {
  socket: Promise<string>
  listen: (socket: string) => void
  stop: () => void
}

/** rawr is not started again if it ended twice within this time. */
const SHORT_MS = 60_000
/** Longer than rawr takes to answer. Only a hung rawr is slower. */
const PATIENCE_MS = 5_000
/** The tools whose arguments and results rawr reads. */
const READ_TOOLS = ['Bash', 'TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList']
/** A sub-agent that works is a tool that runs. */
const AGENT = 'Agent'
/** The commands that `/rawr` passes on, each about this session. */
const COMMANDS = ['status', 'explain', 'compact', 'snooze', 'guard', 'pin']

let program = 'rawr'
let link: Link | undefined
/** Why rawr does not run in this session. */
let off: string | undefined
let screen: Screen | undefined
/** When rawr ended by itself. */
let endedAt: number | undefined
/** The turn that runs. */
let turn: string | undefined
/** Claude Code is about to put a message that it did not take back into the input box. */
let isPutBack = false
/** Events go out one at a time, in order. */
let queue: Promise<unknown> = Promise.resolve()

function start($: EngineInterface): void {
  if (link === undefined && off === undefined) {
    // It fails only when Claude Code unloads the plugin.
    run($).catch(() => undefined)
  }
}

async function run($: EngineInterface): Promise<void> {
  let listen = (_socket: string): void => undefined
  let stop = (): void => undefined
  const socket = new Promise<string>((resolve, reject) => {
    listen = resolve
    stop = () => reject(new Error('rawr has ended'))
  })
  socket.catch(() => undefined)
  const own: Link = { socket, listen, stop }
  link = own
  try {
    const [info, usage] = [await $.session.info(), await $.session.usage()]
    const session = {
      sessionId: await $.session.id(),
      cwd: await $.session.cwd(),
      transcriptPath: info.transcriptPath,
      version: (await $.session.version()).version,
      model: await $.session.model(),
      contextWindow: usage.context.window,
      runningTurn: turn,
      carriedOut: pending.carriedOut,
    }
    const child = $.process.spawn({ argv: [program, 'claude-mod'], input: JSON.stringify(session) })
    own.stop = () => {
      stop()
      void child.return({ code: null, signal: null })
    }
    let rest = ''
    for await (const piece of child) {
      if (piece.stream === 'stdout') {
        const lines = (rest + piece.text).split('\n')
        rest = lines.pop() ?? ''
        lines.forEach((line) => void obey($, own, JSON.parse(line) as Order))
      }
    }
  } catch (error) {
    const isMissing = /ENOENT/.test(String(error))
    off = isMissing ? `no ${program} in the PATH, so it does not run` : `does not run: ${String(error)}`
  }
  own.stop()
  if (link === own) {
    link = undefined
    await end($)
  }
}

/** rawr has ended by itself. It is started again once; after that, the messages that it held go to the agent. */
async function end($: EngineInterface): Promise<void> {
  // It looks up in the transcript what became of a compaction.
  await pending.compaction.catch(() => undefined)
  const now = await $.clock.now()
  if (endedAt !== undefined && now - endedAt < SHORT_MS) {
    off ??= 'ended twice; this session continues without it'
  }
  endedAt = now
  start($)
  if (off !== undefined) {
    show($, { status: off })
    for (const text of pending.held) {
      await deliver($, text)
    }
    await release($)
  }
}

async function obey($: EngineInterface, own: Link, order: Order): Promise<void> {
  if (link !== own) {
    return
  }
  switch (order.order) {
    case 'listen':
      return own.listen(order.socket)
    case 'give_up':
      off = order.reason
      return
    case 'show':
      return show($, order)
    case 'toast':
      return $.ui.toast(`rawr: ${order.text}`)
    default: {
      const outcome = await carryOut($, order).catch((error: unknown) => ({ error: String(error) }))
      if (link !== own) {
        return
      }
      const done: Event = { event: 'done', id: order.id, ...outcome }
      // rawr waits for these, and events would wait for its answer to a question.
      if (order.order === 'append' || order.order === 'abort') {
        await send($, done).catch(() => undefined)
      } else {
        post($, done)
      }
      return
    }
  }
}

function show($: EngineInterface, next: Screen | undefined): void {
  screen = next
  $.ui.status(next?.status)
  $.ui.invalidate('ui.render')
}

async function send($: EngineInterface, body: Event | Question): Promise<Answer> {
  const to = link
  if (to === undefined) {
    return {}
  }
  const answer = await $.http.fetch('http://rawr/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    socketPath: await to.socket,
  })
  return answer.ok ? (JSON.parse(answer.text) as Answer) : {}
}

function post($: EngineInterface, event: Event): void {
  queue = queue.then(() => send($, event)).catch(() => undefined)
}

function measured($: EngineInterface, context: { window?: number; tokens?: number }): void {
  post($, { event: 'measured', contextWindow: context.window, contextTokens: context.tokens })
}

/** Asks after all events so far. Claude Code waits for the answer. */
async function ask($: EngineInterface, question: Question): Promise<Answer> {
  const asked = queue.then(() => send($, question)).catch((): Answer => ({}))
  queue = asked
  const late = $.clock.sleep(PATIENCE_MS).then(
    (): undefined => undefined,
    (): undefined => undefined,
  )
  const answer = await Promise.race([asked, late])
  if (answer === undefined) {
    link?.stop()
  }
  return answer ?? {}
}

async function command($: EngineInterface, args: readonly string[]): Promise<string> {
  const ran = await $.process.run([program, ...args])
  return (ran.stdout + ran.stderr).trim()
}

async function press($: EngineInterface, args: readonly string[]): Promise<void> {
  const said = await command($, args).catch((error: unknown) => String(error))
  $.ui.toast(`rawr: ${said.split('\n')[0] ?? ''}`)
}

/** As a shell splits it: quotes hold words together. */
function words(line: string): string[] {
  const found = line.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)
  return [...found].map(([word, double, single]) => double ?? single ?? word)
}

function unquoted(text: string): string {
  return /^(["'])(.*)\1$/s.exec(text)?.[2] ?? text
}

export const register: Register = (on, options) => {
  program = typeof options.path === 'string' && options.path !== '' ? options.path : program

  on('session.start', async ($, e, next) => {
    const started = await next(e)
    // Claude Code compacts nothing at rawr's request where no person is at its prompt.
    const isOff = !e.isInteractive || (await $.env.get('RAWR_HOOKS')) === 'off'
    off = isOff ? '' : undefined
    if (!isOff) {
      await $.command.register({
        name: 'rawr',
        description: 'What rawr sees of this session, and what it should do',
        argumentHint: `[${COMMANDS.join('|')}]`,
        immediate: true,
      })
      start($)
    }
    return started
  })

  on('session.end', async ($, e, next) => {
    const [ended, held] = [link, forget()]
    const goesOn = e.reason === 'clear' || e.reason === 'resume'
    if (goesOn) {
      // rawr then ends by itself, unless it hangs.
      send($, { event: 'left' }).catch(() => undefined)
      $.clock
        .sleep(PATIENCE_MS)
        .finally(() => ended?.stop())
        .catch(() => undefined)
    } else {
      ended?.stop()
      off = ''
    }
    turn = link = undefined
    if (off === undefined) {
      show($, undefined)
    }
    const over = await next(e)
    if (goesOn && held.length > 0) {
      await $.prompt.fill({ text: held.join('\n\n'), mode: 'append' })
    }
    return over
  })

  on('prompt.submit', async ($, e, next) => {
    start($)
    isPutBack = false
    const isTyped = e.origin.kind === 'composer' || e.origin.kind === 'bridge'
    const isPlain = e.command === undefined && e.isMeta === undefined && !e.attachments?.length
    if (!isTyped || !isPlain || link === undefined) {
      return next(e)
    }
    // The person may have rewound the conversation.
    measured($, (await $.session.usage()).context)
    const { hold, behind } = await ask($, { question: 'may_pass', text: e.text })
    if (hold !== true && behind !== true) {
      return next(e)
    }
    pending[hold === true ? 'held' : 'behind'].push(e.text)
    isPutBack = true
    return { drop: 'rawr keeps this message until the context is compacted, then delivers it' }
  }).catch(($, e, next) => next(e))

  on('prompt.change', { origin: { kind: 'engine' } }, async ($, e, next) => {
    const changed = await next(e)
    if (isPutBack && e.text !== '') {
      isPutBack = false
      await $.prompt.fill({ text: '', mode: 'replace' })
    }
    return changed
  })

  on('turn.start', ($, e, next) => {
    if (e.agentId === undefined) {
      start($)
      turn = e.turnId
      pending.compacted = Promise.resolve(undefined)
      post($, { event: 'turn_started', turnId: e.turnId, text: e.text })
      release($).catch(() => undefined)
    } else {
      post($, { event: 'tool_started', callId: e.agentId, tool: AGENT })
    }
    return next(e)
  })

  on('turn.step', async function* ($, e, next) {
    const step = yield* next(e)
    if (e.agentId === undefined) {
      const { answer: text, usage, toolUses } = step
      const callsTools = toolUses.length > 0
      post($, { event: 'answered', text, model: usage?.model, usage, callsTools })
    }
    return step
  })

  on('tool.call', async ($, e, next) => {
    const [callId, tool] = [e.tool_use_id, e.tool]
    post($, { event: 'tool_started', callId, tool })
    const ran = await next(e)
    const isRead = READ_TOOLS.includes(tool)
    // The output of a command can be long, and rawr reads only how it ended.
    const result = { ...(ran.result as object), stdout: undefined, stderr: undefined }
    const failed = ran.deny ?? (ran.isError === true ? (ran.text ?? '') : undefined)
    post($, {
      event: 'tool_finished',
      callId,
      tool,
      input: isRead ? e : undefined,
      result: isRead ? result : undefined,
      // Characters, not units: half an emoji is no text.
      error: failed === undefined ? undefined : [...failed.slice(0, 400)].slice(0, 200).join(''),
      bySubAgent: e.agentId !== undefined,
    })
    return ran
  }).catch(($, e, next) => next(e))

  on('session.measure', ($, e, next) => {
    measured($, e.context)
    return next(e)
  })

  on('turn.complete', ($, e, next) => {
    if (e.agentId === undefined) {
      turn = undefined
      const { turnId, reason, answer } = e
      post($, { event: 'turn_completed', turnId, reason, answer })
    } else {
      post($, { event: 'tool_finished', callId: e.agentId, tool: AGENT, bySubAgent: true })
    }
    return next(e)
  })

  on('session.compact', async ($, e, next) => {
    if (e.agentId !== undefined || link === undefined) {
      return next(e)
    }
    if (e.trigger === 'manual' && pending.replacement !== undefined) {
      const text = pending.replacement
      pending.replacement = undefined
      return { messages: [{ role: 'user', text, toolUses: [] }] }
    }
    const { trigger } = e
    // The next compaction may use the summary of this one.
    const isAhead = trigger === 'precompute'
    const run = async () => {
      if (!isAhead) {
        post($, { event: 'compaction_started', trigger })
      }
      const { instructions: ours } = await ask($, { question: 'summary_instructions' })
      const instructions = [e.instructions, ours].filter(Boolean).join('\n\n')
      const done = await next({ ...e, instructions })
      if (!isAhead) {
        const tokensAfter = done.skip === undefined ? done.tokensAfter : undefined
        post($, { event: 'compaction_ended', trigger, tokensAfter, skip: done.skip })
      }
      return done
    }
    const compacted = run()
    if (turn === undefined && !isAhead) {
      pending.compacted = compacted.then((done) =>
        done.skip === undefined ? { tokensAfter: done.tokensAfter } : undefined,
      )
      pending.compacted.catch(() => undefined)
    }
    return compacted
  }).catch(($, e, next) => next(e))

  on('command.run', { command: 'rawr' }, async ($, e) => {
    const [name = 'status', ...rest] = words(e.args)
    if (!COMMANDS.includes(name)) {
      return { text: `/rawr ${name} is unknown; there are ${COMMANDS.join(', ')}` }
    }
    // An instruction is kept word for word, and needs no quotes.
    const isText = name === 'pin' && rest.length > 0 && !rest[0]?.startsWith('--')
    const args = isText ? [unquoted(e.args.trim().slice(name.length).trim())] : rest
    return { text: await command($, [name, await $.session.id(), ...args]), isTextDisplayOnly: true }
  })

  on('ui.render', { component: 'AbovePrompt' }, ($, e, next) => {
    const band = screen?.band
    if (band === undefined || e.props.hasSurvey) {
      return next(e)
    }
    const { Box, Button, Text } = $.ui.resolve(e)
    return (
      <Box flexDirection="column">
        <Text bold>rawr: {band.title}</Text>
        <Text>{band.text}</Text>
        <Box gap={2}>
          {band.buttons.length > 0 && <Text dimColor>ctrl+x tab, then</Text>}
          {band.buttons.map(({ label, arguments: args }) => (
            <Button
              key={label}
              label={label}
              hotkey={label.charAt(0).toLowerCase()}
              plain
              onPress={() => void press($, args)}
            />
          ))}
        </Box>
      </Box>
    )
  })
}
