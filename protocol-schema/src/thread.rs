//! Payloads about the threads there are: list, watch, get, changed.

use crate::{
    Boundary, CompactionOrigin, CompactionTrigger, Confirm, DecisionFate, Directive, Guard,
    HeadsUp, HeldInput, PendingAction, Phase, PlanStep, PreCompactRequest, Tier,
};
use serde::{Deserialize, Serialize};

/// `rawr/thread/list`: all threads in this home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadListParams {}

/// Answer to `rawr/thread/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadListResult {
    /// Latest first.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub threads: Vec<ThreadSummary>,
}

/// One thread in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSummary {
    /// The thread.
    pub thread_id: String,
    /// The thread's working directory, absolute.
    pub cwd: String,
    /// The thread's title: the host's, otherwise how its first message begins; absent before there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The thread's phase.
    pub phase: Phase,
    /// The thread's tier; absent above every tier, or while usage is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Percent of the context window left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_remaining: Option<u8>,
    /// When something last happened in it, Unix milliseconds.
    pub updated_at_ms: i64,
    /// Whether a client of this sidecar has it open, if only to look at it.
    pub open: bool,
    /// Whether its agent runs: a process performs its actions now, or its agent calls rawr through hooks and did so in the
    /// last hour.
    pub running: bool,
    /// Who performs its actions now, for people; absent if no process does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The host's name, such as `codex`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The name of the sub-agent whose conversation it is; absent for a person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<String>,
    /// Compactions are paused because the last ones did not help; absent while none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaker: Option<BreakerHold>,
    /// What became of the last decision from which something was to follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_fate: Option<DecisionFate>,
    /// The proposed compaction, in the phase `proposed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<CompactionProposal>,
    /// The agent calls rawr through hooks. Between two of them the thread has no owner, and it is not abandoned.
    #[serde(
        default,
        skip_serializing_if = "std::ops::Not::not",
        deserialize_with = "crate::lenient::or_default"
    )]
    pub runs_by_hooks: bool,
}

/// A compaction that was proposed at the end of a turn and waits to be confirmed or dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CompactionProposal {
    /// The decision that proposed it, for `rawr/decision/explain`.
    pub decision_id: String,
    /// What decides about it.
    pub confirm: Confirm,
    /// All of it in one sentence for people: "Compaction proposed (commit); your next message decides".
    pub text: String,
}

/// Compactions that are paused because the last ones failed or freed too little. An emergency and a person's own are
/// never paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BreakerHold {
    /// The most urgent tier that is paused, and every less urgent one with it; absent for the built-in compaction,
    /// which
    /// has no tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_tier: Option<Tier>,
    /// The tier that is needed now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_tier: Option<Tier>,
    /// How many compactions in a row did not help.
    pub strikes: u64,
    /// When one more is tried, Unix milliseconds; absent where only a compaction that helps ends the pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
    /// Why, for people: a sentence without its capital and its period.
    pub reason: String,
    /// What ends the pause, for people: to be read after "when".
    pub ends_when: String,
}

/// `rawr/thread/watch`: subscribes to what other sidecars record. With neither field: for every thread of this home,
/// future ones included. A watched thread can be answered like an open one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadWatchParams {
    /// Only this thread. It need not exist yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Only threads that work in this folder or below it; absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_folder: Option<String>,
}

/// Answer to `rawr/thread/watch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadWatchResult {
    /// The watched threads that are running or changed last, latest first. `rawr/thread/list` has all.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub threads: Vec<ThreadSummary>,
}

/// `rawr/thread/unwatch`: ends the `rawr/thread/watch` with the same params.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadUnwatchParams {
    /// As in `rawr/thread/watch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// As in `rawr/thread/watch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_folder: Option<String>,
}

/// `rawr/thread/get`: all that is known of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGetParams {
    /// The thread.
    pub thread_id: String,
}

