// The banner: that a compaction is near, why, and what a person can say to it. When it goes, and in which words it speaks.
import * as l10n from '@vscode/l10n';
import type {
  Choice,
  Phase,
  SequenceHeadsUpNotification,
  ThreadChangedNotification,
  ThreadGetResult,
} from '../protocol';
import * as words from './words';

export interface Banner {
  headsUp: SequenceHeadsUpNotification;
  /** The first phase that was heard of since. */
  first?: Phase;
  /** The latest. */
  phase?: Phase;
  answered?: Choice;
  /** A sequence runs; else something is only recommended, noted or put off. */
  isOfSequence: boolean;
}

export function putUp(headsUp: SequenceHeadsUpNotification): Banner {
  const isOfSequence = headsUp.stage === 'will_compact' || headsUp.stage === 'awaiting_approval';
  return { headsUp, isOfSequence };
}

/** The banner after this change, if it outlives it. */
export function survives(banner: Banner, changed: ThreadChangedNotification): Banner | undefined {
  const { headsUp } = banner;
  const first = banner.first ?? changed.phase;
  const moved = first !== changed.phase;
  const next: Banner = { ...banner, first, phase: changed.phase };
  if (moved) next.headsUp = { ...headsUp, deadlineAtMs: undefined };
  switch (headsUp.stage) {
    case 'awaiting_approval':
    case 'will_compact':
      return changed.sequenceId === headsUp.sequenceId ? next : undefined;
    case 'deferred':
      return changed.phase === 'deferred' ? next : undefined;
    case 'recommended':
    case 'tagged':
      return moved ? undefined : next;
  }
}

/** The banner of a sequence that had begun before this client listened. */
export function bannerOf({ headsUp, thread: { phase } }: ThreadGetResult): Banner | undefined {
  return headsUp && { ...putUp(headsUp), first: phase, phase };
}

const LATE: readonly Phase[] = ['compacting', 'awaiting_handoff'];

/** What can still be said to it. */
export function choices(banner: Banner): Choice[] {
  if (LATE.includes(banner.phase ?? 'idle')) return [];
  const agreed =
    banner.answered === 'approve' || (banner.phase ?? 'awaiting_approval') !== 'awaiting_approval';
  return banner.headsUp.choices.filter((choice) => choice !== 'approve' || !agreed);
}

/** How far a sequence has come, in steps. */
export function progress(banner: Banner): { step: number; of: number } {
  const steps: Phase[] = ['awaiting_approval', 'awaiting_packet', 'compacting', 'awaiting_handoff'];
  const early: Phase[] = ['awaiting_heads_up', 'awaiting_scratch_write'];
  const phase = banner.phase ?? 'awaiting_approval';
  const at = early.includes(phase)
    ? 1
    : steps.indexOf(phase === 'awaiting_compaction' ? 'compacting' : phase);
  return { step: at + 1, of: steps.length };
}

export function title(banner: Banner): string {
  const { stage } = banner.headsUp;
  const isPast = banner.isOfSequence && banner.phase !== undefined && banner.phase !== 'awaiting_approval';
  return isPast ? words.stage('will_compact') : words.stage(stage);
}

/** Why it is shown: the reason, how full the context is, and what triggered it. */
export function why({ headsUp }: Banner): string {
  const facts = [words.left(headsUp.percentRemaining), ...(headsUp.tier ? [words.tier(headsUp.tier)] : [])];
  return `${headsUp.reason} (${facts.join(', ')})`;
}

export function now(banner: Banner): string {
  if (banner.phase === undefined || banner.phase === 'idle') return '';
  const { step, of } = progress(banner);
  return banner.isOfSequence
    ? l10n.t('{0} of {1}: {2}', step, of, words.phase(banner.phase))
    : words.phase(banner.phase);
}

/** Texts that others wrote must not become links of a notification. */
export function harmless(text: string): string {
  return text.replace(/\]\(/g, '] (').replace(/\s+/g, ' ');
}
