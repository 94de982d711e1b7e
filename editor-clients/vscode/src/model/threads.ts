// The state of the threads: a fold of the sidecar's messages. Pure.
import type {
  CapsuleSummary,
  CompactionUpdateNotification,
  Decision,
  HeadsUp,
  SequenceRespondedNotification,
  ThreadChangedNotification,
  ThreadGetResult,
  ThreadSummary,
  Tier,
} from '../protocol';
import { type Banner, isOfSequence } from './banner';

/** A thread's details as last loaded. */
export interface Details {
  thread: ThreadGetResult;
  /** The decisions, latest last. */
  decisions: Decision[];
  capsules: CapsuleSummary[];
}

export interface Thread {
  summary: ThreadSummary;
  sequenceId?: string;
  banner?: Banner;
  /** The sequence whose packet the user delivered. */
  handedOver?: string;
  details?: Details;
  /** The last reported compaction. */
  compaction?: CompactionUpdateNotification;
}

export class Threads {
  private readonly byId = new Map<string, Thread>();
  /** Banners of threads that are not listed yet. */
  private readonly early = new Map<string, Banner>();

  /** All threads, most recently used first. */
  get all(): Thread[] {
    return [...this.byId.values()].sort((a, b) => b.summary.updatedAtMs - a.summary.updatedAtMs);
  }

  get(threadId: string): Thread | undefined {
    return this.byId.get(threadId);
  }

  get banners(): Banner[] {
    return this.all.flatMap((thread) => thread.banner ?? []);
  }

  /** Replaces the list of threads. */
  listed(threads: readonly ThreadSummary[]): void {
    const known = new Map(this.byId);
    this.byId.clear();
    for (const summary of threads) {
      const { threadId } = summary;
      const banner = this.early.get(threadId);
      this.byId.set(threadId, { ...(banner && { banner }), ...known.get(threadId), summary });
      this.early.delete(threadId);
    }
  }

  /** Resets the state after the end of the sidecar. */
  forget(): void {
    this.byId.clear();
    this.early.clear();
  }

  /** Applies a change. False for an unknown thread, which must be requested. */
  changed(news: ThreadChangedNotification, nowMs: number): boolean {
    const thread = this.byId.get(news.threadId);
    if (!thread) {
      const banner = bannerIn(news.threadId, news.headsUp);
      if (banner) this.early.set(news.threadId, banner);
      else this.early.delete(news.threadId);
      return false;
    }
    const { phase, tier, percentRemaining, breaker, lastFate, proposal, title } = news;
    const told = { phase, tier, percentRemaining, breaker, lastFate, proposal, title };
    thread.summary = { ...thread.summary, ...told, updatedAtMs: nowMs };
    thread.sequenceId = news.sequenceId;
    thread.banner = bannerIn(news.threadId, news.headsUp);
    return true;
  }

  /** Records an answer from any client. The sidecar reports its effects. */
  responded(news: Pick<SequenceRespondedNotification, 'threadId' | 'sequenceId' | 'choice'>): void {
    const thread = this.byId.get(news.threadId);
    if (thread && news.choice === 'edit_packet') thread.handedOver = news.sequenceId;
  }

  compacted(news: CompactionUpdateNotification): void {
    const thread = this.byId.get(news.threadId);
    if (thread) thread.compaction = news;
  }

  decided(threadId: string, decision: Decision): void {
    const decisions = this.byId.get(threadId)?.details?.decisions;
    if (!decisions) return;
    const at = decisions.findIndex((other) => other.decisionId === decision.decisionId);
    if (at < 0) decisions.push(decision);
    else decisions[at] = decision;
  }

  looked(details: Details): void {
    const { thread: found } = details;
    const thread = this.byId.get(found.thread.threadId);
    if (!thread) return;
    thread.summary = found.thread;
    thread.details = details;
    thread.sequenceId = found.sequenceId;
    thread.banner = bannerIn(found.thread.threadId, found.headsUp);
  }
}

function bannerIn(threadId: string, headsUp: HeadsUp | undefined): Banner | undefined {
  return headsUp && { threadId, headsUp };
}

/** Whether its agent runs. */
export function runs(thread: Thread): boolean {
  return thread.summary.running;
}

/** Whether a sequence of the thread runs and can be answered or followed. */
export function isAsking(thread: Thread): boolean {
  return thread.banner !== undefined && isOfSequence(thread.banner);
}

/** Whether the thread has a banner that can be answered. */
export function isAnswerable(thread: Thread): boolean {
  return (thread.banner?.headsUp.choices.length ?? 0) > 0;
}

/** Whether its compaction can be stopped or hurried; a proposed one has no banner. */
export function canRespond(thread: Thread): boolean {
  return isAnswerable(thread) || thread.summary.proposal !== undefined;
}

/** Whether a sequence runs or ran, so that there may be a packet. */
export function hasPacket({ sequenceId, details }: Thread): boolean {
  return (
    sequenceId !== undefined || (details?.decisions.some((one) => one.sequenceId !== undefined) ?? false)
  );
}

const TIERS: Record<Tier, number> = { early: 1, ready: 2, asap: 3, emergency: 4 };

/** How much a thread needs attention: asking, an emergency, chosen by the user, then its tier. */
function urgency(thread: Thread, chosen: string | undefined): number[] {
  const { tier, threadId } = thread.summary;
  const ranks = [isAsking(thread), tier === 'emergency', threadId === chosen].map(Number);
  return [...ranks, tier ? TIERS[tier] : 0];
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (b[at] ?? 0) - (a[at] ?? 0);
}

function mostUrgentFirst(threads: Thread[], chosen: string | undefined): Thread[] {
  return threads.sort((a, b) => compare(urgency(a, chosen), urgency(b, chosen)));
}

/** The thread in the status bar: the most urgent one; of equal ones the latest. */
export function active(threads: Threads, chosen: string | undefined): Thread | undefined {
  return mostUrgentFirst(threads.all.filter(runs), chosen)[0];
}

/**
 * The threads whose compaction can be stopped or hurried, most urgent first: those that run, otherwise proposals that a thread
 * left behind. They are copies, so that an answer is for the sequence that the user chose, even if another one has started
 * meanwhile.
 */
export function answerable(threads: Threads, chosen: string | undefined): Thread[] {
  const all = threads.all.filter(canRespond);
  const running = all.filter(runs);
  const found = running.length > 0 ? running : all;
  return mostUrgentFirst(found, chosen).map((thread) => ({ ...thread }));
}