/// Answer to `rawr/thread/get`: the structured state (docs/spec/boundaries.md#structured-state).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGetResult {
    /// The thread in short.
    pub thread: ThreadSummary,
    /// The path of the host's own transcript; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// The agent's plan as last reported.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub plan: Vec<PlanStep>,
    /// Active guards.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub guards: Vec<Guard>,
    /// User instructions that must survive word for word.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub directives: Vec<Directive>,
    /// Boundaries seen, oldest first.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub boundaries: Vec<BoundaryMark>,
    /// The last compaction, started by anyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_compaction: Option<LastCompaction>,
    /// Actions without an end.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub pending_actions: Vec<PendingAction>,
    /// User inputs that wait for a sequence, in order.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub held_inputs: Vec<HeldInput>,
    /// The sequence that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
    /// What the agent is asked for before the compaction of that sequence, in order.
    #[serde(
        default,
        deserialize_with = "crate::lenient::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub pre_compact_requests: Vec<PreCompactRequest>,
    /// The banner as it stands now; absent when there is none, and while no process runs the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heads_up: Option<HeadsUp>,
    /// A person asked for a compaction, and it has not begun yet.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub compaction_asked_for: bool,
    /// A turn, or a compaction of the host, is running.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub turn_running: bool,
    /// What judging has cost; absent while no judge was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgments: Option<JudgmentTotals>,
    /// Packets asked for ahead of time, and their cost; absent while there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets_ahead: Option<PacketsAhead>,
}

/// What judging has cost a thread; kept apart from the thread's own usage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JudgmentTotals {
    /// How often a judge was asked.
    pub calls: u64,
    /// How often there was no usable answer.
    pub failures: u64,
    /// Tokens sent, as far as judges tell.
    pub input_tokens: u64,
    /// Tokens received, as far as judges tell.
    pub output_tokens: u64,
    /// The newest rate limits of the judge's endpoint.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub rate_limits: Vec<RateLimit>,
}

/// Packets that were asked for while their compactions were only proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketsAhead {
    /// How many were asked for.
    pub asked: u64,
    /// How many of them were used.
    pub used: u64,
    /// Tokens of context that were read for the others. Most of them come from the provider's prompt cache.
    pub unused_tokens: u64,
}

/// One limit, in the endpoint's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// Which.
    pub name: String,
    /// How much of it is left, or when it is renewed.
    pub value: String,
}

/// A boundary that was seen, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BoundaryMark {
    /// Which.
    pub boundary: Boundary,
    /// The turn that it was seen in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The sequence that it started. After that it no longer counts (docs/spec/boundaries.md#identity).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent_by: Option<String>,
    /// What a person or a program called the phase that ended here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The client that ended the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// A compaction that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LastCompaction {
    /// When it completed, Unix milliseconds.
    pub at_ms: i64,
    /// Who started it.
    pub origin: CompactionOrigin,
    /// The sequence that it belonged to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
    /// What led to it: the audit trail (docs/spec/sequence.md#audit-trail).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<CompactionTrigger>,
    /// Tokens in the context before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// Tokens in the context after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
}

/// `rawr/thread/listChanged`: watched threads have come, gone, or are run by another process than before. A client that asked
/// for the list once keeps it current with this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadListChangedNotification {
    /// Threads that have come, or whose `owner` is another now, as `rawr/thread/list` gives them.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub threads: Vec<ThreadSummary>,
    /// Ids of threads whose files are gone.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub gone: Vec<String>,
}

/// `rawr/thread/changed`: what a status bar shows has changed, or the instructions that stay have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadChangedNotification {
    /// The thread.
    pub thread_id: String,
    /// The thread's title: the host's, otherwise how its first message begins; absent before there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The thread's phase.
    pub phase: Phase,
    /// The thread's tier; absent above every tier, or while usage is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Percent of the context window left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_remaining: Option<u8>,
    /// The sequence that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
    /// Active guards.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub guards: Vec<Guard>,
    /// The last compaction, started by anyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_compaction: Option<LastCompaction>,
    /// Compactions are paused because the last ones did not help; absent while none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaker: Option<BreakerHold>,
    /// What became of the last decision from which something was to follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_fate: Option<DecisionFate>,
    /// The proposed compaction, in the phase `proposed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<CompactionProposal>,
    /// The banner as it stands now; absent when there is none, and while no process runs the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heads_up: Option<HeadsUp>,
}
