// The state that all surfaces share: the threads, the current sidecar, and the user's responses.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Thread, type Threads, active, answerable } from './model/threads';
import type { Choice, Requests, SequenceRespondParams } from './protocol';
import type { Connection } from './server/connection';
import * as words from './model/words';
import { type OfThread, askOfThread, lateRefusal, said } from './sidecar';

const START_WITHIN_MS = 10_000;

export class NotRunning extends Error {
  constructor(why: string | undefined) {
    super(why ?? l10n.t('The rawr sidecar is not running.'));
  }
}

/** There is nothing to do; told as information, because it is no failure. */
export class NothingToDo extends Error {}

export class Session {
  private current: Connection | undefined;
  private readonly waiting = new Set<() => void>();
  private why: string | undefined;
  /** The thread that the user chose for the status bar. */
  chosen: string | undefined;

  constructor(
    readonly threads: Threads,
    readonly changed: () => void,
  ) {}

  get active(): Thread | undefined {
    return active(this.threads, this.chosen);
  }

  /** The threads whose compaction can be answered, most urgent first. */
  get answerable(): Thread[] {
    return answerable(this.threads, this.chosen);
  }

  get connection(): Connection | undefined {
    return this.current;
  }

  set connection(connection: Connection | undefined) {
    this.current = connection;
    this.wake();
  }

  /** Why there is no sidecar and none will come. Requests then fail at once. */
  set failure(why: string | undefined) {
    this.why = why;
    if (why !== undefined) this.wake();
  }

  get failure(): string | undefined {
    return this.why;
  }

  private wake(): void {
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }

  /** The sidecar. Waits for one that is starting. */
  async sidecar(): Promise<Connection> {
    if (!this.current && this.why === undefined) {
      await new Promise<void>((resolve) => {
        this.waiting.add(resolve);
        setTimeout(resolve, START_WITHIN_MS);
      });
    }
    if (!this.current) throw new NotRunning(this.why);
    return this.current;
  }

  /** The thread with this id; without an id, the active one or the latest. */
  thread(threadId: string | undefined): Thread | undefined {
    if (threadId !== undefined) return this.threads.get(threadId);
    return this.active ?? this.threads.all[0];
  }

  async ask<M extends OfThread>(
    method: M,
    params: Requests[M][0] & { threadId: string },
  ): Promise<Requests[M][1]> {
    const cwd = this.threads.get(params.threadId)?.summary.cwd ?? '';
    return askOfThread(await this.sidecar(), cwd, method, params);
  }

  /** Records a response, and returns it as the sidecar understood it. The thread's owner acts on it. */
  async respond(params: SequenceRespondParams): Promise<Choice> {
    const { phase, choice } = await this.ask('rawr/sequence/respond', params).catch((error: unknown) => {
      const refusal = lateRefusal(error);
      throw refusal ? new NothingToDo(words.tooLate(params, refusal)) : error;
    });
    this.threads.responded(params);
    const thread = this.threads.get(params.threadId);
    if (thread) thread.summary = { ...thread.summary, phase };
    this.changed();
    return choice;
  }

  answer(threadId: string, sequenceId: string | undefined, choice: Choice): Promise<Choice> {
    return this.respond({
      threadId,
      sequenceId,
      choice,
      ...(choice === 'snooze' ? { turns: words.SNOOZE.turns } : {}),
    });
  }
}

/** Runs a command and shows its error. */
export async function shown(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof NothingToDo) void vscode.window.showInformationMessage(error.message);
    else if (error instanceof NotRunning) void offerRestart(error);
    else void vscode.window.showErrorMessage(said(error));
  }
}

async function offerRestart(error: NotRunning): Promise<void> {
  const again = l10n.t('Try Again');
  if ((await vscode.window.showErrorMessage(error.message, again)) !== again) return;
  await vscode.commands.executeCommand('rawr.restart');
}
