// Generated from protocol-schema by `npm run protocol`; do not edit.

/** The version of the protocol that these types describe. */
export const PROTOCOL_VERSION = 1;

/** What rawr asks a host to do. */
export type Action = {
  kind: 'inject_turn';
  /** A short part of the text that identifies the turn: `[rawr:<sequenceId>:<purpose>]`. */
  marker: string;
  /** What the text is for. */
  purpose: Purpose;
  /** The whole text, marker included. */
  text: string;
  /** Whether to add it to the running turn instead of starting one. */
  viaSteer: boolean;
} | {
  /** A running sampling request may be aborted (docs/spec/built-in-compaction.md#interruption). */
  interrupt?: boolean;
  kind: 'compact';
  /** Compact without the provider, whose compaction freed too little (docs/spec/built-in-compaction.md#failures). */
  local?: boolean;
  /** The model to compact with, if another than the thread's. */
  model?: string;
  /** The packet takes the place of the host's summary: the host need not write one. */
  packetOnly?: boolean;
  /** How hard that model is to think. */
  reasoningEffort?: string;
  /** What led to it, for the host's own records. */
  trigger: CompactionTrigger;
  /** How much that model is to write. */
  verbosity?: string;
} | {
  /** The input. */
  inputId: string;
  /** The messages, in order (docs/spec/sequence.md#messages-that-wait). */
  items: Array<InputItem>;
  kind: 'deliver_input';
} | {
  /** The user text. */
  context: string;
  /** The system text. */
  instructions: string;
  kind: 'judge';
  /** JSON Schema of the answer. */
  outputSchema: Record<string, unknown>;
  /** The judgment's name, given back with the answer. */
  requestId: string;
} | {
  /** The compaction is only proposed: do not stop or delay anything for the answer. */
  ahead?: boolean;
  kind: 'sample_packet';
  /** What to ask. */
  prompt: string;
};

/**
 * `rawr/action/perform`: the owner is to perform an action, once however often it is asked
 * (docs/spec/clients.md#actions).
 */
export interface ActionPerformNotification {
  /** What to do. */
  action: Action;
  /** The action's id. It stays the same, even after a crash. */
  actionId: string;
  /** The sequence that the action belongs to. */
  sequenceId: string;
  /** The thread. */
  threadId: string;
}

/** `rawr/action/report`: what became of an action. */
export interface ActionReportParams {
  /** The action. */
  actionId: string;
  /** Why it failed, for people. */
  error?: string;
  /** What became of it. */
  status: ActionStatus;
  /** What it yielded, such as a sampled packet. */
  text?: string;
  /** The thread. */
  threadId: string;
  /** The turn that it started. */
  turnId?: string;
}

/** What became of an action. */
export type ActionStatus = {
} & ('accepted' | 'completed' | 'failed');

/** What a banner is about. */
export type BannerStage = 'will_compact' | 'awaiting_approval' | 'recommended' | 'tagged' | 'deferred';

/** A signal that a phase of work may have ended (docs/spec/boundaries.md#kinds). */
export type Boundary = 'commit' | 'pushed' | 'merged' | 'branch_changed' | 'tests_green' | 'phase_ended' | 'plan_checkpoint' | 'plan_update' | 'pr_checkpoint' | 'agent_done' | 'topic_shift' | 'concluding_thought' | 'turn_complete';

/** A boundary that was seen, and what became of it. */
export interface BoundaryMark {
  /** Which. */
  boundary: Boundary;
  /** The client that ended the phase. */
  by?: string;
  /** What a person or a program called the phase that ended here. */
  label?: string;
  /** The sequence that it started. After that it no longer counts (docs/spec/boundaries.md#identity). */
  spentBy?: string;
  /** The turn that it was seen in. */
  turnId?: string;
}

/**
 * Compactions that are paused because the last ones failed or freed too little. An emergency and a person's own are
 * never paused.
 */
export interface BreakerHold {
  /** What ends the pause, for people: to be read after "when". */
  endsWhen: string;
  /**
   * The most urgent tier that is paused, and every less urgent one with it; absent for the built-in compaction,
   * which
   * has no tiers.
   */
  heldTier?: Tier;
  /** The tier that is needed now. */
  neededTier?: Tier;
  /** Why, for people: a sentence without its capital and its period. */
  reason: string;
  /** How many compactions in a row did not help. */
  strikes: number;
  /** When one more is tried, Unix milliseconds; absent where only a compaction that helps ends the pause. */
  untilMs?: number;
}

/** `$/cancelRequest`: the answer is no longer wanted; there will still be one. */
export interface CancelParams {
  /** The request. */
  id: RequestId;
}

/** What is kept before a compaction, without what looks like a key or a token. */
export interface Capsule {
  /** When, Unix milliseconds. */
  atMs: number;
  /** The capsule's id: the sequence of the compaction, or an id of its own for a compaction that the host began. */
  capsuleId: string;
  /** Size of the context window, in tokens. */
  contextWindow?: number;
  /** The thread's working directory, absolute. */
  cwd: string;
  /** User instructions that were in force. */
  directives: Array<Directive>;
  /** Whether it includes the host's history. */
  hasHistory: boolean;
  /** User inputs that waited for the sequence, in order. */
  heldInputs: Array<HeldInput>;
  /** The agent program that owned the transcript. */
  host: CapsuleHost;
  /** The turn inside which the compaction came. */
  insideTurnId?: string;
  /** The host's id of the last turn that had ended. The transcript up to and including it is what there was. */
  lastTurnId?: string;
  /** The model in use. */
  model?: string;
  /** The continuation packet. */
  packet?: CapsulePacket;
  /** Who wrote the packet that is in it, if there was one. */
  packetAuthor?: PacketAuthor;
  /** The agent's plan. */
  plan: Array<PlanStep>;
  /** The agent's working notes, if there were any. */
  scratch?: CapsuleScratch;
  /** The thread that it was taken of. */
  threadId: string;
  /** Tokens in the context at that time. */
  tokensBefore?: number;
  /** Where the host keeps its transcript, and how long it was. */
  transcript?: TranscriptPosition;
  /** What led to the compaction. */
  trigger: CompactionTrigger;
  /** How many turns of the user or the host had ended. */
  turnsEnded: number;
  /** The work tree, as it was last looked at before. */
  workTree?: WorkTree;
}

