// The rows of the threads view: threads with their details. Rows are data; a view draws them.
import * as l10n from '@vscode/l10n';
import type { Decision, Guard, PlanStep, StepStatus, Tier } from '../protocol';
import * as banners from './banner';
import { decisionRow } from './decisionRows';
import { name, place } from './name';
import type { Row } from './row';
import { type Thread, type Threads, isAnswerable, isAsking, runs } from './threads';
import * as words from './words';

/** The threads that run come first. */
export function rows(threads: Threads, nowMs: number): Row[] {
  const running = threads.all.filter(runs);
  const ended = threads.all.filter((thread) => !runs(thread));
  return [...running, ...ended].map((thread) => threadRow(thread, nowMs));
}

/** The text for screen readers, which read out a separator. */
export function spoken({ label, description }: Row): string {
  return [label, description?.replaceAll(' · ', ', ')].filter(Boolean).join(', ');
}

function threadRow(thread: Thread, nowMs: number): Row {
  const { summary } = thread;
  const { threadId, tier } = summary;
  const facts = [...place(thread), ...words.pressure(summary.percentRemaining, tier)];
  facts.push(runs(thread) ? words.phase(summary.phase) : words.ago(summary.updatedAtMs, nowMs));
  return {
    // VS Code applies the expansion state only to new rows.
    id: runs(thread) ? `${threadId}/running` : threadId,
    label: name(thread),
    description: facts.join(' · '),
    tooltip: [threadId, summary.cwd, ...(summary.owner ? [l10n.t('Run by {0}', summary.owner)] : [])].join(
      '\n',
    ),
    icon: isAsking(thread) ? 'warning' : runs(thread) ? 'pulse' : 'circle-outline',
    color: rowColor(thread),
    context: threadContext(thread),
    children: [...bannerRows(thread, nowMs), ...pausedRows(thread), ...detailRows(thread, nowMs)],
    open: runs(thread),
    about: { threadId, sequenceId: thread.sequenceId },
  };
}

function threadContext(thread: Thread): string {
  const { proposal } = thread.summary;
  const states = { running: runs(thread), asking: isAnswerable(thread), proposed: proposal !== undefined };
  return ['thread', ...Object.entries(states).flatMap(([state, holds]) => (holds ? [state] : []))].join('.');
}

/** Colors that are readable in every theme. A normal tier needs none. */
const TIER_COLORS: Partial<Record<Tier, string>> = {
  asap: 'list.warningForeground',
  emergency: 'list.errorForeground',
};

function rowColor(thread: Thread): string | undefined {
  const { tier } = thread.summary;
  if (!runs(thread)) return undefined;
  return (tier && TIER_COLORS[tier]) ?? (isAsking(thread) ? 'list.warningForeground' : undefined);
}

function bannerRows(thread: Thread, nowMs: number): Row[] {
  const { banner } = thread;
  if (!banner) return [];
  const { threadId } = banner;
  const { sequenceId, boundaries, message, choices } = banner.headsUp;
  const lines = [banners.why(banner), message];
  if (boundaries.length > 0) lines.push(l10n.t('Triggered by: {0}', words.boundaries(boundaries)));
  const deadline = banners.roughDeadline(banner, nowMs);
  lines.push(...deadline);
  return [
    {
      id: `${threadId}/banner`,
      label: banners.title(banner),
      description: [banners.now(banner), words.boundaries(boundaries), ...deadline]
        .filter(Boolean)
        .join(' · '),
      tooltip: lines.join('\n'),
      icon: 'bell-dot',
      color: 'list.warningForeground',
      context: ['banner', ...choices.map(({ choice }) => choice)].join('.'),
      about: { threadId, sequenceId },
    },
  ];
}

function pausedRows({ summary: { threadId, breaker } }: Thread): Row[] {
  if (!breaker) return [];
  return [
    {
      id: `${threadId}/paused`,
      label: l10n.t('Compaction is paused'),
      description: breaker.reason,
      tooltip: words.paused(breaker),
      icon: 'debug-pause',
      color: 'list.warningForeground',
      context: 'paused',
      about: { threadId },
    },
  ];
}

