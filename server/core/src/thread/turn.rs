//! The state of a turn.

use crate::boundary::Boundaries;
use crate::event::{TurnOrigin, TurnStatus};
use crate::units::{ActionId, TurnId};
use serde::{Deserialize, Serialize};

/// A turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Turn {
    /// The host's id of it.
    pub id: TurnId,
    /// Who began it.
    pub origin: TurnOrigin,
    /// The action that it carries out. Known from the turn's start, from its marker, or later from a report.
    pub action: Option<ActionId>,
    /// Actions whose message was put into it while it ran.
    pub steers: Vec<ActionId>,
    /// A user's message joined it while it ran.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub joined: bool,
    /// The start was reported. A second report is ignored.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub started: bool,
    /// How it ended; `None` while that is not known.
    pub end: Option<TurnEnd>,
    /// The host came back without it. A later report about the turn still counts.
    #[serde(default)]
    pub lost: bool,
    /// Boundaries that counted here. Reported again, they are not new.
    #[serde(default)]
    pub counted: Boundaries,
    /// Whether the last check that ran in it passed; `None` if none ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub checked: Option<bool>,
}

impl Turn {
    /// Whether it is not known to be over. Only the newest turn can be running.
    pub const fn is_open(&self) -> bool {
        self.end.is_none() && !self.lost
    }

    /// Whether it belongs to a sequence. It yields no boundaries and starts nothing.
    pub const fn is_synthetic(&self) -> bool {
        matches!(self.origin, TurnOrigin::Synthetic)
    }
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TurnEnd {
    /// How it ended.
    pub status: TurnStatus,
    /// The agent's last message in it.
    pub message: Option<String>,
}
