//! Payloads about turns: started, usage, completed.

use crate::Verdict;
use crate::names::names;
use serde::{Deserialize, Serialize};

/// `rawr/turn/started`: a turn began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TurnStartedParams {
    /// The thread.
    pub thread_id: String,
    /// The host's id of the turn.
    pub turn_id: String,
    /// Where the turn came from; only the user's trigger anything (docs/spec/sequence.md#synthetic-turns).
    pub origin: TurnOrigin,
    /// The action that asked for the turn, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_id: Option<String>,
    /// The input. A marker in it identifies an injected turn that the host reports as the user's.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub text: Option<String>,
}

names! {
    /// Where a turn came from.
    pub enum TurnOrigin {
        /// A person's input.
        User = "user",
        /// A turn that rawr asked for.
        Synthetic = "synthetic",
        /// The host by itself, such as its own compaction.
        Host = "host",
    }

    /// How a turn ended.
    pub enum TurnStatus {
        /// The agent finished.
        Completed = "completed",
        /// The user or the host stopped it.
        Interrupted = "interrupted",
        /// The turn failed with an error.
        Failed = "failed",
    }
}

/// Tokens as the host's model reported them. Without `contextTokens` the whole usage is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Tokens in the context window now, from which percentages are computed.
    #[serde(deserialize_with = "crate::lenient::count")]
    pub context_tokens: u64,
    /// Tokens sent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub input_tokens: Option<u64>,
    /// Those of the tokens sent that were served from a cache.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub cached_input_tokens: Option<u64>,
    /// Tokens received.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub output_tokens: Option<u64>,
    /// Those of the tokens received that are of hidden reasoning.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub reasoning_tokens: Option<u64>,
    /// For how many seconds the provider keeps the prompt of this request cached, where the request told it; the shortest
    /// lifetime of its parts.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub cache_seconds: Option<u64>,
}

/// `rawr/turn/usage`: a sampling request ended and the turn may go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TurnUsageParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// Tokens after the request; absent if they are not known.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub usage: Option<TokenUsage>,
    /// Size of the context window in tokens, if it changed.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub context_window: Option<u64>,
    /// The host compacts by itself above this many tokens in the context, if that changed.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub compacts_above_tokens: Option<u64>,
    /// The model in use, if it is not the one that was reported last. From here on the thread goes by that model's
    /// configuration.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub model: Option<String>,
    /// Whether the agent goes on sampling in this turn: the mid-turn entrance (docs/spec/mid-turn.md).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub needs_follow_up: Option<bool>,
    /// The agent's latest message.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub last_agent_message: Option<String>,
}

/// Answer to `rawr/turn/usage`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TurnUsageResult {
    /// What was decided; absent if nothing was to be decided here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// `rawr/turn/completed`: a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TurnCompletedParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// How it ended.
    pub status: TurnStatus,
    /// Why it failed, where rawr can do something about it.
    #[serde(
        default,
        deserialize_with = "crate::lenient::if_known",
        skip_serializing_if = "Option::is_none"
    )]
    pub failure: Option<TurnFailure>,
    /// The agent's last message in it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub last_agent_message: Option<String>,
    /// Tokens at its end.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub usage: Option<TokenUsage>,
    /// How many user inputs wait in the host.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::count_if_known"
    )]
    pub queued_inputs: Option<u64>,
    /// Whether the host is in review mode, in which compaction must not happen.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub review_mode: Option<bool>,
}

/// Why a turn failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum TurnFailure {
    /// The model refused a request, because it does not fit the context window. rawr compacts once, whatever the
    /// reported usage says, and the agent continues (docs/spec/decisions.md#a-refused-conversation).
    ContextFull {
        /// Tokens of the refused request, by the host's count or estimate. Leave it out where what was added since the
        /// last answer is not known.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "crate::lenient::count_if_known"
        )]
        request_tokens: Option<u64>,
        /// The size of the context window in tokens, where the refusal names it.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "crate::lenient::count_if_known"
        )]
        context_window: Option<u64>,
    },
}

/// Answer to `rawr/turn/completed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TurnCompletedResult {
    /// What was decided.
    pub verdict: Verdict,
}
