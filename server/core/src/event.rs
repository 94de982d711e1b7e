//! The events of a thread, as stored in `events.jsonl`. A change here is a change of the format on disk.

mod action;
mod parts;

pub use action::*;
pub use parts::*;

use crate::boundary::{Boundaries, Boundary};
use crate::policy::{ConfirmRule, PacketAuthor, Tier, Worth};
use crate::prompt::SequencePrompts;
use crate::signal::plan::PlanItem;
use crate::units::{
    ActionId, CallId, DecisionId, DirectiveId, EventId, GuardId, InputId, JudgeRequestId, Percent,
    SequenceId, SignalId, ThreadId, Timestamp, Tokens, TurnId,
};
use serde::{Deserialize, Serialize};

/// The format that this release writes. Raised when an older release could no longer fold what a newer one writes.
pub const FORMAT: u16 = 2;

/// From this format on, a compaction outside of a sequence is followed by a handoff even if there is no packet yet.
pub const EVERY_COMPACTION_HANDS_OVER: u16 = 2;

/// One line of `events.jsonl`. A line is complete in itself: it names its thread and its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    /// The format that the line was written in; see [`FORMAT`].
    pub v: u16,
    /// The number in the thread's log. Absent in lines of releases that did not count them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<EventId>,
    /// The thread that the event belongs to. Absent in lines of releases that did not write it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thread: Option<ThreadId>,
    /// When it was recorded. A thread's records may go back in time if the clock was set back.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}

impl Record {
    /// Parses a line.
    ///
    /// # Errors
    ///
    /// Fails if it is not JSON, or not of this shape.
    pub fn parse(line: &str) -> serde_json::Result<Self> {
        // Here, and not where it is needed, because all of its parsing is compiled again in each crate that asks for it.
        serde_json::from_str(line)
    }
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        /// What happened to a thread. Externally tagged: the reader never has to look ahead, which a replay of a long
        /// thread would notice. In boxes, because an event passes through many hands.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Event {
            $($(#[$doc])* $name(Box<$name>),)*
        }

        impl Event {
            /// The name of the variant, for logs.
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
                    Self::$name(Box::new(event))
                }
            }
        )*
    };
}

impl SequenceStarted {
    /// Nothing is compacted: the sequence only tells the agent of what was.
    pub const fn only_tells(&self) -> bool {
        self.late.is_some() || self.closes
    }
}

impl Event {
    /// The boundaries that a signal was.
    pub fn boundaries(&self) -> Option<Boundaries> {
        match self {
            Self::PlanUpdated(updated) => Some(updated.boundaries),
            Self::CommandFinished(finished) => Some(finished.boundaries),
            Self::CommitMade(_) => Some(Boundaries::of(&[Boundary::Commit])),
            Self::PrCheckpoint(_) => Some(Boundaries::of(&[Boundary::PrCheckpoint])),
            Self::PhaseEnded(ended) => Some(ended.boundaries),
            _ => None,
        }
    }
}

/// What the end of a phase amounted to in records without a boundary.
const fn plan_checkpoint() -> Boundaries {
    Boundaries::of(&[Boundary::PlanCheckpoint])
}

fn is_plan_checkpoint(boundaries: &Boundaries) -> bool {
    *boundaries == plan_checkpoint()
}

