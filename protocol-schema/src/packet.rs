//! Payloads about packets and the handoffs made of them.

use crate::names::names;
use crate::{PacketAuthor, Phase, ResumeState};
use serde::{Deserialize, Serialize};

/// What a check of a packet found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketCheck {
    /// Whether it can be handed over as it is.
    pub ok: bool,
    /// Sections that it must have and lacks.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub missing: Vec<String>,
    /// Facts about the session that the packet does not name, for people. rawr adds them under a heading when a
    /// sequence takes the packet; for a taken packet, these are the added ones.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub missing_facts: Vec<String>,
    /// The packet's size.
    pub tokens: u64,
    /// How many secrets were taken out of it.
    pub redactions: u64,
}

/// `rawr/packet/build`: rawr writes a packet from structured state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketBuildParams {
    /// The thread.
    pub thread_id: String,
    /// Always `watcher`: only rawr's own packet can be built on request.
    pub author: PacketAuthor,
}

/// Answer to `rawr/packet/build`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketBuildResult {
    /// The packet, labeled as built by rawr (docs/spec/packet.md#author).
    pub packet: String,
    /// Who wrote it.
    pub author: PacketAuthor,
    /// What a check of it found.
    pub checked: PacketCheck,
}

/// `rawr/packet/check`: checks a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketCheckParams {
    /// The thread.
    pub thread_id: String,
    /// The packet.
    pub packet: String,
}

/// Answer to `rawr/packet/check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketCheckResult {
    /// What was found.
    pub checked: PacketCheck,
}

/// `rawr/packet/submit`: a person or a host gives the packet that a sequence waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketSubmitParams {
    /// The thread.
    pub thread_id: String,
    /// The sequence that is meant; the running one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
    /// The packet.
    pub packet: String,
}

/// Answer to `rawr/packet/submit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketSubmitResult {
    /// What a check of it found.
    pub checked: PacketCheck,
    /// Where the thread stands now.
    pub phase: Phase,
}

/// `rawr/packet/get`: the packet of a sequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketGetParams {
    /// The thread.
    pub thread_id: String,
    /// The sequence that is meant; the latest with a packet if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
}

/// Answer to `rawr/packet/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketGetResult {
    /// The packet.
    pub packet: String,
    /// Who wrote it.
    pub author: PacketAuthor,
    /// The sequence that it belongs to.
    pub sequence_id: String,
    /// What the agent does after the handoff.
    pub resume_state: ResumeState,
    /// What a check of it found.
    pub checked: PacketCheck,
}

/// `rawr/packet/changed`: the packet of a running sequence changed; `rawr/packet/get` returns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacketChangedNotification {
    /// The thread.
    pub thread_id: String,
    /// The sequence that it belongs to.
    pub sequence_id: String,
    /// What happened to it.
    pub change: PacketChange,
    /// Who wrote it.
    pub author: PacketAuthor,
    /// The client at which a person edited it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

names! {
    /// What happened to a packet.
    pub enum PacketChange {
        /// The sequence has taken it.
        Taken = "taken",
        /// A person gave another one.
        Edited = "edited",
        /// Work was done since it was written. It is asked for again.
        Outdated = "outdated",
    }
}

/// `rawr/handoff/build`: the message that would give this packet back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HandoffBuildParams {
    /// The thread.
    pub thread_id: String,
    /// The packet.
    pub packet: String,
}

/// Answer to `rawr/handoff/build`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HandoffBuildResult {
    /// The whole message, marker included.
    pub text: String,
    /// The part that identifies it.
    pub marker: String,
}
