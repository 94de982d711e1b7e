//! An action and how far it has come.

use crate::event::Action;
use crate::units::{ActionId, SequenceId, Timestamp, TurnId};
use serde::{Deserialize, Serialize};

/// An action that left, or is about to leave, for the host.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Issued {
    /// The action's id. A host is never asked to do two different things under one id.
    pub id: ActionId,
    /// The sequence that issued it.
    pub sequence: SequenceId,
    /// What is to be done.
    pub kind: Action,
    /// How far it has come.
    pub progress: Progress,
    /// When it was issued.
    #[serde(default)]
    pub issued_at: Timestamp,
    /// The turn that carries it out, once known.
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

/// How far an action has come.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// It was issued, and nothing has been heard of it.
    Issued,
    /// Its performer has it.
    Accepted,
    /// With the text that the host gave along, if any.
    Completed(Option<String>),
    /// It was refused or went wrong; the performer's error.
    Failed(String),
    /// Its sequence ended without it.
    Withdrawn,
}