function detailRows(thread: Thread, nowMs: number): Row[] {
  const { details } = thread;
  if (!details) return [];
  const { threadId } = thread.summary;
  const { plan, guards, directives } = details.thread;
  const done = plan.filter((step) => step.status === 'completed').length;
  const group = (key: string, label: string, icon: string, children: Row[], open = false): Row[] =>
    children.length === 0
      ? []
      : [{ id: `${threadId}/${key}`, label, icon, context: key, children, open, about: { threadId } }];
  const pins = directives.map((directive) => ({
    id: `${threadId}/pin/${directive.directiveId}`,
    label: directive.text,
    description: directive.pinned ? l10n.t('pinned') : undefined,
    icon: 'pinned',
    context: 'pin',
    about: { threadId, directiveId: directive.directiveId },
  }));
  return [
    ...group(
      'plan',
      l10n.t('Plan, {0} of {1} done', done, plan.length),
      'checklist',
      plan.map((step, at) => planRow(threadId, step, at)),
    ),
    ...group(
      'guards',
      l10n.t('Guards'),
      'shield',
      guards.map((guard) => guardRow(threadId, guard)),
      true,
    ),
    ...group('pins', l10n.t('Kept instructions'), 'pinned', pins),
    ...group('compactions', l10n.t('Compactions'), 'fold', compactionRows(thread, nowMs), true),
    ...group(
      'decisions',
      l10n.t('Decisions'),
      'law',
      details.decisions
        .slice(-MOST_DECISIONS)
        .reverse()
        .map((decision) => decisionRow(threadId, decision, nowMs)),
    ),
  ];
}

const MOST_DECISIONS = 10;

const STEPS: Record<StepStatus, [icon: string, color: string | undefined]> = {
  pending: ['circle-large-outline', undefined],
  in_progress: ['arrow-right', undefined],
  completed: ['pass', undefined],
};

function planRow(threadId: string, step: PlanStep, at: number): Row {
  const [icon, color] = STEPS[step.status];
  const status = {
    pending: l10n.t('to do'),
    in_progress: l10n.t('in progress'),
    completed: l10n.t('done'),
  }[step.status];
  return {
    id: `${threadId}/plan/${at}`,
    label: step.step,
    description: status,
    icon,
    color,
    context: 'step',
    about: { threadId },
  };
}

function guardRow(threadId: string, guard: Guard): Row {
  return {
    id: `${threadId}/guard/${guard.guardId}`,
    label: l10n.t('No compaction {0}', words.until(guard.until)),
    description: [guard.note, guard.setBy].filter(Boolean).join(' · '),
    icon: 'shield',
    context: 'guard',
    about: { threadId, guardId: guard.guardId },
  };
}

/** Compactions by their sequence; the host's own compactions, which have none, by their time. */
function compactionRows(thread: Thread, nowMs: number): Row[] {
  const { threadId } = thread.summary;
  const {
    decisions,
    capsules,
    thread: found,
  } = thread.details ?? { decisions: [], capsules: [], thread: undefined };
  const last = found?.lastCompaction;
  const kept = new Set(capsules.map((capsule) => capsule.capsuleId));
  const ours = decisions.filter((decision) => decision.compaction !== undefined).reverse();
  const ofDecisions = ours.map((decision) => ofDecision(threadId, decision, nowMs, kept));
  const isOurs =
    last?.sequenceId !== undefined && ours.some((decision) => decision.sequenceId === last.sequenceId);
  if (!last || isOurs) return ofDecisions;
  const by = words.origin(last.origin);
  const row: Row = {
    id: `${threadId}/compaction/${last.sequenceId ?? last.atMs}`,
    label: words.landed(last.tokensBefore, last.tokensAfter) || l10n.t('tokens unknown'),
    description: [by, words.ago(last.atMs, nowMs)].join(' · '),
    icon: 'fold',
    context: 'compaction',
    about: { threadId, sequenceId: last.sequenceId },
  };
  return [row, ...ofDecisions];
}

function ofDecision(threadId: string, decision: Decision, nowMs: number, kept: Set<string>): Row {
  const { compaction, sequenceId, decisionId } = decision;
  const status = {
    in_progress: l10n.t('in progress'),
    completed: l10n.t('completed'),
    failed: l10n.t('failed'),
    cancelled: l10n.t('canceled'),
  }[compaction?.status ?? 'in_progress'];
  const figures = words.landed(compaction?.tokensBefore, compaction?.tokensAfter);
  const lines = [decision.reason];
  if (compaction?.packetAuthor)
    lines.push(l10n.t('The packet is written by {0}.', words.author(compaction.packetAuthor)));
  lines.push(...(compaction?.packetAdded ?? []).map((fact) => l10n.t('Added by rawr: {0}', fact)));
  const capsuleId = sequenceId !== undefined && kept.has(sequenceId) ? sequenceId : undefined;
  if (capsuleId !== undefined) lines.push(l10n.t('Restore with: rawr restore {0}', capsuleId));
  return {
    id: `${threadId}/compaction/${decisionId}`,
    label: figures || status,
    description: [...(figures ? [status] : []), words.ago(decision.atMs, nowMs)].join(' · '),
    tooltip: lines.join('\n'),
    icon: compaction?.status === 'failed' ? 'error' : 'fold',
    context: capsuleId === undefined ? 'compaction' : 'compaction.kept',
    about: { threadId, decisionId, sequenceId, capsuleId },
  };
}
