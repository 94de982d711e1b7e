// The sidecar's process. The language client ends only a server that answers; this ends any.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

/** The time that an orderly end takes at most. */
const END_WITHIN_MS = 2_000;

export class ServerProcess {
  private child: ChildProcessWithoutNullStreams | undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(
    private readonly command: string,
    private readonly args: readonly string[],
    private readonly folder: string | undefined,
  ) {}

  start(): Promise<ChildProcessWithoutNullStreams> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.command, this.args, { cwd: this.folder });
      this.child = child;
      this.ended = new Promise((over) => {
        child.on('exit', () => over());
        child.on('error', (error) => {
          over();
          reject(error);
        });
      });
      child.on('spawn', () => resolve(child));
    });
  }

  /** Waits for its end, and ends it by force if it does not come. */
  async ends(): Promise<void> {
    const wait = new AbortController();
    const late = setTimeout(END_WITHIN_MS, undefined, { signal: wait.signal }).catch(() => undefined);
    await Promise.race([this.ended, late]);
    wait.abort();
    this.kill();
  }

  /** Also ends one that is stopped or ignores other signals. */
  kill(): void {
    this.child?.kill('SIGKILL');
  }
}
