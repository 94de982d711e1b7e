//! Payloads about guards: "do not compact until …".

use serde::{Deserialize, Serialize};

/// What ends a guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Until {
    /// A number of user turns.
    Turns {
        /// How many.
        turns: u64,
    },
    /// A number of minutes.
    Minutes {
        /// How many.
        minutes: u64,
    },
    /// The next commit.
    NextCommit,
    /// A test run that passes.
    TestsPass,
    /// Only `rawr/guard/clear`.
    Released,
}

/// One active guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Guard {
    /// The guard's name.
    pub guard_id: String,
    /// What ends it.
    pub until: Until,
    /// Why it was set, in the words of its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When it was set, Unix milliseconds.
    pub set_at_ms: i64,
    /// Who set it, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_by: Option<String>,
}

/// `rawr/guard/set`: no compaction until then, except in an emergency (docs/spec/clients.md#guards-and-answers).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GuardSetParams {
    /// The thread.
    pub thread_id: String,
    /// What ends it.
    pub until: Until,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Answer to `rawr/guard/set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GuardSetResult {
    /// The new guard's name.
    pub guard_id: String,
}

/// `rawr/guard/clear`: end a guard early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GuardClearParams {
    /// The thread.
    pub thread_id: String,
    /// The guard; all of them if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard_id: Option<String>,
}

/// Answer to `rawr/guard/clear`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GuardClearResult {
    /// How many ended; 0 if the guard was over already.
    pub cleared: u64,
}

/// `rawr/guard/list`: active guards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GuardListParams {
    /// The thread.
    pub thread_id: String,
}

/// Answer to `rawr/guard/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GuardListResult {
    /// Oldest first.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub guards: Vec<Guard>,
}
