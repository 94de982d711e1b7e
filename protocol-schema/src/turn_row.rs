//! The row that `rawr replay --jsonl` prints for each turn. It is flat, so that any engine for tables reads it.

use serde::{Deserialize, Serialize};

/// The version of [`ReplayTurnRow`]. A column that is added does not change it.
pub const TURN_ROW_VERSION: u32 = 1;

/// The JSON schema of [`ReplayTurnRow`].
pub const TURN_ROW_SCHEMA: &str = include_str!("../replay-row.schema.json");

/// One turn of a recorded session under one configuration, and what happened between its start and the start of the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayTurnRow {
    /// The version of the row.
    pub v: u32,
    /// The path of the record, or `-` for standard input.
    pub file: String,
    /// The host's id of the session.
    pub session: String,
    /// The path of the configuration, `your configuration`, or `preset NAME`.
    pub configuration: String,
    /// `codex`, `claude` or `rawr`: the format of the record.
    pub format: Option<String>,
    /// The session's last model.
    pub model: Option<String>,
    /// Tokens that the context window holds.
    pub window: u64,
    /// The turn, counted from 1.
    pub turn: u32,
    /// Unix milliseconds.
    pub started_at: i64,
    /// Unix milliseconds.
    pub ended_at: i64,
    /// Milliseconds from the first to the last moment of the turn without pauses above ten minutes.
    pub active_ms: u64,
    /// `completed`, `interrupted` or `failed`.
    pub ending: String,
    /// Sampling requests.
    pub requests: u32,
    /// Shell commands that finished.
    pub commands: u32,
    /// Those with another exit code than 0.
    pub failed_commands: u32,
    /// Tokens that requests read since the turn before ended, as the replay has it, with those of compactions.
    pub tokens_read: u64,
    /// Tokens in the context at the end, as the replay has it; null if no request told it.
    pub tokens: Option<u64>,
    /// Percent left at the end of what the host fills before it compacts by itself.
    pub percent_left: Option<u32>,
    /// The end of the turn proposed a compaction.
    pub proposed: bool,
    /// Why the proposal was dropped.
    pub dropped: Option<String>,
    /// Compactions that would have begun.
    pub compactions: u32,
    /// Those that would have begun while the agent worked.
    pub compactions_inside_turn: u32,
    /// The tier of the deciding decision: the compaction, else the proposal, else the last one.
    pub tier: Option<String>,
    /// The boundaries of the deciding decision, with commas between them.
    pub boundaries: String,
    /// The only gate that stopped it.
    pub stopped_by: Option<String>,
    /// Only the judge was against it.
    pub vetoed: bool,
    /// Why it decided so, for people.
    pub reason: Option<String>,
    /// Compactions of the host by its own rules.
    pub host_compactions: u32,
    /// Compactions that a person asked for.
    pub person_compactions: u32,
    /// Files that were read before a recorded compaction, and again after it.
    pub files_read_again: u32,
}
