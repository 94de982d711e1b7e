//! What the driver needs of an agent host, in one vocabulary for all hosts. It knows nothing of rawr's policy.

pub mod claude;
pub mod codex;
pub mod embedded;

pub mod find;
mod pipes;
pub mod record;

use std::future::Future;
use std::path::PathBuf;

use futures::future::BoxFuture;
use rawr_protocol::{
    CompactionOrigin, Host as HostInfo, PendingAction, PlanStep, TokenUsage, TurnStatus,
};
use serde_json::{Map, Value};

/// One agent program with one conversation.
///
/// Every method is required: a host states what it cannot do. [`access`](Host::access),
/// [`request_gate`](Host::request_gate), [`withheld_work`](Host::withheld_work) and
/// [`history_keeper`](Host::history_keeper) lead to what only some hosts have, and their answers do not change while the
/// host runs.
///
/// Do not drop the future of a request before it resolves. The future of [`next_event`](Host::next_event) may be dropped
/// at any time; no event is lost. A host makes progress only while one of its futures is awaited.
pub trait Host {
    /// The conversation.
    fn thread(&self) -> &HostThread;

    /// Who else can write to the conversation.
    fn access(&mut self) -> Access<'_>;

    /// The pause after each sampling request of a turn, in a host that waits there for the driver. `None` where turns
    /// run without a pause.
    fn request_gate(&mut self) -> Option<&mut dyn RequestGate>;

    /// What the host suspends while a sequence runs. `None` where it suspends nothing.
    fn withheld_work(&mut self) -> Option<&mut dyn WithheldWork>;

    /// The history, in a host that writes no transcript itself. `None` where there is a transcript.
    fn history_keeper(&mut self) -> Option<&mut dyn HistoryKeeper>;

    /// How long the conversation lives.
    fn lifetime(&self) -> ThreadLifetime;

    /// Starts a turn with one user message; each item stays a separate part of it. Returns the turn's id.
    ///
    /// # Errors
    ///
    /// [`HostError::Busy`] while a turn runs.
    fn start_turn(
        &mut self,
        items: &[&str],
    ) -> impl Future<Output = Result<String, HostError>> + Send;

    /// Adds a text to the running turn. The agent reads it before its next sampling request. Returns the turn's id.
    ///
    /// # Errors
    ///
    /// [`HostError::NoTurn`] if no turn runs, [`HostError::Unable`] if the host cannot do this.
    fn steer(&mut self, text: &str) -> impl Future<Output = Result<String, HostError>> + Send;

    /// Requests a compaction. Events report how it goes.
    ///
    /// # Errors
    ///
    /// [`HostError::Busy`] while a turn runs. A host with the capability `mid_turn_compact` accepts it inside a turn:
    /// between two sampling requests, or at once if the order's [`Timing`] is [`Timing::AtOnce`].
    fn compact(
        &mut self,
        order: &CompactionOrder,
    ) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Stops the running turn or the running compaction.
    ///
    /// # Errors
    ///
    /// [`HostError::NoTurn`] if neither runs.
    fn interrupt(&mut self) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Asks the model a question about the conversation without adding to it. [`HostEvent::Answered`] brings the answer.
    /// Only [`Question::request_id`] and [`Question::text`] are used.
    fn sample(&mut self, question: Question) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Asks the host's model a question without the conversation. [`HostEvent::Answered`] brings the answer.
    fn judge(&mut self, question: Question) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Looks up in the conversation's record what became of an action that an earlier driver requested, or that the host
    /// never answered, so that it is not carried out twice. A delivery without a handoff is looked up by its message.
    fn recorded_outcome(
        &mut self,
        action: &PendingAction,
    ) -> impl Future<Output = Result<RecordedOutcome, HostError>> + Send;

    /// Waits for the next event. After [`HostEvent::Gone`] it returns that event again.
    fn next_event(&mut self) -> impl Future<Output = HostEvent> + Send;

    /// Ends the host in an orderly way.
    fn close(self) -> impl Future<Output = ()> + Send;
}

/// Who can write to a host's conversation.
pub enum Access<'h> {
    /// Only the driver.
    Exclusive,
    /// The driver and people who use the host directly. They can start a turn at any time.
    Shared(&'h mut dyn SharedThread),
}

impl Access<'_> {
    /// Whether people use the host directly.
    pub fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }
}

/// A conversation that people and the driver share.
pub trait SharedThread: Send {
    /// The turn that was already running when the driver joined, until an event reports it.
    fn running_turn(&self) -> Option<&str>;

    /// Makes everything that has happened so far available to [`Host::next_event`] without a wait.
    fn drain_events(&mut self) -> BoxFuture<'_, Result<(), HostError>>;

