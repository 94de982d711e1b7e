//! Payloads about threads: open, close, list, get, changed. Shapes only.

use crate::names::names;
use crate::{
    Boundary, CompactionOrigin, CompactionTrigger, DecisionFate, Directive, Guard, HeadsUp,
    PendingAction, Phase, PlanStep, Tier,
};
use serde::{Deserialize, Serialize};

/// `rawr/thread/open`: a client announces a conversation and what its host can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadOpenParams {
    /// The host's name for the conversation: at most 200 bytes, never a path.
    pub thread_id: String,
    /// The conversation's working directory, absolute.
    pub cwd: String,
    /// What the client wants to be to the thread.
    pub role: Role,
    /// The agent program that owns the transcript.
    pub host: Host,
    /// The model in use; `rawr/turn/usage` reports another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Size of the context window, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Whether that size was looked up by the model's name instead of reported by the host; then nothing is an emergency.
    #[serde(
        default,
        skip_serializing_if = "std::ops::Not::not",
        deserialize_with = "crate::lenient::or_default"
    )]
    pub context_window_assumed: bool,
    /// Tokens of fixed instructions and tools, taken off both sides before a percentage is formed; 0 if absent
    /// (docs/spec/tiers.md#percent-left).
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub baseline_tokens: u64,
    /// Whose conversation it is; a sub-agent's name becomes its scratch file's (docs/spec/scratch-notes.md#where).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_source: Option<SessionSource>,
    /// Where the host keeps its own transcript, if it keeps any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Transcript>,
    /// The turn that still runs. Every other turn whose end was never reported is over with the process that ran it;
    /// should its end be reported later, that holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running_turn: Option<String>,
}

/// A host's own record of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The file, absolute. It need not be there yet.
    pub path: String,
}

/// A host's own record of a conversation, up to a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TranscriptPosition {
    /// The file, absolute.
    pub path: String,
    /// How long it was, in bytes; absent where it was not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

names! {
    /// What a client is to a thread (docs/spec/clients.md#owner-and-observers).
    pub enum Role {
        /// Performs actions; at most one per thread.
        Owner = "owner",
        /// Watches, and may append what a person decides.
        Observer = "observer",
    }
}

/// The agent program that owns a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Host {
    /// Its name, for people; nothing branches on it.
    pub name: String,
    /// Its version, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it can do; absent means nothing.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub capabilities: HostCapabilities,
}

/// What a host can do, probed by its client (docs/spec/clients.md#owner-and-observers). Absent means no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct HostCapabilities {
    /// Start a turn with a text that rawr gives.
    #[serde(deserialize_with = "crate::lenient::or_default")]
    pub inject_turn: bool,
    /// Add a text to the running turn.
    #[serde(deserialize_with = "crate::lenient::or_default")]
    pub steer: bool,
    /// Run one sampling request outside the transcript.
    #[serde(deserialize_with = "crate::lenient::or_default")]
    pub sample: bool,
    /// Hold user inputs back until told.
    #[serde(deserialize_with = "crate::lenient::or_default")]
    pub queue: bool,
    /// Compact its own history.
    #[serde(deserialize_with = "crate::lenient::or_default")]
    pub compact: bool,
    /// A person types the compaction once the packet is there: none is ordered.
    #[serde(deserialize_with = "crate::lenient::or_default")]
    pub compact_by_person: bool,
    /// Compact between two sampling requests of a turn.
    #[serde(deserialize_with = "crate::lenient::or_default")]
    pub mid_turn_compact: bool,
    /// Put items into the history without a turn.
    #[serde(deserialize_with = "crate::lenient::or_default")]
    pub inject_items: bool,
    /// Run a judgment with its own model and login.
    #[serde(deserialize_with = "crate::lenient::or_default")]
    pub judge: bool,
}

/// Whose conversation a thread is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SessionSource {
    /// A person's.
    User,
    /// A sub-agent's.
    Subagent {
        /// Its name; sanitised before it names a file.
        name: String,
    },
}

