//! What the driver needs from an agent host, in one vocabulary for all hosts. It contains no compaction policy.

pub mod claude;
pub mod claude_mod;
pub mod codex;
pub mod embedded;

pub mod find;
mod overflow;
mod pipes;
pub mod record;
mod report;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use rawr_protocol::{Host, PendingAction, TurnStatus};
use serde_json::{Map, Value};

pub use self::overflow::ContextOverflow;
pub use self::report::{HostEvent, TurnKind};

/// One agent program with one conversation.
///
/// Every method is required: a host states what it cannot do. [`access`](AgentHost::access) leads to what only some hosts
/// have, and its answer does not change while the host runs.
///
/// Do not drop the future of a request before it resolves. The future of [`next_event`](AgentHost::next_event) may be dropped
/// at any time; no event is lost. A host makes progress only while one of its futures is awaited.
#[async_trait]
pub trait AgentHost: Send {
    /// The conversation.
    fn thread(&self) -> &HostThread;

    /// Who has a hand in the conversation, and what the host can do besides.
    fn access(&mut self) -> HostAccess<'_>;

    /// Reports the events and resumes the work that the host suspends while a sequence runs. Called whenever none runs.
    fn resume_withheld_work(&mut self);

    /// Starts a turn with one user message; each item stays a separate part of it. Returns the turn's id.
    ///
    /// # Errors
    ///
    /// [`HostError::Busy`] while a turn runs.
    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError>;

    /// Adds a text to the running turn. The agent reads it before its next sampling request. Returns the turn's id.
    ///
    /// # Errors
    ///
    /// [`HostError::NoTurn`] if no turn runs, [`HostError::Unable`] if the host cannot do this.
    async fn steer(&mut self, text: &str) -> Result<String, HostError>;

    /// Requests a compaction. Events report how it goes.
    ///
    /// # Errors
    ///
    /// [`HostError::Busy`] while a turn runs. A host with the capability `mid_turn_compact` accepts it inside a turn:
    /// between two sampling requests, or at once if the order's [`CompactionTiming`] is [`CompactionTiming::AtOnce`].
    async fn compact(&mut self, order: &CompactionOrder) -> Result<(), HostError>;

    /// Stops the running turn or the running compaction.
    ///
    /// # Errors
    ///
    /// [`HostError::NoTurn`] if neither runs.
    async fn interrupt(&mut self) -> Result<(), HostError>;

    /// Asks the model a question about the conversation without adding to it. [`HostEvent::Answered`] brings the answer.
    /// Only [`ModelQuestion::request_id`] and [`ModelQuestion::text`] are used.
    async fn sample(&mut self, question: ModelQuestion) -> Result<(), HostError>;

    /// Asks the host's model a question without the conversation. [`HostEvent::Answered`] brings the answer.
    async fn judge(&mut self, question: ModelQuestion) -> Result<(), HostError>;

    /// Looks up in the conversation's record what became of an action that an earlier driver requested, or that the host
    /// never answered, so that it is not carried out twice. A delivery without a handoff is looked up by its message.
    async fn recorded_outcome(
        &mut self,
        action: &PendingAction,
    ) -> Result<RecordedOutcome, HostError>;

    /// Waits for the next event. After [`HostEvent::Gone`] it returns that event again.
    async fn next_event(&mut self) -> HostEvent;

    /// Ends the host in an orderly way.
    async fn close(self: Box<Self>);
}

/// How long a host may take to accept an interruption: what waits for its end has a limit of its own.
const INTERRUPT_WITHIN: Duration = Duration::from_secs(5);

/// Who has a hand in a host's conversation.
pub enum HostAccess<'h> {
    /// Only the driver, which has the agent in its own process. The conversation ends with its driver.
    InProcess(&'h mut dyn InProcessAgent),
    /// Only the driver. People can continue the conversation later, and the next driver resumes what is pending.
    Exclusive,
    /// The driver and people who use the host directly. They can start a turn at any time, and continue the conversation
    /// without this driver.
    Shared(&'h mut dyn SharedThread),
    /// People and the agent. The agent waits until the driver has ended: it has called a hook.
    AtHook(&'h mut dyn HookedAgent),
}

/// Where a handoff stands that comes before a held message.
#[derive(Debug)]
pub enum HandedOverBefore {
    /// In this turn, which the message joins. It may start only when the message is released.
    InTurn(String),
    /// In the history. The message starts a turn of its own.
    InHistory,
}

/// Where a message is that was held when the host ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftMessage {
    /// With the user, in the input box again.
    WithUser,
    /// The agent will read it.
    InConversation,
    /// The host did not end, and has let it go.
    Passed,
}

impl LeftMessage {
    /// Why a sequence that it waited for is not continued: the agent would go on without the message, or a compaction would
    /// replace it before the agent reads it.
    pub const fn ends_sequence(self) -> Option<&'static str> {
        match self {
            Self::WithUser => Some("the host ended, and its user has the message again"),
            Self::InConversation => Some("the host ended, and the message is in the conversation"),
            Self::Passed => None,
        }
    }
}