// The machine makes `CommandFinished`, `InputHeld`, `GuardSet`, `Assessed`, `SequenceStarted`, `ActionIssued`,
// `PacketTaken`, `Responded`, `DeadlinePassed`, `ClockSetBack` and `SequenceEnded` itself. Callers pass a
// `JudgmentAnswered` as `Input::Judged` and all others as `Input::Saw`.
events! {
    /// A host took the thread up, for the first time or again. It is the first event of a thread. What the host does
    /// not
    /// repeat is forgotten, except for the window.
    ThreadOpened {
        /// The folder that the agent works in.
        cwd: String,
        /// The host and what it can do.
        host: HostInfo,
        /// The model in use.
        #[serde(skip_serializing_if = "Option::is_none", default)] model: Option<String>,
        /// The size of the context window, in tokens.
        #[serde(skip_serializing_if = "Option::is_none", default)] window: Option<Tokens>,
        /// The host did not report the window; the client took it from the model's name.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] window_is_assumed: bool,
        /// The host compacts by itself above this many tokens, if it does and they are known.
        #[serde(skip_serializing_if = "Option::is_none", default)] compacts_above: Option<Tokens>,
        /// Tokens of fixed instructions and tools, which no compaction frees; 0 if the host does not report them.
        #[serde(default)] baseline: Tokens,
        /// The sub-agent's name, if the thread belongs to one.
        #[serde(skip_serializing_if = "Option::is_none", default)] agent: Option<String>,
        /// The path of the host's own record of the conversation.
        #[serde(skip_serializing_if = "Option::is_none", default)] transcript: Option<String>,
        /// When the host began the conversation; one that goes on under another id keeps it.
        #[serde(skip_serializing_if = "Option::is_none", default)] began_at: Option<Timestamp>,
        /// The turn that is still running. All other turns without an end are over.
        #[serde(skip_serializing_if = "Option::is_none", default)] running_turn: Option<TurnId>,
    }
    /// The host let go of the thread. It can be opened again.
    ThreadClosed {}

    /// A turn began. Send it once for each turn, before anything else about the turn if possible.
    TurnStarted {
        /// The host's id of the turn.
        turn: TurnId,
        /// Who began it.
        origin: TurnOrigin,
        /// The action that it carries out, if the host knows.
        #[serde(skip_serializing_if = "Option::is_none", default)] action: Option<ActionId>,
        /// The user's message, or the injected one with its marker.
        #[serde(skip_serializing_if = "Option::is_none", default)] text: Option<String>,
        /// Standing instructions in `text`. Filled in by the machine.
        #[serde(skip_serializing_if = "Vec::is_empty", default)] directives: Vec<String>,
    }
    /// A user's message joined a turn that was already running.
    UserMessage {
        /// The turn; absent for the newest one.
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        /// The message.
        text: String,
        /// Standing instructions in `text`. Filled in by the machine.
        #[serde(skip_serializing_if = "Vec::is_empty", default)] directives: Vec<String>,
    }
    /// A sampling request completed. Send it after each request of a turn, because the sequence inside a turn runs
    /// between two of them.
    UsageReported {
        /// The turn that made the request.
        turn: TurnId,
        /// Tokens of the request, if they are known.
        #[serde(skip_serializing_if = "Option::is_none", default)] usage: Option<Usage>,
        /// The size of the context window in tokens, if the host reports it here.
        #[serde(skip_serializing_if = "Option::is_none", default)] window: Option<Tokens>,
        /// The host compacts by itself above this many tokens, if it reports that here.
        #[serde(skip_serializing_if = "Option::is_none", default)] compacts_above: Option<Tokens>,
        /// For how many seconds the provider keeps the request's prompt cached, if the request told it.
        #[serde(skip_serializing_if = "Option::is_none", default)] cache_seconds: Option<u64>,
        /// The model, if it changed.
        #[serde(skip_serializing_if = "Option::is_none", default)] model: Option<String>,
        /// The turn goes on with another request.
        #[serde(default)] needs_follow_up: bool,
        /// What the agent said in the request.
        #[serde(skip_serializing_if = "Option::is_none", default)] last_message: Option<String>,
        /// Semantic breaks in `last_message`. Filled in by the machine.
        #[serde(skip_serializing_if = "Boundaries::none", default)] boundaries: Boundaries,
        /// What in `last_message` they were read from. Filled in by the machine.
        #[serde(skip_serializing_if = "Option::is_none", default)] heard: Option<String>,
    }
    /// A turn ended. It is assessed now. A second report for the same turn is ignored.
    TurnCompleted {
        /// The host's id of the turn.
        turn: TurnId,
        /// How it ended.
        status: TurnStatus,
        /// The model refused its last request as too long.
        #[serde(skip_serializing_if = "Option::is_none", default)] overflow: Option<Overflow>,
        /// The agent's last message.
        #[serde(skip_serializing_if = "Option::is_none", default)] last_message: Option<String>,
        /// Tokens of the last request, if they were not reported before.
        #[serde(skip_serializing_if = "Option::is_none", default)] usage: Option<Usage>,
        /// How many messages of the user wait in the host.
        #[serde(default)] queued_inputs: u32,
        /// The host is in review mode, where nothing is compacted.
        #[serde(default)] review_mode: bool,
        /// Semantic breaks in `last_message`. Filled in by the machine.
        #[serde(default)] boundaries: Boundaries,
        /// What in `last_message` they were read from. Filled in by the machine.
        #[serde(skip_serializing_if = "Option::is_none", default)] heard: Option<String>,
    }

    /// The agent set or changed its plan.
    PlanUpdated {
        /// The turn; absent if the host does not know.
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        /// The host's id of the update. A second report with the same id yields no boundary.
        #[serde(skip_serializing_if = "Option::is_none", default)] signal: Option<SignalId>,
        /// All steps of the new plan, in order.
        steps: Vec<PlanItem>,
        /// The agent's remark on the change.
        #[serde(skip_serializing_if = "Option::is_none", default)] explanation: Option<String>,
        /// What the change amounts to. Filled in by the machine.
        #[serde(default)] boundaries: Boundaries,
    }
    /// A shell command of the agent finished. Hosts send `Input::Command` instead.
    CommandFinished {
        /// The turn; absent if the host does not know.
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        /// The host's id of the command. A second report with the same id yields no boundary.
        #[serde(skip_serializing_if = "Option::is_none", default)] signal: Option<SignalId>,
        /// The command as one line.
        command: String,
        exit_code: i64,
        /// A commit or a pull request, if the command made one.
        #[serde(default)] boundaries: Boundaries,
        /// The command was a test runner that succeeded.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] tests_passed: bool,
        /// The check that the command ran, for example `cargo test`, whether it passed or failed.
        #[serde(skip_serializing_if = "Option::is_none", default)] check: Option<String>,
    }
    /// A commit was made other than by a command that was reported.
    CommitMade {
        /// The turn; absent if the host does not know.
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        /// The id of the signal; absent: the hash identifies it.
        #[serde(skip_serializing_if = "Option::is_none", default)] signal: Option<SignalId>,
        /// The commit's hash.
        #[serde(skip_serializing_if = "Option::is_none", default)] hash: Option<String>,
        /// The commit's subject.
        #[serde(skip_serializing_if = "Option::is_none", default)] subject: Option<String>,
    }
    /// A pull request was created, updated, merged or reviewed.
    PrCheckpoint {
        /// The turn; absent if the host does not know.
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        /// The host's id of the signal. A second report with the same id yields no boundary.
        #[serde(skip_serializing_if = "Option::is_none", default)] signal: Option<SignalId>,
        /// What was done to it, for example `created`.
        action: String,
        /// Where it is.
        #[serde(skip_serializing_if = "Option::is_none", default)] url: Option<String>,
    }
    /// Another branch is checked out.
    BranchChanged {
        /// The branch's name.
        branch: String,
        /// What the change amounts to. Filled in by the machine.
        #[serde(skip_serializing_if = "Boundaries::none", default)] boundaries: Boundaries,
    }
    /// The host gave the conversation another title.
    TitleChanged {
        /// The title; absent if the host has none any more.
        #[serde(skip_serializing_if = "Option::is_none", default)] title: Option<String>,
    }
    /// A tool call or a background command began. While one runs, no sequence starts between turns.
    ToolStarted {
        /// The host's id of the call.
        call: CallId,
        /// The tool's name.
        #[serde(skip_serializing_if = "Option::is_none", default)] name: Option<String>,
    }
    /// A tool call or a background command ended.
    ToolFinished {
        /// The host's id of the call.
        call: CallId,
    }
    /// A person or a program declared that a phase ended here.
    PhaseEnded {
        /// The turn; absent if unknown.
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        /// The id of the signal. A second report with the same id yields no boundary.
        #[serde(skip_serializing_if = "Option::is_none", default)] signal: Option<SignalId>,
        /// What the phase is called.
        label: String,
        /// Who said so.
        #[serde(skip_serializing_if = "Option::is_none", default)] by: Option<String>,
        /// What it amounts to. Filled in by the machine; it counted as a step of the plan once.
        #[serde(skip_serializing_if = "is_plan_checkpoint", default = "plan_checkpoint")] boundaries: Boundaries,
    }
    /// The user gave a standing instruction. The same text twice is one directive.
    DirectiveGiven {
        /// The instruction, word for word.
        text: String,
        /// Survives every compaction; of the others only the newest do.
        pinned: bool,
        /// Who gave it.
        #[serde(skip_serializing_if = "Option::is_none", default)] by: Option<String>,
    }
    /// A standing instruction no longer holds.
    DirectiveCleared {
        /// The id.
        directive: DirectiveId,
    }
    /// The state of the repository, as the sidecar read it. Sent while a thread is open, whenever the sidecar looks.
    RepoObserved {
        /// The work tree.
        repo: Repo,
        /// The subject of the newest commit since the last look.
        #[serde(skip_serializing_if = "Option::is_none", default)] committed: Option<String>,
    }

    /// A user's message has to wait for a sequence, or for a decision.
    InputHeld {
        /// The client's id of the message.
        input: InputId,
        /// The message, unchanged.
        text: String,
    }
    /// A message that waits is no longer to be sent.
    InputCancelled {
        /// The client's id of the message.
        input: InputId,
    }

    /// Nothing is to be compacted for a while.
    GuardSet {
        /// The guard's id, counted by the thread.
        guard: GuardId,
        /// When it ends.
        until: GuardEnd,
        /// A remark for people.
        #[serde(skip_serializing_if = "Option::is_none", default)] note: Option<String>,
        /// Who set it.
        #[serde(skip_serializing_if = "Option::is_none", default)] by: Option<String>,
    }
    /// A guard was removed.
    GuardCleared {
        /// The id.
        guard: GuardId,
    }

    /// The host reports a compaction, started by anyone. Send `started` if the host reports it, and one end.
    CompactionReported {
        /// How far it has come.
        status: CompactionReportStatus,
        /// Who started it.
        origin: CompactionOrigin,
        /// The action that it carries out, if rawr asked for it.
        #[serde(skip_serializing_if = "Option::is_none", default)] action: Option<ActionId>,
        /// Tokens in the context before it.
        #[serde(skip_serializing_if = "Option::is_none", default)] tokens_before: Option<Tokens>,
        /// Tokens in the context after it, by the host's estimate. The next request measures them.
        #[serde(skip_serializing_if = "Option::is_none", default)] tokens_after: Option<Tokens>,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none", default)] error: Option<String>,
    }

    /// A decision was made. Its gates are in `decisions.jsonl`.
    Assessed {
        /// The decision's id.
        decision: DecisionId,
        /// Which entrance asked.
        entrance: Entrance,
        /// What follows.
        outcome: Outcome,
        /// The turn that it is about.
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        /// The tier in force.
        #[serde(skip_serializing_if = "Option::is_none", default)] tier: Option<Tier>,
        /// Percent of the context window left.
        #[serde(skip_serializing_if = "Option::is_none", default)] percent: Option<Percent>,
        /// The boundaries that counted.
        #[serde(default)] boundaries: Boundaries,
        /// Only the judge was against it.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] vetoed: bool,
        /// What has to confirm the proposal; absent where the decision is none.
        #[serde(skip_serializing_if = "Option::is_none", default)] confirm: Option<ConfirmRule>,
        /// Confirmed by a message that closes the work: the compaction comes when the turn of that message has ended.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] after_turn: bool,
        /// Why the proposal before it was dropped, for people.
        #[serde(skip_serializing_if = "Option::is_none", default)] dropped: Option<String>,
    }

    /// The judge answered the open question. An answer to any other question is late and is not recorded.
    JudgmentAnswered {
        /// The question's id.
        request: JudgeRequestId,
        /// Who answered.
        source: JudgmentSource,
        /// The answer, or why there is none.
        answer: JudgeReply,
        /// What it cost.
        #[serde(skip_serializing_if = "Option::is_none", default)] usage: Option<JudgeUsage>,
        /// The endpoint's rate limits.
        #[serde(skip_serializing_if = "Vec::is_empty", default)] rate_limits: Vec<EndpointLimit>,
    }

    /// A sequence began. The event holds all that a restart needs to continue it.
    SequenceStarted {
        /// The id.
        sequence: SequenceId,
        /// Why it started.
        trigger: Trigger,
        /// Who writes the packet.
        author: PacketAuthor,
        /// The packet is asked for outside of the conversation.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] sampled: bool,
        /// The model refuses the conversation as too long, so nothing is asked of the agent before the compaction.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] recovers: bool,
        /// The turn that it runs in, if it started between two sampling requests.
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        /// What is to be asked of the agent before the compaction, in order.
        requests: Vec<AgentRequest>,
        /// A person has to approve it first.
        needs_approval: bool,
        /// The scratch file's path, relative to the thread's folder.
        scratch_file: String,
        /// How its compaction is measured for the breaker.
        #[serde(flatten)] worth: Worth,
        /// The prompts in force when it started.
        prompts: SequencePrompts,
        /// The sample that was asked for when the compaction was proposed.
        #[serde(skip_serializing_if = "Option::is_none", default)] draft: Option<ActionId>,
        /// The compaction came first; only this packet is to be handed over.
        #[serde(skip_serializing_if = "Option::is_none", default)] late: Option<Packet>,
        /// A sequence before it told the agent of a compaction that did not come. Only that is to be told.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)] closes: bool,
    }
    /// The host, or the sidecar, is asked to do something.
    ActionIssued {
        /// The action's id.
        action: ActionId,
        /// The sequence that issued it.
        sequence: SequenceId,
        /// What is to be done.
        kind: HostAction,
    }
    /// The performer of an action reports how far it has come. Send `accepted` when it begins, and one end.
    ActionReported {
        /// The action's id.
        action: ActionId,
        /// How far it has come.
        status: ActionStatus,
        /// The turn that carries it out.
        #[serde(skip_serializing_if = "Option::is_none", default)] turn: Option<TurnId>,
        /// The agent's answer, if the turn's end does not report it.
        #[serde(skip_serializing_if = "Option::is_none", default)] text: Option<String>,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none", default)] error: Option<String>,
    }
    /// A sequence has its packet.
    PacketTaken {
        sequence: SequenceId,
        packet: Packet,
    }
    /// A person answered a sequence, or asked for one.
    Responded {
        /// The answer.
        choice: Choice,
        /// The sequence that it is for; absent if none was running.
        #[serde(skip_serializing_if = "Option::is_none", default)] sequence: Option<SequenceId>,
        /// The edited packet.
        #[serde(skip_serializing_if = "Option::is_none", default)] packet: Option<String>,
        /// Who answered.
        #[serde(skip_serializing_if = "Option::is_none", default)] by: Option<String>,
    }
    /// The thread waited too long.
    DeadlinePassed {
        /// The sequence that waited: the running one, else the last or the next.
        sequence: SequenceId,
        /// What it waited for.
        phase: Phase,
    }
    /// The clock was set back. Every wait now counts from this event, instead of lasting until the clock catches up.
    ClockSetBack {}
    SequenceEnded {
        /// The id.
        sequence: SequenceId,
        /// How it ended.
        ending: Ending,
        /// Why, for people.
        reason: String,
    }
}