/// Answer to `rawr/thread/open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadOpenResult {
    /// The thread that is open.
    pub thread_id: String,
    /// Where it stands.
    pub phase: Phase,
    /// The agent's scratch file, relative to the working directory, with forward slashes.
    pub scratch_file: String,
    /// Percent of the context window left; absent while usage or window is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_remaining: Option<u8>,
    /// What was asked of the host and not reported done: to be done now, under the same ids
    /// (docs/spec/clients.md#actions).
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub pending_actions: Vec<PendingAction>,
    /// Whether this client is to perform the thread's actions.
    pub owner: bool,
}

/// `rawr/thread/close`: the client will say no more of the thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadCloseParams {
    /// The thread.
    pub thread_id: String,
}

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
    /// Its working directory, absolute.
    pub cwd: String,
    /// Where it stands.
    pub phase: Phase,
    /// Its tier; absent above every tier, or while usage is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Percent of the context window left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_remaining: Option<u8>,
    /// When something last happened in it, Unix milliseconds.
    pub updated_at_ms: i64,
    /// Whether a client of this sidecar has it open.
    pub open: bool,
    /// Who performs its actions now, for people; absent if nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The name of the sub-agent whose conversation it is; absent for a person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<String>,
    /// Compactions are paused because the last ones did not help; absent while none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaker: Option<BreakerHold>,
    /// What became of the last decision that something was to follow from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_fate: Option<DecisionFate>,
    /// The agent calls rawr by hooks: between two of them there is no owner, and the thread goes on all the same.
    #[serde(
        default,
        skip_serializing_if = "std::ops::Not::not",
        deserialize_with = "crate::lenient::or_default"
    )]
    pub runs_by_hooks: bool,
}

/// Compactions that are paused because the last ones failed or freed too little. An emergency and a person's own are
/// never paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BreakerHold {
    /// The most urgent tier that is paused, and every less urgent one with it; absent for the built-in compaction, which
    /// knows no tiers.
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

/// `rawr/thread/watch`: the client wants to hear what other clients' sidecars record. With neither field: of every thread
/// of this home, also of those to come. What is watched may be answered like what is open.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadWatchParams {
    /// Only this thread, whether it is there already or not.
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
    /// Those of the watched threads that somebody runs or that something happened in last, latest first;
    /// `rawr/thread/list` has all.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub threads: Vec<ThreadSummary>,
}

/// `rawr/thread/unwatch`: takes back the `rawr/thread/watch` that said the same.
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
    /// The last compaction, whoever started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_compaction: Option<LastCompaction>,
    /// What was asked of the host and not reported done.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub pending_actions: Vec<PendingAction>,
    /// Ids of user inputs that wait for a sequence, in order.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub held_inputs: Vec<String>,
    /// The sequence that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
    /// The banner as it stands now; absent when there is none, and while no process runs the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heads_up: Option<HeadsUp>,
    /// A person asked for a compaction, and it has not begun yet.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub compaction_asked_for: bool,
    /// What judging has cost; absent while no judge was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgments: Option<JudgmentTotals>,
}

/// What judging has cost a thread; kept apart from the thread's own usage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JudgmentTotals {
    /// How often a judge was asked.
    pub calls: u64,
    /// How often no answer came that could be used.
    pub failures: u64,
    /// Tokens sent, as far as judges tell.
    pub input_tokens: u64,
    /// Tokens received, as far as judges tell.
    pub output_tokens: u64,
    /// What the judge's endpoint last said of its limits.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub rate_limits: Vec<RateLimit>,
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
    /// The sequence that it started, after which it counts no more (docs/spec/boundaries.md#identity).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent_by: Option<String>,
    /// What a person or a program called the phase that ended here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
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
    /// Where it stands.
    pub phase: Phase,
    /// Its tier; absent above every tier, or while usage is unknown.
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
    /// The last compaction, whoever started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_compaction: Option<LastCompaction>,
    /// Compactions are paused because the last ones did not help; absent while none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaker: Option<BreakerHold>,
    /// What became of the last decision that something was to follow from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_fate: Option<DecisionFate>,
    /// The banner as it stands now; absent when there is none, and while no process runs the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heads_up: Option<HeadsUp>,
}
