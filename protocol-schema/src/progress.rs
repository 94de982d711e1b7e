//! Progress of long requests, as in LSP: a client that wants it sends a `workDoneToken`, and gets `$/progress` with it.

use serde::{Deserialize, Serialize};

/// What a client calls the progress of a request. It chooses one that it uses for nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ProgressToken {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// `$/progress`: how far a request is. `begin` comes first and `end` last, before the answer; when the request is
/// cancelled, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProgressParams {
    /// The request's `workDoneToken`.
    pub token: ProgressToken,
    /// How far it is.
    pub value: WorkDoneProgress,
}

/// How far a request is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum WorkDoneProgress {
    /// The work begins.
    Begin {
        /// What is being done, for people.
        title: String,
        /// Whether `$/cancelRequest` ends the work early.
        cancellable: bool,
        /// How much of it is done.
        #[serde(skip_serializing_if = "Option::is_none")]
        percentage: Option<u8>,
    },
    /// The work goes on.
    Report {
        /// How much is done of how much, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// How much of it is done; never less than before.
        #[serde(skip_serializing_if = "Option::is_none")]
        percentage: Option<u8>,
    },
    /// The work has ended, whatever the answer is.
    End {
        /// How it ended, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
}
