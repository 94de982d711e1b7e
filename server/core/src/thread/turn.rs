//! A turn, as the thread remembers it.

use crate::boundary::Boundaries;
use crate::event::{Origin, TurnStatus};
use crate::units::{ActionId, TurnId};
use serde::{Deserialize, Serialize};

/// A turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Turn {
    /// The host's id of it.
    pub id: TurnId,
    /// Who began it.
    pub origin: Origin,
    /// The action that this turn carries out. Known from the turn's start, from its marker, or only later from
    /// the host's report.
    pub action: Option<ActionId>,
    /// Actions whose text went into it while it ran.
    pub steers: Vec<ActionId>,
    /// A person's message joined it while it ran.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub joined: bool,
    /// Its start was reported: the same report again is no news.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub started: bool,
    /// How it ended; `None` while that is not known.
    pub end: Option<TurnEnd>,
    /// The host came back without it. It may be wrong about that: what it reports of the turn later holds.
    #[serde(default)]
    pub lost: bool,
    /// Boundaries that were spent or left behind here: the same ones told again are not new.
    #[serde(default)]
    pub counted: Boundaries,
}

impl Turn {
    /// Not known to be over. Only the newest turn can still be running.
    pub const fn is_open(&self) -> bool {
        self.end.is_none() && !self.lost
    }

    /// Whether it belongs to a sequence. It yields no boundaries and starts nothing.
    pub const fn is_synthetic(&self) -> bool {
        matches!(self.origin, Origin::Synthetic)
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
