// A program that runs many threads at once: one process that owns them, as a host does, and reports turns without any agent.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Requests } from '../../src/protocol';
import { ended } from './agent';
import { WINDOW } from './model';

/** The usage at the end of a turn, in tokens: 45% and 10% of the window are left. */
export const ASAP = WINDOW * 0.55;
export const EMERGENCY = WINDOW * 0.9;

interface Answer {
  id?: number;
  result?: unknown;
  error?: { message: string };
}

export class Host {
  private read = Buffer.alloc(0);
  private asked = 0;
  private turns = 0;
  private readonly waiting = new Map<number, { resolve(result: unknown): void; reject(why: Error): void }>();

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    child.stdout?.on('data', (piece: Buffer) => this.hear(piece));
    child.stdin?.on('error', () => undefined);
  }

  static async start(binary: string, env: NodeJS.ProcessEnv, folder: string): Promise<Host> {
    const child = spawn(binary, ['serve'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const host = new Host(child, folder);
    await host.send('initialize', { clientInfo: { name: 'host' } });
    return host;
  }

  get processId(): number {
    return this.child.pid ?? 0;
  }

  async open(threadId: string): Promise<void> {
    const host = { name: 'scripted', capabilities: { injectTurn: true, compact: true } };
    const opening = { threadId, cwd: this.folder, role: 'owner', host, contextWindow: WINDOW } as const;
    await this.ask('rawr/thread/open', opening);
  }

  /** A turn that commits its work, so that a phase ends. */
  async endsAPhase(threadId: string, text: string, contextTokens: number): Promise<void> {
    const turnId = `turn-${++this.turns}`;
    await this.ask('rawr/turn/started', { threadId, turnId, origin: 'user', text });
    const signal = { kind: 'command_finished', command: 'git commit -m parser', exitCode: 0 } as const;
    await this.ask('rawr/signal/report', { threadId, turnId, signal });
    const lastAgentMessage = 'The parser is written and committed.';
    const usage = { contextTokens };
    await this.ask('rawr/turn/completed', {
      threadId,
      turnId,
      status: 'completed',
      lastAgentMessage,
      usage,
    });
  }

  async close(threadId: string): Promise<void> {
    await this.ask('rawr/thread/close', { threadId });
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await ended(this.child);
  }

  private ask<M extends keyof Requests>(method: M, params: Requests[M][0]): Promise<unknown> {
    return this.send(method, params);
  }

  private send(method: string, params: object): Promise<unknown> {
    const id = ++this.asked;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    this.child.stdin?.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      if (this.child.exitCode ?? this.child.signalCode) reject(new Error('the host has ended'));
    });
  }

  private hear(piece: Buffer): void {
    this.read = Buffer.concat([this.read, piece]);
    for (;;) {
      const [head, length] = /^Content-Length: (\d+)\r\n\r\n/.exec(this.read.toString('latin1')) ?? [];
      if (head === undefined || this.read.length < head.length + Number(length)) return;
      const end = head.length + Number(length);
      this.answered(JSON.parse(this.read.subarray(head.length, end).toString()) as Answer);
      this.read = this.read.subarray(end);
    }
  }

  private answered({ id, result, error }: Answer): void {
    const waiting = id === undefined ? undefined : this.waiting.get(id);
    if (id !== undefined) this.waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }
}
