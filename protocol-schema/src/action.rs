//! Payloads about actions: what rawr asks of a host, and how far it has come.

use crate::names::names;
use crate::{CompactionTrigger, Purpose};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `rawr/action/perform`: the owner is to perform an action, once however often it is asked
/// (docs/spec/clients.md#actions).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ActionPerformNotification {
    /// The thread.
    pub thread_id: String,
    /// The sequence that the action belongs to.
    pub sequence_id: String,
    /// The action's id. It stays the same, even after a crash.
    pub action_id: String,
    /// What to do.
    pub action: Action,
}

/// What rawr asks a host to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Action {
    /// Give the agent a message of rawr.
    InjectTurn {
        /// What the text is for.
        purpose: Purpose,
        /// The whole text, marker included.
        text: String,
        /// A short part of the text that identifies the turn: `[rawr:<sequenceId>:<purpose>]`.
        marker: String,
        /// Whether to add it to the running turn instead of starting one.
        #[serde(default, deserialize_with = "crate::lenient::or_default")]
        via_steer: bool,
    },
    /// Compact the history.
    Compact {
        /// What led to it, for the host's own records.
        trigger: CompactionTrigger,
        /// The model to compact with, if another than the thread's.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// How hard that model is to think.
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_effort: Option<String>,
        /// How much that model is to write.
        #[serde(skip_serializing_if = "Option::is_none")]
        verbosity: Option<String>,
        /// The packet takes the place of the host's summary: the host need not write one.
        #[serde(
            default,
            deserialize_with = "crate::lenient::or_default",
            skip_serializing_if = "std::ops::Not::not"
        )]
        packet_only: bool,
        /// Compact without the provider, whose compaction freed too little (docs/spec/built-in-compaction.md#failures).
        #[serde(
            default,
            deserialize_with = "crate::lenient::or_default",
            skip_serializing_if = "std::ops::Not::not"
        )]
        local: bool,
        /// A running sampling request may be aborted (docs/spec/built-in-compaction.md#interruption).
        #[serde(
            default,
            deserialize_with = "crate::lenient::or_default",
            skip_serializing_if = "std::ops::Not::not"
        )]
        interrupt: bool,
    },
    /// Hand over an input that was held, in one turn of the items given.
    DeliverInput {
        /// The input.
        input_id: String,
        /// The messages, in order (docs/spec/sequence.md#messages-that-wait).
        items: Vec<InputItem>,
    },
    /// Run a judgment outside the transcript; answered by `rawr/judgment/answer`.
    Judge {
        /// The judgment's name, given back with the answer.
        request_id: String,
        /// The system text.
        instructions: String,
        /// The user text.
        context: String,
        /// JSON Schema of the answer.
        #[serde(deserialize_with = "crate::lenient::object")]
        output_schema: Map<String, Value>,
    },
    /// Sample a packet from the agent's context without a turn; its text comes with `rawr/action/report`.
    SamplePacket {
        /// What to ask.
        prompt: String,
        /// The compaction is only proposed: do not stop or delay anything for the answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ahead: bool,
    },
}

/// One item of a delivered input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputItem {
    /// Whose text it is.
    pub role: ItemRole,
    /// The text; a person's is unchanged.
    pub text: String,
}

names! {
    /// Whose text an item is.
    pub enum ItemRole {
        /// rawr's: the packet and what to do with it.
        Handoff = "handoff",
        /// rawr's: a compaction that was announced did not come.
        Notice = "notice",
        /// The person's.
        Input = "input",
    }
}

impl ItemRole {
    /// What a text of rawr's is for.
    pub const fn purpose(self) -> Option<Purpose> {
        match self {
            Self::Handoff => Some(Purpose::Handoff),
            Self::Notice => Some(Purpose::Notice),
            Self::Input => None,
        }
    }
}

/// An action without an end: its fields and its ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PendingAction {
    /// The action's name, as it was when it was first asked for.
    pub action_id: String,
    /// The sequence that it belongs to.
    pub sequence_id: String,
    /// When it was first asked for; a host that may have done it before it was lost looks for it from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued_at_ms: Option<i64>,
    /// What to do.
    #[serde(flatten)]
    pub action: Action,
}

/// `rawr/action/report`: what became of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ActionReportParams {
    /// The thread.
    pub thread_id: String,
    /// The action.
    pub action_id: String,
    /// What became of it.
    pub status: ActionStatus,
    /// The turn that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// What it yielded, such as a sampled packet.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub text: Option<String>,
    /// Why it failed, for people.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::if_known"
    )]
    pub error: Option<String>,
}

names! {
    /// What became of an action.
    pub enum ActionStatus {
        /// The host has it.
        Accepted = "accepted",
        /// The action is done.
        Completed = "completed",
        /// The action will not be done.
        Failed = "failed",
    }
}
