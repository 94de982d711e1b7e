// The status bar's item for the active thread: text, tooltip and severity.
import * as l10n from '@vscode/l10n';
import * as banners from './banner';
import { escaped } from './markdown';
import { name } from './name';
import { type Thread, isAnswerable, isAsking, runs } from './threads';
import { tooltip } from './tooltip';
import * as words from './words';

export interface Status {
  text: string;
  /** The text for screen readers. */
  label: string;
  /** Markdown. */
  tooltip: string;
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

/** Undefined if no thread runs. `running` is the number of threads that run; `isDemo`, that they are the demo's. */
export function status(
  thread: Thread | undefined,
  running: number,
  nowMs: number,
  isDemo = false,
): Status | undefined {
  if (!thread || !runs(thread)) return undefined;
  const { percentRemaining, tier } = thread.summary;
  const { banner } = thread;
  const asks = isAsking(thread);
  const now = banner && asks ? [banners.now(banner) || banners.title(banner)] : quietly(thread);
  const facts = [...words.pressure(percentRemaining, tier), ...now];
  const others = running - 1;
  const title = banner && asks ? banners.title(banner) : '';
  const isSaid = facts.some((fact) => fact.endsWith(title));
  const spoken = [...facts, ...(isSaid ? [] : [title]), ...more(others)];
  return {
    text: `${asks ? '$(warning)' : circle(percentRemaining)} ${isDemo ? l10n.t('rawr demo') : 'rawr'} ${facts.join(' · ')}${others > 0 ? ` +${others}` : ''}`,
    label: l10n.t('rawr, {0}: {1}', name(thread), spoken.join(', ')),
    tooltip: tooltip(thread, others, nowMs),
    alarm: asks ? 'warning' : tier === 'emergency' ? 'error' : undefined,
    answers: asks && isAnswerable(thread),
  };
}

/** The item while there is no sidecar and none will be started automatically. */
export function failed(why: string): Status {
  return { text: '$(warning) rawr', label: l10n.t('rawr: {0}', why), tooltip: escaped(why), answers: false };
}

function more(others: number): string[] {
  return others > 0 ? [l10n.t('Other running threads: {0}', others)] : [];
}

/** What there is to know while no answer is needed. */
function quietly(thread: Thread): string[] {
  const { breaker, proposal, phase } = thread.summary;
  if (breaker) return [l10n.t('paused')];
  if (proposal) return [words.phase(phase)];
  const guard = thread.details?.thread.guards.at(-1);
  if (guard) return [l10n.t('no compaction {0}', words.until(guard.until))];
  return lastBoundary(thread);
}

function lastBoundary(thread: Thread): string[] {
  const unspent = thread.details?.thread.boundaries.filter((mark) => mark.spentBy === undefined);
  const last = unspent?.at(-1);
  return last ? [`${words.boundary(last.boundary)} ✓`] : [];
}
