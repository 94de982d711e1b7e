//! Payloads of `rawr/replay/run`. The result has the shape of `rawr replay --json`, so its times have the names that they
//! have there: `at`, `startedAt` and `endedAt`, in Unix milliseconds.

use crate::names::names;
use crate::{Boundary, CompactionOrigin, Entrance, Gate, Outcome, ProgressToken, Tier, TurnStatus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most configurations that one replay compares.
pub const MOST_REPLAY_CONFIGURATIONS: usize = 8;

/// `rawr/replay/run`: when would these configurations have compacted in recorded sessions?
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayRunParams {
    /// Records and folders of records, absolute. The user's own sessions of Codex and Claude Code if absent or empty.
    #[serde(
        default,
        deserialize_with = "crate::lenient::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub paths: Vec<String>,
    /// What to decide by: 8 at most, and the user's own configuration if absent or empty.
    #[serde(
        default,
        deserialize_with = "crate::lenient::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub configurations: Vec<ReplayConfiguration>,
    /// Only records that were changed since, Unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Only sessions whose last model contains this text, whatever its case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What becomes of the context after a compaction; `second` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<ReplayOrder>,
    /// The context window in tokens, at least 1; the recorded one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// What to tell of each session; `sums` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<ReplayDetailName>,
    /// Where to report progress with `$/progress`; nowhere if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_done_token: Option<ProgressToken>,
}

/// A configuration to replay under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ReplayConfiguration {
    /// The user's own files.
    Own,
    /// A file in place of the user's `rawr.toml`.
    File {
        /// The file, absolute.
        file: String,
    },
    /// A preset without any other key.
    Preset {
        /// The preset.
        preset: Preset,
    },
}

names! {
    /// A preset of the configuration (docs/spec/confirmation.md).
    pub enum Preset {
        /// The end of a turn proposes a compaction; the next message, or silence, confirms it.
        Calm = "calm",
        /// Compacts when a turn ends.
        Spec = "spec",
    }

    /// What becomes of the context after a compaction that the replay starts.
    pub enum ReplayOrder {
        /// Compactions are only counted, and the context grows on as it was recorded.
        First = "first",
        /// The context shrinks, so that the next compaction comes later.
        Second = "second",
    }

    /// What a replay tells of each session.
    pub enum ReplayDetailName {
        /// No decisions, no turns and no context over time.
        Sums = "sums",
        /// The decisions and the turns.
        Decisions = "decisions",
        /// All.
        Whole = "whole",
    }

    /// The format of a recorded session.
    pub enum RecordFormat {
        /// A rollout of Codex.
        Codex = "codex",
        /// A transcript of Claude Code.
        Claude = "claude",
        /// The `events.jsonl` of a thread of rawr.
        Rawr = "rawr",
    }
}

/// Answer to `rawr/replay/run`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayRunResult {
    /// For people: `your configuration`, the path of a file, or `preset NAME`, in the order in which they were sent.
    pub configurations: Vec<String>,
    /// What became of the context after a compaction.
    pub order: ReplayOrder,
    /// The sums over all sessions, for each configuration.
    pub totals: Vec<ReplaySums>,
    /// What the requests of each of these cost; empty without a `prices.toml` in the home.
    #[serde(
        default,
        deserialize_with = "crate::lenient::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub costs: Vec<ReplayPrice>,
    /// The records in the order of their paths.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub files: Vec<ReplayFile>,
    /// Files that hold no session of a known format.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub others: Vec<ReplayOtherFile>,
    /// Whether the replay was stopped before the end. Never true here, because a cancelled request gets an error.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub is_stopped: bool,
}

/// What requests cost, in hundredths of the currency of the prices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayPrice {
    /// Under the configuration.
    pub cents: u64,
    /// As recorded.
    pub recorded_cents: u64,
    /// Models without a price, whose requests are not in it.
    #[serde(
        default,
        deserialize_with = "crate::lenient::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub unpriced: Vec<String>,
}

/// Sums over sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplaySums {
    /// Sessions with at least one turn.
    pub sessions: u32,
    /// Turns that ended.
    pub turns: u32,
    /// Milliseconds in which something happened.
    pub active_ms: u64,
    /// Proposals.
    pub proposals: u32,
    /// Proposals that a message, silence or a more urgent tier confirmed.
    pub confirmed: u32,
    /// Proposals that a message dropped.
    pub dropped: u32,
    /// Compactions that would have begun.
    pub fires: u32,
    /// Those inside of a turn.
    pub fires_inside_turn: u32,
    /// Compactions by tier; `none` where no tier held.
    #[serde(default, deserialize_with = "crate::lenient::counts")]
    pub fires_by_tier: BTreeMap<String, u32>,
    /// Compactions by boundary; one with two boundaries counts for both.
    #[serde(default, deserialize_with = "crate::lenient::counts")]
    pub fires_by_boundary: BTreeMap<String, u32>,
    /// Decisions that only the judge stopped.
    pub vetoes: u32,
    /// Decisions that a single gate stopped, by gate.
    #[serde(default, deserialize_with = "crate::lenient::counts")]
    pub near_misses: BTreeMap<String, u32>,
    /// Compactions of the host by its own rules.
    pub host_compactions: u32,
    /// Those inside of a turn.
    pub host_compactions_inside_turn: u32,
    /// Those before which this configuration had begun none in the same session.
    pub host_compactions_unforeseen: u32,
    /// Compactions that a person asked for.
    pub person_compactions: u32,
    /// Files read again after a recorded compaction.
    pub files_read_again: u32,
    /// The tokens of all requests under this configuration, by model; `unknown` where the record names none.
    #[serde(default, deserialize_with = "crate::lenient::counts")]
    pub tokens: BTreeMap<String, ReplayTokens>,
    /// The tokens of all requests as recorded, by model.
    #[serde(default, deserialize_with = "crate::lenient::counts")]
    pub recorded_tokens: BTreeMap<String, ReplayTokens>,
    /// Lines of all records.
    pub lines: ReplayLines,
}

