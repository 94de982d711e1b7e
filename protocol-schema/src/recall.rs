//! Payloads about recalling what was said.

use crate::Unread;
use crate::names::names;
use serde::{Deserialize, Serialize};

/// `rawr/recall/search`: where were these words said?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RecallSearchParams {
    /// Each must occur in the same text, whatever its case.
    pub words: Vec<String>,
    /// The thread; all of this home if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The most places to name: 50 if absent, 1000 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Answer to `rawr/recall/search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RecallSearchResult {
    /// Latest first.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub places: Vec<RecallPlace>,
    /// So many older ones were found and are not named.
    pub more: u64,
    /// What could not be searched.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub unread: Vec<Unread>,
}

/// One text in which all words occur.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RecallPlace {
    /// The thread.
    pub thread_id: String,
    /// What kind of text it is.
    pub kind: RecallKind,
    /// The file, absolute.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// When it was said, Unix milliseconds, as far as the file tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// The text around the first of the words, on one line; what looks like a key or a token is taken out.
    pub snippet: String,
}

names! {
    /// Where words were found.
    pub enum RecallKind {
        /// A continuation packet.
        Packet = "packet",
        /// A message of rawr's that gave a packet back.
        Handoff = "handoff",
        /// A user's instruction.
        Directive = "directive",
        /// The agent's working notes.
        Scratch = "scratch",
        /// A user's message.
        UserMessage = "user_message",
        /// An agent's message.
        AgentMessage = "agent_message",
        /// What an agent ran.
        ToolCall = "tool_call",
        /// What came of it.
        ToolOutput = "tool_output",
        /// The summary of a compaction.
        Summary = "summary",
    }
}