/// A conversation that people and the driver share.
pub trait SharedThread: Send {
    /// The running turn, if it was already running when the driver joined and no event has reported it, or if the host knows.
    fn running_turn(&self) -> Option<&str>;

    /// Makes everything that has happened so far available to [`AgentHost::next_event`] without a wait.
    fn drain_events(&mut self) -> BoxFuture<'_, Result<(), HostError>>;

    /// Sets the handoff text for the running compaction. The host queues it as soon as the history is rewritten, so that
    /// no turn of a person can come first. The next [`AgentHost::start_turn`] then returns the turn that this text started.
    /// `before_message`: a message is held where it was typed, and nothing that is typed passes it.
    fn prepare_handoff(&mut self, text: String, before_message: bool);

    /// Puts the handoff before the message that is held where it was typed.
    fn hand_over_before_held<'h>(
        &'h mut self,
        handoff: &'h str,
    ) -> BoxFuture<'h, Result<HandedOverBefore, HostError>>;

    /// Gives a message of the user back that was held when the host ended, unless the conversation has it since that time (Unix
    /// milliseconds).
    fn give_back<'h>(
        &'h mut self,
        text: &'h str,
        since_ms: Option<i64>,
    ) -> BoxFuture<'h, Result<LeftMessage, HostError>>;

    /// Waits until the first message of a turn is in the conversation, before any later message of a person.
    fn wait_until_recorded<'h>(
        &'h mut self,
        turn_id: &'h str,
    ) -> BoxFuture<'h, Result<(), HostError>>;
}

/// An agent in the driver's own process. It pauses after each sampling request of a turn, and writes no transcript.
pub trait InProcessAgent: Send {
    /// Resumes the agent after a [`HostEvent::Usage`].
    ///
    /// # Errors
    ///
    /// [`HostError::Gone`] if the host has ended.
    fn resume_turn(&mut self, turn_id: &str, next: NextRequest) -> Result<(), HostError>;

    /// The whole conversation in the host's own format, oldest item first.
    fn history(&mut self) -> BoxFuture<'_, Result<Vec<Map<String, Value>>, HostError>>;
}

/// An agent that waits for a hook. What [`AgentHost::start_turn`] asks of it begins when the driver has ended; the driver of
/// a later hook finds out what became of it.
pub trait HookedAgent: Send {
    /// Adds the handoff to the history, before the next message.
    ///
    /// # Errors
    ///
    /// [`HostError::Unable`] if this hook cannot.
    fn hand_over(&mut self, text: &str) -> Result<(), HostError>;
}

/// What a conversation's record says about a requested action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedOutcome {
    /// Not carried out. Request it again.
    NotFound,
    /// The host is doing something that may be this action. Look again when that is over.
    Unclear,
    /// The action's turn is running. Events report it like any other requested turn.
    Running {
        /// The host's id of the turn.
        turn_id: String,
        /// The messages that people have written in it so far.
        by_people: Vec<String>,
    },
    /// The action's turn has ended.
    Ended {
        /// The host's id of the turn.
        turn_id: String,
        /// How it ended.
        status: TurnStatus,
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
    /// The host's id of the conversation.
    pub thread_id: String,
    /// Who started the conversation.
    pub origin: ThreadOrigin,
    /// The agent's working folder, absolute.
    pub cwd: PathBuf,
    /// The program and the capabilities of this adapter.
    pub host: Host,
    /// The model's name; `None` until it is known.
    pub model: Option<String>,
    /// The size of the context window in tokens. `None` until the host reports it, at the latest with its first usage.
    pub context_window: Option<u64>,
    /// The window was looked up by the model's name, neither reported nor configured.
    pub context_window_assumed: bool,
    /// The host compacts by itself above this many tokens. `None` if it does not, or if that is not known.
    pub compacts_above_tokens: Option<u64>,
    /// Tokens that the host subtracts from both the usage and the window before it shows a percentage.
    pub baseline_tokens: u64,
    /// The host's own transcript file, if it writes one.
    pub transcript: Option<PathBuf>,
    /// When the host began the conversation, in Unix milliseconds; one that goes on under another id keeps it.
    pub began_at_ms: Option<u64>,
}

/// Who started a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadOrigin {
    /// A user.
    Person,
    /// Another agent spawned this one as a sub-agent and reads its last message as the answer.
    Parent {
        /// The sub-agent's name; may be empty.
        name: String,
    },
}

/// When a host compacts without a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OwnCompaction {
    /// Only in an emergency that cannot be disabled, because rawr compacts in time.
    #[default]
    EmergencyBrakeOnly,
    /// As the user configured the host, because rawr does not compact.
    AsConfigured,
}

