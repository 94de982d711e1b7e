/** What the plugin and rawr say to each other, as `rawr claude-mod` defines it. */

/** A message that was submitted, or a compaction. */
export type CarriedOut = { atMs: number; text: string } | { atMs: number; tokensAfter?: number }

export type Event =
  | { event: 'turn_started'; turnId: string; text: string }
  | { event: 'answered'; text: string; model?: string; usage: unknown; callsTools: boolean }
  | { event: 'tool_started'; callId: string; tool: string }
  | {
      event: 'tool_finished'
      callId: string
      tool: string
      input?: unknown
      result?: unknown
      error?: string
      bySubAgent: boolean
    }
  | { event: 'measured'; contextWindow?: number; compactsAboveTokens?: number; contextTokens?: number }
  | { event: 'turn_completed'; turnId: string; reason: string; answer: string }
  | { event: 'compaction_started'; trigger: string }
  | { event: 'compaction_ended'; trigger: string; tokensAfter?: number; skip?: string }
  | { event: 'withdrawn'; messageId: string }
  | { event: 'left' }
  | {
      event: 'done'
      id: number
      text?: string
      tokensAfter?: number
      error?: string
      joined?: boolean
    }

export type Question =
  | { question: 'may_pass'; messageId: string; text: string }
  | { question: 'still_held'; messageId: string }
  | { question: 'summary_instructions' }

export interface Answer {
  hold?: boolean
  instructions?: string
}

export interface Screen {
  status: string
  band?: { title: string; text: string; buttons: { label: string; arguments: string[] }[] }
}

export interface CompactOrder {
  order: 'compact'
  id: number
  instructions: string
  replacement?: string
  /** Only if the message still waits that it is for. */
  beforeMessage?: boolean
}

export type Order =
  | { order: 'listen'; socket: string }
  | { order: 'give_up'; reason: string }
  | { order: 'retry'; reason: string }
  | { order: 'submit'; id: number; text: string }
  | { order: 'append'; id: number; text: string }
  | CompactOrder
  | { order: 'abort'; id: number; turnId: string }
  | { order: 'fork'; id: number; text: string }
  | { order: 'complete'; id: number; model: string; system: string; text: string }
  | { order: 'fill'; text: string }
  | ({ order: 'show' } & Screen)
  | { order: 'toast'; text: string }
