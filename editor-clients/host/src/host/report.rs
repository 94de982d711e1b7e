//! What a host reports to the driver.

use rawr_protocol::{CompactionOrigin, PlanStep, TokenUsage, TurnStatus};

use super::ContextOverflow;

/// What a host reports to the driver. All turn ids are the host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostEvent {
    TurnStarted {
        turn_id: String,
        /// Who started it.
        kind: TurnKind,
    },
    /// The agent wrote a message.
    AgentMessage {
        turn_id: String,
        /// The complete message.
        text: String,
    },
    /// The running turn accepted a message that a person wrote in the host itself.
    UserMessage {
        turn_id: String,
        /// The message.
        text: String,
    },
    /// A sampling request and the tool calls of its answer ended. The requests of a compaction are not reported. A host
    /// in this process now waits for [`resume_turn`](super::InProcessAgent::resume_turn).
    Usage {
        turn_id: String,
        /// The usage that the model reported.
        usage: TokenUsage,
        /// The size of the context window in tokens, if the host reports it.
        context_window: Option<u64>,
        /// Whether the agent will sample again in this turn.
        needs_follow_up: bool,
    },
    /// An estimate of the usage during a sampling request. The host does not wait.
    UsageEstimated {
        turn_id: String,
        /// The estimated usage.
        usage: TokenUsage,
        /// The size of the context window in tokens, if the host reports it.
        context_window: Option<u64>,
    },
    /// The host gave the conversation another title.
    TitleChanged {
        /// The title; `None` if it has none any more.
        title: Option<String>,
    },
    /// The agent changed its plan.
    PlanUpdated {
        turn_id: String,
        /// The tool call that changed the plan, if the host names one.
        call_id: Option<String>,
        /// All steps of the new plan.
        steps: Vec<PlanStep>,
        /// The agent's reason for the change.
        explanation: Option<String>,
    },
    /// A tool call started.
    ToolStarted {
        turn_id: String,
        /// The tool call.
        call_id: String,
        /// The tool's name.
        name: String,
    },
    /// A tool call ended. May come after the end of its turn, because agents leave commands running.
    ToolFinished {
        turn_id: String,
        /// The tool call.
        call_id: String,
    },
    /// A shell command ended. Comes directly before its `ToolFinished`.
    CommandFinished {
        turn_id: String,
        /// The tool call.
        call_id: String,
        /// The command line in the host's form, shell wrapper included.
        command: String,
        exit_code: i64,
        /// The folder in which it ran.
        cwd: String,
    },
    /// The agent entered review mode.
    ReviewEntered { turn_id: String },
    /// The agent left review mode.
    ReviewLeft { turn_id: String },
    /// A turn ended.
    TurnCompleted {
        turn_id: String,
        /// How it ended.
        status: TurnStatus,
        /// The agent's last message in it.
        last_agent_message: Option<String>,
        /// Why it failed.
        error: Option<String>,
        /// Present if the turn failed because the model refused a request as too long.
        overflow: Option<ContextOverflow>,
    },
    CompactionStarted {
        /// The compaction's own turn, or the turn that it interrupts.
        turn_id: String,
        /// Who requested it.
        origin: CompactionOrigin,
    },
    /// The history is rewritten. A compaction with a turn of its own ends that turn directly after this event. A
    /// compaction inside another turn names that turn, which continues.
    CompactionCompleted {
        /// The compaction's own turn, or the turn that continues.
        turn_id: String,
        /// Who requested it.
        origin: CompactionOrigin,
        /// The host's estimate of the new history, in tokens.
        tokens_after: Option<u64>,
    },
    /// A compaction failed, so nothing was compacted.
    CompactionFailed {
        /// The compaction's own turn, or the turn that continues.
        turn_id: String,
        /// Who requested it.
        origin: CompactionOrigin,
        /// Why it failed.
        error: String,
    },
    /// The answer to a [`ModelQuestion`](super::ModelQuestion).
    Answered {
        /// [`ModelQuestion::request_id`](super::ModelQuestion::request_id).
        request_id: String,
        /// The model's answer, or why there is none.
        answer: Result<String, String>,
    },
    /// The user goes on instead of compacting, for which rawr waits.
    CompactionDeclined,
    /// The host waits for an answer from its user.
    AsksPerson,
    /// The user has all messages that the driver holds back, as the host's input.
    MessagesTakenBack,
    /// A message for the user.
    Notice(String),
    /// The host has ended. No other event follows.
    Gone {
        /// Why it ended.
        reason: String,
    },
}

/// Who started a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnKind {
    /// The driver, with [`AgentHost::start_turn`](super::AgentHost::start_turn).
    Asked,
    /// A person in the host itself.
    Person {
        /// The message; empty if it has no words, such as an image.
        text: String,
    },
    /// The driver, with [`AgentHost::compact`](super::AgentHost::compact).
    Compaction,
    /// The host itself.
    Host,
}
