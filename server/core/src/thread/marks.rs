//! Boundaries that were signaled, and whose they are.

use super::{Thread, Turn};
use crate::boundary::{Boundaries, Boundary};
use crate::units::{SequenceId, TurnId};
use serde::{Deserialize, Serialize};

/// A boundary that was signalled. It counts at the end of the turn it belongs to, until a sequence spends it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mark {
    /// The boundary.
    pub boundary: Boundary,
    /// The turn that it was signaled in; absent where the host named none.
    pub turn: Option<TurnId>,
    /// The sequence that started because of it.
    pub spent_by: Option<SequenceId>,
    /// A turn's end has been assessed with this mark present.
    pub assessed: bool,
    /// What a person or a program called the phase that ended here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<String>,
}

impl Mark {
    pub(super) const fn new(boundary: Boundary, turn: Option<TurnId>) -> Self {
        Self { boundary, turn, spent_by: None, assessed: false, label: None }
    }

    pub(super) const fn is_spent(&self) -> bool {
        self.spent_by.is_some() || self.assessed
    }
}

impl Thread {
    /// What the phases are called that ended at one of these boundaries, where it counts when this turn is assessed.
    pub fn labels(&self, of: Boundaries, at: Option<&TurnId>) -> Vec<&str> {
        let counts =
            |mark: &&Mark| !mark.is_spent() && of.has(mark.boundary) && self.belongs(mark, at);
        self.boundaries.iter().filter(counts).filter_map(|mark| mark.label.as_deref()).collect()
    }

    /// Boundaries that count when this turn is assessed; without one, those of every turn.
    pub fn present(&self, at: Option<&TurnId>) -> Boundaries {
        self.boundaries
            .iter()
            .filter(|mark| !mark.is_spent() && self.belongs(mark, at))
            .map(|mark| mark.boundary)
            .collect()
    }

    /// A boundary counts with its own turn and with later ones, and not before its turn is known. A turn that is
    /// older than all that are remembered is not known any more.
    pub(super) fn belongs(&self, mark: &Mark, at: Option<&TurnId>) -> bool {
        let place = |id: &TurnId| self.turns.iter().rposition(|turn| turn.id == *id);
        let Some(turn) = &mark.turn else { return true };
        let latest = at.and_then(place).unwrap_or(usize::MAX);
        place(turn).is_some_and(|place| place <= latest)
    }

    /// Nothing more is done in it: it has an end, or another has begun since.
    pub(super) fn is_over(&self, turn: &Turn) -> bool {
        !turn.is_open() || self.is_followed(&turn.id)
    }

    /// Another turn has begun since.
    pub(super) fn is_followed(&self, id: &TurnId) -> bool {
        self.turns.iter().rev().skip(1).any(|turn| turn.id == *id)
    }
}
