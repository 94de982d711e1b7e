//! Payloads about judgments: a model's yes or no, asked outside the transcript.

use crate::names::names;
use crate::{Boundary, Tier};
use serde::{Deserialize, Serialize};

/// `rawr/judgment/evaluate`: ask the judge about a given situation (docs/spec/judgment.md).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JudgmentEvaluateParams {
    /// The thread.
    pub thread_id: String,
    /// The caller's name for the judgment; one is made up if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The tier to judge at.
    pub tier: Tier,
    /// Percent of the context window left.
    pub percent_remaining: u8,
    /// The boundaries to judge by.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub boundaries_present: Vec<Boundary>,
    /// The agent's last message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_agent_message: Option<String>,
    /// The end of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_excerpt: Option<String>,
}

/// Answer to `rawr/judgment/evaluate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JudgmentEvaluateResult {
    /// The judgment's name.
    pub request_id: String,
    /// The tier that was judged at.
    pub tier: Tier,
    /// The answer.
    pub should_compact: bool,
    /// Why, in the judge's words.
    pub reason: String,
    /// Who judged.
    pub source: JudgmentSource,
}

names! {
    /// Who judged.
    pub enum JudgmentSource {
        /// The agent's own host, with its model and login.
        Host = "host",
        /// A model behind a responses endpoint.
        Responses = "responses",
        /// A model behind a chat completions endpoint.
        Chat = "chat",
        /// Rules, without a model.
        Heuristic = "heuristic",
    }
}

/// `rawr/judgment/answer`: the host's answer to a `judge` action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JudgmentAnswerParams {
    /// The thread.
    pub thread_id: String,
    /// The judgment that the action named.
    pub request_id: String,
    /// The answer.
    pub should_compact: bool,
    /// Why, in the model's words.
    pub reason: String,
}

/// Answer to `rawr/judgment/answer`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JudgmentAnswerResult {
    /// Whether it was waited for; a late answer is dropped (docs/spec/judgment.md#one-at-a-time).
    pub accepted: bool,
}

/// `rawr/judgment/requested`: the judge is asked. The answer follows as `rawr/judgment/result`, unless it comes too late.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JudgmentRequestedNotification {
    /// The thread.
    pub thread_id: String,
    /// The judgment's name.
    pub request_id: String,
    /// The tier that is judged at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
}

/// `rawr/judgment/result`: what the judge said, or why it said nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JudgmentResultNotification {
    /// The thread.
    pub thread_id: String,
    /// The judgment's name.
    pub request_id: String,
    /// The tier that was judged at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Who judged.
    pub source: JudgmentSource,
    /// The answer; absent where none came that could be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub should_compact: Option<bool>,
    /// Why, in the judge's words; empty without an answer.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub reason: String,
    /// Why there is no answer, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
