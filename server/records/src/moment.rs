//! What the record of a session tells, in the order in which it happened. Each host's reader produces these.

use crate::tokens::TokenCounts;
use rawr_core::Event;
use rawr_core::event::{CompactionOrigin, TurnStatus};
use rawr_core::signal::plan::PlanItem;
use rawr_core::units::{Timestamp, Tokens};

/// Something that happened in a recorded session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// The session began, or was taken up again.
    Opened(RecordedHost),
    /// Whether a person started the session or turn, and not a program.
    Attended(bool),
    /// The model was named.
    Model(String),
    /// A person's message, or a slash command for the agent as it was typed.
    Prompt(String),
    /// The agent began to work.
    TurnStarted,
    /// The agent said something.
    Said(String),
    /// A sampling request completed.
    Usage {
        /// Tokens in the context after it.
        context: Tokens,
        /// The size of the context window, where known.
        window: Option<Tokens>,
        /// The request's tokens, by what they cost; of a part, those that came with it.
        counts: TokenCounts,
        /// More of an earlier request.
        is_part: bool,
        /// The turn goes on with another request.
        needs_follow_up: bool,
    },
    /// A shell command finished.
    Command {
        /// The host's id of it.
        id: Option<String>,
        /// The command: one word is a line for a shell, several are a program and its arguments.
        words: Vec<String>,
        /// The command's exit code.
        exit_code: i64,
        /// The folder that it ran in, where the record tells it.
        cwd: Option<String>,
    },
    /// The agent set its plan, and may have said why.
    Plan {
        items: Vec<PlanItem>,
        explanation: Option<String>,
    },
    /// The agent read a file.
    FileRead(String),
    /// The history was compacted, by the host's own rules or by a person.
    Compacted(CompactionOrigin),
    TurnEnded(TurnStatus),
    /// An event that rawr itself recorded.
    Recorded(Box<Event>),
}

/// When a host compacts by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompactionPoint {
    /// Never, as far as is known.
    #[default]
    Never,
    /// So many tokens before the window is full.
    Before(Tokens),
    /// Above so many thousandths of the window.
    Above(u64),
}

impl CompactionPoint {
    /// Above how many tokens in a window of this size.
    pub fn of(self, window: Tokens) -> Option<Tokens> {
        match self {
            Self::Never => None,
            Self::Before(end) => window.0.checked_sub(end.0).map(Tokens),
            Self::Above(share) => Some(Tokens(window.0.saturating_mul(share) / 1000)),
        }
    }
}

/// What a record tells of its host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordedHost {
    /// The session's id.
    pub session: String,
    /// The folder that the agent worked in.
    pub cwd: String,
    /// The host's version.
    pub version: Option<String>,
    /// The host takes messages inside a turn.
    pub takes_messages_inside_turn: bool,
    /// What the host subtracts from usage and window before it shows a percentage.
    pub baseline: Tokens,
    /// When it compacts by itself.
    pub compacts: CompactionPoint,
}

/// A moment with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedMoment {
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub what: Moment,
}
