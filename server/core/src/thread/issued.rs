//! An action and how far it has come.

use crate::event::{HostAction, Purpose};
use crate::units::{ActionId, SequenceId, Timestamp, TurnId};
use serde::{Deserialize, Serialize};

/// An action that was issued.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Issued {
    /// The action's id. A host is never asked to do two different things under one id.
    pub id: ActionId,
    /// The sequence that issued it.
    pub sequence: SequenceId,
    /// What is to be done.
    pub kind: HostAction,
    /// How far it has come.
    pub progress: Progress,
    /// When it was issued.
    #[serde(default)]
    pub issued_at: Timestamp,
    /// The turn that carries it out, once known.
    pub turn: Option<TurnId>,
    /// A user's message joined its turn before the agent answered, so what the agent said may be meant for the user.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub talked_over: bool,
}

impl Issued {
    /// Whether it brought a message into the conversation that tells of a compaction to come.
    pub fn tells_of_compaction(&self) -> bool {
        let tells = match &self.kind {
            HostAction::InjectTurn { purpose, .. } => {
                !matches!(purpose, Purpose::Handoff | Purpose::Notice)
            }
            _ => false,
        };
        tells && matches!(self.progress, Progress::Accepted | Progress::Completed(_))
    }

    /// Whether it has no end yet.
    pub const fn is_open(&self) -> bool {
        matches!(self.progress, Progress::Issued | Progress::Accepted)
    }
}

/// How far an action has come.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Issued, and not reported on yet.
    Issued,
    /// The performer has it.
    Accepted,
    /// Done, with the agent's text if there is one.
    Completed(Option<String>),
    /// Refused, or gone wrong; the performer's error.
    Failed(String),
    /// The sequence ended without it, or the question is no longer open.
    Withdrawn,
}
