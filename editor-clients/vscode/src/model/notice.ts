// The message of a banner, with buttons, and the message of a sequence that ended without an answer. An editor cannot change or
// close a message, so its text must stay true: progress is shown elsewhere, and a late answer is refused by the sidecar.
import * as l10n from '@vscode/l10n';
import type { Choice, DecisionFate, OfferedChoice } from '../protocol';
import * as banners from './banner';
import { type Banner } from './banner';
import { name } from './name';
import type { Thread, Threads } from './threads';
import * as words from './words';

export interface Answer {
  threadId: string;
  sequenceId: string;
  choice: Choice;
}

/** The buttons by their place. The first is also a shortcut's, so it never stops a compaction; canceling is in the menus. */
const BUTTONS: Choice[] = ['approve', 'compact_now', 'edit_packet', 'snooze'];

export interface Button {
  title: string;
  /** `mute` shows no more recommendations. */
  choice: Choice | 'mute';
}

export function buttons(banner: Banner): Button[] {
  const answers = answerButtons(banner);
  const isRecommended = answers.length > 0 && !banners.isOfSequence(banner);
  return isRecommended ? [...answers, { title: l10n.t('Do Not Show Again'), choice: 'mute' }] : answers;
}

function answerButtons({ headsUp: { choices } }: Banner): Button[] {
  const offered = BUTTONS.flatMap((choice) => choices.find((one) => one.choice === choice) ?? []);
  return offered.map(({ choice, label }: OfferedChoice) => ({ title: words.translated(label), choice }));
}

/** A plain sentence, which is also the message's accessible name. */
export function notice(banner: Banner, thread: Thread | undefined): string {
  const whose = thread
    ? l10n.t('rawr, {0}: {1}', name(thread), banners.title(banner))
    : banners.title(banner);
  return banners.harmless(`${whose}. ${capitalized(banners.why(banner))}.`);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A banner with the last fate of its thread when it came up, which is the fate of an earlier decision. */
export interface WatchedBanner {
  banner: Banner;
  fate: DecisionFate | undefined;
}

/** The current banners by thread. A list may bring a fate while its banner is still up, so the first one is kept. */
export function watched(
  threads: Threads,
  before: ReadonlyMap<string, WatchedBanner>,
): Map<string, WatchedBanner> {
  const watch = (banner: Banner): WatchedBanner => {
    const known = before.get(banner.threadId);
    if (known?.banner.headsUp.sequenceId === banner.headsUp.sequenceId) return { banner, fate: known.fate };
    return { banner, fate: threads.get(banner.threadId)?.summary.lastFate };
  };
  return new Map(threads.banners.map((banner) => [banner.threadId, watch(banner)]));
}

/** What ended a sequence that waited for approval; undefined if somewhere a person did. */
export function expiry(before: WatchedBanner, thread: Thread | undefined): string | undefined {
  const { stage, sequenceId } = before.banner.headsUp;
  const fate = thread?.summary.lastFate;
  const isOver = thread?.sequenceId !== sequenceId;
  if (stage !== 'awaiting_approval' || !isOver || !thread || isSameFate(fate, before.fate)) return undefined;
  if (!fate || !['dropped', 'called_off'].includes(fate.status) || fate.by !== undefined) return undefined;
  return banners.harmless(l10n.t('rawr, {0}: the compaction was {1}.', name(thread), fate.text));
}

function isSameFate(a: DecisionFate | undefined, b: DecisionFate | undefined): boolean {
  return a?.decisionId === b?.decisionId && a?.status === b?.status;
}
