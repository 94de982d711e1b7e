/** The way to the running rawr: events go out one at a time and in order, questions after the events before them. */

import type { EngineInterface } from 'claude-code'
import type { Answer, Event, Question } from './messages'

/** Longer than rawr takes to answer. Only a hung rawr is slower. */
export const PATIENCE_MS = 5_000

/** A running rawr. */
export class Link {
  /** Where rawr listens. */
  readonly socket: Promise<string>
  listen = (_socket: string): void => undefined
  /** Ends rawr, and whatever waits for it. */
  stop = (): void => undefined
  /** Tells rawr that a message does not wait any longer. */
  withdraw = (_messageId: string): void => undefined
  isListening = false
  /** The last event or question that was sent. */
  sent: Promise<unknown> = Promise.resolve()

  constructor(readonly startedAt: Promise<number>) {
    this.socket = new Promise<string>((resolve, reject) => {
      this.listen = (socket) => {
        this.isListening = true
        resolve(socket)
      }
      this.stop = () => reject(new Error('rawr has ended'))
    })
    this.socket.catch(() => undefined)
  }
}

/** Sends at once, before what is queued. */
export async function send($: EngineInterface, link: Link, body: Event | Question): Promise<Answer> {
  const answer = await $.http.fetch('http://rawr/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    socketPath: await link.socket,
  })
  return answer.ok ? (JSON.parse(answer.text) as Answer) : {}
}

export function post($: EngineInterface, link: Link | undefined, event: Event): void {
  if (link !== undefined) {
    link.sent = link.sent.then(() => send($, link, event)).catch(() => undefined)
  }
}

/** Asks after all events so far. Claude Code waits for the answer, but not for a hung rawr, which is ended. */
export async function ask($: EngineInterface, link: Link, question: Question): Promise<Answer> {
  // Until rawr listens, the person waits for it once, when it has just been started.
  if (!link.isListening && (await $.clock.now()) - (await link.startedAt) > PATIENCE_MS) {
    return {}
  }
  const asked = link.sent.then(() => send($, link, question))
  link.sent = asked.catch(() => undefined)
  return inTime($, link, asked)
}

/** Asks without regard to the events so far. */
export function askNow($: EngineInterface, link: Link, question: Question): Promise<Answer> {
  return inTime($, link, send($, link, question))
}

async function inTime($: EngineInterface, link: Link, asked: Promise<Answer>): Promise<Answer> {
  const late = $.clock.sleep(PATIENCE_MS).then(() => undefined)
  const answer = await Promise.race([asked, late]).catch((): Answer => ({}))
  if (answer === undefined && link.isListening) {
    link.stop()
  }
  return answer ?? {}
}
