// The entries of the quick picks.
import * as l10n from '@vscode/l10n';
import type { CapsuleSummary, Choice, Until } from '../protocol';
import * as banners from './banner';
import type { Banner } from './banner';
import { name } from './name';
import { type Thread, runs } from './threads';
import * as words from './words';

export interface PickEntry<T> {
  label: string;
  description?: string;
  detail?: string;
  value: T;
}

const ICONS: Record<Choice, string> = {
  approve: 'check',
  compact_now: 'fold',
  snooze: 'bell-slash',
  edit_packet: 'edit',
  cancel: 'close',
};

/** The keys of package.json, which work while a banner can be answered. */
const KEYS: Partial<Record<Choice, string>> = {
  approve: 'Ctrl+Alt+R C',
  compact_now: 'Ctrl+Alt+R C',
  snooze: 'Ctrl+Alt+R S',
  edit_packet: 'Ctrl+Alt+R P',
  cancel: 'Ctrl+Alt+R X',
};

function effect(choice: Choice): string {
  switch (choice) {
    case 'approve':
      return l10n.t('The compaction continues');
    case 'compact_now':
      return l10n.t('As soon as the agent is idle');
    case 'snooze':
      return l10n.t('No compaction {0}, except in an emergency', words.until(words.SNOOZE));
    case 'edit_packet':
      return l10n.t('Opens the packet; nothing is answered yet');
    case 'cancel':
      return l10n.t('Stops this compaction; nothing is compacted');
  }
}

export function answerPicks({ headsUp }: Banner): PickEntry<Choice>[] {
  return headsUp.choices.map(({ choice, label }) => ({
    label: `$(${ICONS[choice]}) ${words.translated(label)}`,
    description: KEYS[choice],
    detail: effect(choice),
    value: choice,
  }));
}

/** The banner's title with its thread, and below it the reason and the deadline. */
export function answerHead(banner: Banner, thread: Thread, nowMs: number): { title: string; text: string } {
  return {
    title: l10n.t('{0}: {1}', name(thread), banners.title(banner)),
    text: [banners.why(banner), ...banners.deadline(banner, nowMs)].join(' · '),
  };
}

const UNTILS: Until[] = [
  { kind: 'next_commit' },
  { kind: 'tests_pass' },
  { kind: 'turns', turns: 1 },
  { kind: 'turns', turns: 3 },
  { kind: 'minutes', minutes: 15 },
  { kind: 'minutes', minutes: 60 },
  { kind: 'released' },
];

/** An end whose number the user types. */
export type CountedEnd = { kind: 'count'; of: 'turns' | 'minutes' };

export function guardPicks(): PickEntry<Until | CountedEnd>[] {
  const fixed = UNTILS.map((until) => ({ label: words.until(until), value: until }));
  return [
    ...fixed,
    { label: l10n.t('for a number of turns…'), value: { kind: 'count', of: 'turns' } },
    { label: l10n.t('for a number of minutes…'), value: { kind: 'count', of: 'minutes' } },
  ];
}

/** Undefined if the text is not a number that a guard can have. */
export function counted({ of }: CountedEnd, text: string): Until | undefined {
  if (!/^[1-9]\d{0,4}$/.test(text.trim())) return undefined;
  const count = Number(text);
  return of === 'turns' ? { kind: 'turns', turns: count } : { kind: 'minutes', minutes: count };
}

export function capsulePicks(capsules: readonly CapsuleSummary[], nowMs: number): PickEntry<string>[] {
  return capsules.map(({ capsuleId, atMs, tokensBefore }) => ({
    label: words.landed(tokensBefore, undefined) || l10n.t('tokens unknown'),
    description: words.ago(atMs, nowMs),
    detail: capsuleId,
    value: capsuleId,
  }));
}

export function threadPicks(threads: readonly Thread[]): PickEntry<Thread>[] {
  return threads.map((thread) => ({
    label: `$(${runs(thread) ? 'pulse' : 'circle-outline'}) ${name(thread)}`,
    description: words.pressure(thread.summary.percentRemaining, thread.summary.tier).join(' · '),
    detail: [thread.summary.cwd, thread.summary.threadId].join(' · '),
    value: thread,
  }));
}
