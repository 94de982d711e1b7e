// Samples of the decision view's page, in every shape that it has.
import { type Page, decisionPage } from '../../src/model/decisionPage';
import type { Gate, GateOutcome } from '../../src/protocol';
import { NOW, decision } from '../unit/samples';

const GATES: Gate[] = [
  'feature',
  'pressure',
  'origin',
  'mode_of_host',
  'guard',
  'breaker',
  'rearm',
  'cooldown',
  'boundary',
  'weak_boundary',
  'semantic_break',
  'active_work',
  'packet_worth',
  'confirmation',
  'judgment',
  'mode',
];
const OUTCOMES: GateOutcome[] = ['pass', 'fail', 'bypassed', 'not_reached'];
const manyGates = GATES.map((gate, at) => ({
  gate,
  outcome: OUTCOMES[at % OUTCOMES.length] ?? 'pass',
  evidence: `evidence ${at}`,
}));

const asking = decision({ outcome: 'ask', compaction: undefined });
const finished = decision({
  decisionId: 'd2',
  compaction: {
    status: 'completed',
    tokensBefore: 5494,
    tokensAfter: 538,
    packetAuthor: 'agent',
    packetAdded: ['the plan'],
  },
  fate: { decisionId: 'd2', status: 'carried_out', atMs: NOW, text: 'compacted' },
});
const none = decision({ decisionId: 'd3', outcome: 'nothing', sequenceId: undefined, trigger: undefined });
const judged = decision({
  decisionId: 'd4',
  outcome: 'judge',
  judgment: { reason: 'A phase ended.', shouldCompact: true, source: 'chat' },
});
const empty = decision({
  decisionId: 'd5',
  outcome: 'nothing',
  percentRemaining: undefined,
  tier: undefined,
  reason: '',
  gates: [],
  wouldFireIf: [],
  sequenceId: undefined,
  trigger: undefined,
});
const many = decision({ decisionId: 'd6', gates: manyGates });
const history = [asking, finished, none, judged, empty, many];

const page = (shown: typeof asking, decisions = history): string => {
  const more: Omit<Page, 'decision' | 'decisions'> = {
    threadId: 't',
    name: 'parser',
    nowMs: NOW,
    language: 'en',
  };
  return decisionPage({ ...more, decision: shown, decisions });
};

export const PAGES: Record<string, string> = {
  asking: page(asking),
  finished: page(finished),
  'no compaction': page(none),
  judged: page(judged),
  'many gates': page(many),
  'nothing known': page(empty),
  'the only decision': page(none, [none]),
};
