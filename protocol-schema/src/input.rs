//! Payloads about user inputs that a sequence may hold back.

use crate::names::names;
use serde::{Deserialize, Serialize};

/// `rawr/input/submit`: a person sent something; may the host have it now? (docs/spec/sequence.md#messages-that-wait)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputSubmitParams {
    /// The thread.
    pub thread_id: String,
    /// The client's name for the input. The same id with the same text is a repeat, unless the host refused to take
    /// the message; with another text it is another message.
    pub input_id: String,
    /// The input, unchanged.
    pub text: String,
    /// What sort of input it is.
    pub kind: InputKind,
}

names! {
    /// What sort of input a person sent.
    pub enum InputKind {
        /// A message to the agent.
        Message = "message",
        /// A command that the host runs without the agent; never held.
        LocalCommand = "local_command",
    }

    /// What to do with an input.
    pub enum Disposition {
        /// Give it to the host.
        Deliver = "deliver",
        /// Keep it back: a `deliver_input` action will hand it over, once.
        Held = "held",
    }
}

/// Answer to `rawr/input/submit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputSubmitResult {
    /// What to do with it.
    pub disposition: Disposition,
}

/// `rawr/input/queued`: which inputs are held?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputQueuedParams {
    /// The thread.
    pub thread_id: String,
}

/// Answer to `rawr/input/queued`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputQueuedResult {
    /// Ids of held inputs, in the order in which they will be delivered.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub input_ids: Vec<String>,
}

/// `rawr/input/cancel`: a person takes a held input back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputCancelParams {
    /// The thread.
    pub thread_id: String,
    /// The input.
    pub input_id: String,
}

/// Answer to `rawr/input/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputCancelResult {
    /// Whether it was still held; if not, it is delivered or on its way.
    pub cancelled: bool,
}
