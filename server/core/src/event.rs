//! What happened, in the form in which it is stored. The stored lines of `events.jsonl` are these types: a change
//! here is a change of the format.

mod parts;

pub use parts::*;

use crate::boundary::Boundaries;
use crate::policy::{PacketAuthor, Tier, Worth};
use crate::prompt::SequencePrompts;
use crate::signal::plan::PlanStep;
use crate::units::{
    ActionId, CallId, DecisionId, DirectiveId, EventId, GuardId, InputId, Percent, RequestId,
    SequenceId, SignalId, ThreadId, Timestamp, Tokens, TurnId,
};
use serde::{Deserialize, Serialize};

/// Raised when an older release could no longer fold what a newer one writes.
pub const FORMAT: u16 = 2;

/// From this format on, a compaction that no sequence waited for owes a handoff, whether or not a packet is there.
pub const EVERY_COMPACTION_HANDS_OVER: u16 = 2;

/// One line of `events.jsonl`. It stands alone: whoever has nothing but the line knows which event of which thread it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    pub v: u16,
    /// Absent in lines of releases that did not count them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<EventId>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thread: Option<ThreadId>,
    pub at: Timestamp,
    pub event: Event,
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        /// Externally tagged: the reader never has to look ahead, which a replay of a long thread would feel.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Event {
            $($(#[$doc])* $name($name),)*
        }

        impl Event {
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($name),)*
                }
            }
        }

        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
        /// The host did not say how large the window is; the client took it from the model's name.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] window_is_assumed: bool,
        #[serde(default)] baseline: Tokens,
        /// The sub-agent's name, where the thread is one's.
        #[serde(skip_serializing_if = "Option::is_none", default)] agent: Option<String>,
        /// Where the host keeps its own record of the conversation.
        #[serde(skip_serializing_if = "Option::is_none", default)] transcript: Option<String>,
        /// The turn that still runs there: no other does.
        #[serde(skip_serializing_if = "Option::is_none", default)] running_turn: Option<TurnId>,
    }
    ThreadClosed {}

    TurnStarted {
        turn: TurnId,
        origin: Origin,
        #[serde(skip_serializing_if = "Option::is_none", default)] action: Option<ActionId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] text: Option<String>,
        /// The standing instructions in it.
        #[serde(skip_serializing_if = "Vec::is_empty", default)] directives: Vec<String>,
    }
    /// A person's message joined a turn that ran: they wrote while the agent worked.
    UserMessage {
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        text: String,
        /// The standing instructions in it.
        #[serde(skip_serializing_if = "Vec::is_empty", default)] directives: Vec<String>,
    }
    /// One sampling request came back with its token usage.
    UsageReported {
        turn: TurnId,
        usage: Usage,
        #[serde(skip_serializing_if = "Option::is_none", default)] window: Option<Tokens>,
        /// Another model than before is in use.
        #[serde(skip_serializing_if = "Option::is_none", default)] model: Option<String>,
        #[serde(default)] needs_follow_up: bool,
        /// What the agent said in it.
        #[serde(skip_serializing_if = "Option::is_none", default)] last_message: Option<String>,
        #[serde(skip_serializing_if = "Boundaries::none", default)] boundaries: Boundaries,
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
        #[serde(skip_serializing_if = "Option::is_none", default)] signal: Option<SignalId>,
        steps: Vec<PlanStep>,
        #[serde(skip_serializing_if = "Option::is_none", default)] explanation: Option<String>,
        #[serde(default)] boundaries: Boundaries,
    }
    CommandFinished {
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] signal: Option<SignalId>,
        command: String,
        exit_code: i64,
        #[serde(default)] boundaries: Boundaries,
        /// A test runner that succeeded.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] tests_passed: bool,
    }
    CommitMade {
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] signal: Option<SignalId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] hash: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)] subject: Option<String>,
    }
    PrCheckpoint {
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        #[serde(skip_serializing_if = "Option::is_none", default)] signal: Option<SignalId>,
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
        #[serde(skip_serializing_if = "Option::is_none", default)] signal: Option<SignalId>,
        label: String,
    }
    DirectiveGiven {
        text: String,
        pinned: bool,
        #[serde(skip_serializing_if = "Option::is_none", default)] by: Option<String>,
    }
    DirectiveCleared { directive: DirectiveId, }
    /// What the repository looked like.
    RepoObserved {
        repo: Repo,
        /// The subject of the newest commit that was made there since the last look.
        #[serde(skip_serializing_if = "Option::is_none", default)] committed: Option<String>,
    }

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
        /// Everything spoke for it but the judge.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] vetoed: bool,
    }

    /// The judge's word on the question that is open; one on any other is late, and nothing is recorded of it.
    JudgmentAnswered {
        request: RequestId,
        source: JudgeSource,
        answer: Answer,
        #[serde(skip_serializing_if = "Option::is_none", default)] usage: Option<JudgeUsage>,
        #[serde(skip_serializing_if = "Vec::is_empty", default)] rate_limits: Vec<RateLimit>,
    }

    SequenceStarted {
        sequence: SequenceId,
        trigger: Trigger,
        author: PacketAuthor,
        /// The packet is asked for outside of the transcript.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] sampled: bool,
        /// The turn that it runs in, where it started between two of its sampling requests.
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        /// What is owed before the compaction, in order.
        requests: Vec<Request>,
        needs_approval: bool,
        scratch_file: String,
        /// When its compaction does not count against the breaker.
        #[serde(flatten)] worth: Worth,
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
    /// What waits would wait until the clock has caught up: from here on it is counted anew.
    ClockSetBack {}
    SequenceEnded { sequence: SequenceId, ending: Ending, reason: String, }
}
