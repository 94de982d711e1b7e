// Runs a program to its end.
import * as l10n from '@vscode/l10n';
import { execFile } from 'node:child_process';

/** Runs a program without a shell. Returns its output; its standard error is the message of its failure. */
export function run(path: string, args: readonly string[], withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(path, args, { timeout: withinMs }, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else if (error.killed) reject(new Error(l10n.t('it did not answer in {0} s', withinMs / 1000)));
      else reject(new Error(stderr.trim() || error.message));
    });
  });
}

/** The output of a program, also of one that fails; its error if it has none. */
export function output(path: string, args: readonly string[], withinMs: number): Promise<string> {
  return new Promise((resolve) => {
    execFile(path, args, { timeout: withinMs }, (error, stdout, stderr) => {
      resolve(stdout.trim() || stderr.trim() || (error?.message ?? ''));
    });
  });
}
