//! Payloads that open and close a thread: who the client is and what its host can do.

use crate::names::names;
use crate::{HeldInput, PendingAction, Phase};
use serde::{Deserialize, Serialize};

/// `rawr/thread/open`: a client opens a conversation and declares what its host can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadOpenParams {
    /// The host's id of the conversation: at most 200 bytes, never a path.
    pub thread_id: String,
    /// The conversation's working directory, absolute.
    pub cwd: String,
    /// The role that the client wants.
    pub role: Role,
    /// The agent program that owns the transcript.
    pub host: Host,
    /// The model in use; `rawr/turn/usage` reports another.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub model: Option<String>,
    /// Size of the context window, in tokens.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub context_window: Option<u64>,
    /// Whether that size was looked up by the model's name instead of reported by the host; then nothing is an
    /// emergency.
    #[serde(
        default,
        skip_serializing_if = "std::ops::Not::not",
        deserialize_with = "crate::lenient::or_default"
    )]
    pub context_window_assumed: bool,
    /// The host compacts by itself above this many tokens in the context; absent if it does not, or where that is unknown
    /// (docs/spec/tiers.md#percent-left).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub compacts_above_tokens: Option<u64>,
    /// Tokens of fixed instructions and tools, subtracted from usage and window before a percentage is computed; 0 if
    /// absent (docs/spec/tiers.md#percent-left).
    #[serde(default, deserialize_with = "crate::lenient::count_or_zero")]
    pub baseline_tokens: u64,
    /// Whose conversation it is. A sub-agent's scratch file has its name (docs/spec/scratch-notes.md#where).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_source: Option<SessionSource>,
    /// The host's own transcript, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Transcript>,
    /// When the host began the conversation, in Unix milliseconds. A conversation that goes on under another id keeps it: the
    /// new thread takes the directives and guards along (docs/spec/recovery.md).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub began_at_ms: Option<u64>,
    /// The turn that is still running. Every other turn without an end is over; an end reported later still counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running_turn: Option<String>,
}

/// A host's own record of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The file, absolute. It need not exist yet.
    pub path: String,
}

/// A host's own record of a conversation, up to a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TranscriptPosition {
    /// The file, absolute.
    pub path: String,
    /// The file's length in bytes; absent if it did not exist.
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
    /// The program's name, for people; nothing branches on it.
    pub name: String,
    /// The program's version, for people.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
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
    /// Keep an input that is held back where it was typed, and start no other turn before it. A packet is then sampled.
    #[serde(
        skip_serializing_if = "std::ops::Not::not",
        deserialize_with = "crate::lenient::or_default"
    )]
    pub queue_in_place: bool,
    /// How many tokens the context must have for a compaction before an input that is held back; absent for any number.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::or_default"
    )]
    pub queue_above_tokens: Option<u64>,
    /// Compact its own history.
    #[serde(deserialize_with = "crate::lenient::or_default")]
    pub compact: bool,
    /// Only a person can compact, once the packet is there.
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
    /// For how many seconds its provider keeps a prompt cached at least, counted from the last request; absent where that
    /// is unknown.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub cache_seconds: Option<u64>,
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
        /// The sub-agent's name; sanitized before it is used in a file name.
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
    /// The thread's phase.
    pub phase: Phase,
    /// The agent's scratch file, relative to the working directory, with forward slashes.
    pub scratch_file: String,
    /// Percent of the context window left; absent while usage or window is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_remaining: Option<u8>,
    /// Actions without an end. Perform them now, under the same ids (docs/spec/clients.md#actions).
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub pending_actions: Vec<PendingAction>,
    /// Whether this client is to perform the thread's actions.
    pub owner: bool,
    /// A message that waited, or was taken back, when the conversation's last session ended, also under an earlier id
    /// (`beganAtMs`). It may not have reached the agent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub held_before: Option<HeldInput>,
}

/// `rawr/thread/close`: the client lets go of the thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadCloseParams {
    /// The thread.
    pub thread_id: String,
}
