// The tooltip of the status bar's item, as Markdown with links to commands.
import * as l10n from '@vscode/l10n';
import * as banners from './banner';
import { type Link, escaped, link } from './markdown';
import { name } from './name';
import { type Thread } from './threads';
import * as words from './words';

/** The commands that its links may run. */
export const TOOLTIP_COMMANDS = [
  'rawr.answerWith',
  'rawr.compactNow',
  'rawr.guard',
  'rawr.explain',
  'rawr.threads.focus',
];

export function tooltip(thread: Thread, others: number, nowMs: number): string {
  const facts = words.pressure(thread.summary.percentRemaining, thread.summary.tier);
  const head = `**${escaped(name(thread))}**: ${escaped(facts.join(', '))}`;
  const more = others > 0 ? [escaped(l10n.t('Other running threads: {0}', others))] : [];
  const paragraphs = [head, ...lines(thread, nowMs).map(escaped), ...more];
  return [...paragraphs, links(thread).map(link).join(' | '), origin(thread)].join('\n\n');
}

function lines({ summary, details, banner }: Thread, nowMs: number): string[] {
  const all: string[] = [];
  if (banner) {
    all.push(`${banners.title(banner)}: ${banners.why(banner)}`, banners.now(banner));
    all.push(banner.headsUp.message, ...banners.roughDeadline(banner, nowMs));
  }
  if (summary.proposal) all.push(summary.proposal.text);
  for (const guard of details?.thread.guards ?? [])
    all.push(l10n.t('No compaction {0}', words.until(guard.until)));
  const last = details?.thread.lastCompaction;
  if (last) all.push(l10n.t('Last compaction: {0}', words.landed(last.tokensBefore, last.tokensAfter)));
  const decision = details?.decisions.at(-1);
  if (decision) all.push(l10n.t('Last decision: {0}', decision.reason));
  if (summary.lastFate) all.push(words.fate(summary.lastFate, nowMs));
  if (summary.breaker) all.push(words.paused(summary.breaker));
  return all.filter(Boolean);
}

function links({ summary: { threadId }, banner }: Thread): Link[] {
  const choices = banner?.headsUp.choices ?? [];
  const answers = choices.map(({ choice, label }) => ({
    label: words.translated(label),
    command: 'rawr.answerWith',
    argument: { threadId, sequenceId: banner?.headsUp.sequenceId, choice },
  }));
  const usual = [
    { label: l10n.t('Compact Now'), command: 'rawr.compactNow', argument: { threadId } },
    { label: l10n.t('Do Not Compact Until…'), command: 'rawr.guard', argument: { threadId } },
  ];
  return [
    ...(answers.length > 0 ? answers : usual),
    { label: l10n.t('Explain'), command: 'rawr.explain', argument: { threadId } },
    { label: l10n.t('Threads'), command: 'rawr.threads.focus' },
  ];
}

function origin({ summary: { threadId, cwd, owner } }: Thread): string {
  const where = l10n.t('Thread {0} in {1}', threadId, cwd);
  return escaped(owner === undefined ? where : `${where} · ${l10n.t('Run by {0}', owner)}`);
}
