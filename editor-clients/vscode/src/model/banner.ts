// The banner as the sidecar words it: only how its parts are put together for each surface.
import * as l10n from '@vscode/l10n';
import type { Choice, HeadsUp } from '../protocol';
import * as words from './words';

export interface Banner {
  threadId: string;
  headsUp: HeadsUp;
}

/** A sequence runs; else something is only recommended, noted or deferred. */
export function isOfSequence({ headsUp }: Banner): boolean {
  return headsUp.progress !== undefined;
}

export function offers({ headsUp }: Banner, wanted: Choice): boolean {
  return headsUp.choices.some(({ choice }) => choice === wanted);
}

export function title({ headsUp }: Banner): string {
  return words.translated(headsUp.title);
}

/** Why it is shown: the reason, how full the context is, and what triggered it. */
export function why({ headsUp }: Banner): string {
  const facts = [words.left(headsUp.percentRemaining), ...(headsUp.tier ? [words.tier(headsUp.tier)] : [])];
  return `${headsUp.reason} (${facts.join(', ')})`;
}

/** How far the sequence has come. */
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

/** Texts that others wrote must not become links of a notification. */
export function harmless(text: string): string {
  return text.replace(/\]\(/g, '] (').replace(/\s+/g, ' ');
}
