// Runs a program to its end.
import * as l10n from '@vscode/l10n';
import { execFile } from 'node:child_process';

/** Runs a program without a shell. Returns its output; its standard error is the message of its failure. */
export function run(path: string, args: readonly string[], withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(path, args, { timeout: withinMs, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else if (error.killed) reject(new Error(l10n.t('it did not answer in {0} s', withinMs / 1000)));
      else reject(new Error(stderr.trim() || error.message));
    });
  });
}

/** The output of a program that reads `input`. One that fails also prints; one that prints nothing has not understood. */
export function report(
  path: string,
  args: readonly string[],
  input: string,
  withinMs: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: withinMs, killSignal: 'SIGKILL' } as const;
    const child = execFile(path, args, options, (error, stdout, stderr) => {
      if (stdout.trim() !== '' && !error?.killed) resolve(stdout);
      else reject(new Error(stderr.trim() || (error?.message ?? l10n.t('no reason given'))));
    });
    // A program that ends before it has read everything.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
