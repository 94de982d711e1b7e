//! The shape of what is wrong with something that a person wrote. Finding and rendering problems is done elsewhere.

use crate::names::names;
use serde::{Deserialize, Serialize};

/// One thing wrong with a prompt or a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// A stable short name, such as `unknown-key`.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, as a sentence fragment.
    pub message: String,
    /// The file, absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

names! {
    /// How bad a problem is.
    pub enum Severity {
        /// The file, or this part of it, is not in force.
        Error = "error",
        /// In force, and likely not what was meant.
        Warning = "warning",
        /// Could be better.
        Hint = "hint",
    }
}

/// A part of a text, as in LSP: the end is the first position after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Range {
    /// Where it begins.
    pub start: Position,
    /// Where it has ended.
    pub end: Position,
}

/// A place in a text, as in LSP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// The line, from 0.
    pub line: u64,
    /// UTF-16 code units from the start of the line.
    pub character: u64,
}
