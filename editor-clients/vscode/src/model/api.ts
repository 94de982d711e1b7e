// What other extensions get: a read-only view of the threads.
import { name } from './name';
import { type Thread, type Threads, isAnswerable, runs } from './threads';

/** A conversation with a coding agent. */
export interface RawrThread {
  readonly id: string;
  /** Its title, or the name of its folder. */
  readonly name: string;
  /** Its working folder. */
  readonly folder: string;
  /** Whether a process runs it. */
  readonly running: boolean;
  /** Undefined while the usage is unknown. */
  readonly percentLeft: number | undefined;
  /** `early`, `ready`, `asap` or `emergency`; undefined above every tier. */
  readonly tier: string | undefined;
  /** Whether a compaction can be answered now. */
  readonly asking: boolean;
}

export function apiThreads({ all }: Threads): RawrThread[] {
  return all.map(apiThread);
}

function apiThread(thread: Thread): RawrThread {
  const { threadId, cwd, percentRemaining, tier } = thread.summary;
  const [running, asking] = [runs(thread), isAnswerable(thread)];
  return {
    id: threadId,
    name: name(thread),
    folder: cwd,
    running,
    percentLeft: percentRemaining,
    tier,
    asking,
  };
}