/** `rawr/capsule/attach`: a host without a transcript sends its history before it compacts. */
export interface CapsuleAttachParams {
  /** The capsule: the sequence of the compaction that was asked for. */
  capsuleId: string;
  /** The whole history in the host's own shape, oldest first. */
  history: Array<Record<string, unknown>>;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/capsule/attach`. */
export interface CapsuleAttachResult {
  /** How many secrets were removed before it was written. */
  redactions: number;
}

/** `rawr/capsule/get`: everything in a capsule, and what the work tree looks like now. */
export interface CapsuleGetParams {
  /** The capsule. */
  capsuleId: string;
  /** The thread. */
  threadId: string;
  /** Whether to return the host's history as well, if there is one. It may be long. */
  withHistory?: boolean;
}

/** Answer to `rawr/capsule/get`. */
export interface CapsuleGetResult {
  /** What was kept. */
  capsule: Capsule;
  /** The history in the host's own shape, oldest first; empty unless it was wanted and is there. */
  history: Array<Record<string, unknown>>;
  /** The work tree as it is now; absent where there is none, or where looking is switched off. */
  workTreeNow?: WorkTree;
}

/** The agent program that a capsule was taken of. */
export interface CapsuleHost {
  /** The program's name. */
  name: string;
  /** The program's version. */
  version?: string;
}

/** `rawr/capsule/list`: the capsules of a thread. */
export interface CapsuleListParams {
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/capsule/list`. */
export interface CapsuleListResult {
  /** Latest first; the latest 20 of a thread are kept. */
  capsules: Array<CapsuleSummary>;
  /** Files among them that cannot be read. */
  unread: Array<Unread>;
}

/** A packet as a capsule keeps it. */
export interface CapsulePacket {
  /** Who wrote it. */
  author: PacketAuthor;
  /** What the agent was about to do. */
  resumeState: ResumeState;
  /** The packet. */
  text: string;
}

/** Working notes as a capsule keeps them. */
export interface CapsuleScratch {
  /** Their text; absent if it is long. */
  content?: string;
  /** A hash to detect changes: FNV-1a of the notes, in 16 hexadecimal digits. */
  contentHash: string;
  /** The file, relative to the working directory, with forward slashes. */
  scratchFile: string;
}

/** One capsule in short. */
export interface CapsuleSummary {
  /** When, Unix milliseconds. */
  atMs: number;
  /** The capsule's id: the sequence of the compaction, or an id of its own for a compaction that the host began. */
  capsuleId: string;
  /** Whether it includes the host's history. */
  hasHistory: boolean;
  /** Who wrote the packet that is in it, if there was one. */
  packetAuthor?: PacketAuthor;
  /** The thread that it was taken of. */
  threadId: string;
  /** Tokens in the context at that time. */
  tokensBefore?: number;
  /** What led to the compaction. */
  trigger: CompactionTrigger;
}

/** What a person can answer. */
export type Choice = 'compact_now' | 'approve' | 'snooze' | 'cancel' | 'edit_packet';

/** A command, as the host knows it. */
export type CommandLine = {
} & (string | Array<string>);

/** Who started a compaction. */
export type CompactionOrigin = 'rawr' | 'host' | 'user';

/** A compaction that was proposed at the end of a turn and waits to be confirmed or dropped. */
export interface CompactionProposal {
  /** What decides about it. */
  confirm: Confirm;
  /** The decision that proposed it, for `rawr/decision/explain`. */
  decisionId: string;
  /** All of it in one sentence for people: "Compaction proposed (commit); your next message decides". */
  text: string;
}

/** `rawr/compaction/report`: the progress of a compaction, started by anyone. */
export interface CompactionReportParams {
  /** The action that asked for it, if one did. */
  actionId?: string;
  /** Why it failed, for people. */
  error?: string;
  /** Who started it. */
  origin: CompactionOrigin;
  /** The progress. */
  status: CompactionReportStatus;
  /** The thread. */
  threadId: string;
  /** Tokens in the context after. */
  tokensAfter?: number;
  /** Tokens in the context before. */
  tokensBefore?: number;
}

/** The progress of a compaction, as a host reports it. */
export type CompactionReportStatus = {
} & ('started' | 'completed' | 'failed');

/**
 * `rawr/compaction/rewrite`: history in, history out, for hosts without their own
 * (docs/spec/hosts.md#rewriting-a-history). What stays, in this order: the initial context; the newest user messages;
 * the summary; the snapshots.
 */
export interface CompactionRewriteParams {
  /** The encoding to count by, as in `rawr/tokens/count`. */
  encoding?: string;
  /** The whole history, in order; every item counts, so none is skipped in reading. */
  items: Array<HistoryItem>;
  /** The model whose encoding to count by, as in `rawr/tokens/count`. */
  model?: string;
  /**
   * How many tokens of the latest user messages stay word for word; 20,000 if absent. The message that crosses the
   * limit loses its middle, and a mark that is not counted says how much that was. What rawr injected, known by its
   * marker, is no user message and goes.
   */
  recentUserTokens?: number;
  /** The summary that takes the history's place, without its prefix. A blank one is refused. */
  summary: string;
}

/** Answer to `rawr/compaction/rewrite`. */
export interface CompactionRewriteResult {
  /** The new history, in order. */
  items: Array<HistoryItem>;
  /** How they were counted, as in the answer to `rawr/tokens/count`. */
  method: string;
  /** Size of the new one, counted the same way. */
  tokensAfter: number;
  /** Size of the old one: its items' texts. */
  tokensBefore: number;
}

/** The progress of a compaction, as clients are told. The names are those of the Agent Client Protocol. */
export type CompactionStatus = 'in_progress' | 'completed' | 'failed' | 'cancelled';

/** What led to a compaction: recorded before it, attached to it after (docs/spec/sequence.md#audit-trail). */
export type CompactionTrigger = {
  /** The boundaries that counted. */
  boundaries: Array<Boundary>;
  /** The entrance that asked. */
  entrance: Entrance;
  kind: 'rawr';
  /** Who was to write the packet. */
  packetAuthor: PacketAuthor;
  /** Percent of the context window left. */
  percentRemaining: number;
  /** The sequence. */
  sequenceId: string;
  /** The tier that held. */
  tier: Tier;
} | {
  kind: 'inline';
  /** Percent of the context window left. */
  percentRemaining: number;
} | {
  kind: 'host';
} | {
  kind: 'user';
};

/** `rawr/compaction/update`: a compaction began or ended. */
export interface CompactionUpdateNotification {
  /** Why it failed, for people. */
  error?: string;
  /** Who started it. */
  origin: CompactionOrigin;
  /** The sequence that it belongs to. */
  sequenceId?: string;
  /** The progress. */
  status: CompactionStatus;
  /** The thread. */
  threadId: string;
  /** Tokens in the context after. */
  tokensAfter?: number;
  /** Tokens in the context before. */
  tokensBefore?: number;
  /** What led to it. */
  trigger?: CompactionTrigger;
}

/** `rawr/config/changed`: a configuration file was edited. */
export interface ConfigChangedNotification {
  /**
   * Every key with the value in force, where no project and no model says otherwise. A file that cannot be read as a
   * whole goes on to say what it said before.
   */
  effective: Record<string, unknown>;
  /** What is wrong with the files, those of the projects of open threads among them. */
  problems: Array<Problem>;
}

/** `rawr/config/get`: the configuration in force. */
export interface ConfigGetParams {
  /** The thread whose project's file counts too; none if absent. */
  threadId?: string;
}

/** Answer to `rawr/config/get`. */
export interface ConfigGetResult {
  /** Every key with the value in force, as in the file. */
  effective: Record<string, unknown>;
  /** Where values came from, the strongest first: files as paths, others by name. */
  layers: Array<string>;
  /** What is wrong with the files; the last good values stay in force (docs/spec/clients.md#configuration-files). */
  problems: Array<Problem>;
}

/** What decides about a compaction that was proposed at the end of a turn. */
export type Confirm = 'message' | 'idle' | 'either' | 'turn_end';

/** A verdict with everything that led to it. The same record explains "why" and "why not". */
export interface Decision {
  /** When, Unix milliseconds. */
  atMs: number;
  /** What came of the sequence that it started; absent until that has reached its compaction. */
  compaction?: DecisionCompaction;
  /** For a proposal: what decides about it. Its outcome is `defer`. */
  confirm?: Confirm;
  /** The decision. */
  decisionId: string;
  /** The entrance that asked. */
  entrance: Entrance;
  /** What became of it; absent where nothing was to follow, and of old decisions. */
  fate?: DecisionFate;
  /** Every gate, in the order in which they run. */
  gates: Array<GateResult>;
  /** The judge's part in it; absent where no judge was asked. */
  judgment?: DecisionJudgment;
  /** What was decided. */
  outcome: Outcome;
  /** Percent of the context window left. */
  percentRemaining?: number;
  /** What came of each; absent where no sequence followed, and of old decisions. */
  preCompactRequests?: Array<PreCompactRequest>;
  /** The proposal that it confirms or drops. */
  proposalId?: string;
  /** Why, in one sentence for people. */
  reason: string;
  /** What the agent is asked for before the compaction, in order. */
  requests?: Array<Purpose>;
  /** The sequence that was started. */
  sequenceId?: string;
  /** The tier that held; absent above every tier, or while usage is unknown. */
  tier?: Tier;
  /** What the compaction is recorded under; absent where none was in sight. */
  trigger?: CompactionTrigger;
  /** What would have to change for a compaction, in sentences for people. */
  wouldFireIf: Array<string>;
}

/** What came of a decision to compact. */
export interface DecisionCompaction {
  /** Facts that the packet's author had left out and the check put in, in sentences for people. */
  packetAdded: Array<string>;
  /** Who wrote the packet that was handed over. */
  packetAuthor?: PacketAuthor;
  /** How it went, or goes. */
  status: CompactionStatus;
  /** Tokens in the context after. */
  tokensAfter?: number;
  /** Tokens in the context before. */
  tokensBefore?: number;
}

/** `rawr/decision/explain`: why, or why not? */
export interface DecisionExplainParams {
  /** The decision; the latest if absent. */
  decisionId?: string;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/decision/explain`. */
export interface DecisionExplainResult {
  /** The decision. */
  decision: Decision;
}

/** What became of a decision. */
export interface DecisionFate {
  /** When that happened, Unix milliseconds. */
  atMs: number;
  /** Who called it off, for people. */
  by?: string;
  /** The decision. */
  decisionId: string;
  /** The decision that replaced it. */
  overtakenBy?: string;
  /** How far it came. */
  status: FateStatus;
  /** All of it in a few words for people, without the time: "called off by Neovim (snoozed)". */
  text: string;
}

/** A judge's part in a decision. */
export interface DecisionJudgment {
  /** Why there is no answer, for people. */
  error?: string;
  /** Why, in the judge's words; empty without an answer. */
  reason: string;
  /** The question; absent for the heuristic. */
  requestId?: string;
  /** The answer; absent while it is waited for, or where none came that could be used. */
  shouldCompact?: boolean;
  /** Who was asked. */
  source: JudgmentSource;
}

/** `rawr/decision/list`: past decisions. */
export interface DecisionListParams {
  /** Only decisions before this one, for the next page. */
  before?: string;
  /** How many to return at most, the latest; all if absent. */
  limit?: number;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/decision/list`. */
export interface DecisionListResult {
  /** Latest last: a page ends where the one that was read before it begins. */
  decisions: Array<Decision>;
}

/** `rawr/decision/recorded`: a decision was written down. */
export interface DecisionRecordedNotification {
  /** The decision. */
  decision: Decision;
  /** The thread. */
  threadId: string;
}

/** A user instruction that must survive compaction word for word. */
export interface Directive {
  /** Who gave it, for people; absent where it was found in a message. */
  by?: string;
  /** The directive's name. */
  directiveId: string;
  /** When it was given, Unix milliseconds. */
  givenAtMs: number;
  /** Whether it never ages out; of the others, the newest 20 outlive a compaction. */
  pinned: boolean;
  /** The instruction, unchanged. */
  text: string;
}

/** `rawr/directive/clear`: an instruction holds no longer. */
export interface DirectiveClearParams {
  /** The directive. */
  directiveId: string;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/directive/clear`. */
export interface DirectiveClearResult {
  /** Whether it was in force; what is over already needs no clearing. */
  cleared: boolean;
}

/** `rawr/directive/list`: the instructions in force. */
export interface DirectiveListParams {
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/directive/list`. */
export interface DirectiveListResult {
  /** Oldest first. */
  directives: Array<Directive>;
}

/** What to do with an input. */
export type Disposition = 'deliver' | 'held';

/** Nothing to say. Written as `{}`; whatever it is read from is ignored. */
export type Empty = Record<string, unknown>;

/** The entrance of a decision (docs/spec/decisions.md#entrances). */
export type Entrance = 'turn_complete' | 'preflight' | 'mid_turn' | 'inline';

/** Why a request failed. */
export type ErrorCode = -32700 | -32600 | -32601 | -32602 | -32603 | -32002 | -32009 | -32800 | -31001 | -31002 | -31003 | -31004 | -31005 | -31006 | -31007 | -31008 | -31009;

/** The `data` of an error: what it is about, and what to do. */
export interface ErrorData {
  /** The field of the params that is to blame, with dots between names. */
  field?: string;
  /** The file that it is about, absolute. */
  file?: string;
  /** What to do, as a sentence; empty if there is nothing to say. */
  hint: string;
  /** The thread that it is about. */
  threadId?: string;
}

/** How far a decision came. */
export type FateStatus = 'waiting' | 'running' | 'carried_out' | 'dropped' | 'called_off' | 'failed' | 'overtaken';

/** A named check on the way to "compact now", in the order in which they run (docs/spec/decisions.md#gates). */
export type Gate = 'feature' | 'pressure' | 'origin' | 'mode_of_host' | 'guard' | 'breaker' | 'rearm' | 'cooldown' | 'boundary' | 'weak_boundary' | 'semantic_break' | 'active_work' | 'packet_worth' | 'confirmation' | 'judgment' | 'mode';

/** The result of a gate. */
export type GateOutcome = 'pass' | 'fail' | 'bypassed' | 'not_reached';

/** What came of one gate. */
export interface GateResult {
  /** The facts that it went by, for people; empty if it was not reached. */
  evidence: string;
  /** Which gate. */
  gate: Gate;
  /** What came of it. */
  outcome: GateOutcome;
}

/** One active guard. */
export interface Guard {
  /** The guard's name. */
  guardId: string;
  /** Why it was set, in the words of its author. */
  note?: string;
  /** When it was set, Unix milliseconds. */
  setAtMs: number;
  /** Who set it, for people. */
  setBy?: string;
  /** What ends it. */
  until: Until;
}

/** `rawr/guard/clear`: end a guard early. */
export interface GuardClearParams {
  /** The guard; all of them if absent. */
  guardId?: string;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/guard/clear`. */
export interface GuardClearResult {
  /** How many ended; 0 if the guard was over already. */
  cleared: number;
}

/** `rawr/guard/list`: active guards. */
export interface GuardListParams {
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/guard/list`. */
export interface GuardListResult {
  /** Oldest first. */
  guards: Array<Guard>;
}

/** `rawr/guard/set`: no compaction until then, except in an emergency (docs/spec/clients.md#guards-and-answers). */
export interface GuardSetParams {
  /** Why. */
  note?: string;
  /** The thread. */
  threadId: string;
  /** What ends it. */
  until: Until;
}

/** Answer to `rawr/guard/set`. */
export interface GuardSetResult {
  /** The new guard's name. */
  guardId: string;
}

/** `rawr/handoff/build`: the message that would give this packet back. */
export interface HandoffBuildParams {
  /** The packet. */
  packet: string;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/handoff/build`. */
export interface HandoffBuildResult {
  /** The part that identifies it. */
  marker: string;
  /** The whole message, marker included. */
  text: string;
}

/** The banner of a thread as it stands now: everything to draw, nothing to decide. */
export interface HeadsUp {
  /** The boundaries that counted. */
  boundaries: Array<Boundary>;
  /** What a person can answer now, the default first; empty once nothing can be stopped. */
  choices: Array<OfferedChoice>;
  /** When the sequence goes on or is called off without an answer, Unix milliseconds; absent if it waits. */
  deadlineAtMs?: number;
  /** What happens at the deadline, to be followed by the time that is left: "Continues on its own in". */
  deadlineLabel?: string;
  /** What happens next, in a sentence or two for people. */
  message: string;
  /** Percent of the context window that was left when it came up. */
  percentRemaining?: number;
  /** How far the sequence has come; absent before one runs. */
  progress?: HeadsUpProgress;
  /** Why, in one sentence for people. */
  reason: string;
  /** The sequence that runs, or that would; an answer names it. */
  sequenceId: string;
  /** What it is about. */
  stage: BannerStage;
  /** The tier that held; absent where a person asked for a compaction above every tier. */
  tier?: Tier;
  /** The banner's title. */
  title: string;
}

/** How far a sequence has come. */
export interface HeadsUpProgress {
  /** What runs now, for people. */
  label: string;
  /** How many steps there are. */
  of: number;
  /** The step that runs, from 1. */
  step: number;
}

/** A user input that waited. */
export interface HeldInput {
  /** The host's name for it. */
  inputId: string;
  /** What it said. */
  text: string;
}

/** One item of a history. */
export interface HistoryItem {
  /** The host's id of the item; kept, so that the host can find the item again. */
  id?: string;
  /**
   * What it is to a compaction; a message if absent. Without it, the system items before the first other message are
   * the initial context, and a user message that begins with the prefix of summaries is a summary.
   */
  kind?: HistoryKind;
  /** Who speaks. */
  role: HistoryRole;
  /** What. */
  text: string;
}

/** What a history item is to a compaction. */
export type HistoryKind = 'message' | 'initial_context' | 'snapshot' | 'summary';

/** Who speaks in a history item. */
export type HistoryRole = 'system' | 'user' | 'assistant' | 'tool';

/** The agent program that owns a transcript. */
export interface Host {
  /** What it can do; absent means nothing. */
  capabilities?: HostCapabilities;
  /** The program's name, for people; nothing branches on it. */
  name: string;
  /** The program's version, for people. */
  version?: string;
}

/** What a host can do, probed by its client (docs/spec/clients.md#owner-and-observers). Absent means no. */
export interface HostCapabilities {
  /**
   * For how many seconds its provider keeps a prompt cached at least, counted from the last request; absent where that
   * is unknown.
   */
  cacheSeconds?: number;
  /** Compact its own history. */
  compact?: boolean;
  /** Only a person can compact, once the packet is there. */
  compactByPerson?: boolean;
  /** Put items into the history without a turn. */
  injectItems?: boolean;
  /** Start a turn with a text that rawr gives. */
  injectTurn?: boolean;
  /** Run a judgment with its own model and login. */
  judge?: boolean;
  /** Compact between two sampling requests of a turn. */
  midTurnCompact?: boolean;
  /** Hold user inputs back until told. */
  queue?: boolean;
  /** How many tokens the context must have for a compaction before an input that is held back; absent for any number. */
  queueAboveTokens?: number;
  /** Keep an input that is held back where it was typed, and start no other turn before it. A packet is then sampled. */
  queueInPlace?: boolean;
  /** Run one sampling request outside the transcript. */
  sample?: boolean;
  /** Add a text to the running turn. */
  steer?: boolean;
}

/** rawr's own part of `initialize`. */
export interface InitializationOptions {
  /** Configuration values that go before every file's, under the file's keys. */
  config?: Record<string, unknown>;
  /** The configuration file, absolute; `rawr.toml` in the home folder if absent. */
  configFile?: string;
  /** The home folder, absolute; docs/spec/recovery.md#files names the default. */
  home?: string;
  /** The prompt folder, absolute; `auto-compact` in the home folder if absent. */
  promptDir?: string;
}

/** `initialize`: the first request, from any LSP client. */
export interface InitializeParams {
  /** What the client can do, in LSP's words. */
  capabilities?: Record<string, unknown>;
  /** The client, for the log; nothing branches on it. */
  clientInfo?: PeerInfo;
  /** What only rawr reads. */
  initializationOptions?: InitializationOptions;
  /** The client's process; the sidecar ends when it does. */
  processId?: number;
  /** The folder that is open, in the words of older clients. */
  rootUri?: string;
  /** How much of its work the sidecar tells. */
  trace?: Trace;
  /** The folders that are open. */
  workspaceFolders?: Array<WorkspaceFolder>;
}

/** Answer to `initialize`. */
export interface InitializeResult {
  /** What the sidecar can do, in LSP's words; rawr's own under `experimental.rawr`. */
  capabilities: Record<string, unknown>;
  /** The sidecar. */
  serverInfo: PeerInfo;
}

/** `rawr/input/cancel`: a person takes a held input back. */
export interface InputCancelParams {
  /** The input. */
  inputId: string;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/input/cancel`. */
export interface InputCancelResult {
  /** Whether it was still held; if not, it is delivered or on its way. */
  cancelled: boolean;
}

/** One item of a delivered input. */
export interface InputItem {
  /** Whose text it is. */
  role: ItemRole;
  /** The text; a person's is unchanged. */
  text: string;
}

/** What sort of input a person sent. */
export type InputKind = {
} & ('message' | 'local_command');

/** `rawr/input/queued`: which inputs are held? */
export interface InputQueuedParams {
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/input/queued`. */
export interface InputQueuedResult {
  /** Ids of held inputs, in the order in which they will be delivered. */
  inputIds: Array<string>;
}

/** `rawr/input/submit`: a person sent something; may the host have it now? (docs/spec/sequence.md#messages-that-wait) */
export interface InputSubmitParams {
  /**
   * The client's name for the input. The same id with the same text is a repeat, unless the host refused to take
   * the message; with another text it is another message.
   */
  inputId: string;
  /** What sort of input it is. */
  kind: InputKind;
  /** The input, unchanged. */
  text: string;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/input/submit`. */
export interface InputSubmitResult {
  /** What to do with it. */
  disposition: Disposition;
}

/** Whose text an item is. */
export type ItemRole = 'handoff' | 'notice' | 'input';

/** `rawr/judgment/answer`: the host's answer to a `judge` action. */
export interface JudgmentAnswerParams {
  /** Why, in the model's words. */
  reason: string;
  /** The judgment that the action named. */
  requestId: string;
  /** The answer. */
  shouldCompact: boolean;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/judgment/answer`. */
export interface JudgmentAnswerResult {
  /** Whether it was waited for; a late answer is dropped (docs/spec/judgment.md#one-at-a-time). */
  accepted: boolean;
}

/** `rawr/judgment/evaluate`: ask the judge about a given situation (docs/spec/judgment.md). */
export interface JudgmentEvaluateParams {
  /** The boundaries to judge by. */
  boundariesPresent?: Array<Boundary>;
  /** The agent's last message. */
  lastAgentMessage?: string;
  /** Percent of the context window left. */
  percentRemaining: number;
  /** The caller's name for the judgment; one is made up if absent. */
  requestId?: string;
  /** The thread. */
  threadId: string;
  /** The tier to judge at. */
  tier: Tier;
  /** The end of the conversation. */
  transcriptExcerpt?: string;
}

/** Answer to `rawr/judgment/evaluate`. */
export interface JudgmentEvaluateResult {
  /** Why, in the judge's words. */
  reason: string;
  /** The judgment's name. */
  requestId: string;
  /** The answer. */
  shouldCompact: boolean;
  /** Who judged. */
  source: JudgmentSource;
  /** The tier that was judged at. */
  tier: Tier;
}

/** `rawr/judgment/requested`: the judge is asked. The answer follows as `rawr/judgment/result`, unless it comes too late. */
export interface JudgmentRequestedNotification {
  /** The judgment's name. */
  requestId: string;
  /** The thread. */
  threadId: string;
  /** The tier that is judged at. */
  tier?: Tier;
}

/** `rawr/judgment/result`: what the judge said, or why it said nothing. */
export interface JudgmentResultNotification {
  /** Why there is no answer, for people. */
  error?: string;
  /** Why, in the judge's words; empty without an answer. */
  reason: string;
  /** The judgment's name. */
  requestId: string;
  /** The answer; absent where none came that could be used. */
  shouldCompact?: boolean;
  /** Who judged. */
  source: JudgmentSource;
  /** The thread. */
  threadId: string;
  /** The tier that was judged at. */
  tier?: Tier;
}

/** Who judged. */
export type JudgmentSource = 'host' | 'responses' | 'chat' | 'heuristic';

/** What judging has cost a thread; kept apart from the thread's own usage. */
export interface JudgmentTotals {
  /** How often a judge was asked. */
  calls: number;
  /** How often there was no usable answer. */
  failures: number;
  /** Tokens sent, as far as judges tell. */
  inputTokens: number;
  /** Tokens received, as far as judges tell. */
  outputTokens: number;
  /** The newest rate limits of the judge's endpoint. */
  rateLimits: Array<RateLimit>;
}

/** A compaction that is over. */
export interface LastCompaction {
  /** When it completed, Unix milliseconds. */
  atMs: number;
  /** Who started it. */
  origin: CompactionOrigin;
  /** The sequence that it belonged to. */
  sequenceId?: string;
  /** Tokens in the context after. */
  tokensAfter?: number;
  /** Tokens in the context before. */
  tokensBefore?: number;
  /** What led to it: the audit trail (docs/spec/sequence.md#audit-trail). */
  trigger?: CompactionTrigger;
}

/** `window/logMessage`: a line for the log that the client shows. */
export interface LogMessageParams {
  /** The line. */
  message: string;
  /** How bad it is. */
  type: MessageType;
}

/** `$/logTrace`: one piece of the sidecar's work, for a client that asked for it by `$/setTrace` or `initialize`. */
export interface LogTraceParams {
  /** What was done, and how long it took. */
  message: string;
  /** The threads, sequences and actions that it concerned, a line each; with the trace `verbose` only. */
  verbose?: string;
}

/** How bad a log line is; a number on the wire, as in LSP. */
export interface MessageType {
}

/** An answer that a person can give now. */
export interface OfferedChoice {
  /** The answer. */
  choice: Choice;
  /** What its button says. */
  label: string;
}

/** What was decided. */
export type Outcome = 'nothing' | 'tag' | 'suggest' | 'ask' | 'judge' | 'defer' | 'compact';

/** Who wrote a packet, or will write it (docs/spec/packet.md#author). */
export type PacketAuthor = 'agent' | 'watcher' | 'person';

/** `rawr/packet/build`: rawr writes a packet from structured state. */
export interface PacketBuildParams {
  /** Always `watcher`: only rawr's own packet can be built on request. */
  author: PacketAuthor;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/packet/build`. */
export interface PacketBuildResult {
  /** Who wrote it. */
  author: PacketAuthor;
  /** What a check of it found. */
  checked: PacketCheck;
  /** The packet, labeled as built by rawr (docs/spec/packet.md#author). */
  packet: string;
}

/** What happened to a packet. */
export type PacketChange = 'taken' | 'edited' | 'outdated';

/** `rawr/packet/changed`: the packet of a running sequence changed; `rawr/packet/get` returns it. */
export interface PacketChangedNotification {
  /** Who wrote it. */
  author: PacketAuthor;
  /** The client at which a person edited it. */
  by?: string;
  /** What happened to it. */
  change: PacketChange;
  /** The sequence that it belongs to. */
  sequenceId: string;
  /** The thread. */
  threadId: string;
}

/** What a check of a packet found. */
export interface PacketCheck {
  /** Sections that it must have and lacks. */
  missing: Array<string>;
  /**
   * Facts about the session that the packet does not name, for people. rawr adds them under a heading when a
   * sequence takes the packet; for a taken packet, these are the added ones.
   */
  missingFacts: Array<string>;
  /** Whether it can be handed over as it is. */
  ok: boolean;
  /** How many secrets were taken out of it. */
  redactions: number;
  /** The packet's size. */
  tokens: number;
}

/** `rawr/packet/check`: checks a packet. */
export interface PacketCheckParams {
  /** The packet. */
  packet: string;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/packet/check`. */
export interface PacketCheckResult {
  /** What was found. */
  checked: PacketCheck;
}

/** `rawr/packet/get`: the packet of a sequence. */
export interface PacketGetParams {
  /** The sequence that is meant; the latest with a packet if absent. */
  sequenceId?: string;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/packet/get`. */
export interface PacketGetResult {
  /** Who wrote it. */
  author: PacketAuthor;
  /** What a check of it found. */
  checked: PacketCheck;
  /** The packet. */
  packet: string;
  /** What the agent does after the handoff. */
  resumeState: ResumeState;
  /** The sequence that it belongs to. */
  sequenceId: string;
}

/** `rawr/packet/submit`: a person or a host gives the packet that a sequence waits for. */
export interface PacketSubmitParams {
  /** The packet. */
  packet: string;
  /** The sequence that is meant; the running one if absent. */
  sequenceId?: string;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/packet/submit`. */
export interface PacketSubmitResult {
  /** What a check of it found. */
  checked: PacketCheck;
  /** Where the thread stands now. */
  phase: Phase;
}

/** Packets that were asked for while their compactions were only proposed. */
export interface PacketsAhead {
  /** How many were asked for. */
  asked: number;
  /** Tokens of context that were read for the others. Most of them come from the provider's prompt cache. */
  unusedTokens: number;
  /** How many of them were used. */
  used: number;
}

/** A program's name and version. */
export interface PeerInfo {
  /** The program's name. */
  name: string;
  /** The program's version. */
  version?: string;
}

/** An action without an end: its fields and its ids. */
export type PendingAction = {
  /** The action's name, as it was when it was first asked for. */
  actionId: string;
  /** When it was first asked for; a host that may have done it before it was lost looks for it from then on. */
  issuedAtMs?: number;
  /** The sequence that it belongs to. */
  sequenceId: string;
} & ({
  kind: 'inject_turn';
  /** A short part of the text that identifies the turn: `[rawr:<sequenceId>:<purpose>]`. */
  marker: string;
  /** What the text is for. */
  purpose: Purpose;
  /** The whole text, marker included. */
  text: string;
  /** Whether to add it to the running turn instead of starting one. */
  viaSteer: boolean;
} | {
  /** A running sampling request may be aborted (docs/spec/built-in-compaction.md#interruption). */
  interrupt?: boolean;
  kind: 'compact';
  /** Compact without the provider, whose compaction freed too little (docs/spec/built-in-compaction.md#failures). */
  local?: boolean;
  /** The model to compact with, if another than the thread's. */
  model?: string;
  /** The packet takes the place of the host's summary: the host need not write one. */
  packetOnly?: boolean;
  /** How hard that model is to think. */
  reasoningEffort?: string;
  /** What led to it, for the host's own records. */
  trigger: CompactionTrigger;
  /** How much that model is to write. */
  verbosity?: string;
} | {
  /** The input. */
  inputId: string;
  /** The messages, in order (docs/spec/sequence.md#messages-that-wait). */
  items: Array<InputItem>;
  kind: 'deliver_input';
} | {
  /** The user text. */
  context: string;
  /** The system text. */
  instructions: string;
  kind: 'judge';
  /** JSON Schema of the answer. */
  outputSchema: Record<string, unknown>;
  /** The judgment's name, given back with the answer. */
  requestId: string;
} | {
  /** The compaction is only proposed: do not stop or delay anything for the answer. */
  ahead?: boolean;
  kind: 'sample_packet';
  /** What to ask. */
  prompt: string;
});

/** Where a thread stands in the sequence machine (docs/spec/sequence.md#phases). */
export type Phase = 'idle' | 'awaiting_judgment' | 'awaiting_approval' | 'deferred' | 'proposed' | 'awaiting_heads_up' | 'awaiting_scratch_write' | 'awaiting_packet' | 'awaiting_compaction' | 'compacting' | 'awaiting_handoff';

/** One step of a plan. */
export interface PlanStep {
  /** How far it has come. An unknown status is read as pending, because only `completed` makes a checkpoint. */
  status: StepStatus;
  /** What is to be done. */
  step: string;
}

/** A place in a text, as in LSP. */
export interface Position {
  /** UTF-16 code units from the start of the line. */
  character: number;
  /** The line, from 0. */
  line: number;
}

/** Something that the agent is asked for before a compaction, or the packet that rawr writes in its place. */
export interface PreCompactRequest {
  /** The newest action that asked for it. */
  actionId?: string;
  /** Who is to write what it asks for, or wrote it. */
  author: PacketAuthor;
  /** What is asked for. */
  purpose: Purpose;
  /** What came of it, for people. */
  result?: string;
  /** How far it has come. */
  state: RequestState;
}

/** A preset of the configuration (docs/spec/confirmation.md). */
export type Preset = {
} & ('calm' | 'spec');

/** One thing wrong with a prompt or a configuration file. */
export interface Problem {
  /** A stable short name, such as `unknown-key`. */
  code: string;
  /** The file, absolute. */
  file?: string;
  /** What to do about it. */
  help?: string;
  /** What is wrong, as a sentence fragment. */
  message: string;
  /** Where in the file. */
  range?: Range;
  /** How bad it is. */
  severity: Severity;
}

/**
 * `$/progress`: how far a request is. `begin` comes first and `end` last, before the answer; when the request is
 * cancelled, too.
 */
export interface ProgressParams {
  /** The request's `workDoneToken`. */
  token: ProgressToken;
  /** How far it is. */
  value: WorkDoneProgress;
}

/** What a client calls the progress of a request. It chooses one that it uses for nothing else. */
export type ProgressToken = {
} & (number | string);

/** `rawr/prompt/changed`: a prompt file was edited. */
export interface PromptChangedNotification {
  /** The prompt; of a decision prompt its path, as a tier names it. */
  name: string;
  /** What is wrong with the file. */
  problems: Array<Problem>;
  /** The version in force: still the old one if the new text does not parse. */
  version: string;
}

/** `rawr/prompt/get`: one prompt in full. */
export interface PromptGetParams {
  /** The prompt's name. */
  name: string;
}

/** Answer to `rawr/prompt/get`. */
export interface PromptGetResult {
  /** The front matter, where the prompt has one. */
  frontMatter?: Record<string, unknown>;
  /** The prompt's name. */
  name: string;
  /** Whose text it is. */
  origin: PromptOrigin;
  /** The prompt's file, absolute; absent for one that is only embedded. */
  path?: string;
  /** The placeholders that it may use, without braces, in camelCase. */
  placeholders: Array<string>;
  /** What is wrong with the file. */
  problems: Array<Problem>;
  /** The text in force, without front matter, placeholders unfilled. */
  text: string;
  /** Changes whenever the text in force does; opaque. */
  version: string;
}

/** `rawr/prompt/list`: the prompts in force. */
export interface PromptListParams {
}

/** Answer to `rawr/prompt/list`. */
export interface PromptListResult {
  /** By name. */
  prompts: Array<PromptSummary>;
}

/** Whose text a prompt is. */
export type PromptOrigin = 'shipped' | 'user';

/** `rawr/prompt/previewChanged`: a prompt that is being edited reads otherwise now. */
export interface PromptPreviewChangedNotification {
  /** The prompt. */
  name: string;
  /** The text as it would be sent. */
  text: string;
  /** Where the text can be asked for: `rawr://preview/<name>`. */
  uri: string;
}

/** `rawr/prompt/preview`: a text that is not saved yet, as it would be sent. */
export interface PromptPreviewParams {
  /** The name of the prompt that it is to become. */
  name: string;
  /** The whole file, front matter included. */
  text: string;
  /** The thread to take values from; example values stand in if absent. */
  threadId?: string;
}

/** Answer to `rawr/prompt/preview`. */
export interface PromptPreviewResult {
  /** What is wrong with it; ranges are those of the text given. */
  problems: Array<Problem>;
  /** The text as it would be sent. */
  text: string;
  /** The text's size. */
  tokens: number;
}

/** `rawr/prompt/render`: a prompt in force with its placeholders filled. */
export interface PromptRenderParams {
  /** The prompt's name. */
  name: string;
  /** The thread to take values from. */
  threadId?: string;
  /** Values by placeholder; they go before the thread's. */
  values?: Record<string, string>;
}

/** Answer to `rawr/prompt/render`. */
export interface PromptRenderResult {
  /** Placeholders without a value, and the like. */
  problems: Array<Problem>;
  /** The text as it would be sent. */
  text: string;
}

/** One prompt in short. */
export interface PromptSummary {
  /** The name of the prompt's file without the ending, such as `heads-up`. */
  name: string;
  /** Whose text is in force. */
  origin: PromptOrigin;
  /** The prompt's file, absolute; absent for one that is only embedded. */
  path?: string;
  /** What is wrong with the file; the last good text stays in force (docs/spec/prompts.md#files). */
  problems: Array<Problem>;
  /** Changes whenever the text in force does; opaque. */
  version: string;
}

/** What a turn that rawr asked for is for (docs/spec/sequence.md#order). */
export type Purpose = 'heads_up' | 'scratch_write' | 'packet_request' | 'handoff' | 'notice';

/** A part of a text, as in LSP: the end is the first position after it. */
export interface Range {
  /** Where it has ended. */
  end: Position;
  /** Where it begins. */
  start: Position;
}

/** One limit, in the endpoint's own words. */
export interface RateLimit {
  /** Which. */
  name: string;
  /** How much of it is left, or when it is renewed. */
  value: string;
}

/** Where words were found. */
export type RecallKind = 'packet' | 'handoff' | 'directive' | 'scratch' | 'user_message' | 'agent_message' | 'tool_call' | 'tool_output' | 'summary';

/** One text in which all words occur. */
export interface RecallPlace {
  /** When it was said, Unix milliseconds, as far as the file tells. */
  atMs?: number;
  /** The file, absolute. */
  file: string;
  /** What kind of text it is. */
  kind: RecallKind;
  /** The line, from 1. */
  line: number;
  /** The text around the first of the words, on one line; what looks like a key or a token is taken out. */
  snippet: string;
  /** The thread. */
  threadId: string;
}

/** `rawr/recall/search`: where were these words said? */
export interface RecallSearchParams {
  /** The most places to name: 50 if absent, 1000 at most. */
  limit?: number;
  /** The thread; all of this home if absent. */
  threadId?: string;
  /** Each must occur in the same text, whatever its case. */
  words: Array<string>;
}

/** Answer to `rawr/recall/search`. */
export interface RecallSearchResult {
  /** So many older ones were found and are not named. */
  more: number;
  /** Latest first. */
  places: Array<RecallPlace>;
  /** What could not be searched. */
  unread: Array<Unread>;
}

/** The format of a recorded session. */
export type RecordFormat = 'codex' | 'claude' | 'rawr';

/** A compaction that is in the record. */
export interface ReplayCompaction {
  /** When, Unix milliseconds. */
  at: number;
  /** Who started it. */
  by: CompactionOrigin;
  /** Whether the compaction came while the agent worked. */
  insideTurn: boolean;
  /** Tokens in the context before it. */
  tokensBefore: number;
  /** The turn, counted from 1. */
  turn: number;
}

/** A configuration to replay under. */
export type ReplayConfiguration = {
} & ({
  kind: 'own';
} | {
  /** The file, absolute. */
  file: string;
  kind: 'file';
} | {
  kind: 'preset';
  /** The preset. */
  preset: Preset;
});

/** The context after a sampling request. */
export interface ReplayContextPoint {
  /** When, Unix milliseconds. */
  at: number;
  /** Percent of the window left. */
  percent: number;
  /** Percent left of what the host fills before it compacts by itself. Decisions use it. */
  percentLeft: number;
  /** The turn, counted from 1. */
  turn: number;
}

/** One decision. */
export interface ReplayDecision {
  /** The compaction after a message that closed the work. */
  afterClosing?: boolean;
  /** When, Unix milliseconds. */
  at: number;
  /** The boundaries that counted. */
  boundaries: Array<Boundary>;
  /** A message that closes the work confirmed the proposal. It is carried out first. */
  confirms?: boolean;
  /** Why it drops the proposal before it. */
  drops?: string;
  /** The entrance that asked. */
  entrance: Entrance;
  /** What was decided. */
  outcome: Outcome;
  /** Percent of the context window left. */
  percent?: number;
  /** Whether the decision only proposes; the next message or silence decides. */
  proposes?: boolean;
  /** Why, in one sentence for people. */
  reason: string;
  /** The only gate that stopped it. */
  stoppedBy?: Gate;
  /** The tier that held. */
  tier?: Tier;
  /** Tokens in the context. */
  tokens?: number;
  /** The turn, counted from 1; 0 before the first. */
  turn: number;
  /** Only the judge was against it. */
  vetoed?: boolean;
}

/** What a replay tells of each session. */
export type ReplayDetailName = {
} & ('sums' | 'decisions' | 'whole');

/** One record under each configuration. */
export interface ReplayFile {
  /** Why it was read only in part, or not at all. */
  error?: string;
  /** The record, absolute. */
  file: string;
  /** One report for each configuration. */
  reports: Array<ReplaySession>;
}

/** How many lines were read, and how many of them tell nothing. */
export interface ReplayLines {
  /** All lines. */
  lines: number;
  /** Lines that are no JSON, or not of the shape that their kind has. */
  malformed: number;
  /** Lines that are longer than any message. */
  oversized: number;
  /** Lines of an unknown kind. */
  unknown: number;
}

/** What becomes of the context after a compaction that the replay starts. */
export type ReplayOrder = 'first' | 'second';

/** A file that holds no session of a known format. */
export interface ReplayOtherFile {
  /** The file, absolute. */
  file: string;
  /** What its lines were. */
  lines: ReplayLines;
}

/** What requests cost, in hundredths of the currency of the prices. */
export interface ReplayPrice {
  /** Under the configuration. */
  cents: number;
  /** As recorded. */
  recordedCents: number;
  /** Models without a price, whose requests are not in it. */
  unpriced?: Array<string>;
}

/** `rawr/replay/run`: when would these configurations have compacted in recorded sessions? */
export interface ReplayRunParams {
  /** What to decide by: 8 at most, and the user's own configuration if absent or empty. */
  configurations?: Array<ReplayConfiguration>;
  /** What to tell of each session; `sums` if absent. */
  detail?: ReplayDetailName;
  /** Only sessions whose last model contains this text, whatever its case. */
  model?: string;
  /** What becomes of the context after a compaction; `second` if absent. */
  order?: ReplayOrder;
  /** Records and folders of records, absolute. The user's own sessions of Codex and Claude Code if absent or empty. */
  paths?: Array<string>;
  /** Only records that were changed since, Unix milliseconds. */
  since?: number;
  /** The context window in tokens, at least 1; the recorded one if absent. */
  window?: number;
  /** Where to report progress with `$/progress`; nowhere if absent. */
  workDoneToken?: ProgressToken;
}

/** Answer to `rawr/replay/run`. */
export interface ReplayRunResult {
  /** For people: `your configuration`, the path of a file, or `preset NAME`, in the order in which they were sent. */
  configurations: Array<string>;
  /** What the requests of each of these cost; empty without a `prices.toml` in the home. */
  costs?: Array<ReplayPrice>;
  /** The records in the order of their paths. */
  files: Array<ReplayFile>;
  /** Whether the replay was stopped before the end. Never true here, because a cancelled request gets an error. */
  isStopped: boolean;
  /** What became of the context after a compaction. */
  order: ReplayOrder;
  /** Files that hold no session of a known format. */
  others: Array<ReplayOtherFile>;
  /** The sums over all sessions, for each configuration. */
  totals: Array<ReplaySums>;
}

/** One session under one configuration. */
export interface ReplaySession {
  /** Milliseconds in which something happened: pauses above ten minutes are left out. */
  activeMs: number;
  /** The context after each sampling request; with `whole` only. */
  context: Array<ReplayContextPoint>;
  /** The folder that the agent worked in. */
  cwd: string;
  /** The decisions that rawr would have stored, in order; with `decisions` and `whole` only. */
  decisions: Array<ReplayDecision>;
  /** The turns that ended, in order; with `decisions` and `whole` only. */
  ended?: Array<ReplayTurn>;
  /** Files that were read before a recorded compaction and again within five turns after it. */
  filesReadAgain: number;
  /** The format of its record; absent if no line showed one. */
  format?: RecordFormat;
  /** The session's lines. */
  lines: ReplayLines;
  /** The last model. */
  model?: string;
  /** The compactions in the record. */
  recorded: Array<ReplayCompaction>;
  /** The tokens of all requests as recorded, by model. */
  recordedTokens: Record<string, ReplayTokens>;
  /** Inputs that were refused; more than a few mean that the record was misread. */
  refused: number;
  /** The host's id of the session. */
  session: string;
  /** The first and the last time in it, Unix milliseconds. */
  spans?: Array<number>;
  /** The tokens of all requests under this configuration, by model; `unknown` where the record names none. */
  tokens: Record<string, ReplayTokens>;
  /** How many turns ended. */
  turns: number;
  /** The context window in tokens that percentages are of. */
  window: number;
}

/** Sums over sessions. */
export interface ReplaySums {
  /** Milliseconds in which something happened. */
  activeMs: number;
  /** Proposals that a message, silence or a more urgent tier confirmed. */
  confirmed: number;
  /** Proposals that a message dropped. */
  dropped: number;
  /** Files read again after a recorded compaction. */
  filesReadAgain: number;
  /** Compactions that would have begun. */
  fires: number;
  /** Compactions by boundary; one with two boundaries counts for both. */
  firesByBoundary: Record<string, number>;
  /** Compactions by tier; `none` where no tier held. */
  firesByTier: Record<string, number>;
  /** Those inside of a turn. */
  firesInsideTurn: number;
  /** Compactions of the host by its own rules. */
  hostCompactions: number;
  /** Those inside of a turn. */
  hostCompactionsInsideTurn: number;
  /** Those before which this configuration had begun none in the same session. */
  hostCompactionsUnforeseen: number;
  /** Lines of all records. */
  lines: ReplayLines;
  /** Decisions that a single gate stopped, by gate. */
  nearMisses: Record<string, number>;
  /** Compactions that a person asked for. */
  personCompactions: number;
  /** Proposals. */
  proposals: number;
  /** The tokens of all requests as recorded, by model. */
  recordedTokens: Record<string, ReplayTokens>;
  /** Sessions with at least one turn. */
  sessions: number;
  /** The tokens of all requests under this configuration, by model; `unknown` where the record names none. */
  tokens: Record<string, ReplayTokens>;
  /** Turns that ended. */
  turns: number;
  /** Decisions that only the judge stopped. */
  vetoes: number;
}

/** Tokens of requests, by what a provider charges for them. */
export interface ReplayTokens {
  /** Read from the cache. */
  cached: number;
  /** Read, neither from the cache nor into it. */
  input: number;
  /** Written by the model. */
  output: number;
  /** Requests. */
  requests: number;
  /** Read and put into the cache for some minutes. */
  written: number;
  /** Read and put into the cache for an hour. */
  writtenForHour: number;
}

/** A turn that ended. */
export interface ReplayTurn {
  /** Milliseconds of it without pauses above ten minutes. */
  activeMs: number;
  /** Shell commands that finished. */
  commands: number;
  /** When it ended, Unix milliseconds. */
  endedAt: number;
  /** How it ended. */
  ending: TurnStatus;
  /** Those that failed. */
  failedCommands: number;
  /** Files read again in it after a recorded compaction. */
  filesReadAgain: number;
  /** Percent left then of what the host fills before it compacts by itself. */
  percent?: number;
  /** Sampling requests. */
  requests: number;
  /** When it began, Unix milliseconds. */
  startedAt: number;
  /** Tokens in the context after the last request. */
  tokens?: number;
  /** Tokens that requests read since the turn before ended, with those of compactions. */
  tokensRead: number;
  /** The turn, counted from 1. */
  turn: number;
}

/** A request's id, chosen by who asks. */
export type RequestId = {
} & (number | string);

/** How far something has come that the agent is asked for before a compaction. */
export type RequestState = 'queued' | 'asked' | 'answered' | 'failed';

/** What the agent does after the handoff (docs/spec/handoff.md#content). */
export type ResumeState = 'working' | 'waiting_for_user' | 'done';

/** What a client is to a thread (docs/spec/clients.md#owner-and-observers). */
export type Role = {
} & ('owner' | 'observer');

/**
 * `rawr/scratch/append`: add a section to the notes, under a heading that says when; file and folder are made if need
 * be. Nothing that is there is changed.
 */
export interface ScratchAppendParams {
  /** What to add: not empty, and at most 65,536 bytes. */
  text: string;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/scratch/append`. */
export interface ScratchAppendResult {
  /** The file's size now, in bytes. */
  bytes: number;
  /** So many secrets were taken out before it was written. */
  redactions: number;
  /** The file, relative to the working directory. */
  scratchFile: string;
}

/**
 * `rawr/scratch/changed`: an agent's notes were written to, by the agent or through any client. Told of every thread that
 * is open or watched here.
 */
export interface ScratchChangedNotification {
  /** The client that added to the notes by `rawr/scratch/append`; absent where the agent wrote, or another sidecar's client. */
  by?: string;
  /** The file's size, in bytes. */
  bytes: number;
  /** Whether the file is there still. */
  exists: boolean;
  /** Absolute, as the sidecar's machine writes it. */
  path: string;
  /** Relative to the working directory, with forward slashes. */
  scratchFile: string;
  /** The thread. */
  threadId: string;
}

/** One file of notes. */
export interface ScratchFile {
  /** The file's size, in bytes. */
  bytes: number;
  /** When it was last written, Unix milliseconds. */
  modifiedAtMs: number;
  /** Relative to the working directory, with forward slashes. */
  scratchFile: string;
}

/** `rawr/scratch/list`: all agents' notes in the thread's working directory. */
export interface ScratchListParams {
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/scratch/list`. */
export interface ScratchListResult {
  /** Latest first. */
  files: Array<ScratchFile>;
}

/** `rawr/scratch/path`: where are the agent's notes? (docs/spec/scratch-notes.md#where) */
export interface ScratchPathParams {
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/scratch/path`. */
export interface ScratchPathResult {
  /** Whether the file is there. */
  exists: boolean;
  /** Absolute, as the sidecar's machine writes it. */
  path: string;
  /** Relative to the working directory, with forward slashes: as the agent is told. */
  scratchFile: string;
}

/** `rawr/scratch/read`: the notes. */
export interface ScratchReadParams {
  /**
   * Read at most so many bytes, from the end, where the latest are; the sidecar's own limit if absent. Lines stay
   * whole.
   */
  maxBytes?: number;
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/scratch/read`. */
export interface ScratchReadResult {
  /** So many secrets were taken out of the text. The file is as it was. */
  redactions: number;
  /** The file, relative to the working directory. */
  scratchFile: string;
  /** The notes; empty if there is no file. */
  text: string;
  /** Whether the beginning was left out. */
  truncated: boolean;
}

/**
 * `rawr/sequence/headsUp`: a banner has come up. It says when to make a sound or show a toast; what the banner is from
 * then
 * on is in `headsUp` of `rawr/thread/changed` and `rawr/thread/get`.
 */
export interface SequenceHeadsUpNotification {
  /** The boundaries that counted. */
  boundaries: Array<Boundary>;
  /** What a person can answer now, the default first. */
  choices: Array<Choice>;
  /** When the sequence goes on without an answer, Unix milliseconds; absent if it waits. */
  deadlineAtMs?: number;
  /** What happens next, in a sentence or two for people. */
  message: string;
  /** Who is to write the packet. */
  packetAuthor: PacketAuthor;
  /** Percent of the context window left; for people, never for the agent (docs/spec/clients.md#owner-and-observers). */
  percentRemaining?: number;
  /** Why, in one sentence for people. */
  reason: string;
  /** The sequence that runs, or that would. */
  sequenceId: string;
  /** What the banner is about. */
  stage: BannerStage;
  /** The thread. */
  threadId: string;
  /** The tier that held; absent where a person asked for a compaction above every tier. */
  tier?: Tier;
  /** The banner's title. */
  title: string;
}

/** `rawr/sequence/respond`: a person's answer, from any client of the thread. */
export interface SequenceRespondParams {
  /** The answer. */
  choice: Choice;
  /** With `snooze`: for how many minutes. */
  minutes?: number;
  /** With `edit_packet`: the packet as edited. */
  packet?: string;
  /** The sequence that is answered; the running one if absent. */
  sequenceId?: string;
  /** The thread. */
  threadId: string;
  /** With `snooze`: for how many user turns. */
  turns?: number;
}

/** Answer to `rawr/sequence/respond`. */
export interface SequenceRespondResult {
  /** The answer as it was recorded: `compact_now` approves a compaction that waits for an approval. */
  choice: Choice;
  /** Where the thread stands now. */
  phase: Phase;
}

/** `rawr/sequence/responded`: a person answered at another client, so the banner can be removed. */
export interface SequenceRespondedNotification {
  /** The client where it was given. */
  by?: string;
  /** The answer. */
  choice: Choice;
  /** The sequence that was answered; absent where none had begun. */
  sequenceId?: string;
  /** The thread. */
  threadId: string;
}

/** Whose conversation a thread is. */
export type SessionSource = {
} & ({
  kind: 'user';
} | {
  kind: 'subagent';
  /** The sub-agent's name; sanitized before it is used in a file name. */
  name: string;
});

/** `$/setTrace`: tell more, or less. */
export interface SetTraceParams {
  /** How much. */
  value: Trace;
}

/** How bad a problem is. */
export type Severity = 'error' | 'warning' | 'hint';

/** An observation (docs/spec/boundaries.md#signals). */
export type Signal = {
} & ({
  /** Why the plan changed. */
  explanation?: string;
  kind: 'plan_updated';
  /** The whole plan, in order. */
  steps: Array<PlanStep>;
} | {
  /** The command. */
  command: CommandLine;
  /** The folder that it ran in, absolute. */
  cwd?: string;
  /** The exit code; 0 is success. */
  exitCode: number;
  kind: 'command_finished';
} | {
  /** The commit's hash. */
  hash?: string;
  kind: 'commit';
  /** The first line of its message. */
  subject?: string;
} | {
  /** What: opened, updated, merged, … */
  action: string;
  kind: 'pr_checkpoint';
  /** The pull request's address. */
  url?: string;
} | {
  /** The branch. */
  branch: string;
  kind: 'branch_changed';
} | {
  /** The host's name for the call. */
  callId: string;
  kind: 'tool_started';
  /** The tool. */
  name?: string;
} | {
  /** The host's name for the call. */
  callId: string;
  kind: 'tool_finished';
} | {
  kind: 'phase_boundary';
  /** Which phase. */
  label: string;
} | {
  kind: 'user_message';
  /** The message, unchanged. */
  text: string;
} | {
  kind: 'directive';
  /** Whether it never ages out; of the others, the newest 20 outlive a compaction. */
  pinned: boolean;
  /** The instruction, unchanged. */
  text: string;
} | {
  kind: 'title_changed';
  /** The title; absent if the host has none any more. */
  title?: string;
});

/** `rawr/signal/report`: something happened that may matter to a decision. */
export interface SignalReportParams {
  /** What happened. */
  signal: Signal;
  /**
   * The host's id of the signal, at most 200 bytes: an item's id, a commit's hash. The same id again is a repeat;
   * another id is another signal, even of the same kind in the same turn. Without an id, a boundary that already
   * counted in its turn does not count again.
   */
  signalId?: string;
  /** The thread. */
  threadId: string;
  /** The turn that it happened in. */
  turnId?: string;
}

/** Answer to `rawr/signal/report`. */
export interface SignalReportResult {
  /** The boundaries that the signal amounts to; mostly none. */
  boundaries: Array<Boundary>;
}

/** Where a plan step stands. */
export type StepStatus = 'pending' | 'in_progress' | 'completed';

/**
 * `rawr/store/failed`: nothing can be recorded, so no action leaves; told to the owner once until
 * `rawr/store/recovered`, and again where more inputs wait.
 * 
 * The host delivers `heldInputs` itself, at once and in this order. When the files are back it says `rawr/input/cancel`
 * for each of them, and repeats the reports that were refused. It goes on carrying out actions that it was asked for
 * before. Should it be asked later to deliver one of these inputs all the same, it delivers the other items only.
 */
export interface StoreFailedNotification {
  /** What failed, with the file, and what to do. */
  error: string;
  /** Ids of user inputs that waited for the sequence, in order. */
  heldInputs: Array<string>;
  /** The thread. */
  threadId: string;
}

/** `rawr/store/recovered`: what is said now is recorded again. Actions that were not reported done are asked for once more. */
export interface StoreRecoveredNotification {
  /** The thread. */
  threadId: string;
}

/** `rawr/thread/changed`: what a status bar shows has changed, or the instructions that stay have. */
export interface ThreadChangedNotification {
  /** Compactions are paused because the last ones did not help; absent while none are. */
  breaker?: BreakerHold;
  /** Active guards. */
  guards: Array<Guard>;
  /** The banner as it stands now; absent when there is none, and while no process runs the thread. */
  headsUp?: HeadsUp;
  /** The last compaction, started by anyone. */
  lastCompaction?: LastCompaction;
  /** What became of the last decision from which something was to follow. */
  lastFate?: DecisionFate;
  /** Percent of the context window left. */
  percentRemaining?: number;
  /** The thread's phase. */
  phase: Phase;
  /** The proposed compaction, in the phase `proposed`. */
  proposal?: CompactionProposal;
  /** The sequence that runs. */
  sequenceId?: string;
  /** The thread. */
  threadId: string;
  /** The thread's tier; absent above every tier, or while usage is unknown. */
  tier?: Tier;
  /** The thread's title: the host's, otherwise how its first message begins; absent before there is one. */
  title?: string;
}

/** `rawr/thread/close`: the client lets go of the thread. */
export interface ThreadCloseParams {
  /** The thread. */
  threadId: string;
}

/** `rawr/thread/get`: all that is known of one thread. */
export interface ThreadGetParams {
  /** The thread. */
  threadId: string;
}

/** Answer to `rawr/thread/get`: the structured state (docs/spec/boundaries.md#structured-state). */
export interface ThreadGetResult {
  /** Boundaries seen, oldest first. */
  boundaries: Array<BoundaryMark>;
  /** A person asked for a compaction, and it has not begun yet. */
  compactionAskedFor: boolean;
  /** User instructions that must survive word for word. */
  directives: Array<Directive>;
  /** Active guards. */
  guards: Array<Guard>;
  /** The banner as it stands now; absent when there is none, and while no process runs the thread. */
  headsUp?: HeadsUp;
  /** User inputs that wait for a sequence, in order. */
  heldInputs: Array<HeldInput>;
  /** What judging has cost; absent while no judge was asked. */
  judgments?: JudgmentTotals;
  /** The last compaction, started by anyone. */
  lastCompaction?: LastCompaction;
  /** Packets asked for ahead of time, and their cost; absent while there were none. */
  packetsAhead?: PacketsAhead;
  /** Actions without an end. */
  pendingActions: Array<PendingAction>;
  /** The agent's plan as last reported. */
  plan: Array<PlanStep>;
  /** What the agent is asked for before the compaction of that sequence, in order. */
  preCompactRequests?: Array<PreCompactRequest>;
  /** The sequence that runs. */
  sequenceId?: string;
  /** The thread in short. */
  thread: ThreadSummary;
  /** The path of the host's own transcript; absent if it has none. */
  transcript?: string;
  /** A turn, or a compaction of the host, is running. */
  turnRunning: boolean;
}

/**
 * `rawr/thread/listChanged`: watched threads have come, gone, or are run by another process than before. A client that asked
 * for the list once keeps it current with this.
 */
export interface ThreadListChangedNotification {
  /** Ids of threads whose files are gone. */
  gone: Array<string>;
  /** Threads that have come, or whose `owner` is another now, as `rawr/thread/list` gives them. */
  threads: Array<ThreadSummary>;
}

/** `rawr/thread/list`: all threads in this home. */
export interface ThreadListParams {
}

/** Answer to `rawr/thread/list`. */
export interface ThreadListResult {
  /** Latest first. */
  threads: Array<ThreadSummary>;
}

/** `rawr/thread/open`: a client opens a conversation and declares what its host can do. */
export interface ThreadOpenParams {
  /**
   * Tokens of fixed instructions and tools, subtracted from usage and window before a percentage is computed; 0 if
   * absent (docs/spec/tiers.md#percent-left).
   */
  baselineTokens?: number;
  /**
   * When the host began the conversation, in Unix milliseconds. A conversation that goes on under another id keeps it: the
   * new thread takes the directives and guards along (docs/spec/recovery.md).
   */
  beganAtMs?: number;
  /**
   * The host compacts by itself above this many tokens in the context; absent if it does not, or where that is unknown
   * (docs/spec/tiers.md#percent-left).
   */
  compactsAboveTokens?: number;
  /** Size of the context window, in tokens. */
  contextWindow?: number;
  /**
   * Whether that size was looked up by the model's name instead of reported by the host; then nothing is an
   * emergency.
   */
  contextWindowAssumed?: boolean;
  /** The conversation's working directory, absolute. */
  cwd: string;
  /** The agent program that owns the transcript. */
  host: Host;
  /** The model in use; `rawr/turn/usage` reports another. */
  model?: string;
  /** The role that the client wants. */
  role: Role;
  /** The turn that is still running. Every other turn without an end is over; an end reported later still counts. */
  runningTurn?: string;
  /** Whose conversation it is. A sub-agent's scratch file has its name (docs/spec/scratch-notes.md#where). */
  sessionSource?: SessionSource;
  /** The host's id of the conversation: at most 200 bytes, never a path. */
  threadId: string;
  /** The host's own transcript, if it has one. */
  transcript?: Transcript;
}

/** Answer to `rawr/thread/open`. */
export interface ThreadOpenResult {
  /**
   * A message that waited, or was taken back, when the conversation's last session ended, also under an earlier id
   * (`beganAtMs`). It may not have reached the agent.
   */
  heldBefore?: HeldInput;
  /** Whether this client is to perform the thread's actions. */
  owner: boolean;
  /** Actions without an end. Perform them now, under the same ids (docs/spec/clients.md#actions). */
  pendingActions: Array<PendingAction>;
  /** Percent of the context window left; absent while usage or window is unknown. */
  percentRemaining?: number;
  /** The thread's phase. */
  phase: Phase;
  /** The agent's scratch file, relative to the working directory, with forward slashes. */
  scratchFile: string;
  /** The thread that is open. */
  threadId: string;
}

/** One thread in short. */
export interface ThreadSummary {
  /** Compactions are paused because the last ones did not help; absent while none are. */
  breaker?: BreakerHold;
  /** The thread's working directory, absolute. */
  cwd: string;
  /** The host's name, such as `codex`. */
  host?: string;
  /** What became of the last decision from which something was to follow. */
  lastFate?: DecisionFate;
  /** Whether a client of this sidecar has it open, if only to look at it. */
  open: boolean;
  /** Who performs its actions now, for people; absent if no process does. */
  owner?: string;
  /** Percent of the context window left. */
  percentRemaining?: number;
  /** The thread's phase. */
  phase: Phase;
  /** The proposed compaction, in the phase `proposed`. */
  proposal?: CompactionProposal;
  /**
   * Whether its agent runs: a process performs its actions now, or its agent calls rawr through hooks and did so in the
   * last hour.
   */
  running: boolean;
  /** The agent calls rawr through hooks. Between two of them the thread has no owner, and it is not abandoned. */
  runsByHooks?: boolean;
  /** The name of the sub-agent whose conversation it is; absent for a person's. */
  subAgent?: string;
  /** The thread. */
  threadId: string;
  /** The thread's tier; absent above every tier, or while usage is unknown. */
  tier?: Tier;
  /** The thread's title: the host's, otherwise how its first message begins; absent before there is one. */
  title?: string;
  /** When something last happened in it, Unix milliseconds. */
  updatedAtMs: number;
}

/** `rawr/thread/unwatch`: ends the `rawr/thread/watch` with the same params. */
export interface ThreadUnwatchParams {
  /** As in `rawr/thread/watch`. */
  threadId?: string;
  /** As in `rawr/thread/watch`. */
  workspaceFolder?: string;
}

/**
 * `rawr/thread/watch`: subscribes to what other sidecars record. With neither field: for every thread of this home,
 * future ones included. A watched thread can be answered like an open one.
 */
export interface ThreadWatchParams {
  /** Only this thread. It need not exist yet. */
  threadId?: string;
  /** Only threads that work in this folder or below it; absolute. */
  workspaceFolder?: string;
}

/** Answer to `rawr/thread/watch`. */
export interface ThreadWatchResult {
  /** The watched threads that are running or changed last, latest first. `rawr/thread/list` has all. */
  threads: Array<ThreadSummary>;
}

/** Urgency by percent of the context window remaining, in rising order (docs/spec/tiers.md#selection). */
export type Tier = 'early' | 'ready' | 'asap' | 'emergency';

/** Tokens as the host's model reported them. Without `contextTokens` the whole usage is not known. */
export interface TokenUsage {
  /**
   * For how many seconds the provider keeps the prompt of this request cached, where the request told it; the shortest
   * lifetime of its parts.
   */
  cacheSeconds?: number;
  /** Those of the tokens sent that were served from a cache. */
  cachedInputTokens?: number;
  /** Tokens in the context window now, from which percentages are computed. */
  contextTokens: number;
  /** Tokens sent. */
  inputTokens?: number;
  /** Tokens received. */
  outputTokens?: number;
  /** Those of the tokens received that are of hidden reasoning. */
  reasoningTokens?: number;
}

/** `rawr/tokens/count`: how large is this text? */
export interface TokensCountParams {
  /** The encoding to count by: `o200k_base`, `o200k_harmony` or `cl100k_base`. Goes before `model`. */
  encoding?: string;
  /**
   * The model whose encoding to count by, such as `gpt-5` or `o4-mini`. Of the models of other makers, and where
   * neither names an encoding that is built in, the count is an estimate.
   */
  model?: string;
  /**
   * The text. One that begins with a text that was counted lately by the same encoding costs no more than what was
   * added: a host may send its whole context again and again.
   */
  text: string;
}

/** Answer to `rawr/tokens/count`. */
export interface TokensCountResult {
  /**
   * How they were counted: an encoding's name, which is exact, or `bytes/4` for the estimate. Measured against
   * `o200k_base`, that is 10 to 28% low on large bodies of source code, a third low on lock files and tables, and
   * up to a quarter high on plain English prose.
   */
  method: string;
  /** How many. Text that looks like a special token is counted as the text that it is. */
  tokens: number;
}

/** How much of its work the sidecar tells. */
export type Trace = {
} & ('off' | 'messages' | 'verbose');

/** A host's own record of a conversation. */
export interface Transcript {
  /** The file, absolute. It need not exist yet. */
  path: string;
}

/** A host's own record of a conversation, up to a moment. */
export interface TranscriptPosition {
  /** The file's length in bytes; absent if it did not exist. */
  bytes?: number;
  /** The file, absolute. */
  path: string;
}

/** `rawr/turn/completed`: a turn ended. */
export interface TurnCompletedParams {
  /** Why it failed, where rawr can do something about it. */
  failure?: TurnFailure;
  /** The agent's last message in it. */
  lastAgentMessage?: string;
  /** How many user inputs wait in the host. */
  queuedInputs?: number;
  /** Whether the host is in review mode, in which compaction must not happen. */
  reviewMode?: boolean;
  /** How it ended. */
  status: TurnStatus;
  /** The thread. */
  threadId: string;
  /** The turn. */
  turnId: string;
  /** Tokens at its end. */
  usage?: TokenUsage;
}

/** Answer to `rawr/turn/completed`. */
export interface TurnCompletedResult {
  /** What was decided. */
  verdict: Verdict;
}

/** Why a turn failed. */
export type TurnFailure = {
} & ({
  /** The size of the context window in tokens, where the refusal names it. */
  contextWindow?: number;
  kind: 'context_full';
  /**
   * Tokens of the refused request, by the host's count or estimate. Leave it out where what was added since the
   * last answer is not known.
   */
  requestTokens?: number;
});

/** Where a turn came from. */
export type TurnOrigin = {
} & ('user' | 'synthetic' | 'host');

/** `rawr/turn/started`: a turn began. */
export interface TurnStartedParams {
  /** The action that asked for the turn, if one did. */
  actionId?: string;
  /** Where the turn came from; only the user's trigger anything (docs/spec/sequence.md#synthetic-turns). */
  origin: TurnOrigin;
  /** The input. A marker in it identifies an injected turn that the host reports as the user's. */
  text?: string;
  /** The thread. */
  threadId: string;
  /** The host's id of the turn. */
  turnId: string;
}

/** How a turn ended. */
export type TurnStatus = 'completed' | 'interrupted' | 'failed';

/** `rawr/turn/usage`: a sampling request ended and the turn may go on. */
export interface TurnUsageParams {
  /** The host compacts by itself above this many tokens in the context, if that changed. */
  compactsAboveTokens?: number;
  /** Size of the context window in tokens, if it changed. */
  contextWindow?: number;
  /** The agent's latest message. */
  lastAgentMessage?: string;
  /**
   * The model in use, if it is not the one that was reported last. From here on the thread goes by that model's
   * configuration.
   */
  model?: string;
  /** Whether the agent goes on sampling in this turn: the mid-turn entrance (docs/spec/mid-turn.md). */
  needsFollowUp?: boolean;
  /** The thread. */
  threadId: string;
  /** The turn. */
  turnId: string;
  /** Tokens after the request; absent if they are not known. */
  usage?: TokenUsage;
}

/** Answer to `rawr/turn/usage`. */
export interface TurnUsageResult {
  /** What was decided; absent if nothing was to be decided here. */
  verdict?: Verdict;
}

/** A file that could not be read. */
export interface Unread {
  /** Why, for people. */
  error: string;
  /** The file, absolute. */
  file: string;
}

/** What ends a guard. */
export type Until = {
  kind: 'turns';
  /** How many. */
  turns: number;
} | {
  kind: 'minutes';
  /** How many. */
  minutes: number;
} | {
  kind: 'next_commit';
} | {
  kind: 'tests_pass';
} | {
  kind: 'released';
};

/** The outcome of an assessment, in short. */
export interface Verdict {
  /** For a proposal: what decides about it. Its outcome is `defer`. */
  confirm?: Confirm;
  /** The decision, for `rawr/decision/explain`; absent if none was made here, and `reason` says why. */
  decisionId?: string;
  /** What was decided. */
  outcome: Outcome;
  /** Percent of the context window left. */
  percentRemaining?: number;
  /** Why, in one sentence for people. */
  reason: string;
  /** The sequence that was started. */
  sequenceId?: string;
  /** The tier that held; absent above every tier, or while usage is unknown. */
  tier?: Tier;
}

/** How far a request is. */
export type WorkDoneProgress = {
} & ({
  /** Whether `$/cancelRequest` ends the work early. */
  cancellable: boolean;
  kind: 'begin';
  /** How much of it is done. */
  percentage?: number;
  /** What is being done, for people. */
  title: string;
} | {
  kind: 'report';
  /** How much is done of how much, for people. */
  message?: string;
  /** How much of it is done; never less than before. */
  percentage?: number;
} | {
  kind: 'end';
  /** How it ended, for people. */
  message?: string;
});

/** A git work tree at one moment. */
export interface WorkTree {
  /** The branch. */
  branch?: string;
  /** How many files differ from the commit. */
  dirty: number;
  /** The first of those files. */
  files: Array<string>;
  /** The commit. */
  head?: string;
  /** When it was looked at, Unix milliseconds; absent means now. */
  seenAtMs?: number;
}

/** A folder that is open in an editor. */
export interface WorkspaceFolder {
  /** What the editor calls it. */
  name: string;
  /** Where it is. */
  uri: string;
}

/** What people read for names. The English words are the keys of translations. */
export const LABELS: {
  BannerStage: Record<BannerStage, string>;
  Boundary: Record<Boundary, string>;
  Choice: Record<Choice, string>;
  CompactionOrigin: Record<CompactionOrigin, string>;
  Entrance: Record<Entrance, string>;
  Gate: Record<Gate, string>;
  GateOutcome: Record<GateOutcome, string>;
  Outcome: Record<Outcome, string>;
  PacketAuthor: Record<PacketAuthor, string>;
  Phase: Record<Phase, string>;
  RequestState: Record<RequestState, string>;
  Tier: Record<Tier, string>;
} = {
  BannerStage: {
    will_compact: 'Compacting soon',
    awaiting_approval: 'Waiting for your approval',
    recommended: 'Compaction recommended',
    tagged: 'Would compact here',
    deferred: 'Compacting before your next message',
  },
  Boundary: {
    commit: 'commit',
    pushed: 'push',
    merged: 'merge',
    branch_changed: 'branch changed',
    tests_green: 'tests pass again',
    phase_ended: 'phase ended',
    plan_checkpoint: 'plan step done',
    plan_update: 'plan changed',
    pr_checkpoint: 'pull request',
    agent_done: 'agent done',
    topic_shift: 'new topic',
    concluding_thought: 'conclusion',
    turn_complete: 'turn ended',
  },
  Choice: {
    compact_now: 'Compact now',
    approve: 'Approve',
    snooze: 'Not now',
    cancel: 'Skip this one',
    edit_packet: 'Edit the packet',
  },
  CompactionOrigin: {
    rawr: 'by rawr',
    host: 'by the host',
    user: 'by a person',
  },
  Entrance: {
    turn_complete: 'at the end of a turn',
    preflight: 'before the next message',
    mid_turn: 'during a turn',
    inline: 'by the built-in compaction',
  },
  Gate: {
    feature: 'Feature enabled',
    pressure: 'Context pressure',
    origin: 'User turn',
    mode_of_host: 'Host mode',
    guard: 'Guards',
    breaker: 'Circuit breaker',
    rearm: 'New content',
    cooldown: 'Cooldown',
    boundary: 'Boundary',
    weak_boundary: 'Strong boundary',
    semantic_break: 'Semantic break',
    active_work: 'No active work',
    packet_worth: 'Packet content',
    confirmation: 'Confirmation',
    judgment: 'Judge',
    mode: 'Mode',
  },
  GateOutcome: {
    pass: 'passed',
    fail: 'failed',
    bypassed: 'bypassed',
    not_reached: 'not reached',
  },
  Outcome: {
    nothing: 'no compaction',
    tag: 'would compact',
    suggest: 'compaction recommended',
    ask: 'waiting for your approval',
    judge: 'asking the judge',
    defer: 'compaction deferred',
    compact: 'compaction decided',
  },
  PacketAuthor: {
    agent: 'the agent',
    watcher: 'rawr',
    person: 'a person',
  },
  Phase: {
    idle: 'Idle',
    awaiting_judgment: 'Asking the judge',
    awaiting_approval: 'Waiting for your approval',
    deferred: 'Compacting before your next message',
    proposed: 'Compaction proposed',
    awaiting_heads_up: 'Notifying the agent',
    awaiting_scratch_write: "Saving the agent's notes",
    awaiting_packet: 'Writing the packet',
    awaiting_compaction: 'Packet ready: type /compact in the agent',
    compacting: 'Compacting',
    awaiting_handoff: 'Handing the packet back',
  },
  RequestState: {
    queued: 'queued',
    asked: 'asked',
    answered: 'answered',
    failed: 'failed',
  },
  Tier: {
    early: 'early',
    ready: 'ready',
    asap: 'asap',
    emergency: 'emergency',
  },
};

/** What a client asks, and what it is answered. */
export interface Requests {
  /** Answers at once, so that a client that asks now and then notices a sidecar that hangs. */
  'rawr/connection/check': [params: Empty, result: Empty];
  /** Announces a conversation and what its host can do. */
  'rawr/thread/open': [params: ThreadOpenParams, result: ThreadOpenResult];
  /** Closes a thread for this client. */
  'rawr/thread/close': [params: ThreadCloseParams, result: Empty];
  /** Lists all threads of this home. */
  'rawr/thread/list': [params: ThreadListParams, result: ThreadListResult];
  /** Gives all that is known of one thread. */
  'rawr/thread/get': [params: ThreadGetParams, result: ThreadGetResult];
  /** Subscribes to what other sidecars record. */
  'rawr/thread/watch': [params: ThreadWatchParams, result: ThreadWatchResult];
  /** Ends a subscription. */
  'rawr/thread/unwatch': [params: ThreadUnwatchParams, result: Empty];
  /** Reports that the host begins to work on something. */
  'rawr/turn/started': [params: TurnStartedParams, result: Empty];
  /** Reports token usage after a sampling request; the mid-turn entrance. */
  'rawr/turn/usage': [params: TurnUsageParams, result: TurnUsageResult];
  /** Reports the end of a turn and gives the verdict on it. */
  'rawr/turn/completed': [params: TurnCompletedParams, result: TurnCompletedResult];
  /** Reports an observation that may be a boundary. */
  'rawr/signal/report': [params: SignalReportParams, result: SignalReportResult];
  /** Asks whether the host may have a user's input now. */
  'rawr/input/submit': [params: InputSubmitParams, result: InputSubmitResult];
  /** Lists the inputs that are held. */
  'rawr/input/queued': [params: InputQueuedParams, result: InputQueuedResult];
  /** Cancels a held input. */
  'rawr/input/cancel': [params: InputCancelParams, result: InputCancelResult];
  /** Reports how far an action has come. */
  'rawr/action/report': [params: ActionReportParams, result: Empty];
  /** Asks the judge about a given situation. */
  'rawr/judgment/evaluate': [params: JudgmentEvaluateParams, result: JudgmentEvaluateResult];
  /** Gives the host's answer to a judge action. */
  'rawr/judgment/answer': [params: JudgmentAnswerParams, result: JudgmentAnswerResult];
  /** Builds a packet from structured state. */
  'rawr/packet/build': [params: PacketBuildParams, result: PacketBuildResult];
  /** Checks a packet. */
  'rawr/packet/check': [params: PacketCheckParams, result: PacketCheckResult];
  /** Gives the packet that a sequence waits for. */
  'rawr/packet/submit': [params: PacketSubmitParams, result: PacketSubmitResult];
  /** Gives the packet of a sequence. */
  'rawr/packet/get': [params: PacketGetParams, result: PacketGetResult];
  /** Builds the message that would give a packet back. */
  'rawr/handoff/build': [params: HandoffBuildParams, result: HandoffBuildResult];
  /** Gives the path of the agent's notes. */
  'rawr/scratch/path': [params: ScratchPathParams, result: ScratchPathResult];
  /** Adds to the agent's notes. */
  'rawr/scratch/append': [params: ScratchAppendParams, result: ScratchAppendResult];
  /** Gives the agent's notes. */
  'rawr/scratch/read': [params: ScratchReadParams, result: ScratchReadResult];
  /** Lists all agents' notes in the thread's working directory. */
  'rawr/scratch/list': [params: ScratchListParams, result: ScratchListResult];
  /** Lists the prompts in force. */
  'rawr/prompt/list': [params: PromptListParams, result: PromptListResult];
  /** Gives one prompt in full. */
  'rawr/prompt/get': [params: PromptGetParams, result: PromptGetResult];
  /** Fills the placeholders of a prompt in force. */
  'rawr/prompt/render': [params: PromptRenderParams, result: PromptRenderResult];
  /** Shows how a text that is not saved yet would be sent. */
  'rawr/prompt/preview': [params: PromptPreviewParams, result: PromptPreviewResult];
  /** Gives a decision with every gate: why, or why not. */
  'rawr/decision/explain': [params: DecisionExplainParams, result: DecisionExplainResult];
  /** Lists past decisions. */
  'rawr/decision/list': [params: DecisionListParams, result: DecisionListResult];
  /** Forbids compaction until something happens. */
  'rawr/guard/set': [params: GuardSetParams, result: GuardSetResult];
  /** Ends a guard early. */
  'rawr/guard/clear': [params: GuardClearParams, result: GuardClearResult];
  /** Lists active guards. */
  'rawr/guard/list': [params: GuardListParams, result: GuardListResult];
  /** Lists the instructions that survive a compaction word for word. */
  'rawr/directive/list': [params: DirectiveListParams, result: DirectiveListResult];
  /** Ends an instruction. */
  'rawr/directive/clear': [params: DirectiveClearParams, result: DirectiveClearResult];
  /** Gives a person's answer to the banner. */
  'rawr/sequence/respond': [params: SequenceRespondParams, result: SequenceRespondResult];
  /** Rewrites a history for a host that cannot. */
  'rawr/compaction/rewrite': [params: CompactionRewriteParams, result: CompactionRewriteResult];
  /** Reports the progress of a compaction, started by anyone. */
  'rawr/compaction/report': [params: CompactionReportParams, result: Empty];
  /** Lists the capsules of a thread, from which a conversation can be restored. */
  'rawr/capsule/list': [params: CapsuleListParams, result: CapsuleListResult];
  /** Gives a capsule. */
  'rawr/capsule/get': [params: CapsuleGetParams, result: CapsuleGetResult];
  /** Stores the history of a host that has no transcript. */
  'rawr/capsule/attach': [params: CapsuleAttachParams, result: CapsuleAttachResult];
  /** Searches what was said. */
  'rawr/recall/search': [params: RecallSearchParams, result: RecallSearchResult];
  /** Replays recorded sessions: when would these configurations have compacted? */
  'rawr/replay/run': [params: ReplayRunParams, result: ReplayRunResult];
  /** Gives the configuration in force. */
  'rawr/config/get': [params: ConfigGetParams, result: ConfigGetResult];
  /** Counts the tokens of a text. */
  'rawr/tokens/count': [params: TokensCountParams, result: TokensCountResult];
}

/** What the sidecar tells. */
export interface Notifications {
  /** Reports that what a status bar shows of a thread has changed. */
  'rawr/thread/changed': ThreadChangedNotification;
  /** Says which watched threads have come, gone, or are run by another process than before. */
  'rawr/thread/listChanged': ThreadListChangedNotification;
  /** Reports that a thread's files cannot be written: its sequence pauses, and the host delivers messages itself. */
  'rawr/store/failed': StoreFailedNotification;
  /** Reports that they can be written again. */
  'rawr/store/recovered': StoreRecoveredNotification;
  /** Asks the thread's owner to perform an action. */
  'rawr/action/perform': ActionPerformNotification;
  /** Reports that the judge was asked. */
  'rawr/judgment/requested': JudgmentRequestedNotification;
  /** Reports the judge's answer. */
  'rawr/judgment/result': JudgmentResultNotification;
  /** Reports that a packet was taken, edited, or is outdated. */
  'rawr/packet/changed': PacketChangedNotification;
  /** Reports that an agent's notes were written. */
  'rawr/scratch/changed': ScratchChangedNotification;
  /** Reports that a prompt file was edited. */
  'rawr/prompt/changed': PromptChangedNotification;
  /** Sends the rendered text of a prompt that is being edited, to a client that cannot refresh `rawr://` texts. */
  'rawr/prompt/previewChanged': PromptPreviewChangedNotification;
  /** Reports that a decision was stored. */
  'rawr/decision/recorded': DecisionRecordedNotification;
  /** Shows the banner. */
  'rawr/sequence/headsUp': SequenceHeadsUpNotification;
  /** Reports that a person answered at another client. */
  'rawr/sequence/responded': SequenceRespondedNotification;
  /** Reports that a compaction began or ended. */
  'rawr/compaction/update': CompactionUpdateNotification;
  /** Reports that a configuration file was edited. */
  'rawr/config/changed': ConfigChangedNotification;
}
