// The status bar's item for the active thread: text, tooltip and severity.
import * as l10n from '@vscode/l10n';
import type { Tier } from '../protocol';
import * as banners from './banner';
import { type Thread, runs } from './threads';
import * as words from './words';

export interface Status {
  text: string;
  /** The text for screen readers. */
  label: string;
  /** Lines of the tooltip. */
  details: string[];
  tier?: Tier;
  /** A sequence runs or an emergency holds: the item is highlighted. */
  alarm?: 'warning' | 'error';
  /** A click opens the banner's choices instead of the threads view. */
  answers: boolean;
}

/** The icon of a circle that fills with the usage. */
export function circle(percentRemaining: number | undefined): string {
  if (percentRemaining === undefined) return '○';
  const used = 100 - percentRemaining;
  const fills: [number, string][] = [
    [12, '○'],
    [45, '◔'],
    [70, '◑'],
    [90, '◕'],
  ];
  return fills.find(([below]) => used < below)?.[1] ?? '●';
}

/** Undefined if no thread runs. */
export function status(thread: Thread | undefined, nowMs: number): Status | undefined {
  if (!thread || !runs(thread)) return undefined;
  const { percentRemaining, tier } = thread.summary;
  const facts = [words.left(percentRemaining), ...(tier ? [words.tier(tier)] : [])];
  const { banner } = thread;
  const asks = banner !== undefined && banners.isOfSequence(banner);
  if (asks) facts.push(banners.now(banner) || banners.title(banner));
  else facts.push(...quietly(thread));
  const spoken = asks ? [...facts, banners.title(banner)] : facts;
  return {
    text: `${asks ? '$(warning)' : circle(percentRemaining)} ${facts.join(' · ')}`,
    label: l10n.t('rawr, {0}: {1}', name(thread), spoken.join(', ')),
    details: tooltip(thread, nowMs),
    tier,
    alarm: asks ? 'warning' : tier === 'emergency' ? 'error' : undefined,
    answers: asks && banner.headsUp.choices.length > 0,
  };
}

/** A thread's display name: its working folder. */
export function name(thread: Thread): string {
  const folder = thread.summary.cwd.split('/').filter(Boolean).pop();
  return folder ?? thread.summary.threadId;
}

/** What there is to know while no answer is needed. */
function quietly(thread: Thread): string[] {
  const { breaker, proposal, phase } = thread.summary;
  if (breaker) return [l10n.t('paused')];
  return proposal ? [words.phase(phase)] : lastBoundary(thread);
}

function lastBoundary(thread: Thread): string[] {
  const unspent = thread.details?.thread.boundaries.filter((mark) => mark.spentBy === undefined);
  const last = unspent?.at(-1);
  return last ? [`${words.boundary(last.boundary)} ✓`] : [];
}

function tooltip(thread: Thread, nowMs: number): string[] {
  const { summary, details } = thread;
  const { banner } = thread;
  const lines = [l10n.t('Thread {0} in {1}', summary.threadId, summary.cwd)];
  if (summary.owner) lines.push(l10n.t('Run by {0}', summary.owner));
  if (banner) {
    lines.push(`${banners.title(banner)}: ${banners.why(banner)}`);
    lines.push(banner.headsUp.message, ...banners.deadline(banner, nowMs));
  }
  if (summary.proposal) lines.push(summary.proposal.text);
  const last = details?.thread.lastCompaction;
  if (last) lines.push(l10n.t('Last compaction: {0}', words.landed(last.tokensBefore, last.tokensAfter)));
  const decision = details?.decisions.at(-1);
  if (decision) lines.push(l10n.t('Last decision: {0}', decision.reason));
  if (summary.lastFate) lines.push(words.fate(summary.lastFate, nowMs));
  if (summary.breaker) lines.push(words.paused(summary.breaker));
  return lines;
}
