// The texts of packets: what was written, and what a person made of it. An edited one is a draft until it is handed over;
// drafts are stored, so that they outlive the window.

/** What is stored is read whole at each start. */
const MOST_DRAFTS = 8;
const MOST_CHARS = 256 * 1024;

export interface PacketName {
  threadId: string;
  sequenceId: string;
}

export interface PacketText {
  text: string;
  /** The packet of the sequence that it comes from; absent where there was none yet. */
  original?: string;
}

export type Draft = PacketName & PacketText;

/** Where drafts outlive the window. */
export interface DraftStore {
  /** The oldest first. */
  read(): Draft[];
  /** The draft is stored once this returns. */
  write(draft: Draft): void;
  remove(name: PacketName): void;
}

export class PacketTexts {
  private readonly texts = new Map<string, PacketText>();
  /** As they are stored, the oldest first. */
  private stored: readonly Draft[];

  constructor(private readonly store: DraftStore) {
    this.stored = store.read();
    for (const draft of this.stored) this.texts.set(keyOf(draft), draft);
  }

  get(name: PacketName): PacketText | undefined {
    return this.texts.get(keyOf(name));
  }

  draft(name: PacketName): Draft | undefined {
    return this.drafts.find((draft) => keyOf(draft) === keyOf(name));
  }

  /** What rawr would write, where the sequence has no packet yet. */
  built(name: PacketName, text: string): void {
    this.texts.set(keyOf(name), { text });
  }

  /** The packet that the sequence has now. A text that does not know of it gives way; whether one did. */
  written(name: PacketName, packet: string): boolean {
    const known = this.get(name);
    if (known && (packet === known.original || packet === known.text)) return false;
    this.texts.set(keyOf(name), { text: packet, original: packet });
    return known !== undefined;
  }

  edited(name: PacketName, text: string): void {
    const known = this.get(name);
    if (known?.text === text) return;
    this.remember({ ...known, ...name, text });
    this.texts.set(keyOf(name), { ...known, text });
  }

  /** The packet was handed over, or its sequence has ended: what is shown stays until the window closes. */
  drop(name: PacketName): void {
    if (this.draft(name)) this.keep(this.others(name));
  }

  get drafts(): readonly Draft[] {
    return this.stored;
  }

  /** The oldest make room; a text that is too long is not remembered. */
  private remember(draft: Draft): void {
    const kept = [...this.others(draft), draft].slice(-MOST_DRAFTS);
    while (chars(kept) > MOST_CHARS) kept.shift();
    if (kept.includes(draft)) this.store.write(draft);
    this.keep(kept);
  }

  private keep(kept: readonly Draft[]): void {
    const names = new Set(kept.map(keyOf));
    for (const draft of this.stored) if (!names.has(keyOf(draft))) this.store.remove(draft);
    this.stored = kept;
  }

  private others(name: PacketName): Draft[] {
    return this.drafts.filter((draft) => keyOf(draft) !== keyOf(name));
  }
}

function keyOf({ threadId, sequenceId }: PacketName): string {
  return JSON.stringify([threadId, sequenceId]);
}

function chars(drafts: readonly Draft[]): number {
  return drafts.reduce((sum, { text, original = '' }) => sum + text.length + original.length, 0);
}
