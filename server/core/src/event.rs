//! What happened, in the form in which it is stored. The stored lines of `events.jsonl` are these types: a change
//! here is a change of the format.

use crate::boundary::Boundaries;
use crate::policy::{CompactionSettings, PacketAuthor, Tier};
use crate::prompt::SequencePrompts;
use crate::signal::plan::PlanStep;
use crate::units::{
    ActionId, CallId, DecisionId, GuardId, InputId, Percent, SequenceId, Timestamp, Tokens, TurnId,
};
use serde::{Deserialize, Serialize};

/// Raised when an older release could no longer fold what a newer one writes.
pub const FORMAT: u16 = 1;

/// One line of `events.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub v: u16,
    pub at: Timestamp,
    pub event: Event,
}

impl Record {
    pub const fn new(at: Timestamp, event: Event) -> Self {
        Self { v: FORMAT, at, event }
    }
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        /// Externally tagged: the reader never has to look ahead, which a replay of a long thread would feel.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Event {
            $($(#[$doc])* $name($name),)*
        }

        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
            pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }

            impl From<$name> for Event {
                fn from(event: $name) -> Self {
                    Self::$name(event)
                }
            }
        )*
    };
}

events! {
    /// A host took the thread up, for the first time or again.
    ThreadOpened {
        cwd: String,
        host: HostInfo,
        #[serde(skip_serializing_if = "Option::is_none", default)] model: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)] window: Option<Tokens>,
        #[serde(default)] baseline: Tokens,
        /// The sub-agent's name, where the thread is one's.
        #[serde(skip_serializing_if = "Option::is_none", default)] agent: Option<String>,
    }
    ThreadClosed {}

    TurnStarted {
        turn: TurnId,
        origin: Origin,
        #[serde(skip_serializing_if = "Option::is_none", default)] action: Option<ActionId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] text: Option<String>,
    }
    /// One sampling request came back with its token usage.
    UsageReported {
        turn: TurnId,
        usage: Usage,
        #[serde(skip_serializing_if = "Option::is_none", default)] window: Option<Tokens>,
        #[serde(default)] needs_follow_up: bool,
    }
    TurnCompleted {
        turn: TurnId,
        status: TurnStatus,
        #[serde(skip_serializing_if = "Option::is_none", default)] last_message: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)] usage: Option<Usage>,
        #[serde(default)] queued_inputs: u32,
        #[serde(default)] review_mode: bool,
        #[serde(default)] boundaries: Boundaries,
    }

    PlanUpdated {
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        steps: Vec<PlanStep>,
        #[serde(skip_serializing_if = "Option::is_none", default)] explanation: Option<String>,
        #[serde(default)] boundaries: Boundaries,
    }
    CommandFinished {
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        command: String,
        exit_code: i64,
        #[serde(default)] boundaries: Boundaries,
    }
    CommitMade {
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] hash: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)] subject: Option<String>,
    }
    PrCheckpoint {
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        action: String,
        #[serde(skip_serializing_if = "Option::is_none", default)] url: Option<String>,
    }
    BranchChanged { branch: String, }
    ToolStarted {
        call: CallId,
        #[serde(skip_serializing_if = "Option::is_none", default)] name: Option<String>,
    }
    ToolFinished { call: CallId, }
    /// Somebody said in so many words that a phase ended here.
    PhaseEnded {
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        label: String,
    }
    DirectiveGiven { text: String, pinned: bool, }

    /// A user message that has to wait for a sequence.
    InputHeld { input: InputId, text: String, }
    InputCancelled { input: InputId, }

    GuardSet {
        guard: GuardId,
        until: Until,
        #[serde(skip_serializing_if = "Option::is_none", default)] note: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)] by: Option<String>,
    }
    GuardCleared { guard: GuardId, }

    /// The host says where a compaction stands, ours or not.
    CompactionReported {
        status: CompactionStatus,
        origin: CompactionOrigin,
        #[serde(skip_serializing_if = "Option::is_none", default)] action: Option<ActionId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] tokens_before: Option<Tokens>,
        #[serde(skip_serializing_if = "Option::is_none", default)] tokens_after: Option<Tokens>,
        #[serde(skip_serializing_if = "Option::is_none", default)] error: Option<String>,
    }

    /// A turn's end, or a person's wish, was looked at. The gates stand in `decisions.jsonl`.
    Assessed {
        decision: DecisionId,
        entrance: Entrance,
        outcome: Outcome,
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] tier: Option<Tier>,
        #[serde(skip_serializing_if = "Option::is_none", default)] percent: Option<Percent>,
        /// What spoke for it: the boundaries that counted.
        #[serde(default)] boundaries: Boundaries,
    }

    SequenceStarted {
        sequence: SequenceId,
        trigger: Trigger,
        author: PacketAuthor,
        /// What is owed before the compaction, in order.
        requests: Vec<Request>,
        needs_approval: bool,
        scratch_file: String,
        /// Above this share of the tokens that it started from, the compaction counts against the breaker.
        land_at_percent: u8,
        prompts: SequencePrompts,
        /// The compaction has happened already, without us: only this packet's handoff is owed.
        #[serde(skip_serializing_if = "Option::is_none", default)] late: Option<Packet>,
    }
    ActionIssued { action: ActionId, sequence: SequenceId, kind: Action, }
    ActionReported {
        action: ActionId,
        status: ActionStatus,
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] text: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)] error: Option<String>,
    }
    PacketTaken { sequence: SequenceId, packet: Packet, }
    /// A person stepped in.
    Responded {
        choice: Choice,
        #[serde(skip_serializing_if = "Option::is_none", default)] sequence: Option<SequenceId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] packet: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)] by: Option<String>,
    }
    DeadlinePassed { sequence: SequenceId, phase: Phase, }
    SequenceEnded { sequence: SequenceId, ending: Ending, reason: String, }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct HostInfo {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    #[serde(default)]
    pub can: Capabilities,
}

