// What all surfaces share: the threads, the sidecar of the moment, and how a person's word gets to it.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Thread, type Threads, active } from './model/threads';
import type { Choice, Phase, Requests, SequenceRespondParams } from './protocol';
import type { Connection } from './server/connection';
import { type OfThread, askOfThread, said } from './sidecar';

const START_WITHIN_MS = 10_000;

export class NotRunning extends Error {
  constructor() {
    super(l10n.t('The rawr sidecar does not run.'));
  }
}

export class Session {
  private current: Connection | undefined;
  private readonly waiting = new Set<() => void>();
  /** The thread that a person chose for the status bar. */
  chosen: string | undefined;

  constructor(
    readonly threads: Threads,
    readonly changed: () => void,
  ) {}

  get active(): Thread | undefined {
    return active(this.threads, this.chosen);
  }

  get connection(): Connection | undefined {
    return this.current;
  }

  set connection(connection: Connection | undefined) {
    this.current = connection;
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }

  /** The sidecar; one that is about to start is waited for. */
  async sidecar(): Promise<Connection> {
    if (!this.current) {
      await new Promise<void>((resolve) => {
        this.waiting.add(resolve);
        setTimeout(resolve, START_WITHIN_MS);
      });
    }
    if (!this.current) throw new NotRunning();
    return this.current;
  }

  /** The thread that is meant, or the active one, or the latest. */
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

  /** Records a person's answer. What follows from it is the owner's. */
  async respond(params: SequenceRespondParams): Promise<Phase> {
    const { phase } = await this.ask('rawr/sequence/respond', params);
    this.threads.responded(params);
    const thread = this.threads.get(params.threadId);
    if (thread) thread.summary = { ...thread.summary, phase };
    this.changed();
    return phase;
  }

  /** Goes on with this packet: a sequence that waits for a word gets it, too. */
  async handOver(threadId: string, sequenceId: string, packet: string): Promise<void> {
    const phase = await this.respond({ threadId, sequenceId, choice: 'edit_packet', packet });
    if (phase === 'awaiting_approval') await this.respond({ threadId, sequenceId, choice: 'approve' });
  }

  answer(threadId: string, sequenceId: string | undefined, choice: Choice): Promise<Phase> {
    return this.respond({ threadId, sequenceId, choice, ...(choice === 'snooze' ? { turns: 1 } : {}) });
  }
}

/** Runs a command's work; what it fails with is shown. */
export async function shown(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    void vscode.window.showErrorMessage(said(error));
  }
}
