// Keeps `Threads` in sync with the sidecar: watches threads, handles notifications, reloads changed details.
import { realpathSync } from 'node:fs';
import type { Details, Threads } from './model/threads';
import { runs } from './model/threads';
import type { Notifications, ThreadSummary, ThreadWatchParams } from './protocol';
import { type Disposable, type Sidecar, askOfThread, said } from './sidecar';

/** The number of decisions to load for each thread. */
const DECISIONS = 30;

export interface Surroundings {
  /** The folders whose threads are watched; all threads if empty. */
  folders: readonly string[];
  now(): number;
  /** The state changed. */
  changed(): void;
  /** An event that is shown once. */
  told: { [N in keyof Notifications]?: (params: Notifications[N]) => void };
  /** Logs a message. */
  failed(what: string, why: string): void;
}

export class Watch implements Disposable {
  private readonly listening: Disposable[] = [];
  private readonly looking = new Map<string, 'looking' | 'stale'>();
  private isListing = false;
  /** A pending list may be older than later notifications. */
  private isListStale = false;
  private isOver = false;

  constructor(
    private readonly sidecar: Sidecar,
    private readonly threads: Threads,
    private readonly around: Surroundings,
  ) {}

  async begin(): Promise<void> {
    this.listen();
    const watched = await Promise.all(
      this.scopes.map((scope) => this.sidecar.ask('rawr/thread/watch', scope)),
    );
    if (this.isOver) return;
    this.threads.listed(unique(watched.flatMap(({ threads }) => threads)));
    await Promise.all(this.threads.all.map(({ summary }) => this.look(summary.threadId)));
    this.around.changed();
    void this.list();
  }

  /** Loads all watched threads with their details. */
  async refresh(): Promise<void> {
    await this.list();
    await Promise.all(this.threads.all.map(({ summary }) => this.look(summary.threadId)));
  }

  /** Stops watching while the sidecar keeps running. */
  async end(): Promise<void> {
    this.dispose();
    await Promise.all(this.scopes.map((scope) => this.sidecar.ask('rawr/thread/unwatch', scope)));
  }

  private get scopes(): ThreadWatchParams[] {
    const { folders } = this.around;
    return folders.length === 0 ? [{}] : folders.map((workspaceFolder) => ({ workspaceFolder }));
  }

  dispose(): void {
    this.isOver = true;
    for (const one of this.listening) one.dispose();
  }

  private listen(): void {
    const { threads, around } = this;
    this.hear('rawr/thread/changed', (news) => {
      this.isListStale = true;
      if (threads.changed(news, around.now())) void this.look(news.threadId);
      else void this.list();
    });
    this.hear('rawr/thread/listChanged', (news) => {
      this.isListStale = true;
      const known = threads.all.map(({ summary }) => summary);
      const told = news.threads.filter((thread) => this.isOfInterest(thread));
      const rest = known.filter(({ threadId }) => !news.gone.includes(threadId));
      threads.listed(unique([...rest, ...told]));
      for (const { threadId } of told) void this.look(threadId);
    });
    this.hear('rawr/sequence/headsUp', (news) => void this.look(news.threadId));
    this.hear('rawr/sequence/responded', (news) => threads.responded(news));
    this.hear('rawr/compaction/update', (news) => {
      threads.compacted(news);
      void this.look(news.threadId);
    });
    this.hear('rawr/packet/changed', () => {});
    this.hear('rawr/decision/recorded', ({ threadId, decision }) => threads.decided(threadId, decision));
  }

  private hear<N extends keyof Notifications>(method: N, hear: (params: Notifications[N]) => void): void {
    const heard = (params: Notifications[N]): void => {
      hear(params);
      this.around.told[method]?.(params);
      this.around.changed();
    };
    this.listening.push(this.sidecar.on(method, heard));
  }

  private async list(): Promise<void> {
    this.isListStale = true;
    if (this.isListing || this.isOver) return;
    this.isListing = true;
    try {
      let threads: readonly ThreadSummary[];
      do {
        this.isListStale = false;
        ({ threads } = await this.sidecar.ask('rawr/thread/list', {}));
        if (this.hasEnded()) return;
      } while (this.wasOvertaken());
      const before = new Map(this.threads.all.map((thread) => [thread.summary.threadId, runs(thread)]));
      this.threads.listed(threads.filter((thread) => this.isOfInterest(thread)));
      const news = this.threads.all.filter((thread) => before.get(thread.summary.threadId) !== runs(thread));
      for (const { summary } of news) void this.look(summary.threadId);
      this.around.changed();
    } catch (error) {
      this.around.failed('rawr/thread/list', said(error));
    } finally {
      this.isListing = false;
    }
  }

  private wasOvertaken(): boolean {
    return this.isListStale;
  }

  /** Whether it was disposed, also during a wait. */
  private hasEnded(): boolean {
    return this.isOver;
  }

  private isOfInterest(thread: ThreadSummary): boolean {
    const { folders } = this.around;
    return folders.length === 0 || folders.some((folder) => isWithin(folder, thread.cwd));
  }

  /** Loads a thread's details, one request at a time. Loads them again if the thread changed meanwhile. */
  private async look(threadId: string): Promise<void> {
    if (this.looking.has(threadId)) {
      this.looking.set(threadId, 'stale');
      return;
    }
    do {
      this.looking.set(threadId, 'looking');
      try {
        const details = await this.details(threadId);
        if (this.isOver) break;
        if (details && this.looking.get(threadId) !== 'stale') this.threads.looked(details);
        this.around.changed();
      } catch (error) {
        this.around.failed(`rawr/thread/get ${threadId}`, said(error));
      }
    } while (this.looking.get(threadId) === 'stale' && !this.isOver);
    this.looking.delete(threadId);
  }

  private async details(threadId: string): Promise<Details | undefined> {
    const cwd = this.threads.get(threadId)?.summary.cwd;
    if (cwd === undefined) return undefined;
    const { sidecar } = this;
    const [thread, { decisions }, { capsules }] = await Promise.all([
      askOfThread(sidecar, cwd, 'rawr/thread/get', { threadId }),
      askOfThread(sidecar, cwd, 'rawr/decision/list', { threadId, limit: DECISIONS }),
      askOfThread(sidecar, cwd, 'rawr/capsule/list', { threadId }),
    ]);
    return { thread, decisions, capsules };
  }
}

function unique(threads: readonly ThreadSummary[]): ThreadSummary[] {
  return [...new Map(threads.map((thread) => [thread.threadId, thread])).values()];
}

/** Compares real paths, because a folder may be opened through a link. */
export function isWithin(folder: string, path: string): boolean {
  const holds = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(`${outer}/`);
  const trimmed = (one: string): string => one.replace(/\/+$/, '');
  return holds(trimmed(folder), trimmed(path)) || holds(real(folder), real(path));
}

/** The real path; a missing path is unchanged. */
function real(path: string): string {
  const known = realPaths.get(path);
  if (known !== undefined) return known;
  let found = path.replace(/\/+$/, '');
  try {
    found = realpathSync.native(path);
  } catch {
    return found;
  }
  realPaths.set(path, found);
  return found;
}

/** The list includes every thread. */
const realPaths = new Map<string, string>();