    /// Sets the handoff text for the running compaction. The host queues it as soon as the history is rewritten, so that
    /// no turn of a person can come first. The next [`Host::start_turn`] then returns the turn that this text started.
    fn prepare_handoff(&mut self, text: String);

    /// Waits until the first message of a turn is in the conversation, before any later message of a person.
    fn wait_until_recorded<'h>(
        &'h mut self,
        turn_id: &'h str,
    ) -> BoxFuture<'h, Result<(), HostError>>;
}

/// The pause between two sampling requests of a turn.
pub trait RequestGate: Send {
    /// Resumes the agent after a [`HostEvent::Usage`].
    ///
    /// # Errors
    ///
    /// [`HostError::Gone`] if the host has ended.
    fn resume_turn(&mut self, turn_id: &str, next: Next) -> Result<(), HostError>;
}

/// Events and work that a host suspends while a sequence runs.
pub trait WithheldWork: Send {
    /// Reports the withheld events and resumes the suspended work. Called whenever no sequence runs.
    fn release(&mut self);
}

/// The history of a host that writes no transcript itself.
pub trait HistoryKeeper: Send {
    /// The whole conversation in the host's own format, oldest item first.
    fn history(&mut self) -> BoxFuture<'_, Result<Vec<Map<String, Value>>, HostError>>;
}

/// How long a conversation lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadLifetime {
    /// It ends with its driver.
    Driver,
    /// People can continue it without this driver. The next driver resumes what is pending.
    Host,
}

/// What a conversation's record says about a requested action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedOutcome {
    /// It was not carried out. Request it again.
    NotFound,
    /// The host is doing something that may be this action. Look again when that is over.
    Unclear,
    /// Its turn is running. Events report it like any other requested turn.
    Running {
        /// The host's id of the turn.
        turn_id: String,
        /// The messages that people have written in it so far.
        by_people: Vec<String>,
    },
    /// Its turn has ended.
    Ended {
        /// The host's id of the turn.
        turn_id: String,
        /// The agent's last message in it.
        last_agent_message: Option<String>,
        /// The messages that people wrote in it.
        by_people: Vec<String>,
    },
    /// The history is rewritten.
    Compacted {
        /// The host's id of the turn.
        turn_id: String,
        /// The size of the context before, in tokens.
        tokens_before: Option<u64>,
        /// The size of the context after, in tokens.
        tokens_after: Option<u64>,
    },
}

/// The conversation that a host runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostThread {
    /// The host's name for it.
    pub thread_id: String,
    pub origin: ThreadOrigin,
    pub cwd: PathBuf,
    /// The program, and what this adapter can make it do.
    pub host: HostInfo,
    pub model: Option<String>,
    /// Unknown until the host has told it, with its first usage at the latest.
    pub context_window: Option<u64>,
    /// What the host itself takes off both sides before it shows a percentage.
    pub baseline_tokens: u64,
    /// Where the host keeps a transcript of its own.
    pub transcript: Option<PathBuf>,
}

/// Who gives a conversation its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadOrigin {
    Person,
    /// Another agent, which has spawned this one and takes what it says last for its answer. The name is the sub-agent's, and
    /// may be empty.
    Parent {
        name: String,
    },
}

/// When a host compacts by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OwnCompaction {
    /// Somebody else does it in time: only what the host cannot be talked out of.
    #[default]
    EmergencyBrakeOnly,
    /// Nobody else does it.
    AsConfigured,
}

/// How a compaction is to be done. A host does of it what it can, and says what it cannot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompactionOrder {
    pub keep: Keep,
    pub by: Compactor,
    pub timing: Timing,
    pub tuning: Tuning,
}

/// What stays of the conversation beside its fixed beginning and the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// The newest user messages.
    #[default]
    UserMessages,
    Nothing,
}

/// Who rewrites the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compactor {
    /// The model's provider where it offers that, else the host.
    #[default]
    Provider,
    Host,
}

/// What a running turn has to bear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timing {
    #[default]
    BetweenRequests,
    /// A sampling request that runs is cut off.
    AtOnce,
}

/// The model that writes the summary; what is absent is the thread's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tuning {
    pub model: Option<String>,
    pub reasoning_effort: Option<String>,
    pub verbosity: Option<String>,
}

/// What follows a sampling request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// What the model's answer calls for: an answer without a tool call ends the turn.
    AsAnswered,
    /// Another request in any case: the answer was to a text of rawr's, and the turn's own work is not done.
    More,
}

/// A question to a model, outside the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The driver's name for it; the answer bears it.
    pub request_id: String,
    /// What the model is, instead of the agent.
    pub instructions: String,
    pub text: String,
    /// JSON Schema that the answer keeps to.
    pub output_schema: Value,
}