/// Tokens of requests, by what a provider charges for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayTokens {
    /// Requests.
    pub requests: u64,
    /// Read, neither from the cache nor into it.
    pub input: u64,
    /// Read from the cache.
    pub cached: u64,
    /// Read and put into the cache for some minutes.
    pub written: u64,
    /// Read and put into the cache for an hour.
    pub written_for_hour: u64,
    /// Written by the model.
    pub output: u64,
}

/// How many lines were read, and how many of them tell nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayLines {
    /// All lines.
    pub lines: u64,
    /// Lines of an unknown kind.
    pub unknown: u64,
    /// Lines that are no JSON, or not of the shape that their kind has.
    pub malformed: u64,
    /// Lines that are longer than any message.
    pub oversized: u64,
}

/// One record under each configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayFile {
    /// The record, absolute.
    pub file: String,
    /// One report for each configuration.
    pub reports: Vec<ReplaySession>,
    /// Why it was read only in part, or not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A file that holds no session of a known format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayOtherFile {
    /// The file, absolute.
    pub file: String,
    /// What its lines were.
    pub lines: ReplayLines,
}

/// One session under one configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplaySession {
    /// The host's id of the session.
    pub session: String,
    /// The folder that the agent worked in.
    pub cwd: String,
    /// The format of its record; absent if no line showed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<RecordFormat>,
    /// The last model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The context window in tokens that percentages are of.
    pub window: u64,
    /// The first and the last time in it, Unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spans: Option<[i64; 2]>,
    /// Milliseconds in which something happened: pauses above ten minutes are left out.
    pub active_ms: u64,
    /// How many turns ended.
    pub turns: u32,
    /// The session's lines.
    pub lines: ReplayLines,
    /// The turns that ended, in order; with `decisions` and `whole` only.
    #[serde(
        default,
        deserialize_with = "crate::lenient::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub ended: Vec<ReplayTurn>,
    /// The decisions that rawr would have stored, in order; with `decisions` and `whole` only.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub decisions: Vec<ReplayDecision>,
    /// The context after each sampling request; with `whole` only.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub context: Vec<ReplayContextPoint>,
    /// The compactions in the record.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub recorded: Vec<ReplayCompaction>,
    /// Files that were read before a recorded compaction and again within five turns after it.
    pub files_read_again: u32,
    /// The tokens of all requests under this configuration, by model; `unknown` where the record names none.
    #[serde(default, deserialize_with = "crate::lenient::counts")]
    pub tokens: BTreeMap<String, ReplayTokens>,
    /// The tokens of all requests as recorded, by model.
    #[serde(default, deserialize_with = "crate::lenient::counts")]
    pub recorded_tokens: BTreeMap<String, ReplayTokens>,
    /// Inputs that were refused; more than a few mean that the record was misread.
    pub refused: u32,
}

/// A turn that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayTurn {
    /// The turn, counted from 1.
    pub turn: u32,
    /// When it began, Unix milliseconds.
    pub started_at: i64,
    /// When it ended, Unix milliseconds.
    pub ended_at: i64,
    /// Milliseconds of it without pauses above ten minutes.
    pub active_ms: u64,
    /// How it ended.
    pub ending: TurnStatus,
    /// Sampling requests.
    pub requests: u32,
    /// Shell commands that finished.
    pub commands: u32,
    /// Those that failed.
    pub failed_commands: u32,
    /// Files read again in it after a recorded compaction.
    pub files_read_again: u32,
    /// Tokens that requests read since the turn before ended, with those of compactions.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub tokens_read: u64,
    /// Tokens in the context after the last request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Percent left then of what the host fills before it compacts by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayDecision {
    /// When, Unix milliseconds.
    pub at: i64,
    /// The turn, counted from 1; 0 before the first.
    pub turn: u32,
    /// The entrance that asked.
    pub entrance: Entrance,
    /// What was decided.
    pub outcome: Outcome,
    /// The tier that held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Percent of the context window left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// Tokens in the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The boundaries that counted.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub boundaries: Vec<Boundary>,
    /// Why, in one sentence for people.
    pub reason: String,
    /// Whether the decision only proposes; the next message or silence decides.
    #[serde(
        default,
        deserialize_with = "crate::lenient::or_default",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub proposes: bool,
    /// A message that closes the work confirmed the proposal. It is carried out first.
    #[serde(
        default,
        deserialize_with = "crate::lenient::or_default",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub confirms: bool,
    /// The compaction after a message that closed the work.
    #[serde(
        default,
        deserialize_with = "crate::lenient::or_default",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub after_closing: bool,
    /// Why it drops the proposal before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<String>,
    /// Only the judge was against it.
    #[serde(
        default,
        deserialize_with = "crate::lenient::or_default",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub vetoed: bool,
    /// The only gate that stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<Gate>,
}

/// The context after a sampling request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayContextPoint {
    /// When, Unix milliseconds.
    pub at: i64,
    /// The turn, counted from 1.
    pub turn: u32,
    /// Percent of the window left.
    pub percent: u8,
    /// Percent left of what the host fills before it compacts by itself. Decisions use it.
    pub percent_left: u8,
}

/// A compaction that is in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayCompaction {
    /// When, Unix milliseconds.
    pub at: i64,
    /// The turn, counted from 1.
    pub turn: u32,
    /// Who started it.
    pub by: CompactionOrigin,
    /// Tokens in the context before it.
    pub tokens_before: u64,
    /// Whether the compaction came while the agent worked.
    pub inside_turn: bool,
}
