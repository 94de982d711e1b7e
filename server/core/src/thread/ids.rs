//! The next ids of a thread. They are counted, not random.

use super::Thread;
use crate::event::{Event, FORMAT, Record};
use crate::units::{DecisionId, GuardId, JudgeRequestId, SequenceId, Timestamp, stable_hash};

impl Thread {
    /// The record of this event, with the next number.
    pub fn next_record(&self, at: Timestamp, event: Event) -> Record {
        let (id, thread) = (Some(self.last_event.next()), Some(self.id.clone()));
        Record { v: FORMAT, id, thread, at, event }
    }

    /// The id that the next sequence gets. Ids follow from the thread's own events, so a replay yields the same ones.
    pub fn next_sequence_id(&self) -> SequenceId {
        SequenceId::new(format!(
            "s{}-{:08x}",
            self.sequences + 1,
            stable_hash(self.id.as_str()) as u32
        ))
    }

    /// The id that the next decision gets.
    pub fn next_decision_id(&self) -> DecisionId {
        DecisionId::new(format!(
            "d{}-{:08x}",
            self.decisions + 1,
            stable_hash(self.id.as_str()) as u32
        ))
    }

    /// The id of the question that follows from a decision.
    pub fn request_id(decision: &DecisionId) -> JudgeRequestId {
        JudgeRequestId::new(format!("j-{decision}"))
    }

    /// The id that the next guard gets.
    pub fn next_guard_id(&self) -> GuardId {
        GuardId::new(format!("g{}", self.guards_set + 1))
    }
}
