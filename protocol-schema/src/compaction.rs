//! Payloads about compactions: what led to one, how it goes, and rewriting a history for hosts that cannot. Shapes only.

use crate::names::names;
use crate::{Boundary, CompactionOrigin, Entrance, PacketAuthor, Tier};
use serde::{Deserialize, Serialize};

/// What led to a compaction: recorded before it, attached to it after (design §5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum CompactionTrigger {
    /// The arbiter decided so.
    Rawr {
        /// The door through which the assessment came in.
        entrance: Entrance,
        /// The tier that held.
        tier: Tier,
        /// Percent of the context window left.
        percent_remaining: u8,
        /// The boundaries that counted.
        #[serde(default, deserialize_with = "crate::lenient::list")]
        boundaries: Vec<Boundary>,
        /// Who was to write the packet.
        packet_author: PacketAuthor,
        /// The sequence.
        sequence_id: String,
    },
    /// Built-in inline compaction, used only when rawr is off (spec 3).
    Inline {
        /// Percent of the context window left.
        percent_remaining: u8,
    },
    /// The host by itself.
    Host,
    /// A person.
    User,
}

/// `rawr/compaction/report`: how a compaction goes, whoever started it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CompactionReportParams {
    /// The thread.
    pub thread_id: String,
    /// How it goes.
    pub status: CompactionReportStatus,
    /// Who started it.
    pub origin: CompactionOrigin,
    /// The action that asked for it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_id: Option<String>,
    /// Tokens in the context before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// Tokens in the context after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// Why it failed, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

names! {
    /// How a compaction goes, as a host sees it.
    pub enum CompactionReportStatus {
        /// It runs.
        Started = "started",
        /// The history is rewritten.
        Completed = "completed",
        /// The history is as it was.
        Failed = "failed",
    }

    /// How a compaction goes, as clients are told; the agent client protocol's names (design §3).
    pub enum CompactionStatus {
        /// It runs.
        InProgress = "in_progress",
        /// The history is rewritten.
        Completed = "completed",
        /// The history is as it was.
        Failed = "failed",
        /// Somebody stopped it before the history was touched.
        Cancelled = "cancelled",
    }

    /// Who speaks in a history item.
    pub enum HistoryRole {
        /// Fixed instructions.
        System = "system",
        /// The user, or rawr in a turn of its own.
        User = "user",
        /// The agent.
        Assistant = "assistant",
        /// A tool's output.
        Tool = "tool",
    }
}

/// `rawr/compaction/update`: a compaction began or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CompactionUpdateNotification {
    /// The thread.
    pub thread_id: String,
    /// The sequence that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
    /// How it goes.
    pub status: CompactionStatus,
    /// Who started it.
    pub origin: CompactionOrigin,
    /// What led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<CompactionTrigger>,
    /// Tokens in the context before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// Tokens in the context after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// Why it failed, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `rawr/compaction/rewrite`: history in, history out, for hosts without their own (spec 1 §10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CompactionRewriteParams {
    /// The whole history, in order; every item counts, so none is skipped in reading.
    pub items: Vec<HistoryItem>,
    /// The summary that takes the history's place.
    pub summary: String,
    /// How many tokens of the latest user messages stay word for word; the sidecar's own limit if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_user_tokens: Option<u64>,
}

/// One item of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HistoryItem {
    /// Who speaks.
    pub role: HistoryRole,
    /// What.
    pub text: String,
    /// The host's name for the item; kept, so that the host finds what only it knows of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// Answer to `rawr/compaction/rewrite`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CompactionRewriteResult {
    /// The new history, in order.
    pub items: Vec<HistoryItem>,
    /// Size of the old one.
    pub tokens_before: u64,
    /// Size of the new one.
    pub tokens_after: u64,
}
