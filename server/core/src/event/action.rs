//! Actions: what the host or the sidecar is asked to do, and what is owed before a compaction. These types are stored:
//! a change here is a change of the format on disk.

use super::{JudgmentSource, Trigger};
use crate::policy::{CompactionSettings, PacketAuthor};
use crate::units::{InputId, JudgeRequestId};
use serde::{Deserialize, Serialize};

/// Something to be asked of the agent before a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentRequest {
    /// Tell the agent that a compaction comes.
    HeadsUp,
    /// Have the agent update its scratch file.
    ScratchWrite,
    /// Have the agent write the packet.
    Packet,
}

/// What the host, or the sidecar itself, has to do. Each is done once per [`ActionId`](crate::units::ActionId).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostAction {
    /// Run a turn with a message of rawr, or put the message into the running turn.
    InjectTurn {
        /// What the message is for.
        purpose: Purpose,
        /// The message, with `marker` as its last line.
        text: String,
        /// Text that identifies the message, for hosts that cannot tell synthetic turns from others.
        marker: String,
        /// The message goes into the running turn instead of a new one.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        via_steer: bool,
    },
    /// Compact the history.
    Compact {
        /// Why.
        trigger: Trigger,
        /// Who wrote the packet.
        author: PacketAuthor,
        /// Settings of the host's summary.
        settings: CompactionSettings,
        /// The host compacts without its provider, whose compaction freed too little.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        local: bool,
        /// The host may abort a running sampling request.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        interrupt: bool,
    },
    /// Send a user's message that had to wait, with a handoff before it if one is due.
    DeliverInput {
        /// The message's id.
        input: InputId,
        /// The messages of the turn, in order.
        items: Vec<DeliveredMessage>,
    },
    /// Ask the judge, outside of the conversation.
    Judge {
        /// The question's id.
        request: JudgeRequestId,
        /// Who judges: the host, or a model that the sidecar asks.
        by: JudgmentSource,
        /// The judge's instructions.
        instructions: String,
        /// What the judge is told about the thread.
        context: String,
    },
    /// Ask the agent for a packet outside of the conversation, without a turn.
    SamplePacket {
        /// The packet request.
        prompt: String,
        /// The compaction is only proposed, so nothing may be stopped for it.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        ahead: bool,
    },
}

impl HostAction {
    /// The name on disk and on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::InjectTurn { purpose, .. } => purpose.name(),
            Self::Compact { .. } => "compact",
            Self::DeliverInput { .. } => "deliver_input",
            Self::Judge { .. } => "judge",
            Self::SamplePacket { .. } => "sample_packet",
        }
    }

    /// Whether the sidecar performs it instead of the host.
    pub const fn is_for_sidecar(&self) -> bool {
        matches!(self, Self::Judge { by: JudgmentSource::Responses | JudgmentSource::Chat, .. })
    }

    /// The user's message that it delivers. A turn that begins with it is the user's, even if a handoff comes first.
    pub fn delivered_text(&self) -> Option<&str> {
        let Self::DeliverInput { items, .. } = self else { return None };
        items.iter().find(|item| item.role == ItemRole::Input).map(|item| item.text.as_str())
    }

    /// Whether the action gives the packet back to the agent.
    pub fn hands_over(&self) -> bool {
        match self {
            Self::InjectTurn { purpose, .. } => *purpose == Purpose::Handoff,
            Self::DeliverInput { items, .. } => {
                items.iter().any(|item| item.role == ItemRole::Handoff)
            }
            Self::Compact { .. } | Self::Judge { .. } | Self::SamplePacket { .. } => false,
        }
    }

    /// Whether it is answered outside of the conversation, without a turn.
    pub const fn is_sample(&self) -> bool {
        matches!(self, Self::SamplePacket { .. })
    }

    /// Whether its text goes into a turn that runs.
    pub const fn is_steer(&self) -> bool {
        matches!(self, Self::InjectTurn { via_steer: true, .. })
    }
}

/// What an injected message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Announces the compaction.
    HeadsUp,
    /// Asks for an update of the scratch file.
    ScratchWrite,
    /// Asks for the packet.
    PacketRequest,
    /// Gives the packet back.
    Handoff,
    /// Tells that a compaction that was announced did not come.
    Notice,
}

impl Purpose {
    /// The name on disk, on the wire and in markers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeadsUp => "heads_up",
            Self::ScratchWrite => "scratch_write",
            Self::PacketRequest => "packet_request",
            Self::Handoff => "handoff",
            Self::Notice => "notice",
        }
    }
}

/// A message of a delivered turn. What rawr says and the user's text are separate messages.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeliveredMessage {
    /// What the message is.
    pub role: ItemRole,
    pub text: String,
}

/// What a delivered message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemRole {
    /// rawr's handoff.
    Handoff,
    /// rawr's, that a compaction that was announced did not come.
    Notice,
    /// The user's message, unchanged.
    Input,
}

/// How far an action has come, as its performer reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    /// Under way. The report may name the turn that carries it out.
    Accepted,
    /// Done.
    Completed,
    /// Refused, or gone wrong.
    Failed,
}
