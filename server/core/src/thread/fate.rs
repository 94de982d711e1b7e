//! What became of the decisions from which something was to follow. Part of the fold.

use super::sequence::{PreCompactRequest, Sequence, Step};
use super::{Answered, Thread};
use crate::event::{Ending, SequenceEnded};
use crate::units::{DecisionId, SequenceId, Timestamp};
use serde::{Deserialize, Serialize};

/// How many decisions are remembered.
const REMEMBERED: usize = 16;

/// A decision and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TrackedDecision {
    pub decision: DecisionId,
    /// The sequence that it started.
    pub sequence: Option<SequenceId>,
    /// When it came to this.
    pub at: Timestamp,
    /// What became of it.
    pub fate: Fate,
    /// What was asked for before its compaction, once its sequence has ended.
    pub requests: Vec<PreCompactRequest>,
}

/// What became of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Waits for a judge, for the next message, or for the start of the sequence.
    Waiting,
    /// The sequence runs.
    Running,
    /// The sequence completed.
    CarriedOut,
    /// The occasion passed before anything started.
    Dropped {
        /// Why, for people.
        why: String,
    },
    /// A person stopped it.
    CalledOff {
        /// Who.
        by: Option<String>,
        /// What they did: `snoozed` or `cancelled`.
        why: String,
    },
    /// The sequence failed.
    Failed {
        /// Why, for people.
        why: String,
    },
    /// A later decision replaced it.
    Overtaken {
        /// The later decision.
        by: DecisionId,
    },
}

impl Thread {
    /// What became of this decision, if it is remembered.
    pub fn fate_of(&self, decision: &DecisionId) -> Option<&TrackedDecision> {
        self.decided.fates.iter().rev().find(|known| known.decision == *decision)
    }

    /// Adds a decision from which something is to follow.
    pub(crate) fn awaits_fate(&mut self, decision: &DecisionId, at: Timestamp) {
        let (decision, fate) = (decision.clone(), Fate::Waiting);
        let requests = Vec::new();
        self.decided.fates.push_back(TrackedDecision {
            decision,
            sequence: None,
            at,
            fate,
            requests,
        });
        let many = self.decided.fates.len().saturating_sub(REMEMBERED);
        self.decided.fates.drain(..many);
    }

    /// Settles the decision that was waiting.
    pub(crate) fn settle_waiting(&mut self, fate: &Fate, at: Timestamp) {
        for known in self.decided.fates.iter_mut().filter(|known| known.fate == Fate::Waiting) {
            (known.fate, known.at) = (fate.clone(), at);
        }
    }

    pub(crate) fn fate_runs(&mut self, sequence: &SequenceId, at: Timestamp) {
        if let Some(last) = self.decided.fates.back_mut().filter(|last| last.fate == Fate::Waiting)
        {
            (last.fate, last.at, last.sequence) = (Fate::Running, at, Some(sequence.clone()));
        }
    }

    pub(crate) fn fate_ends(&mut self, sequence: &Sequence, ended: &SequenceEnded, at: Timestamp) {
        let why = ended.reason.clone();
        let stopped = |answered: &&Answered| {
            answered.sequence == sequence.id && answered.choice.stops().is_some()
        };
        let by = self.answered.as_ref().filter(stopped).and_then(|answered| answered.by.clone());
        let fate = match ended.ending {
            Ending::Completed => Fate::CarriedOut,
            Ending::Failed => Fate::Failed { why },
            Ending::Cancelled => match sequence.step {
                // The question was never answered.
                Step::Approval | Step::Overtaken => Fate::Dropped { why },
                Step::Preparing
                | Step::Compacting { .. }
                | Step::HandingOff { .. }
                | Step::CalledOff { .. } => Fate::CalledOff { by, why },
            },
        };
        let requests = sequence.pre_compact_requests(self);
        if let Some(known) = self.set_fate(&sequence.id, fate, at) {
            known.requests = requests;
        }
    }

    /// What is asked for before the compaction of a sequence that runs or is remembered, in order.
    pub fn pre_compact_requests(&self, sequence: &SequenceId) -> Vec<PreCompactRequest> {
        if let Some(running) = self.sequence().filter(|running| running.id == *sequence) {
            return running.pre_compact_requests(self);
        }
        let of = |known: &&TrackedDecision| known.sequence.as_ref() == Some(sequence);
        let known = self.decided.fates.iter().rev().find(of);
        known.map(|known| known.requests.clone()).unwrap_or_default()
    }

    /// The host completed its compaction after the sequence had given up.
    pub(crate) fn fate_came_late(&mut self, sequence: &SequenceId, at: Timestamp) {
        self.set_fate(sequence, Fate::CarriedOut, at);
    }

    fn set_fate(
        &mut self,
        sequence: &SequenceId,
        fate: Fate,
        at: Timestamp,
    ) -> Option<&mut TrackedDecision> {
        let of = |known: &&mut TrackedDecision| known.sequence.as_ref() == Some(sequence);
        let known = self.decided.fates.iter_mut().rev().find(of)?;
        (known.fate, known.at) = (fate, at);
        Some(known)
    }
}
