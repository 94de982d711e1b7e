//! What events are made of. These types are stored, too: a change here is a change of the format.

use crate::boundary::Boundaries;
use crate::policy::{CompactionSettings, PacketAuthor, Tier};
use crate::units::{InputId, Percent, RequestId, Tokens};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
pub struct HostInfo {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    #[serde(default)]
    pub can: Capabilities,
}

/// What the host said it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Capabilities {
    pub inject_turn: bool,
    pub steer: bool,
    pub sample: bool,
    pub queue: bool,
    pub compact: bool,
    /// By a person, once the packet is there: none is ordered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compact_by_person: bool,
    pub mid_turn_compact: bool,
    pub inject_items: bool,
    pub judge: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    User,
    /// Belongs to a sequence.
    Synthetic,
    /// The host went on by itself.
    Host,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    Completed,
    Interrupted,
    Failed,
}

impl TurnStatus {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

/// Tokens of one sampling request. `context` is what counts: what the next request will carry at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    pub context: Tokens,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cached: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reasoning: Option<Tokens>,
}

/// When a guard ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    Turns(u32),
    Minutes(u32),
    NextCommit,
    TestsPass,
    Released,
}

/// A git work tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct Repo {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<String>,
    /// How many files are not as HEAD has them.
    #[serde(default)]
    pub dirty: u32,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<String>,
    /// Files that commits have changed since the last compaction.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub changed: Vec<String>,
    /// The stack of branches, as Graphite tells it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stack: Option<String>,
}

/// Who judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeSource {
    Host,
    Responses,
    Chat,
    Heuristic,
}

impl JudgeSource {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Heuristic => "heuristic",
        }
    }
}

/// What a judge said, or why it said nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Says { should_compact: bool, reason: String },
    Failed { error: String },
}

/// What one judgment cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct JudgeUsage {
    #[serde(default)]
    pub input: Tokens,
    #[serde(default)]
    pub output: Tokens,
}

/// As the endpoint's headers say it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RateLimit {
    pub name: String,
    pub value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionStatus {
    Started,
    Completed,
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionOrigin {
    Rawr,
    Host,
    User,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Nothing,
    Tag,
    Suggest,
    Ask,
    Judge,
    Defer,
    Compact,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entrance {
    TurnComplete,
    Preflight,
    MidTurn,
    Inline,
}

/// Why a compaction comes: the audit trail.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    Rawr {
        entrance: Entrance,
        tier: Tier,
        percent: Percent,
        boundaries: Boundaries,
    },
    /// The built-in compaction inside a turn.
    Inline {
        percent: Percent,
    },
    /// The host's own.
    Host,
    /// A person asked for it.
    User,
}

impl Trigger {
    pub const fn tier(&self) -> Option<Tier> {
        match self {
            Self::Rawr { tier, .. } => Some(*tier),
            Self::Inline { .. } | Self::Host | Self::User => None,
        }
    }

    /// In a few words, for the person and for the agent: no percentages.
    pub fn reason(&self) -> String {
        match self {
            Self::Rawr { boundaries, .. } if !boundaries.is_empty() => {
                format!("a phase ended here ({boundaries})")
            }
            Self::Rawr { .. } | Self::Inline { .. } => "the context is nearly full".to_owned(),
            Self::User => "the user asked for it".to_owned(),
            Self::Host => "the host compacted by itself".to_owned(),
        }
    }
}

/// One piece of work owed before a compaction; the queue is shared by every entrance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    HeadsUp,
    ScratchWrite,
    Packet,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    InjectTurn {
        purpose: Purpose,
        text: String,
        marker: String,
        /// Into the running turn.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        via_steer: bool,
    },
    Compact {
        trigger: Trigger,
        author: PacketAuthor,
        settings: CompactionSettings,
        /// By the host itself: its provider's compaction freed too little.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        local: bool,
        /// A sampling request that runs may be cut off for it.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        interrupt: bool,
    },
    DeliverInput {
        input: InputId,
        items: Vec<Item>,
    },
    Judge {
        request: RequestId,
        /// The host, or the sidecar itself.
        by: JudgeSource,
        instructions: String,
        context: String,
    },
    /// A packet from the agent's context, without a turn.
    SamplePacket {
        prompt: String,
    },
}