/// What a host tells the driver. Turn ids are the host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostEvent {
    TurnStarted {
        turn_id: String,
        kind: TurnKind,
    },
    AgentMessage {
        turn_id: String,
        text: String,
    },
    /// A person wrote at the host itself while the turn ran, and it has taken that in.
    UserMessage {
        turn_id: String,
        text: String,
    },
    /// A sampling request and the tool calls of its answer ended. Never what a compaction itself used. A host that
    /// can compact inside a turn now waits for [`Host::go_on`].
    Usage {
        turn_id: String,
        usage: TokenUsage,
        context_window: Option<u64>,
        /// Whether the agent is about to sample again in this turn.
        needs_follow_up: bool,
    },
    /// How full the window gets while a sampling request runs. Nobody waits.
    UsageEstimated {
        turn_id: String,
        usage: TokenUsage,
        context_window: Option<u64>,
    },
    /// The whole plan as it stands.
    PlanUpdated {
        turn_id: String,
        /// The tool call that changed it, where the host names one.
        call_id: Option<String>,
        steps: Vec<PlanStep>,
        explanation: Option<String>,
    },
    ToolStarted {
        turn_id: String,
        call_id: String,
        name: String,
    },
    /// May come after the end of its turn: agents leave commands running.
    ToolFinished {
        turn_id: String,
        call_id: String,
    },
    /// A shell command ended; it comes right before its `ToolFinished`.
    CommandFinished {
        turn_id: String,
        call_id: String,
        /// As the host puts it, shell wrapper included.
        command: String,
        exit_code: i64,
        cwd: String,
    },
    ReviewEntered {
        turn_id: String,
    },
    ReviewLeft {
        turn_id: String,
    },
    TurnCompleted {
        turn_id: String,
        status: TurnStatus,
        last_agent_message: Option<String>,
        error: Option<String>,
    },
    CompactionStarted {
        turn_id: String,
        origin: CompactionOrigin,
    },
    /// The history is rewritten. A compaction with a turn of its own ends that turn right after this; one inside
    /// another turn names that turn, which goes on.
    CompactionCompleted {
        turn_id: String,
        origin: CompactionOrigin,
        /// The host's estimate of the new history.
        tokens_after: Option<u64>,
    },
    /// The history is as it was.
    CompactionFailed {
        turn_id: String,
        origin: CompactionOrigin,
        error: String,
    },
    /// The answer to a [`Question`], or why there is none.
    Answered {
        request_id: String,
        answer: Result<String, String>,
    },
    /// The host waits for the answer of who sits at it.
    AsksPerson,
    /// Something that a person should read.
    Notice(String),
    /// The host has ended. Nothing but this comes any more.
    Gone {
        reason: String,
    },
}

/// Who a turn belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnKind {
    /// Started by [`Host::start_turn`].
    Asked,
    /// Started by a person at the host itself, with these words.
    Person { text: String },
    /// The compaction asked for by [`Host::compact`].
    Compaction,
    /// The host's own.
    Host,
}

/// What every text of rawr's ends with.
const MARK: &str = "[rawr:";

/// Whether a message is one of rawr's, by this session or by one before it.
pub fn is_marked(text: &str) -> bool {
    text.trim_end().lines().last().is_some_and(|line| line.starts_with(MARK))
}

/// Why a host did not do as it was asked.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error(
        "no `codex` in the PATH: install it with `npm install -g @openai/codex`, or say where it is with `--codex PATH`"
    )]
    CodexNotFound,
    #[error(
        "no `claude` in the PATH: install it with `npm install -g @anthropic-ai/claude-code`, or say where it is with `--claude PATH`"
    )]
    ClaudeNotFound,
    #[error("claude is not logged in: run `claude` and type /login, or set ANTHROPIC_API_KEY")]
    ClaudeNotLoggedIn,
    #[error("{} is not a program that can be run: name one with `{option} PATH`", .path.display())]
    NotAProgram { path: PathBuf, option: &'static str },
    #[error("{} cannot be started: {source}", .path.display())]
    NotStarted { path: PathBuf, source: std::io::Error },
    #[error("no app-server of Codex answers at {}: {source}", .path.display())]
    NotReached { path: PathBuf, source: std::io::Error },
    #[error("the host did not do {method}: {message}")]
    Refused { method: &'static str, message: String },
    #[error("the host is busy with a turn")]
    Busy,
    #[error("no turn is running")]
    NoTurn,
    #[error("this host cannot {what}")]
    Unable { what: &'static str },
    #[error("the host did not answer {method} within {seconds} s")]
    Silent { method: &'static str, seconds: u64 },
    #[error("the host's answer to {method} is not understood: {source}")]
    NotUnderstood { method: &'static str, source: serde_json::Error },
    #[error("the history cannot be used: {problem}")]
    BadHistory { problem: String },
    #[error("{reason}")]
    Gone { reason: String },
}
