/**
 * A message of the person that waits for a compaction. It never leaves Claude Code: the hook that was told of it does not return
 * yet, and then passes it on as it is.
 */

import type { EngineInterface } from 'claude-code'
import { ask, askNow, type Link } from './link'
import type { CompactOrder } from './messages'

export type Outcome = { text?: string; tokensAfter?: number; error?: string; joined?: boolean }

/** rawr's order to compact before the message, and where its outcome goes. */
export interface Ordered {
  order: CompactOrder
  settle: (outcome: Outcome) => void
}

export class WaitingMessage {
  private static count = 0
  readonly id = `m${String((WaitingMessage.count += 1))}`
  ordered: Ordered | undefined
  /** Resolves when the compaction is ordered. */
  readonly order: Promise<void>
  private wake = (): void => undefined

  constructor(readonly link: Link) {
    this.order = new Promise((resolve) => (this.wake = resolve))
  }

  /** Has the order carried out before the message. */
  compact(order: CompactOrder): Promise<Outcome> {
    return new Promise((settle) => {
      this.ordered = { order, settle }
      this.wake()
    })
  }

  /** The person took the message back, or has it in a turn that ended. */
  withdraw(): void {
    this.link.withdraw(this.id)
  }
}

/** Whether rawr wants to compact before the message. */
export async function mustWait(
  $: EngineInterface,
  { id: messageId, link }: WaitingMessage,
  text: string,
): Promise<boolean> {
  const { hold } = await ask($, link, { question: 'may_pass', messageId, text })
  return hold === true
}

async function isStillHeld($: EngineInterface, { id: messageId, link }: WaitingMessage): Promise<boolean> {
  const { hold } = await askNow($, link, { question: 'still_held', messageId })
  return hold === true
}

/** Waits until rawr orders a compaction, or releases the message. */
export async function untilOrdered($: EngineInterface, message: WaitingMessage): Promise<void> {
  while (
    message.ordered === undefined &&
    (await Promise.race([message.order, isStillHeld($, message)])) === true
  );
}

/** Waits until rawr releases the message. */
export async function untilReleased($: EngineInterface, message: WaitingMessage): Promise<void> {
  while (await isStillHeld($, message));
}

/** Waits for work that is done before the message. rawr forgets a message that it is not asked about. */
export async function whileHeld<T>(
  $: EngineInterface,
  message: WaitingMessage,
  work: Promise<T>,
): Promise<T> {
  const ended = work.then(
    () => false,
    () => false,
  )
  while (await Promise.race([ended, isStillHeld($, message)]));
  return work
}

/** A compaction that Claude Code makes by itself at the start of the message's turn. */
export interface TurnStartCompaction extends Ordered {
  message: WaitingMessage
  windowBefore: string | undefined
}

/** Of all windows that Claude Code accepts. It compacts at 33,000 tokens less. */
const SMALLEST_WINDOW = '100000'

/** Lowers the window of this session until the turn has started. */
export async function compactAtTurnStart(
  $: EngineInterface,
  message: WaitingMessage,
  ordered: Ordered,
): Promise<TurnStartCompaction | undefined> {
  const windowBefore = await $.env.get('CLAUDE_CODE_AUTO_COMPACT_WINDOW')
  const { deny } = await $.env.set('CLAUDE_CODE_AUTO_COMPACT_WINDOW', SMALLEST_WINDOW)
  if (deny !== undefined) {
    ordered.settle({ error: `CLAUDE_CODE_AUTO_COMPACT_WINDOW cannot be set: ${deny}` })
    return undefined
  }
  return { ...ordered, message, windowBefore }
}

export async function restoreWindow(
  $: EngineInterface,
  { windowBefore }: TurnStartCompaction,
): Promise<void> {
  await $.env.set('CLAUDE_CODE_AUTO_COMPACT_WINDOW', windowBefore)
}
