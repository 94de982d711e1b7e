// Keeps `Threads` in step with the sidecar: watches, listens, looks again where something changed. It shows nothing.
import { realpathSync } from 'node:fs';
import type { Details, Threads } from './model/threads';
import { runs } from './model/threads';
import type { Notifications, ThreadSummary, ThreadWatchParams } from './protocol';
import { type Disposable, type Sidecar, askOfThread, said } from './sidecar';

/** How many decisions are kept at hand of each thread. */
const DECISIONS = 30;

export interface Surroundings {
  /** The folders whose threads are of interest; with none, all threads. */
  folders: readonly string[];
  now(): number;
  /** Something may look different now. */
  changed(): void;
  /** What is told of once, beside being drawn. */
  told: { [N in keyof Notifications]?: (params: Notifications[N]) => void };
  /** For the log. */
  failed(what: string, why: string): void;
}

export class Watch implements Disposable {
  private readonly listening: Disposable[] = [];
  private readonly looking = new Map<string, 'looking' | 'stale'>();
  private isListing = false;
  /** The list on its way may be older than what was told since. */
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

  /** All threads of interest as they are now, each in full. */
  async refresh(): Promise<void> {
    await this.list();
    await Promise.all(this.threads.all.map(({ summary }) => this.look(summary.threadId)));
  }

  /** Ends it where the sidecar stays. */
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

  /** Also while something was waited for. */
  private hasEnded(): boolean {
    return this.isOver;
  }

  private isOfInterest(thread: ThreadSummary): boolean {
    const { folders } = this.around;
    return folders.length === 0 || folders.some((folder) => isWithin(folder, thread.cwd));
  }

  /** One look at a thread at a time. What was seen before something changed is not believed: there is another look. */
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

/** By any of its names: a folder may be opened through a link. */
export function isWithin(folder: string, path: string): boolean {
  const holds = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(`${outer}/`);
  const trimmed = (one: string): string => one.replace(/\/+$/, '');
  return holds(trimmed(folder), trimmed(path)) || holds(real(folder), real(path));
}

/** What is not there has the name that it is called by. */
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

/** The list comes with every thread. */
const realPaths = new Map<string, string>();
