// Packet drafts on disk, one file each. VS Code writes a `Memento` to disk some time after an update, so a reload could lose
// it; a draft must be on disk once its document counts as saved.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import type { Draft, DraftStore, PacketName } from '../model/packetTexts';

const SUFFIX = '.json';

export class DraftFolder implements DraftStore {
  constructor(private readonly folder: string) {}

  /** Reads all drafts. Invalid files, such as those of another version, are ignored. */
  read(): Draft[] {
    const files = this.files().filter((file) => file.endsWith(SUFFIX));
    const drafts = files.flatMap((file) => readDraft(file) ?? []);
    return drafts.sort((a, b) => a.savedAtMs - b.savedAtMs).map(({ draft }) => draft);
  }

  /** Writes a draft atomically. */
  write(draft: Draft): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const file = this.fileOf(draft);
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, JSON.stringify(draft), { mode: 0o600, flush: true });
    renameSync(unfinished, file);
  }

  remove(name: PacketName): void {
    rmSync(this.fileOf(name), { force: true });
  }

  /** Deletes the drafts that were last written before a time, because a sequence that ended keeps its draft. */
  removeOlderThan(atMs: number): void {
    for (const file of this.files()) removeOlder(file, atMs);
  }

  /** All files, including those of an interrupted write. */
  private files(): string[] {
    try {
      return readdirSync(this.folder).map((name) => path.join(this.folder, name));
    } catch {
      return [];
    }
  }

  private fileOf({ threadId, sequenceId }: PacketName): string {
    const name = createHash('sha256').update(JSON.stringify([threadId, sequenceId]));
    return path.join(this.folder, name.digest('hex') + SUFFIX);
  }
}

/** Another window may delete the same file. */
function removeOlder(file: string, atMs: number): void {
  try {
    if (statSync(file).mtimeMs < atMs) rmSync(file, { force: true });
  } catch {
    return;
  }
}

function readDraft(file: string): { draft: Draft; savedAtMs: number } | undefined {
  try {
    const draft: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isDraft(draft) ? { draft, savedAtMs: statSync(file).mtimeMs } : undefined;
  } catch {
    return undefined;
  }
}

function isDraft(value: unknown): value is Draft {
  if (typeof value !== 'object' || value === null) return false;
  const { threadId, sequenceId, text, original } = value as Record<string, unknown>;
  const texts = [threadId, sequenceId, text, ...(original === undefined ? [] : [original])];
  return texts.every((one) => typeof one === 'string');
}
