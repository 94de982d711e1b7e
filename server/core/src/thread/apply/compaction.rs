//! Folds compactions, started by anyone, and the end of a sequence.

use super::Thread;
use crate::event::{
    CompactionInitiator, CompactionProgress, CompactionReported, EVERY_COMPACTION_HANDS_OVER,
    Ending, HostAction, Origin, Record, SequenceEnded,
};
use crate::thread::sequence::Sequence;
use crate::thread::{CompletedCompaction, Progress};
use crate::units::Timestamp;

const COMPACTIONS: usize = 16;

impl Thread {
    pub(super) fn compaction_reported(&mut self, reported: &CompactionReported, record: &Record) {
        let at = record.at;
        match reported.status {
            CompactionProgress::Started => {
                (self.compaction_running, self.silent) = (true, false);
                self.compaction_since = at;
            }
            CompactionProgress::Failed => self.compaction_running = false,
            CompactionProgress::Completed => {
                self.compaction_running = false;
                let before = reported.tokens_before.or(self.context);
                let late = self.gave_up_on.take().filter(|_| {
                    self.sequence.is_none() && reported.origin == CompactionInitiator::Rawr
                });
                // A sequence that was not approved or was cancelled will not hand over.
                let takes = |of: &&Sequence| {
                    of.takes_compaction() || record.v < EVERY_COMPACTION_HANDS_OVER
                };
                let taking = self.sequence.as_ref().filter(takes);
                let owes_packet = taking.is_some_and(|of| of.packet.is_none() && !of.is_inline());
                let is_taken = taking.is_some();
                let ours = taking.filter(|of| !of.compacted()).or(late.as_deref());
                let packet = ours.and_then(|sequence| sequence.packet.as_ref());
                let compaction = CompletedCompaction {
                    at,
                    turns_ended: self.turns_ended,
                    origin: reported.origin,
                    trigger: ours.map(|sequence| sequence.trigger.clone()),
                    sequence: ours.map(|sequence| sequence.id.clone()),
                    author: packet.map(|packet| packet.author),
                    before,
                    after: reported.tokens_after,
                    measured: false,
                    answered: false,
                    worth: ours.map(|sequence| sequence.worth),
                    added: packet.map(|packet| packet.added.clone()).unwrap_or_default(),
                };
                self.compactions.extend(self.last_compaction.replace(compaction));
                let many = self.compactions.len().saturating_sub(COMPACTIONS);
                self.compactions.drain(..many);
                self.context = reported.tokens_after;
                if let Some(overflowed) = &mut self.overflowed {
                    overflowed.answered = None;
                }
                let fresh = self.fresh_packet().is_some();
                let not_ours = reported.origin != CompactionInitiator::Rawr;
                let always = record.v >= EVERY_COMPACTION_HANDS_OVER && self.host.can.inject_turn;
                if let Some(sequence) = &late {
                    self.fate_came_late(&sequence.id, at);
                }
                let hands_over_late =
                    !is_taken && (fresh || always) && (not_ours || late.is_some());
                if hands_over_late {
                    self.late_handoff = Some(reported.origin);
                    let running = self.turns.back().filter(|turn| turn.end.is_none());
                    let may_be_its_own = running.filter(|turn| turn.origin == Origin::Host);
                    self.compacted_in = may_be_its_own.map(|turn| turn.id.clone());
                } else if is_taken {
                    // The running sequence hands over for both compactions.
                    self.late_handoff = None;
                    self.compacted_in = None;
                }
                if owes_packet || hands_over_late && always {
                    self.known.outdated = true;
                } else {
                    self.known.compacted(record.v);
                }
            }
        }
        if let Some(sequence) = &mut self.sequence {
            sequence.compaction_reported(reported);
        }
    }

    pub(super) fn sequence_ended(&mut self, ended: &SequenceEnded, at: Timestamp, v: u16) {
        let Some(sequence) = self.sequence.take() else { return };
        // In format 1 a sequence that waited for approval took the compaction and handed nothing over.
        if self.known.outdated && v < EVERY_COMPACTION_HANDS_OVER {
            self.known.compacted(v);
        }
        self.last_sequence = Some(sequence.id.clone());
        self.strike_for_failure(&sequence, ended.ending, at);
        self.fate_ends(&sequence, ended, at);
        match ended.ending {
            Ending::Completed => {
                let handed_over = sequence.handoff.is_some();
                if let Some(last) = self.last_packet.as_mut().filter(|_| handed_over) {
                    last.handed_over = true;
                }
            }
            Ending::Failed => {
                // The message that waited is not delayed by another try.
                if let Some(held) = self.held.front_mut() {
                    held.assessed = true;
                }
            }
            Ending::Cancelled => {}
        }
        for issued in self.actions.iter_mut().filter(|issued| issued.sequence == sequence.id) {
            let deliver = matches!(issued.kind, HostAction::DeliverInput { .. });
            if !deliver && issued.is_open() {
                issued.progress = Progress::Withdrawn;
            }
        }
        if sequence.compact.is_some() && !sequence.compacted() && sequence.handoff.is_none() {
            self.gave_up_on = Some(Box::new(sequence));
        }
    }
}
