// Waits for the home folder of the demo. Independent of `vscode`.
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const LOOK_EVERY_MS = 50;

/**
 * Waits until the demo has created its home, which must not be opened before, because the demo needs an empty folder. False if
 * the demo ended first, or takes too long. Throws if the demo cannot be run.
 */
export async function homeAppears(home: string, ended: Promise<void>, withinMs: number): Promise<boolean> {
  const stop = new AbortController();
  const appears = async (): Promise<void> => {
    for (let left = withinMs; left > 0 && !stop.signal.aborted && !existsSync(home); left -= LOOK_EVERY_MS)
      await setTimeout(LOOK_EVERY_MS);
  };
  try {
    await Promise.race([ended, appears()]);
  } finally {
    stop.abort();
  }
  return existsSync(home);
}