impl Action {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::InjectTurn { purpose, .. } => purpose.name(),
            Self::Compact { .. } => "compact",
            Self::DeliverInput { .. } => "deliver_input",
            Self::Judge { .. } => "judge",
            Self::SamplePacket { .. } => "sample_packet",
        }
    }

    /// Carried out by the sidecar, not by the host.
    pub const fn is_sidecars(&self) -> bool {
        matches!(self, Self::Judge { by: JudgeSource::Responses | JudgeSource::Chat, .. })
    }

    /// What a person wrote that goes out with it. A turn that begins with that is the person's like any other, also where
    /// a handoff comes first.
    pub fn delivered_text(&self) -> Option<&str> {
        let Self::DeliverInput { items, .. } = self else { return None };
        items.iter().find(|item| item.role == ItemRole::Input).map(|item| item.text.as_str())
    }

    pub fn hands_over(&self) -> bool {
        match self {
            Self::InjectTurn { purpose, .. } => *purpose == Purpose::Handoff,
            Self::DeliverInput { items, .. } => {
                items.iter().any(|item| item.role == ItemRole::Handoff)
            }
            Self::Compact { .. } | Self::Judge { .. } | Self::SamplePacket { .. } => false,
        }
    }

    /// Answered from what the conversation was when it was asked, and by no turn.
    pub const fn is_sample(&self) -> bool {
        matches!(self, Self::SamplePacket { .. })
    }

    pub const fn is_steer(&self) -> bool {
        matches!(self, Self::InjectTurn { via_steer: true, .. })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    HeadsUp,
    ScratchWrite,
    PacketRequest,
    Handoff,
}

impl Purpose {
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeadsUp => "heads_up",
            Self::ScratchWrite => "scratch_write",
            Self::PacketRequest => "packet_request",
            Self::Handoff => "handoff",
        }
    }
}

/// One message of a delivered turn: a handoff is never glued to what the user wrote.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Item {
    pub role: ItemRole,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemRole {
    Handoff,
    Input,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    Accepted,
    Completed,
    Failed,
}

/// The continuation notes that cross the compaction.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Packet {
    pub author: PacketAuthor,
    pub resume: Resume,
    pub text: String,
    /// Facts that the author had left out; they stand under a heading of their own in the text.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub added: Vec<Fact>,
}

/// Something that a packet has to say.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fact {
    pub kind: FactKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    OpenStep,
    ChangedFile,
    Directive,
    RunningJob,
    Branch,
}

/// What the agent was about to do when the packet was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    Working,
    WaitingForUser,
    Done,
}

impl Resume {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::WaitingForUser => "waiting_for_user",
            Self::Done => "done",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    CompactNow,
    Approve,
    Snooze,
    Cancel,
    EditPacket,
}

impl Choice {
    pub const fn name(self) -> &'static str {
        match self {
            Self::CompactNow => "compact now",
            Self::Approve => "approve",
            Self::Snooze => "snooze",
            Self::Cancel => "cancel",
            Self::EditPacket => "edit packet",
        }
    }

    /// What has become of a compaction that it stops.
    pub const fn stops(self) -> Option<&'static str> {
        match self {
            Self::Snooze => Some("snoozed"),
            Self::Cancel => Some("cancelled"),
            Self::CompactNow | Self::Approve | Self::EditPacket => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Idle,
    AwaitingJudgment,
    AwaitingApproval,
    Deferred,
    AwaitingHeadsUp,
    AwaitingScratchWrite,
    AwaitingPacket,
    AwaitingCompaction,
    Compacting,
    AwaitingHandoff,
}

impl Phase {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::AwaitingJudgment => "awaiting_judgment",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Deferred => "deferred",
            Self::AwaitingHeadsUp => "awaiting_heads_up",
            Self::AwaitingScratchWrite => "awaiting_scratch_write",
            Self::AwaitingPacket => "awaiting_packet",
            Self::AwaitingCompaction => "awaiting_compaction",
            Self::Compacting => "compacting",
            Self::AwaitingHandoff => "awaiting_handoff",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Completed,
    Failed,
    Cancelled,
}
