// The texts of packets and the user's drafts. A draft is stored until it is delivered, so that it survives a reload of the
// window.

/** Limits, because all stored drafts are read at startup. */
const MOST_DRAFTS = 8;
const MOST_CHARS = 256 * 1024;

export interface PacketName {
  threadId: string;
  sequenceId: string;
}

export interface PacketText {
  text: string;
  /** The packet that it was made from; absent if there was none yet. */
  original?: string;
}

export type Draft = PacketName & PacketText;

/** Persistent storage of drafts. */
export interface DraftStore {
  /** All drafts, oldest first. */
  read(): Draft[];
  /** Stores a draft before it returns. */
  write(draft: Draft): void;
  remove(name: PacketName): void;
}

export class PacketTexts {
  private readonly texts = new Map<string, PacketText>();
  /** The drafts in the order of storage, oldest first. */
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

  /** Sets the packet that rawr would write, if the sequence has no packet yet. */
  built(name: PacketName, text: string): void {
    this.texts.set(keyOf(name), { text });
  }

  /** Sets the sequence's current packet. A text made from an older packet is replaced; returns whether one was. */
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

  /** The packet was delivered. The shown text stays until the window closes. */
  drop(name: PacketName): void {
    if (this.draft(name)) this.keep(this.others(name));
  }

  /** Removes the draft and the shown text. */
  forget(name: PacketName): void {
    this.drop(name);
    this.texts.delete(keyOf(name));
  }

  get drafts(): readonly Draft[] {
    return this.stored;
  }

  /** Removes the oldest drafts above the limit. A text that is too long is not stored. */
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
