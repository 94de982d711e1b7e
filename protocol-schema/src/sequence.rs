//! Payloads about a person's part in a sequence: the banner and the answer to it.

use crate::names::names;
use crate::{Boundary, PacketAuthor, Phase, Tier};
use serde::{Deserialize, Serialize};

/// `rawr/sequence/headsUp`: a banner has come up. It says when to make a sound or show a toast; what the banner is from
/// then
/// on is in `headsUp` of `rawr/thread/changed` and `rawr/thread/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SequenceHeadsUpNotification {
    /// The thread.
    pub thread_id: String,
    /// The sequence that runs, or that would.
    pub sequence_id: String,
    /// What the banner is about.
    pub stage: BannerStage,
    /// The banner's title.
    pub title: String,
    /// What happens next, in a sentence or two for people.
    pub message: String,
    /// The tier that held; absent where a person asked for a compaction above every tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Percent of the context window left; for people, never for the agent (docs/spec/clients.md#owner-and-observers).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_remaining: Option<u8>,
    /// Why, in one sentence for people.
    pub reason: String,
    /// The boundaries that counted.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub boundaries: Vec<Boundary>,
    /// Who is to write the packet.
    pub packet_author: PacketAuthor,
    /// What a person can answer now, the default first.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub choices: Vec<Choice>,
    /// When the sequence goes on without an answer, Unix milliseconds; absent if it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at_ms: Option<i64>,
}

/// The banner of a thread as it stands now: everything to draw, nothing to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeadsUp {
    /// The sequence that runs, or that would; an answer names it.
    pub sequence_id: String,
    /// What it is about.
    pub stage: BannerStage,
    /// The banner's title.
    pub title: String,
    /// Why, in one sentence for people.
    pub reason: String,
    /// What happens next, in a sentence or two for people.
    pub message: String,
    /// The tier that held; absent where a person asked for a compaction above every tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Percent of the context window that was left when it came up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_remaining: Option<u8>,
    /// The boundaries that counted.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub boundaries: Vec<Boundary>,
    /// How far the sequence has come; absent before one runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<HeadsUpProgress>,
    /// What a person can answer now, the default first; empty once nothing can be stopped.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub choices: Vec<OfferedChoice>,
    /// When the sequence goes on or is called off without an answer, Unix milliseconds; absent if it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at_ms: Option<i64>,
    /// What happens at the deadline, to be followed by the time that is left: "Continues on its own in".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_label: Option<String>,
}

/// How far a sequence has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeadsUpProgress {
    /// The step that runs, from 1.
    pub step: u64,
    /// How many steps there are.
    pub of: u64,
    /// What runs now, for people.
    pub label: String,
}

/// An answer that a person can give now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OfferedChoice {
    /// The answer.
    pub choice: Choice,
    /// What its button says.
    pub label: String,
}

names! {
    /// What a banner is about.
    pub enum BannerStage {
        /// Compaction comes unless a person stops it.
        WillCompact = "will_compact" => "Compacting soon",
        /// Compaction comes only if a person approves.
        AwaitingApproval = "awaiting_approval" => "Waiting for your approval",
        /// Compaction is recommended (`mode = "suggest"`).
        Recommended = "recommended" => "Compaction recommended",
        /// Compaction would have come (`mode = "tag"`).
        Tagged = "tagged" => "Would compact here",
        /// Compaction comes before the next message (`turn_complete` is required).
        Deferred = "deferred" => "Compacting before your next message",
    }

    /// What a person can answer.
    pub enum Choice {
        /// Compact, whatever the gates say.
        CompactNow = "compact_now" => "Compact now",
        /// Go on.
        Approve = "approve" => "Approve",
        /// Not now.
        Snooze = "snooze" => "Not now",
        /// Not at all, this time.
        Cancel = "cancel" => "Skip this one",
        /// Go on with this packet.
        EditPacket = "edit_packet" => "Edit the packet",
    }
}

/// `rawr/sequence/respond`: a person's answer, from any client of the thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SequenceRespondParams {
    /// The thread.
    pub thread_id: String,
    /// The answer.
    pub choice: Choice,
    /// The sequence that is answered; the running one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
    /// With `snooze`: for how many user turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// With `snooze`: for how many minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    /// With `edit_packet`: the packet as edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<String>,
}

/// `rawr/sequence/responded`: a person answered at another client, so the banner can be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SequenceRespondedNotification {
    /// The thread.
    pub thread_id: String,
    /// The sequence that was answered; absent where none had begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
    /// The answer.
    pub choice: Choice,
    /// The client where it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Answer to `rawr/sequence/respond`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SequenceRespondResult {
    /// Where the thread stands now.
    pub phase: Phase,
    /// The answer as it was recorded: `compact_now` approves a compaction that waits for an approval.
    pub choice: Choice,
}
