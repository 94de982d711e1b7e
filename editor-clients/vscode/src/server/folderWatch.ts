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
    this.dispose();
    this.watchers = this.homes.flatMap((home) => this.watch(home, WRITTEN));
    // Last, because something can appear before a folder is watched.
    if (!this.found) return;
    this.dispose();
    this.appeared();
  }

  dispose(): void {
    for (const watcher of this.watchers) watcher.close();
    this.watchers = [];
  }

  /** Watches for these names in a folder; if it does not exist, for itself in the next one above. */
  private watch(folder: string, names: readonly string[]): FSWatcher[] {
    const above = path.dirname(folder);
    if (!existsSync(folder)) return above === folder ? [] : this.watch(above, [path.basename(folder)]);
    try {
      const watcher = watch(folder, (_, name) => {
        if (name === null || names.includes(name) || !existsSync(folder)) this.begin();
      });
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      // A folder that cannot be read will not show anything of rawr's either.
      return [];
    }
  }
}
