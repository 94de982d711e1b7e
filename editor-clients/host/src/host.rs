//! What the driver needs of an agent host, in one vocabulary for all hosts. It knows nothing of rawr's policy.

pub mod claude;
pub mod codex;
pub mod embedded;

pub mod find;
mod pipes;
pub mod record;

use std::future::Future;
use std::path::PathBuf;

use rawr_protocol::{
    CompactionOrigin, Host as HostInfo, PendingAction, PlanStep, TokenUsage, TurnStatus,
};
use serde_json::{Map, Value};

/// One agent program with one conversation.
///
/// Requests are not to be dropped before they resolve; [`next_event`](Host::next_event) may be, at any time, and
/// loses nothing. A host makes progress only while one of them is awaited.
pub trait Host {
    /// The conversation.
    fn thread(&self) -> &HostThread;

    /// Starts a turn of one user message, whose items stay apart. Returns the turn's id. Refused while a turn runs.
    fn start_turn(
        &mut self,
        items: &[&str],
    ) -> impl Future<Output = Result<String, HostError>> + Send;

    /// Waits until the message of a turn that was asked for stands in the conversation, before anything that somebody
    /// else says from then on.
    fn wait_until_recorded(
        &mut self,
        _turn_id: &str,
    ) -> impl Future<Output = Result<(), HostError>> + Send {
        async { Ok(()) }
    }

    /// Adds a text to the running turn; the agent reads it before it samples again. Returns the turn's id.
    fn steer(&mut self, text: &str) -> impl Future<Output = Result<String, HostError>> + Send;

    /// Asks for a compaction; events tell how it goes. Refused while a turn runs, but for a host that can compact
    /// inside a turn: there it is taken between two sampling requests, and in the middle of one if the order says so.
    fn compact(
        &mut self,
        order: &CompactionOrder,
    ) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Whether [`prepare_handoff`](Self::prepare_handoff) is of use: somebody else may start a turn at any time.
    fn takes_handoff_ahead(&self) -> bool {
        false
    }

    /// What the next turn asked for will say, to be put in line as soon as the compaction that runs has rewritten the
    /// history. That next turn is then the one from the line.
    fn prepare_handoff(&mut self, _text: String) {}

    /// No sequence runs: what was withheld for one is to be told, and what was stopped for one goes on.
    fn release_withheld(&mut self) {}

    /// Lets the agent go on after a [`HostEvent::Usage`]. A host that waits for nobody has gone on by itself.
    fn go_on(
        &mut self,
        _turn_id: &str,
        _next: Next,
    ) -> impl Future<Output = Result<(), HostError>> + Send {
        async { Ok(()) }
    }

    /// Has everything told that happened before, by [`next_event`](Self::next_event) and without a wait there.
    fn drain_events(&mut self) -> impl Future<Output = Result<(), HostError>> + Send {
        async { Ok(()) }
    }

    /// Stops the running turn, or the running compaction.
    fn interrupt(&mut self) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Asks the model about the conversation, outside of it; [`HostEvent::Answered`] brings the answer. The question's
    /// text is all that is used of it.
    fn sample(&mut self, question: Question) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Asks the host's model a question that stands alone; [`HostEvent::Answered`] brings the answer.
    fn judge(&mut self, question: Question) -> impl Future<Output = Result<(), HostError>> + Send;

    /// The whole conversation as it stands, in the host's own shape and oldest first, where the host keeps no
    /// transcript of its own.
    fn history(
        &mut self,
    ) -> impl Future<Output = Result<Option<Vec<Map<String, Value>>>, HostError>> + Send {
        async { Ok(None) }
    }

    /// The turn that ran already when the conversation was joined, as long as no event has told of it.
    fn running_turn(&self) -> Option<&str> {
        None
    }

    /// Whether people can go on with the conversation without this driver. What is owed there is asked for by the next one.
    fn outlives_its_driver(&self) -> bool {
        false
    }

    /// What this conversation's own record says became of something that a driver before this one, or a request that was
    /// never answered, asked for: nothing is done twice. A delivery without a handoff is its message alone.
    fn became_of(
        &mut self,
        asked: &PendingAction,
    ) -> impl Future<Output = Result<Fate, HostError>> + Send;

    /// What happens next. Waits for ever while nothing does; after [`HostEvent::Gone`] it repeats that.
    fn next_event(&mut self) -> impl Future<Output = HostEvent> + Send;

    /// Ends the host in an orderly way.
    fn close(self) -> impl Future<Output = ()> + Send;
}

/// What became of something that a host was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is to be asked for again.
    Nothing,
    /// The host is at something that may be it: ask again when that is over.
    Unclear,
    /// Its turn runs; what happens in it is told as of any turn that was asked for.
    Running {
        turn_id: String,
        /// What people wrote in it so far.
        by_people: Vec<String>,
    },
    /// Its turn is over.
    Ended { turn_id: String, last_agent_message: Option<String>, by_people: Vec<String> },
    /// The history is rewritten.
    Compacted { turn_id: String, tokens_before: Option<u64>, tokens_after: Option<u64> },
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