/// What the host said it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Capabilities {
    pub inject_turn: bool,
    pub steer: bool,
    pub sample: bool,
    pub queue: bool,
    pub compact: bool,
    pub mid_turn_compact: bool,
    pub inject_items: bool,
    pub judge: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    User,
    /// Belongs to a sequence.
    Synthetic,
    /// The host went on by itself.
    Host,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    Turns(u32),
    Minutes(u32),
    NextCommit,
    TestsPass,
    Released,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionStatus {
    Started,
    Completed,
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionOrigin {
    Rawr,
    Host,
    User,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entrance {
    TurnComplete,
    Preflight,
    MidTurn,
    Inline,
}

/// Why a compaction comes: the audit trail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    Rawr {
        entrance: Entrance,
        tier: Tier,
        percent: Percent,
        boundaries: Boundaries,
    },
    /// The host's own.
    Host,
    /// A person asked for it.
    User,
}

impl Trigger {
    /// In a few words, for the person and for the agent: no percentages.
    pub fn reason(&self) -> String {
        match self {
            Self::Rawr { boundaries, .. } if !boundaries.is_empty() => {
                format!("a phase ended here ({boundaries})")
            }
            Self::Rawr { .. } => "the context is nearly full".to_owned(),
            Self::User => "the user asked for it".to_owned(),
            Self::Host => "the host compacted by itself".to_owned(),
        }
    }
}

/// One piece of work owed before a compaction; the queue is shared by every entrance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    HeadsUp,
    ScratchWrite,
    Packet,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    InjectTurn { purpose: Purpose, text: String, marker: String },
    Compact { trigger: Trigger, author: PacketAuthor, settings: CompactionSettings },
    DeliverInput { input: InputId, items: Vec<Item> },
}

impl Action {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::InjectTurn { purpose, .. } => purpose.name(),
            Self::Compact { .. } => "compact",
            Self::DeliverInput { .. } => "deliver_input",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub role: ItemRole,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemRole {
    Handoff,
    Input,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    Accepted,
    Completed,
    Failed,
}

/// The continuation notes that cross the compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    pub author: PacketAuthor,
    pub resume: Resume,
    pub text: String,
}

/// What the agent was about to do when the packet was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    CompactNow,
    Approve,
    Snooze,
    Cancel,
    EditPacket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Idle,
    AwaitingJudgment,
    AwaitingApproval,
    Deferred,
    AwaitingHeadsUp,
    AwaitingScratchWrite,
    AwaitingPacket,
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
            Self::Compacting => "compacting",
            Self::AwaitingHandoff => "awaiting_handoff",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Completed,
    Failed,
    Cancelled,
}
