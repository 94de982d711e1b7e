// Display texts of the protocol's names and of confirmations. Independent of `vscode`.
import * as l10n from '@vscode/l10n';
import {
  type Boundary,
  type BreakerHold,
  type Choice,
  type CompactionOrigin,
  type Decision,
  type DecisionFate,
  type Entrance,
  type Gate,
  type GateOutcome,
  type PacketAuthor,
  type Phase,
  type SequenceRespondParams,
  type Tier,
  type Until,
  LABELS,
} from '../protocol';
import type { LateRefusal } from '../sidecar';

/** Translates the sidecar's English labels, which `scripts/l10n.mjs` collects for translators. */
export const translated: (text: string) => string = l10n.t;

export function origin(of: CompactionOrigin): string {
  return translated(LABELS.CompactionOrigin[of]);
}

export function tier(of: Tier): string {
  return translated(LABELS.Tier[of]);
}

export function boundary(of: Boundary): string {
  return translated(LABELS.Boundary[of]);
}

export function boundaries(of: readonly Boundary[]): string {
  return of.map(boundary).join(', ');
}

export function phase(of: Phase): string {
  return translated(LABELS.Phase[of]);
}

export function choice(of: Choice): string {
  return translated(LABELS.Choice[of]);
}

/** The outcome of a decision. A proposal is named like its phase. */
export function outcome(of: Pick<Decision, 'outcome' | 'confirm' | 'compaction' | 'fate'>): string {
  if (of.confirm) return phase('proposed');
  const isOver = of.compaction !== undefined || of.fate !== undefined;
  if (isOver && of.outcome === 'ask') return l10n.t('approval requested');
  return translated(LABELS.Outcome[of.outcome]);
}

/** The question that the explanation of a decision answers. */
export function question(of: Pick<Decision, 'outcome' | 'confirm'>): string {
  if (of.confirm) return l10n.t('Why a compaction was proposed');
  return {
    nothing: l10n.t('Why there was no compaction'),
    tag: l10n.t('Why a compaction was only noted'),
    suggest: l10n.t('Why a compaction was recommended'),
    ask: l10n.t('Why your approval was requested'),
    judge: l10n.t('Why the judge was asked'),
    defer: l10n.t('Why the compaction was deferred'),
    compact: l10n.t('Why the compaction was decided'),
  }[of.outcome];
}

/** The fate of a decision, and when. */
export function fate(of: DecisionFate, nowMs: number): string {
  return l10n.t('Outcome: {0}, {1}', of.text, ago(of.atMs, nowMs));
}

/** Why the breaker pauses compaction, and what ends that. */
export function paused(hold: BreakerHold): string {
  return l10n.t('Compaction is paused: {0}. rawr compacts again when {1}.', hold.reason, hold.endsWhen);
}

export function gate(of: Gate): string {
  return translated(LABELS.Gate[of]);
}

export function gateOutcome(of: GateOutcome): string {
  return translated(LABELS.GateOutcome[of]);
}

/** The title of the gates with this outcome. */
export function gatesWith(of: GateOutcome, count: number): string {
  return {
    fail: l10n.t('Failed gates: {0}', count),
    bypassed: l10n.t('Bypassed gates: {0}', count),
    pass: l10n.t('Passed gates: {0}', count),
    not_reached: l10n.t('Gates not reached: {0}', count),
  }[of];
}

export function entrance(of: Entrance): string {
  return translated(LABELS.Entrance[of]);
}

export function author(of: PacketAuthor): string {
  return translated(LABELS.PacketAuthor[of]);
}

export function until(of: Until): string {
  switch (of.kind) {
    case 'turns':
      return of.turns === 1 ? l10n.t('for 1 turn') : l10n.t('for {0} turns', of.turns);
    case 'minutes':
      return of.minutes === 1 ? l10n.t('for 1 minute') : l10n.t('for {0} minutes', of.minutes);
    case 'next_commit':
      return l10n.t('until the next commit');
    case 'tests_pass':
      return l10n.t('until the tests pass');
    case 'released':
      return l10n.t('until it is cleared');
  }
}

/** The length of a snooze. */
export const SNOOZE = { kind: 'turns', turns: 1 } as const satisfies Until;

/** The confirmation of a response, as in the CLI. */
export function recorded(choice: Choice, end?: Until): string {
  switch (choice) {
    case 'compact_now':
      return l10n.t('Requested: a compaction as soon as the agent is idle.');
    case 'approve':
      return l10n.t('Approved: the compaction continues.');
    case 'snooze':
      return end === undefined
        ? l10n.t('Snoozed: no compaction, except in an emergency.')
        : l10n.t('Snoozed: no compaction {0}, except in an emergency.', until(end));
    case 'cancel':
      return l10n.t('Canceled: nothing is compacted.');
    case 'edit_packet':
      return l10n.t('Saved: the compaction continues with this packet.');
  }
}

/** An answer that the sidecar refused because there is nothing to answer, or no longer. */
export function tooLate(
  { choice, sequenceId }: Pick<SequenceRespondParams, 'choice' | 'sequenceId'>,
  refusal: LateRefusal,
): string {
  if (choice === 'compact_now' && refusal === 'not_now') return l10n.t('A compaction is already under way.');
  return sequenceId !== undefined
    ? l10n.t('This answer came too late: the compaction has ended, or was already answered.')
    : l10n.t('There is no compaction to answer right now.');
}

/** The confirmation of a guard, as in the CLI. */
export function guarded(guardId: string, end: Until): string {
  return l10n.t('Guard {0}: no compaction {1}, except in an emergency.', guardId, until(end));
}

export function left(percent: number | undefined): string {
  return percent === undefined ? l10n.t('usage unknown') : l10n.t('{0}% left', percent);
}

export function tokens(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** "5,494 → 538 tokens", without unknown counts. */
export function landed(before: number | undefined, after: number | undefined): string {
  if (before === undefined) return after === undefined ? '' : l10n.t('{0} tokens now', tokens(after));
  if (after === undefined) return l10n.t('from {0} tokens', tokens(before));
  return l10n.t('{0} → {1} tokens', tokens(before), tokens(after));
}

/** A decision in one line. */
export function decided(of: Decision): string {
  return [outcome(of), left(of.percentRemaining), ...(of.tier ? [tier(of.tier)] : [])].join(' · ');
}

export function ago(atMs: number, nowMs: number): string {
  const minutes = Math.floor(Math.max(0, nowMs - atMs) / 60_000);
  if (minutes < 1) return l10n.t('just now');
  if (minutes < 60) return l10n.t('{0} min ago', minutes);
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? l10n.t('{0} h ago', hours) : l10n.t('{0} days ago', Math.floor(hours / 24));
}

/** The time left until a deadline, as "4:05". */
export function remaining(deadlineMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.ceil((deadlineMs - nowMs) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** The time left in a text that is not redrawn each second. */
export function remainingRoughly(deadlineMs: number, nowMs: number): string {
  const minutes = Math.round((deadlineMs - nowMs) / 60_000);
  return minutes < 1 ? l10n.t('less than a minute') : l10n.t('{0} min', minutes);
}

/** "69% left, ready" as separate facts. */
export function pressure(percent: number | undefined, of: Tier | undefined): string[] {
  return [left(percent), ...(of ? [tier(of)] : [])];
}
