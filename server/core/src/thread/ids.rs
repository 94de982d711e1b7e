//! The next ids of a thread. They are counted, not random.

use super::{CompactionGuard, Thread};
use crate::event::{Event, FORMAT, GuardEnd, Record};
use crate::units::{
    DecisionId, EventId, GuardId, JudgeRequestId, SequenceId, Timestamp, stable_hash,
};

/// A log with more gaps was not damaged by accident, and its numbers say nothing.
const MOST_GAPS: usize = 64;
/// No more lines are lost at once. A number that says otherwise is wrong itself.
const MOST_LINES: u64 = 100_000;

impl Thread {
    /// The record of this event, with the next number.
    pub fn next_record(&self, at: Timestamp, event: Event) -> Record {
        let (id, thread) = (Some(self.last_event.next()), Some(self.id.clone()));
        Record { v: FORMAT, id, thread, at, event }
    }

    /// Whether the event with this number is folded already.
    pub fn has_folded(&self, id: Option<EventId>) -> bool {
        let is_missing = |id: &EventId| self.missing.iter().any(|gap| gap.contains(&id.0));
        let is_full = self.missing.len() >= MOST_GAPS;
        id.is_some_and(|id| {
            id > EventId(0) && id <= self.last_event && !is_full && !is_missing(&id)
        })
    }

    /// Takes note of an event's number. False if that event is folded already: its line is there twice.
    pub(super) fn numbered(&mut self, id: Option<EventId>) -> bool {
        if self.has_folded(id) {
            return false;
        }
        let next = self.last_event.next();
        let id = id.filter(|id| *id > EventId(0)).unwrap_or(next);
        if id >= next {
            self.skip_to(EventId(id.0 - 1));
            self.last_event = id;
            return true;
        }
        let gap = self.missing.iter().position(|gap| gap.contains(&id.0));
        let Some(at) = gap.filter(|_| self.missing.len() < MOST_GAPS) else { return true };
        let gap = self.missing.remove(at);
        let rest = [gap.start..id.0, id.0 + 1..gap.end].into_iter().filter(|part| !part.is_empty());
        self.missing.extend(rest);
        true
    }

    /// Skips the numbers up to this one, whose lines cannot be read. Each may have used up an id of every kind, so those
    /// are skipped as well.
    pub fn skip_to(&mut self, last: EventId) {
        let first = self.last_event.next();
        if last < first {
            return;
        }
        if self.missing.len() < MOST_GAPS {
            self.missing.push(first.0..last.0.saturating_add(1));
        }
        self.last_event = last;
        let many = (last.0 - first.0).min(MOST_LINES) as u32 + 1;
        let skip = |count: &mut u32| *count = count.saturating_add(many);
        skip(&mut self.counts.sequences);
        skip(&mut self.counts.decisions);
        skip(&mut self.counts.guards);
        skip(&mut self.counts.deliveries);
        skip(&mut self.known.directives_given);
        if let Some(sequence) = self.sequence_mut() {
            skip(&mut sequence.actions);
        }
        self.guard_against_lost_lines();
    }

    /// A line that cannot be read may have set a guard. A person can clear the one in its place.
    fn guard_against_lost_lines(&mut self) {
        const NOTE: &str = "lines of the log cannot be read, and may have set a guard";
        if self.guards.iter().any(|guard| guard.note.as_deref() == Some(NOTE)) {
            return;
        }
        let id = self.next_guard_id();
        self.counts.guards += 1;
        self.guards.push(CompactionGuard {
            id,
            until: GuardEnd::Released,
            note: Some(NOTE.to_owned()),
            by: Some("rawr".to_owned()),
            set_at: self.updated_at,
            set_at_turn: self.turns_ended,
        });
    }

    /// The id that the next sequence gets. Ids follow from the thread's own events, so a replay yields the same ones.
    pub fn next_sequence_id(&self) -> SequenceId {
        SequenceId::new(format!(
            "s{}-{:08x}",
            self.counts.sequences + 1,
            stable_hash(self.id.as_str()) as u32
        ))
    }

