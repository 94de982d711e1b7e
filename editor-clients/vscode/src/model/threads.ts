// What is known of the threads, folded from what the sidecar says. It asks nothing and shows nothing.
import type {
  CapsuleSummary,
  CompactionUpdateNotification,
  Decision,
  HeadsUp,
  SequenceRespondedNotification,
  ThreadChangedNotification,
  ThreadGetResult,
  ThreadSummary,
} from '../protocol';
import { type Banner, isOfSequence } from './banner';

/** A thread as it was last looked at. */
export interface Details {
  thread: ThreadGetResult;
  /** The latest last. */
  decisions: Decision[];
  capsules: CapsuleSummary[];
}

export interface Thread {
  summary: ThreadSummary;
  sequenceId?: string;
  banner?: Banner;
  /** The sequence that a packet was handed over for. */
  handedOver?: string;
  details?: Details;
  /** The compaction that was heard of last. */
  compaction?: CompactionUpdateNotification;
}

export class Threads {
  private readonly byId = new Map<string, Thread>();
  /** Banners of threads that the list has yet to name. */
  private readonly early = new Map<string, Banner>();

  /** The latest first. */
  get all(): Thread[] {
    return [...this.byId.values()].sort((a, b) => b.summary.updatedAtMs - a.summary.updatedAtMs);
  }

  get(threadId: string): Thread | undefined {
    return this.byId.get(threadId);
  }

  get banners(): Banner[] {
    return this.all.flatMap((thread) => thread.banner ?? []);
  }

  /** The threads that there are now; what is not among them is gone. */
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

  /** The sidecar is gone, and with it what it knew. */
  forget(): void {
    this.byId.clear();
    this.early.clear();
  }

  /** False where nothing is known of the thread yet: it has to be looked for. */
  changed(news: ThreadChangedNotification, nowMs: number): boolean {
    const thread = this.byId.get(news.threadId);
    if (!thread) {
      const banner = bannerIn(news.threadId, news.headsUp);
      if (banner) this.early.set(news.threadId, banner);
      else this.early.delete(news.threadId);
      return false;
    }
    const { phase, tier, percentRemaining, breaker, lastFate } = news;
    const told = { phase, tier, percentRemaining, breaker, lastFate };
    thread.summary = { ...thread.summary, ...told, updatedAtMs: nowMs };
    thread.sequenceId = news.sequenceId;
    thread.banner = bannerIn(news.threadId, news.headsUp);
    return true;
  }

  /** A person has answered, here or elsewhere. What that changes is told by the sidecar. */
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

/** Whether a process works in the thread now. */
export function runs(thread: Thread): boolean {
  return thread.summary.owner !== undefined || thread.summary.open;
}

/** The thread that the status bar speaks of: whoever asks something goes first, then whoever was chosen, then the latest. */
export function active(threads: Threads, chosen: string | undefined): Thread | undefined {
  const running = threads.all.filter(runs);
  const asking = running.find((thread) => thread.banner && isOfSequence(thread.banner));
  return asking ?? running.find((thread) => thread.summary.threadId === chosen) ?? running[0];
}
