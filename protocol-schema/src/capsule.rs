//! Payloads about capsules: what is kept before a compaction, so that a person can go back to it.

use crate::{
    CompactionTrigger, Directive, PacketAuthor, PlanStep, ResumeState, TranscriptPosition,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `rawr/capsule/list`: the capsules of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapsuleListParams {
    /// The thread.
    pub thread_id: String,
}

/// Answer to `rawr/capsule/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapsuleListResult {
    /// Latest first; the latest 20 of a thread are kept.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub capsules: Vec<CapsuleSummary>,
    /// Files among them that cannot be read.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub unread: Vec<Unread>,
}

/// One capsule in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapsuleSummary {
    /// The capsule's id: the sequence of the compaction, or an id of its own for a compaction that the host began.
    pub capsule_id: String,
    /// The thread that it was taken of.
    pub thread_id: String,
    /// When, Unix milliseconds.
    pub at_ms: i64,
    /// What led to the compaction.
    pub trigger: CompactionTrigger,
    /// Tokens in the context at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// Who wrote the packet that is in it, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_author: Option<PacketAuthor>,
    /// Whether it includes the host's history.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub has_history: bool,
}

/// `rawr/capsule/get`: everything in a capsule, and what the work tree looks like now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapsuleGetParams {
    /// The thread.
    pub thread_id: String,
    /// The capsule.
    pub capsule_id: String,
    /// Whether to return the host's history as well, if there is one. It may be long.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub with_history: bool,
}

/// Answer to `rawr/capsule/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapsuleGetResult {
    /// What was kept.
    pub capsule: Capsule,
    /// The history in the host's own shape, oldest first; empty unless it was wanted and is there.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub history: Vec<Map<String, Value>>,
    /// The work tree as it is now; absent where there is none, or where looking is switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_tree_now: Option<WorkTree>,
}

/// What is kept before a compaction, without what looks like a key or a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Capsule {
    /// The capsule in short.
    #[serde(flatten)]
    pub summary: CapsuleSummary,
    /// The agent program that owned the transcript.
    pub host: CapsuleHost,
    /// The thread's working directory, absolute.
    pub cwd: String,
    /// The model in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Size of the context window, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Where the host keeps its transcript, and how long it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<TranscriptPosition>,
    /// The host's id of the last turn that had ended. The transcript up to and including it is what there was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_turn_id: Option<String>,
    /// The turn inside which the compaction came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside_turn_id: Option<String>,
    /// How many turns of the user or the host had ended.
    pub turns_ended: u64,
    /// The continuation packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<CapsulePacket>,
    /// The agent's working notes, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratch: Option<CapsuleScratch>,
    /// The agent's plan.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub plan: Vec<PlanStep>,
    /// User instructions that were in force.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub directives: Vec<Directive>,
    /// The work tree, as it was last looked at before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_tree: Option<WorkTree>,
    /// User inputs that waited for the sequence, in order.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub held_inputs: Vec<HeldInput>,
}

/// The agent program that a capsule was taken of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapsuleHost {
    /// The program's name.
    pub name: String,
    /// The program's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A packet as a capsule keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapsulePacket {
    /// Who wrote it.
    pub author: PacketAuthor,
    /// What the agent was about to do.
    pub resume_state: ResumeState,
    /// The packet.
    pub text: String,
}

/// Working notes as a capsule keeps them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapsuleScratch {
    /// The file, relative to the working directory, with forward slashes.
    pub scratch_file: String,
    /// A hash to detect changes: FNV-1a of the notes, in 16 hexadecimal digits.
    pub content_hash: String,
    /// Their text; absent if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// A git work tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkTree {
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// How many files differ from the commit.
    pub dirty: u64,
    /// The first of those files.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub files: Vec<String>,
    /// When it was looked at, Unix milliseconds; absent means now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at_ms: Option<i64>,
}

/// A user input that waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeldInput {
    /// The host's name for it.
    pub input_id: String,
    /// What it said.
    pub text: String,
}

/// `rawr/capsule/attach`: a host without a transcript sends its history before it compacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapsuleAttachParams {
    /// The thread.
    pub thread_id: String,
    /// The capsule: the sequence of the compaction that was asked for.
    pub capsule_id: String,
    /// The whole history in the host's own shape, oldest first.
    pub history: Vec<Map<String, Value>>,
}

/// Answer to `rawr/capsule/attach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapsuleAttachResult {
    /// How many secrets were removed before it was written.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub redactions: u64,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Unread {
    /// The file, absolute.
    pub file: String,
    /// Why, for people.
    pub error: String,
}
