// The banner with the sidecar's texts, composed for each surface.
import * as l10n from '@vscode/l10n';
import type { Choice, HeadsUp } from '../protocol';
import * as words from './words';

export interface Banner {
  threadId: string;
  headsUp: HeadsUp;
}

/** Whether a sequence runs; otherwise a compaction is only recommended, noted or deferred. */
export function isOfSequence({ headsUp }: Banner): boolean {
  return headsUp.progress !== undefined;
}

export function offers({ headsUp }: Banner, wanted: Choice): boolean {
  return headsUp.choices.some(({ choice }) => choice === wanted);
}

export function title({ headsUp }: Banner): string {
  return words.translated(headsUp.title);
}

/** The reason, the usage, and the boundaries. */
export function why({ headsUp }: Banner): string {
  return `${headsUp.reason} (${words.pressure(headsUp.percentRemaining, headsUp.tier).join(', ')})`;
}

/** The progress of the sequence. */
export function now({ headsUp: { progress } }: Banner): string {
  return progress
    ? l10n.t('{0} of {1}: {2}', progress.step, progress.of, words.translated(progress.label))
    : '';
}

/** What happens without an answer, and when. */
export function deadline({ headsUp }: Banner, nowMs: number): string[] {
  const { deadlineAtMs, deadlineLabel } = headsUp;
  if (deadlineAtMs === undefined || deadlineLabel === undefined) return [];
  return [`${words.translated(deadlineLabel)} ${words.remaining(deadlineAtMs, nowMs)}`];
}

/** The same in minutes, for texts that are not redrawn each second. */
export function roughDeadline({ headsUp }: Banner, nowMs: number): string[] {
  const { deadlineAtMs, deadlineLabel } = headsUp;
  if (deadlineAtMs === undefined || deadlineLabel === undefined) return [];
  return [`${words.translated(deadlineLabel)} ${words.remainingRoughly(deadlineAtMs, nowMs)}`];
}

/** Escapes untrusted texts, so that they cannot become links of a notification. */
export function harmless(text: string): string {
  return text.replace(/\]\(/g, '] (').replace(/\s+/g, ' ');
}
