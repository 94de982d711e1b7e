// An agent beside the editor.
import { type ChildProcess } from 'node:child_process';
import { until } from './waiting';

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null)
    await new Promise((resolve) => child.once('close', resolve));
}

/** An embedded agent run by the CLI, in the same home and folder as the editor. */
export class Agent {
  private readonly lines: string[] = [];

  constructor(private readonly child: ChildProcess) {
    child.stdout?.on('data', (piece: Buffer) => this.lines.push(piece.toString()));
    child.stderr?.on('data', (piece: Buffer) => this.lines.push(piece.toString()));
  }

  get said(): string {
    return this.lines.join('');
  }

  get processId(): number {
    return this.child.pid ?? 0;
  }

  /** A field of its first event, such as the thread or the path of the notes. */
  async told(field: 'threadId' | 'scratchFile'): Promise<string> {
    let found: string | undefined;
    await until(`${field} of the agent`, () => {
      found = new RegExp(`"${field}":"([^"]+)"`).exec(this.said)?.[1];
      return found !== undefined;
    });
    return found ?? '';
  }

  prompt(text: string): void {
    this.child.stdin?.write(`${text}\n`);
  }

  /** Stops it in an orderly way if it still runs. */
  async leave(): Promise<void> {
    this.child.stdin?.end();
    const force = setTimeout(() => this.child.kill('SIGKILL'), 10_000);
    await ended(this.child);
    clearTimeout(force);
  }
}
