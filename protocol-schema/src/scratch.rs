//! Payloads about scratch files: an agent's working notes under its thread's working directory.

use serde::{Deserialize, Serialize};

/// `rawr/scratch/path`: where are the agent's notes? (docs/spec/scratch-notes.md#where)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScratchPathParams {
    /// The thread.
    pub thread_id: String,
}

/// Answer to `rawr/scratch/path`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScratchPathResult {
    /// Relative to the working directory, with forward slashes: as the agent is told.
    pub scratch_file: String,
    /// Absolute, as the sidecar's machine writes it.
    pub path: String,
    /// Whether the file is there.
    pub exists: bool,
}

/// `rawr/scratch/append`: add a section to the notes, under a heading that says when; file and folder are made if need
/// be. Nothing that is there is changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScratchAppendParams {
    /// The thread.
    pub thread_id: String,
    /// What to add: not empty, and at most 65,536 bytes.
    pub text: String,
}

/// Answer to `rawr/scratch/append`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScratchAppendResult {
    /// The file, relative to the working directory.
    pub scratch_file: String,
    /// The file's size now, in bytes.
    pub bytes: u64,
    /// So many secrets were taken out before it was written.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub redactions: u64,
}

/// `rawr/scratch/read`: the notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScratchReadParams {
    /// The thread.
    pub thread_id: String,
    /// Read at most so many bytes, from the end, where the latest are; the sidecar's own limit if absent. Lines stay
    /// whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

/// Answer to `rawr/scratch/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScratchReadResult {
    /// The file, relative to the working directory.
    pub scratch_file: String,
    /// The notes; empty if there is no file.
    pub text: String,
    /// Whether the beginning was left out.
    pub truncated: bool,
    /// So many secrets were taken out of the text. The file is as it was.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub redactions: u64,
}

/// `rawr/scratch/list`: all agents' notes in the thread's working directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScratchListParams {
    /// The thread.
    pub thread_id: String,
}

/// Answer to `rawr/scratch/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScratchListResult {
    /// Latest first.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub files: Vec<ScratchFile>,
}

/// `rawr/scratch/changed`: an agent's notes were written to, by the agent or through any client. Told of every thread that
/// is open or watched here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScratchChangedNotification {
    /// The thread.
    pub thread_id: String,
    /// Relative to the working directory, with forward slashes.
    pub scratch_file: String,
    /// Absolute, as the sidecar's machine writes it.
    pub path: String,
    /// Whether the file is there still.
    pub exists: bool,
    /// The file's size, in bytes.
    pub bytes: u64,
    /// The client that added to the notes by `rawr/scratch/append`; absent where the agent wrote, or another sidecar's client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// One file of notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScratchFile {
    /// Relative to the working directory, with forward slashes.
    pub scratch_file: String,
    /// The file's size, in bytes.
    pub bytes: u64,
    /// When it was last written, Unix milliseconds.
    pub modified_at_ms: i64,
}