/// How to compact. A host follows the parts that it supports and reports the others in a notice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompactionOrder {
    /// What stays in the history.
    pub keep: KeptHistory,
    /// Who rewrites the history.
    pub by: Compactor,
    /// When it may start inside a running turn.
    pub timing: CompactionTiming,
    /// Whether there is a summary besides the packet.
    pub summary: HostSummary,
    /// The model that writes the summary.
    pub tuning: SummaryTuning,
    /// A message waits for it where it was typed. Without the message, nothing is compacted.
    pub before_message: bool,
}

/// Whether the host summarizes the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostSummary {
    /// The host writes a summary.
    #[default]
    Written,
    /// A packet that follows replaces the history.
    Omitted,
}

/// What replaces the history where no summary does.
const NO_SUMMARY: &str = "The conversation so far was compacted without a summary. The continuation packet that follows replaces it.";

/// What stays of the conversation besides its fixed beginning and the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeptHistory {
    /// The newest user messages.
    #[default]
    UserMessages,
    /// No other item.
    Nothing,
}

/// Who rewrites the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compactor {
    /// The model's provider if it supports compaction, otherwise the host.
    #[default]
    Provider,
    Host,
}

/// When a compaction may start inside a running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompactionTiming {
    /// Between two sampling requests.
    #[default]
    BetweenRequests,
    /// At once; a running sampling request is aborted.
    AtOnce,
}

/// The model that writes the summary. `None` means the thread's own setting.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummaryTuning {
    /// The model's name.
    pub model: Option<String>,
    /// The provider's name of a reasoning effort.
    pub reasoning_effort: Option<String>,
    /// The provider's name of a verbosity.
    pub verbosity: Option<String>,
}

/// What follows a sampling request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextRequest {
    /// What the model's answer requires: an answer without a tool call ends the turn.
    AsAnswered,
    /// Another request in any case: the answer was to a text from rawr, and the turn's own work is not finished.
    More,
}

/// A question to a model outside the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelQuestion {
    /// The driver's id of the question, repeated in [`HostEvent::Answered`].
    pub request_id: String,
    /// The system prompt, instead of the agent's.
    pub instructions: String,
    /// The question.
    pub text: String,
    /// JSON Schema of the answer.
    pub output_schema: Value,
    /// The answer may not be needed: stop or delay nothing for it.
    pub ahead: bool,
}

/// How the last line of every text from rawr starts.
const MARK: &str = "[rawr:";

/// Whether a message came from rawr, in this session or an earlier one.
pub fn is_marked(text: &str) -> bool {
    text.trim_end().lines().last().is_some_and(|line| line.starts_with(MARK))
}

/// Why a host did not carry out a request.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error(
        "no `codex` in the PATH: install it with `npm install -g @openai/codex`, or pass its path with `--codex PATH`"
    )]
    /// There is no `codex` in the `PATH`.
    CodexNotFound,
    #[error(
        "no `claude` in the PATH: install it with `npm install -g @anthropic-ai/claude-code`, or pass its path with `--claude PATH`"
    )]
    /// There is no `claude` in the `PATH`.
    ClaudeNotFound,
    /// Claude Code has no credentials.
    #[error("claude is not logged in: run `claude` and type /login, or set ANTHROPIC_API_KEY")]
    ClaudeNotLoggedIn,
    /// The path that an option names is not an executable file.
    #[error("{} is not an executable; pass one with `{option} PATH`", .path.display())]
    NotAProgram {
        path: PathBuf,
        /// The option that sets the path.
        option: &'static str,
    },
    /// The host's process could not be started.
    #[error("failed to start {}: {source}", .path.display())]
    NotStarted {
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// No app-server accepts connections at this socket.
    #[error("no Codex app-server is listening at {}: {source}", .path.display())]
    NotReached {
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The host answered with an error.
    #[error("the host refused {method}: {message}")]
    Refused {
        /// The method of the request.
        method: &'static str,
        /// The other side's message.
        message: String,
    },
    /// A turn or a compaction runs. Try again after the host's next event.
    #[error("the host is busy with a turn")]
    Busy,
    /// There is no running turn to steer or to interrupt.
    #[error("no turn is running")]
    NoTurn,
    /// The host lacks this capability.
    #[error("this host cannot {what}")]
    Unable {
        /// What the host cannot do.
        what: &'static str,
    },
    /// The host did not answer in time. It may still have carried out the request.
    #[error("the host did not answer {method} within {seconds} s")]
    Silent {
        /// The method of the request.
        method: &'static str,
        /// The timeout in seconds.
        seconds: u64,
    },
    /// The host's answer has an unknown shape.
    #[error("failed to parse the host's answer to {method}: {source}")]
    NotUnderstood {
        /// The method of the request.
        method: &'static str,
        /// The cause.
        source: serde_json::Error,
    },
    /// A history to restore is not valid.
    #[error("invalid history: {problem}")]
    BadHistory {
        /// What is wrong.
        problem: String,
    },
    /// The host ended.
    #[error("{reason}")]
    Gone {
        /// Why it ended.
        reason: String,
    },
}
