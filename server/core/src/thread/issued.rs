//! An action and how far it has come.

use crate::event::Action;
use crate::units::{ActionId, SequenceId, Timestamp, TurnId};
use serde::{Deserialize, Serialize};

/// An action that left, or is about to leave, for the host.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Issued {
    pub id: ActionId,
    pub sequence: SequenceId,
    pub kind: Action,
    pub progress: Progress,
    #[serde(default)]
    pub issued_at: Timestamp,
    pub turn: Option<TurnId>,
    /// A person's message came into its turn before the agent had answered: what it said then may be meant for them.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub talked_over: bool,
}

impl Issued {
    /// Neither done nor given up.
    pub const fn is_open(&self) -> bool {
        matches!(self.progress, Progress::Issued | Progress::Accepted)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    Issued,
    Accepted,
    /// With the text that the host gave along, if any.
    Completed(Option<String>),
    Failed(String),
    /// Its sequence ended without it.
    Withdrawn,
}
