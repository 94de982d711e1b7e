//! Boundaries that were signaled, and the turns that they belong to.

use super::{Thread, Turn};
use crate::boundary::{Boundaries, Boundary};
use crate::units::{SequenceId, TurnId};
use serde::{Deserialize, Serialize};

/// A boundary that was signaled. It counts at the end of its turn and of later turns, until a sequence uses it up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mark {
    pub boundary: Boundary,
    /// The turn that it was signaled in; absent where the host named none.
    pub turn: Option<TurnId>,
    /// The sequence that started because of it.
    pub spent_by: Option<SequenceId>,
    /// The end of a turn was assessed with this mark present.
    pub assessed: bool,
    /// The label of the phase that ended here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<String>,
    /// Who ended it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
}

impl Mark {
    pub(super) const fn new(boundary: Boundary, turn: Option<TurnId>) -> Self {
        Self { boundary, turn, spent_by: None, assessed: false, label: None, by: None }
    }

    pub(super) const fn is_spent(&self) -> bool {
        self.spent_by.is_some() || self.assessed
    }
}

impl Thread {
    /// The labels of these boundaries, as far as they count when this turn is assessed.
    pub fn labels(&self, of: Boundaries, at: Option<&TurnId>) -> Vec<&str> {
        let counts =
            |mark: &&Mark| !mark.is_spent() && of.has(mark.boundary) && self.belongs(mark, at);
        self.boundaries.iter().filter(counts).filter_map(|mark| mark.label.as_deref()).collect()
    }

    /// The boundaries that count when this turn is assessed; without a turn, those of all turns.
    pub fn present(&self, at: Option<&TurnId>) -> Boundaries {
        self.boundaries
            .iter()
            .filter(|mark| !mark.is_spent() && self.belongs(mark, at))
            .map(|mark| mark.boundary)
            .collect()
    }

    /// A boundary counts at its own turn and at later ones, but not while its turn is unknown. A turn that was
    /// forgotten is unknown.
    pub(super) fn belongs(&self, mark: &Mark, at: Option<&TurnId>) -> bool {
        let position = |id: &TurnId| self.turns.iter().rposition(|turn| turn.id == *id);
        let Some(turn) = &mark.turn else { return true };
        let latest = at.and_then(position).unwrap_or(usize::MAX);
        position(turn).is_some_and(|at| at <= latest)
    }

    /// Whether a turn is over: it has an end, or another turn began after it.
    pub(super) fn is_over(&self, turn: &Turn) -> bool {
        !turn.is_open() || self.is_followed(&turn.id)
    }

    /// Whether another turn began after it.
    pub(super) fn is_followed(&self, id: &TurnId) -> bool {
        let mut turns = self.turns.iter().rev();
        turns.next().is_some_and(|newest| newest.id != *id) && turns.any(|turn| turn.id == *id)
    }
}
