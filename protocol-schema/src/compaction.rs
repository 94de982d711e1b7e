//! Payloads about compactions: what led to one, how it goes, and rewriting a history for hosts that cannot.

use crate::names::names;
use crate::{Boundary, CompactionOrigin, Entrance, PacketAuthor, Tier};
use serde::{Deserialize, Serialize};

/// What led to a compaction: recorded before it, attached to it after (docs/spec/sequence.md#audit-trail).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum CompactionTrigger {
    /// A decision of rawr.
    Rawr {
        /// The entrance that asked.
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
    /// Built-in inline compaction, used only when rawr is off (docs/spec/built-in-compaction.md).
    Inline {
        /// Percent of the context window left.
        percent_remaining: u8,
    },
    /// The host by itself.
    Host,
    /// A person.
    User,
}

/// `rawr/compaction/report`: the progress of a compaction, started by anyone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CompactionReportParams {
    /// The thread.
    pub thread_id: String,
    /// The progress.
    pub status: CompactionReportStatus,
    /// Who started it.
    pub origin: CompactionOrigin,
    /// The action that asked for it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_id: Option<String>,
    /// Tokens in the context before.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub tokens_before: Option<u64>,
    /// Tokens in the context after.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub tokens_after: Option<u64>,
    /// Why it failed, for people.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub error: Option<String>,
}

names! {
    /// The progress of a compaction, as a host reports it.
    pub enum CompactionReportStatus {
        /// The compaction runs.
        Started = "started",
        /// The history is rewritten.
        Completed = "completed",
        /// The history is as it was.
        Failed = "failed",
    }

    /// The progress of a compaction, as clients are told. The names are those of the Agent Client Protocol.
    pub enum CompactionStatus {
        /// The compaction runs.
        InProgress = "in_progress",
        /// The history is rewritten.
        Completed = "completed",
        /// The history is as it was.
        Failed = "failed",
        /// The compaction was stopped before the history was changed.
        Cancelled = "cancelled",
    }

    /// What a history item is to a compaction.
    pub enum HistoryKind {
        /// What was said or done in the conversation.
        Message = "message",
        /// What every conversation of this host begins with, in any role; kept.
        InitialContext = "initial_context",
        /// A snapshot of the host's state; kept, after the summary.
        Snapshot = "snapshot",
        /// The summary of an earlier compaction; replaced by the new one.
        Summary = "summary",
    }

    /// Who speaks in a history item.
    pub enum HistoryRole {
        /// Fixed instructions.
        System = "system",
        /// The user, or rawr in an injected turn.
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
    /// The progress.
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

/// `rawr/compaction/rewrite`: history in, history out, for hosts without their own
/// (docs/spec/hosts.md#rewriting-a-history). What stays, in this order: the initial context; the newest user messages;
/// the summary; the snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CompactionRewriteParams {
    /// The whole history, in order; every item counts, so none is skipped in reading.
    pub items: Vec<HistoryItem>,
    /// The summary that takes the history's place, without its prefix. A blank one is refused.
    pub summary: String,
    /// How many tokens of the latest user messages stay word for word; 20,000 if absent. The message that crosses the
    /// limit loses its middle, and a mark that is not counted says how much that was. What rawr injected, known by its
    /// marker, is no user message and goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_user_tokens: Option<u64>,
    /// The encoding to count by, as in `rawr/tokens/count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The model whose encoding to count by, as in `rawr/tokens/count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// One item of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HistoryItem {
    /// Who speaks.
    pub role: HistoryRole,
    /// What it is to a compaction; a message if absent. Without it, the system items before the first other message are
    /// the initial context, and a user message that begins with the prefix of summaries is a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<HistoryKind>,
    /// What.
    pub text: String,
    /// The host's id of the item; kept, so that the host can find the item again.
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
    /// Size of the old one: its items' texts.
    pub tokens_before: u64,
    /// Size of the new one, counted the same way.
    pub tokens_after: u64,
    /// How they were counted, as in the answer to `rawr/tokens/count`.
    pub method: String,
}
