//! What the host is doing, as far as the driver started it or was told of it. Keeps book; asks nobody.

use std::collections::HashMap;

use rawr_protocol::TurnOrigin;

/// The turns that run, and the compaction.
#[derive(Debug, Default)]
pub(super) struct Turns {
    running: HashMap<String, Turn>,
    pub(super) compaction: Option<Compaction>,
    /// The last known size of the context.
    pub(super) context_tokens: Option<u64>,
    pub(super) review_mode: bool,
}

/// A turn that runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    pub(super) started_by: StartedBy,
    /// The actions that wait for its end.
    pub(super) actions: Vec<String>,
    pub(super) last_agent_message: Option<String>,
}

/// Why there is a turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum StartedBy {
    /// A person's input.
    Prompt { text: String },
    /// Held input that an action delivers.
    Delivery { text: String },
    /// A text of rawr's.
    Injection,
    /// The host itself.
    #[default]
    Host,
    /// A compaction that was asked for: its turn is told as a compaction, never as a turn.
    Compaction,
}

/// A compaction that an action asked for.
#[derive(Debug, Clone)]
pub(super) struct Compaction {
    pub(super) action_id: String,
    pub(super) tokens_before: Option<u64>,
    /// Whether the history was rewritten; its turn's end is still to come.
    pub(super) done: bool,
}

impl StartedBy {
    pub(super) fn origin(&self) -> TurnOrigin {
        match self {
            Self::Prompt { .. } | Self::Delivery { .. } => TurnOrigin::User,
            Self::Injection => TurnOrigin::Synthetic,
            Self::Host | Self::Compaction => TurnOrigin::Host,
        }
    }

    /// What a person wrote.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Prompt { text } | Self::Delivery { text } => Some(text),
            Self::Injection | Self::Host | Self::Compaction => None,
        }
    }
}

impl Turns {
    /// Nothing may be started meanwhile.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty() || self.compaction.is_some()
    }

    pub(super) fn begin(&mut self, turn_id: &str, started_by: StartedBy, action: Option<&str>) {
        let turn = self.running.entry(turn_id.to_owned()).or_default();
        turn.started_by = started_by;
        turn.actions.extend(action.map(str::to_owned));
    }

    /// `None` once it has ended: hosts say things late.
    pub(super) fn running(&mut self, turn_id: &str) -> Option<&mut Turn> {
        self.running.get_mut(turn_id)
    }

    pub(super) fn end(&mut self, turn_id: &str) -> Turn {
        self.running.remove(turn_id).unwrap_or_default()
    }
}
