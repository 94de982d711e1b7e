/**
 * The bridge between Claude Code and rawr. It starts `rawr claude-mod` for the session, posts what happens to the socket that
 * rawr names, and carries out the orders that rawr prints. It decides nothing.
 */

import type {
  Args,
  EngineInterface,
  Next,
  Register,
  SessionCompactResult,
  SessionContextUsage,
  SessionMessage,
} from 'claude-code'
import { ask, Link, PATIENCE_MS, post, send } from './link'
import type { Event, Order, Screen } from './messages'
import { carryOut, endTurnStart, forget, INTERRUPTED, pending, type Work } from './orders'
import {
  compactAtTurnStart,
  mustWait,
  type Outcome,
  restoreWindow,
  type TurnStartCompaction,
  untilOrdered,
  untilReleased,
  WaitingMessage,
  whileHeld,
} from './waiting'

/** rawr is not started again if it ended twice within this time. */
const SHORT_MS = 60_000
/** Longer than Claude Code takes to end after it has cut its hooks off. */
const WITHDRAW_MS = 500
/** The tools whose arguments and results rawr reads. */
const READ_TOOLS = ['Bash', 'TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList']
/** A sub-agent that works is a tool that runs. */
const AGENT = 'Agent'
/** The commands that `/rawr` passes on, each about this session. */
const COMMANDS = ['status', 'explain', 'compact', 'snooze', 'guard', 'pin']
/** Programs that run Claude Code without its screen, and with a person. */
const APPS = ['claude-vscode', 'claude-desktop', 'claude-desktop-3p']
/** Where a person's messages come from: the prompt, a phone, an app. */
const TYPED = ['composer', 'bridge', 'sdk']

let program = 'rawr'
let link: Link | undefined
/** Why rawr does not run in this session. */
let off: string | undefined
let screen: Screen | undefined
/** When rawr ended by itself. */
let endedAt: number | undefined
/** Why rawr could not run yet, and after which time it is started again. */
let retryReason: string | undefined
let retryMs = PATIENCE_MS
/** The turn that runs. */
let turn: string | undefined
let isHeadless = false
/** No rawr has run in this process. */
let isFirst = true

function start($: EngineInterface): void {
  if (link === undefined && off === undefined) {
    // It fails only when Claude Code unloads the plugin.
    run($).catch(() => undefined)
  }
}

