//! Folds boundaries, each counted once even if a host reports it again.

use super::Thread;
use crate::boundary::{Boundaries, Boundary};
use crate::event::PhaseEnded;
use crate::thread::{Mark, Stage, Turn};
use crate::units::{SequenceId, SignalId, TurnId};

/// How many ids of signals are remembered. Beyond that a repeat is recognized by its turn only.
const SIGNALS: usize = 64;

/// How many marks are kept. More come only from unknown turns, and those do not count yet.
const MARKS: usize = 64;

impl Thread {
    /// A signal with an id is new unless the id is known. One without an id is new unless its turn has counted the same
    /// boundary: the second commit of a turn that compacted at the first needs an id to count. In a turn that is over,
    /// a boundary never counts twice.
    pub(super) fn signaled(
        &mut self,
        boundaries: Boundaries,
        turn: Option<&TurnId>,
        signal: Option<&SignalId>,
        v: u16,
    ) {
        if v == 1 {
            return self.signaled_in_format_1(boundaries, turn);
        }
        if let Some(signal) = signal.filter(|_| !boundaries.is_empty()) {
            if self.signals.contains(signal) {
                return;
            }
            self.signals.push_back(signal.clone());
            self.signals.drain(..self.signals.len().saturating_sub(SIGNALS));
        }
        let turn = turn.cloned().or_else(|| self.open_turn());
        let known = turn.as_ref().and_then(|id| self.turn(id));
        let may_repeat = known.filter(|turn| signal.is_none() || self.is_over(turn));
        let counted = may_repeat.map_or(Boundaries::NONE, |turn| turn.counted);
        self.mark(boundaries.without(counted), turn.as_ref());
    }

    /// Boundaries of a sequence's own turns never count. A signal without a turn belongs to the running one, which may
    /// later prove to be a sequence's.
    pub(super) fn mark(&mut self, boundaries: Boundaries, turn: Option<&TurnId>) {
        if turn.and_then(|id| self.turn(id)).is_some_and(Turn::is_synthetic) {
            return;
        }
        let fresh = |mark: &&Mark| mark.spent_by.is_none() && !mark.assessed;
        let of_turn =
            self.boundaries.iter().filter(fresh).filter(|mark| mark.turn.as_ref() == turn);
        let marked: Boundaries = of_turn.map(|mark| mark.boundary).collect();
        for boundary in boundaries.without(marked).iter() {
            let turn = turn.cloned();
            self.boundaries.push(Mark::new(boundary, turn));
        }
        self.boundaries.drain(..self.boundaries.len().saturating_sub(MARKS));
    }

    /// Labels these boundaries of the turn, as far as they still count.
    pub(super) fn label(&mut self, of: Boundaries, turn: Option<&TurnId>, label: Option<&str>) {
        let Some(label) = label else { return };
        let turn = turn.cloned().or_else(|| self.open_turn());
        let is_meant =
            |mark: &&mut Mark| of.has(mark.boundary) && mark.turn == turn && !mark.is_spent();
        if let Some(mark) = self.boundaries.iter_mut().rev().find(is_meant) {
            mark.label = Some(label.to_owned());
        }
    }

    /// Between two turns, an explicit end of a phase belongs to the turn before it, which is assessed again. There is
    /// nothing to wait for.
    pub(super) fn phase_ended(&mut self, ended: &PhaseEnded) {
        let is_meant = |mark: &&mut Mark| mark.boundary == Boundary::PhaseEnded && !mark.is_spent();
        let Some(mark) = self.boundaries.iter_mut().rev().find(is_meant) else { return };
        mark.by.clone_from(&ended.by);
        let begins = matches!(self.stage, Stage::Starting(_));
        if self.stage.is_at_work() || begins || !self.is_idle() {
            return;
        }
        let is_work = |turn: &&Turn| turn.end.is_some() && !turn.is_synthetic();
        let before = self.turns.iter().rev().find(is_work).map(|turn| turn.id.clone());
        self.unassessed = self.unassessed.take().or(before);
    }

    /// Only the newest message of a turn yields semantic breaks.
    pub(super) fn only_newest_message(&mut self, turn: &TurnId) {
        self.boundaries.retain(|mark| {
            let semantic = Boundaries::SEMANTIC.has(mark.boundary);
            !semantic || mark.turn.as_ref() != Some(turn) || mark.spent_by.is_some()
        });
    }

    /// Boundaries of this turn and of earlier turns no longer count.
    pub(super) fn leave_boundaries_behind(&mut self, at: Option<&TurnId>, v: u16) {
        self.count_boundaries(at, v, |mark| mark.assessed = true);
    }

    /// Boundaries before a compaction no longer count.
    pub(super) fn spend_boundaries(&mut self, sequence: &SequenceId, v: u16) {
        self.boundaries.retain(|mark| mark.spent_by.is_none());
        self.count_boundaries(None, v, |mark| mark.spent_by = Some(sequence.clone()));
    }

    /// Their turns remember that they counted, so that the marks can be dropped.
    fn count_boundaries(&mut self, at: Option<&TurnId>, v: u16, count: impl Fn(&mut Mark)) {
        let mut marks = std::mem::take(&mut self.boundaries);
        for mark in &mut marks {
            if v > 1 && !self.belongs(mark, at) {
                continue;
            }
            count(mark);
            let turn = self.turns.iter_mut().find(|turn| mark.turn.as_ref() == Some(&turn.id));
            if let Some(turn) = turn {
                turn.counted = turn.counted.or(Boundaries::of(&[mark.boundary]));
            }
        }
        self.boundaries = marks;
    }

    /// Format 1 recognized a repeat by the remaining marks.
    fn signaled_in_format_1(&mut self, boundaries: Boundaries, turn: Option<&TurnId>) {
        let turn = turn.cloned().or_else(|| self.open_turn());
        let known = turn.as_ref().and_then(|id| self.turn(id));
        if known.is_some_and(Turn::is_synthetic) {
            return;
        }
        let ended = known.is_some_and(|turn| turn.end.is_some());
        for boundary in boundaries.iter() {
            let same = |mark: &Mark| mark.boundary == boundary && mark.turn == turn;
            let counted = ended && !Boundaries::SEMANTIC.has(boundary);
            if !counted || !self.boundaries.iter().any(same) {
                let turn = turn.clone();
                self.boundaries.push(Mark::new(boundary, turn));
            }
        }
    }

    fn open_turn(&self) -> Option<TurnId> {
        self.turns.back().filter(|turn| turn.is_open()).map(|turn| turn.id.clone())
    }
}