    /// The id that the next decision gets.
    pub fn next_decision_id(&self) -> DecisionId {
        DecisionId::new(format!(
            "d{}-{:08x}",
            self.counts.decisions + 1,
            stable_hash(self.id.as_str()) as u32
        ))
    }

    /// The id of the question that follows from a decision.
    pub fn request_id(decision: &DecisionId) -> JudgeRequestId {
        JudgeRequestId::new(format!("j-{decision}"))
    }

    /// The id that the next guard gets.
    pub fn next_guard_id(&self) -> GuardId {
        GuardId::new(format!("g{}", self.counts.guards + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::InputHeld;
    use crate::units::{InputId, ThreadId};

    /// A message in each line of these numbers.
    fn hold(thread: &mut Thread, numbers: &[u64]) {
        for number in numbers {
            let input = InputId::new(format!("i{number}"));
            let event = InputHeld { input, text: number.to_string() }.into();
            let (id, of) = (Some(EventId(*number)), Some(thread.id.clone()));
            thread.apply(&Record { v: FORMAT, id, thread: of, at: Timestamp(0), event });
        }
    }

    fn held(thread: &Thread) -> Vec<&str> {
        thread.held.iter().map(|held| held.id.as_str()).collect()
    }

    // rule: recovery.ids-once
    #[test]
    fn a_line_that_is_there_twice_counts_once_wherever_it_is() {
        let mut thread = Thread::new(ThreadId::new("t"));
        hold(&mut thread, &[1, 2, 2, 1, 5, 4, 5, 4, 6, 3, 3]);
        assert_eq!(held(&thread), ["i1", "i2", "i5", "i4", "i6", "i3"]);
        assert_eq!((thread.last_event, thread.missing.len()), (EventId(6), 0));
    }

    // rule: recovery.ids-once
    #[test]
    fn no_id_of_a_line_that_cannot_be_read_is_given_again() {
        let ids = |thread: &Thread| {
            let ids = [thread.next_sequence_id().as_str(), thread.next_decision_id().as_str()]
                .map(|id| id.split('-').next().unwrap_or_default().to_owned());
            (ids, thread.next_guard_id().as_str().to_owned(), thread.counts.deliveries)
        };
        let mut gap = Thread::new(ThreadId::new("t"));
        hold(&mut gap, &[1, 4]);
        let mut at_the_end = Thread::new(ThreadId::new("t"));
        hold(&mut at_the_end, &[1]);
        at_the_end.skip_to(EventId(3));
        hold(&mut at_the_end, &[4]);
        let expected = (["s3".to_owned(), "d3".to_owned()], "g4".to_owned(), 2);
        assert_eq!(ids(&gap), expected);
        assert_eq!(ids(&at_the_end), expected);
        assert_eq!(gap, at_the_end, "a replay arrives at the same state");
    }

    // rule: recovery.guards-lost-lines
    #[test]
    fn a_line_that_cannot_be_read_guards_until_a_person_clears_it() {
        let mut thread = Thread::new(ThreadId::new("t"));
        hold(&mut thread, &[1, 3, 6]);
        let [guard] = &thread.guards[..] else { panic!("{:?}", thread.guards) };
        assert_eq!((guard.id.as_str(), &guard.until), ("g2", &GuardEnd::Released));
        assert!(guard.is_active(9, Timestamp(i64::MAX)));
    }

    #[test]
    fn a_wrong_number_breaks_nothing() {
        let mut thread = Thread::new(ThreadId::new("t"));
        hold(&mut thread, &[1, u64::MAX, 2, 3]);
        assert_eq!(held(&thread).len(), 4);
        let _ = (thread.next_sequence_id(), thread.next_decision_id(), thread.next_guard_id());
    }
}
