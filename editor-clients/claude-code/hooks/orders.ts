/** Carries out what rawr orders. */

import type { EngineInterface } from 'claude-code'
import type { CarriedOut, Order } from './messages'

/** Claude Code counts a turn as running until all hooks of its end have returned. */
const RETRIES = 50
const RETRY_MS = 100

/** What has begun in this session and not ended. */
interface Pending {
  /** Messages that rawr has taken and not delivered. */
  held: string[]
  /** What the user typed while a turn of rawr was about to start. It is submitted after the start. */
  behind: string[]
  /** The compaction that rawr asked for last. */
  compaction: Promise<unknown>
  /** What the compaction that rawr asked for puts in place of the conversation. */
  replacement: string | undefined
  /** A compaction of the person since the last turn, and what came of it. */
  compacted: Promise<Outcome | undefined>
  /** What the next rawr must not order again. Claude Code writes its transcript with a delay. */
  carriedOut: CarriedOut[]
}

function nothing(): Pending {
  const [compaction, compacted] = [Promise.resolve(), Promise.resolve(undefined)]
  return { held: [], behind: [], compaction, replacement: undefined, compacted, carriedOut: [] }
}

export let pending = nothing()

/** The session ends. Returns the messages of the user that were not delivered. */
export function forget(): string[] {
  const { held, behind } = pending
  pending = nothing()
  return [...held, ...behind]
}

export type Work = Exclude<Order, { order: 'listen' | 'give_up' | 'show' | 'toast' }>
export type Outcome = { text?: string; tokensAfter?: number; error?: string }

export async function carryOut($: EngineInterface, order: Work): Promise<Outcome> {
  switch (order.order) {
    case 'submit': {
      const { text, asUser } = order
      const submitted = { atMs: await $.clock.now(), text }
      pending.carriedOut.push(submitted)
      const { drop } = asUser ? await deliver($, text) : await $.prompt.submit({ text })
      if (drop === undefined) {
        return {}
      }
      pending.carriedOut = pending.carriedOut.filter((one) => one !== submitted)
      await release($)
      return { error: drop }
    }
    case 'append':
      await $.session.append({
        message: { type: 'user', content: [{ type: 'text', text: order.text }] },
      })
      return {}
    case 'compact': {
      const compaction = compact($, order)
      pending.compaction = compaction
      return compaction
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
      const answer = await $.model.complete({ model, system, prompt })
      return answer.isAnswered ? { text: answer.text } : { error: answer.reason }
    }
  }
}

/** Submits what the user has typed. After Esc, for example, Claude Code takes nothing: it goes back into the input box. */
export async function deliver($: EngineInterface, text: string): Promise<{ drop?: string }> {
  const entered = await $.prompt.submit({ text, asUser: true })
  pending.held = pending.held.filter((one) => one !== text)
  if (entered.drop !== undefined) {
    await $.prompt.fill({ text, mode: 'append' })
  }
  return entered
}

/** Submits what waited for the start of a turn. */
export async function release($: EngineInterface): Promise<void> {
  for (const text of pending.behind.splice(0)) {
    await deliver($, text)
  }
}

async function compact($: EngineInterface, order: Work & { order: 'compact' }): Promise<Outcome> {
  const atMs = await $.clock.now()
  const outcome = await tryToCompact($, order)
  if (outcome.error === undefined) {
    pending.carriedOut.push({ atMs, tokensAfter: outcome.tokensAfter })
  }
  return outcome
}

/** One of the person, who was quicker, takes its place. */
async function tryToCompact($: EngineInterface, order: Work & { order: 'compact' }): Promise<Outcome> {
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
      if (order.replacement !== undefined) {
        return await replaceHistory($, order.replacement)
      }
      const done = await $.session.compact({ instructions: order.instructions })
      return done.skip === undefined ? { tokensAfter: done.tokensAfter } : { error: done.skip }
    } catch (error) {
      if (attempt === RETRIES || !/turn/.test(String(error))) {
        throw error
      }
      await $.clock.sleep(RETRY_MS)
    }
  }
}

/** A plugin's own compaction passes its own hook by; the command does not. */
async function replaceHistory($: EngineInterface, text: string): Promise<Outcome> {
  pending.replacement = text
  await $.command.run({ command: 'compact' })
  const isDone = pending.replacement === undefined
  pending.replacement = undefined
  return isDone ? {} : { error: 'Claude Code did not compact' }
}
