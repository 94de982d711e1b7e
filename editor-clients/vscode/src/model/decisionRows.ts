// The rows of decisions in the threads view, with their gates.
import type { Decision, GateOutcome, GateResult } from '../protocol';
import type { Row } from './row';
import * as words from './words';

const GATES: Record<GateOutcome, [icon: string, color: string | undefined]> = {
  pass: ['pass', undefined],
  fail: ['error', 'list.errorForeground'],
  bypassed: ['debug-step-over', 'list.warningForeground'],
  not_reached: ['circle-outline', undefined],
};

export function decisionRow(threadId: string, decision: Decision, nowMs: number): Row {
  const { decisionId } = decision;
  const fired = decision.sequenceId !== undefined;
  const outcome = decision.fate ? [words.fate(decision.fate, nowMs)] : [];
  return {
    id: `${threadId}/decision/${decisionId}`,
    label: words.outcome(decision),
    description: [decision.reason, words.ago(decision.atMs, nowMs)].join(' · '),
    tooltip: [words.decided(decision), decision.reason, ...decision.wouldFireIf, ...outcome].join('\n'),
    icon: fired ? 'fold' : 'circle-slash',
    context: 'decision',
    children: gateRows(threadId, decision),
    about: { threadId, decisionId },
  };
}

/** The gates that decided come first; the others are folded. */
function gateRows(threadId: string, { decisionId, gates }: Decision): Row[] {
  const rowsOf = (wanted: GateOutcome): Row[] =>
    gates.filter(({ outcome }) => outcome === wanted).map((gate) => gateRow(threadId, decisionId, gate));
  const folded = (outcome: GateOutcome): Row[] => {
    const children = rowsOf(outcome);
    const [icon, color] = GATES[outcome];
    const label = words.gatesWith(outcome, children.length);
    const id = `${threadId}/decision/${decisionId}/${outcome}`;
    const about = { threadId, decisionId };
    return children.length === 0 ? [] : [{ id, label, icon, color, context: 'gates', children, about }];
  };
  return [...rowsOf('fail'), ...rowsOf('bypassed'), ...folded('pass'), ...folded('not_reached')];
}

function gateRow(threadId: string, decisionId: string, { gate, outcome, evidence }: GateResult): Row {
  const [icon, color] = GATES[outcome];
  return {
    id: `${threadId}/decision/${decisionId}/${gate}`,
    label: words.gate(gate),
    description: [words.gateOutcome(outcome), evidence].filter(Boolean).join(': '),
    tooltip: `${gate}\n${evidence}`,
    icon,
    color,
    context: 'gate',
    about: { threadId, decisionId },
  };
}
