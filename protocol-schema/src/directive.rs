//! Payloads about directives: user instructions that survive a compaction word for word. Shapes only; they are given by
//! `rawr/signal/report`.

use serde::{Deserialize, Serialize};

/// A user instruction that must survive compaction word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Directive {
    /// The directive's name.
    pub directive_id: String,
    /// The instruction, unchanged.
    pub text: String,
    /// Whether it never ages out; of the others, the newest 20 outlive a compaction.
    pub pinned: bool,
    /// When it was given, Unix milliseconds.
    pub given_at_ms: i64,
    /// Who gave it, for people; absent where it was found in a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// `rawr/directive/list`: the instructions in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DirectiveListParams {
    /// The thread.
    pub thread_id: String,
}

/// Answer to `rawr/directive/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DirectiveListResult {
    /// Oldest first.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub directives: Vec<Directive>,
}

/// `rawr/directive/clear`: an instruction holds no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DirectiveClearParams {
    /// The thread.
    pub thread_id: String,
    /// The directive.
    pub directive_id: String,
}

/// Answer to `rawr/directive/clear`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DirectiveClearResult {
    /// Whether it was in force; what is over already needs no clearing.
    pub cleared: bool,
}
