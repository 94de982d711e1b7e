/** Carries out what rawr orders. */

import type { EngineInterface } from 'claude-code'
import type { CarriedOut, CompactOrder, Order } from './messages'
import { type Outcome, restoreWindow, type TurnStartCompaction, type WaitingMessage } from './waiting'

/** Claude Code counts a turn as running until all hooks of its end have returned. */
const RETRIES = 50
const RETRY_MS = 100
/** The person took back the message that it was for, or pressed Escape. */
export const INTERRUPTED = 'the compaction was interrupted'
/** Claude Code runs no command for a plugin then. */
const STOPPED = 'after Esc, Claude Code compacts for rawr only once you have sent a message; /compact works'
/** Longer than Claude Code takes to start the turn of a message. */
const TURN_START_MS = 10_000

/** What has begun in this session and not ended. */
interface Pending {
  /** A message of the person in a hook that has not returned. */
  message: WaitingMessage | undefined
  /** The compaction at the start of that message's turn. */
  atTurnStart: TurnStartCompaction | undefined
  /** The compaction that rawr asked for last, and the report of its end. */
  compaction: Promise<unknown>
  /** The last text of rawr that joined the turn of a message. */
  joined: Promise<unknown>
  /** rawr's order that `/compact` carries out, and what came of it. */
  byCommand: { order: CompactOrder; outcome: Outcome } | undefined
  /** A compaction of the person since the last turn, and what came of it. */
  compacted: Promise<Outcome | undefined>
  /** What the next rawr must not order again. Claude Code writes its transcript with a delay. */
  carriedOut: CarriedOut[]
}

function nothing(): Pending {
  return {
    message: undefined,
    atTurnStart: undefined,
    compaction: Promise.resolve(),
    joined: Promise.resolve(),
    byCommand: undefined,
    compacted: Promise.resolve(undefined),
    carriedOut: [],
  }
}

export let pending = nothing()

/** The session ends. */
export function forget(): void {
  pending = nothing()
}

export type Work = Exclude<Order, { order: 'listen' | 'give_up' | 'retry' | 'fill' | 'show' | 'toast' }>

export async function carryOut($: EngineInterface, order: Work, isHeadless: boolean): Promise<Outcome> {
  switch (order.order) {
    case 'submit':
      return submit($, order.text)
    case 'append':
      await append($, order.text)
      return {}
    case 'compact': {
      const { message } = pending
      if (message === undefined) {
        return order.beforeMessage === true ? { error: INTERRUPTED } : compact($, order, isHeadless)
      }
      giveUp($, message).catch(() => undefined)
      return message.compact(order)
    }
    case 'abort':
      await $.turn.abort({ turnId: order.turnId })
      return {}
    case 'fork': {
      const answer = await $.model.fork({ prompt: order.text })
      return answer.isAnswered ? { text: answer.text } : { error: answer.reason }
    }
    case 'complete': {
      const { model, system, text: prompt } = order
      const answer = await $.model.complete({ model, system, prompt, effort: 'low' })
      return answer.isAnswered ? { text: answer.text } : { error: answer.reason }
    }
  }
}

/** The compaction at the start of the message's turn is over, or there is none. */
export async function endTurnStart($: EngineInterface, error: string): Promise<void> {
  const compaction = pending.atTurnStart
  if (compaction !== undefined) {
    pending.atTurnStart = pending.message = undefined
    compaction.settle({ error })
    await restoreWindow($, compaction)
  }
}

/** The session may go on in another process, with the message. */
async function giveUp($: EngineInterface, message: WaitingMessage): Promise<void> {
  await $.clock.sleep(TURN_START_MS)
  if (pending.atTurnStart?.message === message) {
    message.withdraw()
    await endTurnStart($, 'the turn of the message did not start here')
  }
}

async function append($: EngineInterface, text: string): Promise<void> {
  await $.session.append({ message: { type: 'user', content: [{ type: 'text', text }] } })
}

/** A turn of rawr would start after the one of a message that is on its way; the text joins that one. */
async function submit($: EngineInterface, text: string): Promise<Outcome> {
  if (pending.message !== undefined) {
    const joined = append($, text)
    pending.joined = joined.catch(() => undefined)
    await joined
    return { joined: true }
  }
  const submitted = { atMs: await $.clock.now(), text }
  pending.carriedOut.push(submitted)
  const { drop } = await $.prompt.submit({ text })
  if (drop === undefined) {
    return {}
  }
  pending.carriedOut = pending.carriedOut.filter((one) => one !== submitted)
  return { error: drop }
}

async function compact($: EngineInterface, order: CompactOrder, isHeadless: boolean): Promise<Outcome> {
  const atMs = await $.clock.now()
  const outcome = await tryToCompact($, order, isHeadless)
  if (outcome.error === undefined) {
    pending.carriedOut.push({ atMs, tokensAfter: outcome.tokensAfter })
  }
  return outcome
}

/** One of the person, who was quicker, takes its place. */
async function tryToCompact($: EngineInterface, order: CompactOrder, isHeadless: boolean): Promise<Outcome> {
  const session = pending
  for (let attempt = 0; ; attempt += 1) {
    if (session !== pending) {
      return { error: 'the session has ended' }
    }
    const theirs = await pending.compacted.catch(() => undefined)
    if (theirs !== undefined) {
      return theirs
    }
    try {
      // A plugin's own compaction passes its own hook by, and needs a screen; the command does neither.
      if (order.replacement !== undefined || isHeadless) {
        return await runCommand($, order)
      }
      const done = await $.session.compact({ instructions: order.instructions })
      return done.skip === undefined ? { tokensAfter: done.tokensAfter } : { error: done.skip }
    } catch (error) {
      if (/the session was stopped/.test(String(error))) {
        return { error: STOPPED }
      }
      if (attempt === RETRIES || !/turn/.test(String(error))) {
        throw error
      }
      await $.clock.sleep(RETRY_MS)
    }
  }
}

async function runCommand($: EngineInterface, order: CompactOrder): Promise<Outcome> {
  const outcome: Outcome = { error: 'Claude Code did not compact' }
  const running = { order, outcome }
  pending.byCommand = running
  try {
    await $.command.run({ command: 'compact' })
  } finally {
    pending.byCommand = undefined
  }
  return running.outcome
}
