// Sample payloads of the sidecar, which tests modify.
import type {
  CompactionProposal,
  CompactionTrigger,
  Decision,
  HeadsUp,
  ThreadChangedNotification,
  ThreadGetResult,
  ThreadSummary,
} from '../../src/protocol';
import type { Details } from '../../src/model/threads';

export const NOW = 1_700_000_000_000;

export function summary(more: Partial<ThreadSummary> = {}): ThreadSummary {
  const base = {
    threadId: 't',
    cwd: '/home/me/parser',
    phase: 'idle',
    tier: 'ready',
    percentRemaining: 62,
  } as const;
  return {
    ...base,
    updatedAtMs: NOW - 60_000,
    open: false,
    running: true,
    owner: 'codex (process 7)',
    ...more,
  };
}

export function changed(more: Partial<ThreadChangedNotification> = {}): ThreadChangedNotification {
  const base = { threadId: 't', phase: 'awaiting_packet', tier: 'ready', percentRemaining: 62 } as const;
  return { ...base, sequenceId: 's1', guards: [], ...more };
}

/** A banner with texts that no client contains. */
export function headsUp(more: Partial<HeadsUp> = {}): HeadsUp {
  return {
    sequenceId: 's1',
    stage: 'will_compact',
    title: 'The title',
    reason: 'a phase ended here (commit)',
    message: 'What happens next.',
    tier: 'ready',
    percentRemaining: 62,
    boundaries: ['commit'],
    progress: { step: 2, of: 4, label: 'The step' },
    choices: [
      { choice: 'snooze', label: 'Later' },
      { choice: 'cancel', label: 'Skip' },
      { choice: 'edit_packet', label: 'Edit' },
    ],
    ...more,
  };
}

export const PROPOSAL: CompactionProposal = {
  decisionId: 'd1',
  confirm: 'either',
  text: 'Compaction proposed (commit); your next message or 4 minutes of silence decides',
};

export const TRIGGER: CompactionTrigger = {
  kind: 'rawr',
  entrance: 'turn_complete',
  tier: 'ready',
  percentRemaining: 62,
  boundaries: ['commit'],
  packetAuthor: 'agent',
  sequenceId: 's1',
};

export function decision(more: Partial<Decision> = {}): Decision {
  return {
    decisionId: 'd1',
    outcome: 'compact',
    tier: 'ready',
    percentRemaining: 62,
    reason: '62% left (ready) at commit',
    sequenceId: 's1',
    atMs: NOW - 120_000,
    trigger: TRIGGER,
    entrance: 'turn_complete',
    gates: [
      { gate: 'feature', outcome: 'pass', evidence: 'features.rawr_auto_compaction is on' },
      { gate: 'guard', outcome: 'fail', evidence: 'g1 until the next commit' },
      { gate: 'mode', outcome: 'not_reached', evidence: '' },
    ],
    wouldFireIf: ['the guard g1 is cleared'],
    ...more,
  };
}

export function details(
  thread: Partial<ThreadGetResult> = {},
  decisions: Decision[] = [decision()],
): Details {
  const base: ThreadGetResult = {
    thread: summary(),
    plan: [],
    guards: [],
    directives: [],
    boundaries: [],
    pendingActions: [],
    heldInputs: [],
    compactionAskedFor: false,
    turnRunning: false,
  };
  return { thread: { ...base, ...thread }, decisions, capsules: [] };
}