async function run($: EngineInterface): Promise<void> {
  const own = new Link($.clock.now())
  // Not at once: a hook is cut off when Claude Code ends, too, and its message is then kept.
  own.withdraw = (messageId) => {
    const say = (): void => post($, own, { event: 'withdrawn', messageId })
    $.clock.sleep(WITHDRAW_MS).then(say).catch(say)
  }
  link = own
  try {
    const [info, usage] = [await $.session.info(), await $.session.usage({ breakdown: 'summary' })]
    const session = {
      sessionId: await $.session.id(),
      cwd: await $.session.cwd(),
      startedAtMs: usage.startedAt,
      transcriptPath: info.transcriptPath,
      version: (await $.session.version()).version,
      model: await $.session.model(),
      contextWindow: usage.context.window,
      compactsAboveTokens: compactsAbove(usage.context),
      isFirst,
      runningTurn: turn,
      carriedOut: pending.carriedOut,
    }
    isFirst = false
    const child = $.process.spawn({ argv: [program, 'claude-mod'], input: JSON.stringify(session) })
    const endWaits = own.stop
    own.stop = () => {
      endWaits()
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

/** rawr has ended by itself. It is started again once. */
async function end($: EngineInterface): Promise<void> {
  // It looks up in the transcript what became of a compaction.
  await pending.compaction.catch(() => undefined)
  if (retryReason !== undefined) {
    show($, { status: retryReason })
    retryReason = undefined
    await $.clock.sleep(retryMs)
    retryMs = Math.min(retryMs * 2, SHORT_MS)
    return start($)
  }
  const now = await $.clock.now()
  if (endedAt !== undefined && now - endedAt < SHORT_MS) {
    off ??= 'ended twice; this session continues without it'
  }
  endedAt = now
  start($)
  if (off !== undefined) {
    show($, { status: off })
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
    case 'retry':
      retryReason = order.reason
      return
    case 'show':
      return show($, order)
    case 'fill':
      if (isHeadless) {
        return $.ui.toast(`rawr: your message waited when Claude Code ended; send it again: ${order.text}`)
      }
      await $.prompt.fill({ text: order.text, mode: 'append' })
      return $.ui.toast('rawr: your message waited when Claude Code ended; it is in the input box')
    case 'toast':
      return $.ui.toast(`rawr: ${order.text}`)
    default: {
      const done = carryOut($, order, isHeadless)
        .catch((error: unknown) => ({ error: String(error) }))
        .then((outcome) => report($, own, order, outcome))
      if (order.order === 'compact') {
        pending.compaction = done
      }
      return done
    }
  }
}

async function report($: EngineInterface, own: Link, { order, id }: Work, outcome: Outcome): Promise<void> {
  const done: Event = { event: 'done', id, ...outcome }
  // rawr waits for these, and events would wait for its answer to a question.
  if (order === 'append' || order === 'abort') {
    await send($, own, done).catch(() => undefined)
  } else {
    post($, own, done)
  }
}

function show($: EngineInterface, next: Screen | undefined): void {
  screen = next
  $.ui.status(next?.status)
  $.ui.invalidate('ui.render')
}

/** Where Claude Code compacts by itself: the whole window if it does not. Unknown while no breakdown was asked for. */
function compactsAbove({ breakdown, window }: SessionContextUsage): number | undefined {
  return breakdown && (breakdown.isAutoCompactEnabled ? breakdown.autoCompactThreshold : window)
}

function measured($: EngineInterface, context: SessionContextUsage): void {
  post($, link, {
    event: 'measured',
    contextWindow: context.window,
    compactsAboveTokens: compactsAbove(context),
    contextTokens: context.tokens,
  })
}

/** Asks rawr about a message that starts a turn, and waits until it may, or until Claude Code has to compact before it. */
async function hold($: EngineInterface, message: WaitingMessage, text: string): Promise<void> {
  // What is typed while Claude Code compacts comes when the compaction ends.
  await pending.compaction
  // The person may have rewound the conversation.
  measured($, (await $.session.usage({ breakdown: 'summary' })).context)
  if (await mustWait($, message, text)) {
    await untilOrdered($, message)
  }
  await pending.joined
  if (message.ordered !== undefined) {
    pending.atTurnStart = await compactAtTurnStart($, message, message.ordered)
  }
}

/** Claude Code's own compaction at the start of the message's turn. The agent gets its packet back before the message. */
async function compactBeforeMessage(
  $: EngineInterface,
  e: Args<'session.compact'>,
  next: Next<'session.compact'>,
  compaction: TurnStartCompaction,
): Promise<SessionCompactResult> {
  const { message, order } = compaction
  pending.atTurnStart = undefined
  await restoreWindow($, compaction)
  try {
    const { instructions, replacement: text } = order
    const newest = e.messages.slice(-1)
    const messages = text === undefined ? [] : [{ role: 'user' as const, text, toolUses: [] }, ...newest]
    const done = text === undefined ? await whileHeld($, message, next({ ...e, instructions })) : { messages }
    if (done.skip === undefined) {
      pending.carriedOut.push({ atMs: await $.clock.now(), tokensAfter: done.tokensAfter })
      compaction.settle({ tokensAfter: done.tokensAfter })
      await untilReleased($, message)
    } else {
      compaction.settle({ error: done.skip })
    }
    return done
  } catch (error) {
    compaction.settle({ error: next.signal.aborted ? INTERRUPTED : String(error) })
    message.withdraw()
    throw error
  } finally {
    pending.message = undefined
  }
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
    isHeadless = !e.isInteractive
    const setting = await $.env.get('RAWR_HOOKS')
    const isApp = APPS.includes((await $.env.get('CLAUDE_CODE_ENTRYPOINT')) ?? '')
    const isOff = setting === 'off' || (isHeadless && !isApp)
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
    const ended = link
    await endTurnStart($, INTERRUPTED)
    forget()
    if (e.reason === 'clear' || e.reason === 'resume') {
      // rawr then ends by itself, unless it hangs.
      post($, ended, { event: 'left' })
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
    return next(e)
  })

  on('prompt.submit', async ($, e, next) => {
    start($)
    const isTyped = TYPED.includes(e.origin.kind)
    // What is typed while a turn runs belongs to that turn, or starts the next one without a pause.
    const startsTurn = isTyped && e.turnId === undefined && e.command === undefined && e.isMeta === undefined
    if (!startsTurn || link === undefined) {
      return next(e)
    }
    const message = new WaitingMessage(link)
    pending.message = message
    let passes = false
    try {
      await hold($, message, e.text)
      passes = !next.signal.aborted
    } finally {
      if (!passes) {
        message.withdraw()
      }
      if (pending.atTurnStart === undefined) {
        pending.message = undefined
        message.ordered?.settle({ error: 'the message did not wait' })
      }
    }
    return next(e)
  }).catch(($, e, next) => next(e))

  on('turn.start', ($, e, next) => {
    if (e.agentId === undefined) {
      start($)
      turn = e.turnId
      pending.compacted = Promise.resolve(undefined)
      post($, link, { event: 'turn_started', turnId: e.turnId, text: e.text })
    } else {
      post($, link, { event: 'tool_started', callId: e.agentId, tool: AGENT })
    }
    return next(e)
  })

  on('turn.step', async function* ($, e, next) {
    if (e.agentId === undefined) {
      await endTurnStart($, 'Claude Code did not compact at the start of the turn')
    }
    const step = yield* next(e)
    if (e.agentId === undefined) {
      const { answer: text, usage, toolUses } = step
      const callsTools = toolUses.length > 0
      post($, link, { event: 'answered', text, model: usage?.model, usage, callsTools })
    }
    return step
  })

  on('tool.call', async ($, e, next) => {
    const [callId, tool] = [e.tool_use_id, e.tool]
    post($, link, { event: 'tool_started', callId, tool })
    const ran = await next(e)
    const isRead = READ_TOOLS.includes(tool)
    // The output of a command can be long, and rawr reads only how it ended.
    const result = { ...(ran.result as object), stdout: undefined, stderr: undefined }
    const failed = ran.deny ?? (ran.isError === true ? (ran.text ?? '') : undefined)
    post($, link, {
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

  on('turn.complete', async ($, e, next) => {
    if (e.agentId !== undefined) {
      post($, link, { event: 'tool_finished', callId: e.agentId, tool: AGENT, bySubAgent: true })
      return next(e)
    }
    turn = undefined
    await endTurnStart($, INTERRUPTED)
    const { turnId, reason, answer } = e
    post($, link, { event: 'turn_completed', turnId, reason, answer })
    return next(e)
  })

  on('session.compact', async ($, e, next) => {
    const atTurnStart = pending.atTurnStart
    if (e.agentId !== undefined) {
      // A sub-agent's window is as low as the conversation's.
      return atTurnStart === undefined ? next(e) : { skip: 'rawr compacts the conversation first' }
    }
    if (link === undefined) {
      return next(e)
    }
    if (atTurnStart !== undefined) {
      return compactBeforeMessage($, e, next, atTurnStart)
    }
    const ours = pending.byCommand
    if (ours !== undefined) {
      const { instructions, replacement: text } = ours.order
      const messages: SessionMessage[] = text === undefined ? [] : [{ role: 'user', text, toolUses: [] }]
      const done = text === undefined ? await next({ ...e, instructions }) : { messages }
      ours.outcome = done.skip === undefined ? { tokensAfter: done.tokensAfter } : { error: done.skip }
      return done
    }
    const { trigger } = e
    // The next compaction may use the summary of this one.
    const isAhead = trigger === 'precompute'
    const own = link
    const run = async () => {
      if (!isAhead) {
        post($, link, { event: 'compaction_started', trigger })
      }
      const { instructions: ours } = await ask($, own, { question: 'summary_instructions' })
      const instructions = [e.instructions, ours].filter(Boolean).join('\n\n')
      const done = await next({ ...e, instructions })
      if (!isAhead) {
        const tokensAfter = done.skip === undefined ? done.tokensAfter : undefined
        post($, link, { event: 'compaction_ended', trigger, tokensAfter, skip: done.skip })
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
