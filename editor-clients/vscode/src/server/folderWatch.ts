// Whether rawr has been used in one of the folders that may be its home, and when that begins. Nothing polls.
import { type FSWatcher, existsSync, watch } from 'node:fs';
import * as path from 'node:path';

/** What rawr writes into its home. A home can also be Codex's, which says nothing about rawr. */
const WRITTEN = ['rawr', 'auto-compact', 'rawr.toml'];

export class FolderWatch {
  private watchers: FSWatcher[] = [];

  constructor(
    private readonly homes: readonly string[],
    private readonly appeared: () => void,
  ) {}

  get found(): boolean {
    return this.homes.some((home) => WRITTEN.some((name) => existsSync(path.join(home, name))));
  }

  /** Calls once when something of rawr's appears. */
  begin(): void {
    this.watchers = this.homes.flatMap((home) => {
      const names = existsSync(home) ? WRITTEN : [path.basename(home)];
      return this.watch(existsSync(home) ? home : path.dirname(home), names);
    });
  }

  dispose(): void {
    for (const watcher of this.watchers) watcher.close();
    this.watchers = [];
  }

  /** None for a folder that does not exist or cannot be read. */
  private watch(folder: string, names: readonly string[]): FSWatcher[] {
    try {
      const watcher = watch(folder, (_, name) => {
        if (name === null || names.includes(name)) this.again();
      });
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      return [];
    }
  }

  private again(): void {
    this.dispose();
    // Between a look and the next watch something can appear, so the look comes last.
    this.begin();
    if (!this.found) return;
    this.dispose();
    this.appeared();
  }
}
