//! Folds compactions, started by anyone, and the end of a sequence.

use super::Thread;
use crate::event::{
    CompactionOrigin, CompactionReportStatus, CompactionReported, EVERY_COMPACTION_HANDS_OVER,
    Ending, HostAction, PacketTaken, Record, SequenceEnded, TurnOrigin,
};
use crate::thread::fate::Fate;
use crate::thread::sequence::{Aim, Sequence};
use crate::thread::{
    Compactions, CompletedCompaction, Issued, LastPacket, Progress, Proposed, Stage,
};
use crate::units::{ActionId, Timestamp};

const COMPACTIONS: usize = 16;

impl Thread {
    pub(super) fn compaction_reported(&mut self, reported: &CompactionReported, record: &Record) {
        let at = record.at;
        match reported.status {
            CompactionReportStatus::Started => {
                (self.compactions.running_since, self.silent_since) = (Some(at), None);
            }
            CompactionReportStatus::Failed => self.compactions.running_since = None,
            CompactionReportStatus::Completed => {
                self.compactions.running_since = None;
                self.end_proposal(at);
                // The handoff closes what was said before it.
                self.handoffs.unclosed = false;
                let before = reported.tokens_before.or(self.gauge.context);
                let late = self.take_given_up(reported);
                if late.is_some() {
                    self.hand_over_again();
                }
                self.handoffs.failed = 0;
                self.handoffs.waits = false;
                self.forget_old_debt();
                self.withdraw_handoffs();
                // A sequence that was not approved or was cancelled will not hand over.
                let takes = |of: &&Sequence| {
                    of.takes_compaction() || record.v < EVERY_COMPACTION_HANDS_OVER
                };
                let taking = self.sequence().filter(takes);
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
                    worth: ours.map(|sequence| sequence.terms.worth),
                    added: packet.map(|packet| packet.added.clone()).unwrap_or_default(),
                };
                let Compactions { last, earlier, .. } = &mut self.compactions;
                earlier.extend(last.replace(compaction));
                earlier.drain(..earlier.len().saturating_sub(COMPACTIONS));
                self.gauge.context = reported.tokens_after;
                if let Some(overflowed) = &mut self.gauge.overflowed {
                    overflowed.answered = None;
                }
                let fresh = self.fresh_packet().is_some();
                let not_ours = reported.origin != CompactionOrigin::Rawr;
                let always =
                    record.v >= EVERY_COMPACTION_HANDS_OVER && self.session.host.can.inject_turn;
                if let Some(sequence) = &late {
                    self.fate_came_late(&sequence.id, at);
                }
                let hands_over_late =
                    !is_taken && (fresh || always) && (not_ours || late.is_some());
                if hands_over_late {
                    self.handoffs.late = Some(reported.origin);
                    let running = self.turns.back().filter(|turn| turn.end.is_none());
                    let may_be_its_own = running.filter(|turn| turn.origin == TurnOrigin::Host);
                    self.handoffs.compacted_in = may_be_its_own.map(|turn| turn.id.clone());
                } else if is_taken {
                    // The running sequence hands over for both compactions.
                    self.handoffs.late = None;
                    self.handoffs.compacted_in = None;
                }
                if owes_packet || hands_over_late && always {
                    self.known.outdated = true;
                } else {
                    self.known.compacted(record.v);
                }
            }
        }
        if let Some(sequence) = self.sequence_mut() {
            sequence.compaction_reported(reported);
        }
    }

    /// Nothing is left to compact for what was proposed or asked of the judge.
    fn end_proposal(&mut self, at: Timestamp) {
        if self.judging().is_some() || self.stage.waiting().is_some() {
            let why = "the conversation was compacted first".to_owned();
            self.settle_waiting(&Fate::Dropped { why }, at);
            self.end_waiting();
        }
        let closes_later = self.sequence_mut().and_then(|of| of.occasion.closes_later.take());
        if closes_later.is_some() {
            let why = "the conversation was compacted first".to_owned();
            self.settle_waiting(&Fate::Dropped { why }, at);
        }
    }

    /// A closing turn goes on behind the sequence that only told. Where that failed, its message is not known to have
    /// begun the turn.
    fn wait_on(&mut self, proposed: Proposed, ending: Ending, at: Timestamp) {
        match ending {
            Ending::Completed => self.stage = Stage::Proposed(proposed),
            Ending::Failed | Ending::Cancelled => {
                let why = "the host did not take the message that closes the work".to_owned();
                self.settle_waiting(&Fate::Dropped { why }, at);
            }
        }
    }

    pub(super) fn packet_taken(&mut self, taken: &PacketTaken, at: Timestamp, v: u16) {
        self.handoffs.last_packet = Some(LastPacket {
            sequence: taken.sequence.clone(),
            packet: taken.packet.clone(),
            turns_ended: self.turns_ended,
            handed_over: false,
            failed: false,
        });
        if let Some(sequence) = self.sequence_mut() {
            sequence.took(&taken.packet, at);
        }
        if self.known.outdated && self.handoffs.late.is_none() {
            self.known.compacted(v);
        }
    }

    pub(super) fn sequence_ended(&mut self, ended: &SequenceEnded, at: Timestamp, v: u16) {
        let Some(sequence) = self.take_sequence() else { return };
        // In format 1 a sequence that waited for approval took the compaction and handed nothing over.
        if self.known.outdated && v < EVERY_COMPACTION_HANDS_OVER {
            self.known.compacted(v);
        }
        self.last_sequence = Some(sequence.id.clone());
        self.strike_for_failure(&sequence, ended.ending, at);
        let owes = ended.ending == Ending::Failed
            && sequence.compacted()
            && v >= EVERY_COMPACTION_HANDS_OVER;
        match ended.ending {
            Ending::Completed => {
                if sequence.handoff().is_some() && sequence.aim != Aim::CallOff {
                    self.handed_over();
                }
            }
            Ending::Failed => {
                if owes {
                    self.owe_handoff(&sequence);
                }
                // The message that waited is not delayed by another try.
                if let Some(held) = self.held.front_mut() {
                    held.assessed = true;
                }
            }
            Ending::Cancelled => {}
        }
        let of_sequence = |issued: &&Issued| issued.sequence == sequence.id;
        let announced = self.actions.iter().filter(of_sequence).any(Issued::tells_of_compaction);
        self.handoffs.unclosed |= announced && !sequence.compacted();
        for issued in self.actions.iter_mut().filter(|issued| issued.sequence == sequence.id) {
            let stays = matches!(issued.kind, HostAction::DeliverInput { .. })
                || owes && issued.kind.hands_over();
            if !stays && issued.is_open() {
                issued.progress = Progress::Withdrawn;
            }
        }
        self.fate_ends(&sequence, ended, at);
        if let Some(proposed) = sequence.occasion.closes_later.clone() {
            self.wait_on(*proposed, ended.ending, at);
        }
        if sequence.compact().is_some() && !sequence.compacted() && sequence.handoff().is_none() {
            self.compactions.given_up = Some(sequence);
        }
    }

    /// The sequence that had given up on the compaction that is reported.
    fn take_given_up(&mut self, reported: &CompactionReported) -> Option<Box<Sequence>> {
        let action = reported.action.as_ref();
        let runs = self.sequence().and_then(Sequence::compact);
        // The compaction of the running sequence says nothing about the one before.
        if action.is_some() && action == runs {
            return None;
        }
        let is_free = self.sequence().is_none();
        self.compactions
            .given_up
            .take()
            .filter(|_| is_free && reported.origin == CompactionOrigin::Rawr)
    }

    /// The history was rewritten from what it was before the last handoff, so that handoff is gone.
    fn hand_over_again(&mut self) {
        let turns_ended = self.turns_ended;
        if let Some(last) = &mut self.handoffs.last_packet
            && last.turns_ended == turns_ended
        {
            last.handed_over = false;
        }
    }

    /// Work was done since the packet that could not be handed over, and another compaction came: what is known now is
    /// worth more.
    fn forget_old_debt(&mut self) {
        let turns_ended = self.turns_ended;
        if let Some(last) = &mut self.handoffs.last_packet {
            last.failed &= last.turns_ended == turns_ended;
        }
    }

    /// The history was rewritten, but the agent did not get its packet back.
    fn owe_handoff(&mut self, sequence: &Sequence) {
        let Some(packet) = &sequence.packet else { return };
        let known = self.handoffs.last_packet.take().filter(|last| last.packet == *packet);
        let turns_ended = known.map_or(self.turns_ended, |last| last.turns_ended);
        self.handoffs.last_packet = Some(LastPacket {
            sequence: sequence.id.clone(),
            packet: packet.clone(),
            turns_ended,
            handed_over: false,
            failed: true,
        });
        // One that was not refused may still be carried out, and is not asked for twice.
        if !self.is_handing_over() {
            self.handoff_refused();
        }
    }

    /// The handoff is tried again once something has happened, or at once with a message that waits.
    fn handoff_refused(&mut self) {
        /// A host that refuses so many will not take another.
        const MOST_HANDOFFS: u32 = 3;
        self.handoffs.failed += 1;
        if self.handoffs.failed >= MOST_HANDOFFS {
            self.handed_over();
            return;
        }
        self.handoffs.late = self.compactions.last.as_ref().map(|last| last.origin);
        self.handoffs.waits = !self.held.iter().any(|held| held.action.is_none());
    }

    /// The agent has its packet back, or will not get it.
    fn handed_over(&mut self) {
        self.handoffs.late = None;
        self.handoffs.failed = 0;
        if let Some(last) = &mut self.handoffs.last_packet {
            (last.handed_over, last.failed) = (true, false);
        }
    }

    /// The host reports about a handoff after its sequence had given up on it.
    pub(super) fn late_handoff_progressed(&mut self, action: &ActionId) {
        let owed = self.handoffs.last_packet.as_ref().filter(|last| last.failed);
        let is_owed = |issued: &&Issued| {
            issued.kind.hands_over() && owed.is_some_and(|last| last.sequence == issued.sequence)
        };
        let issued = self.action(action).filter(is_owed).filter(|_| self.sequence().is_none());
        match issued.map(|issued| &issued.progress) {
            Some(Progress::Accepted | Progress::Completed(_)) => {
                self.handed_over();
                // As at the end of a sequence: it is not asked for again.
                let is_done = |issued: &&mut Issued| {
                    let injects = matches!(issued.kind, HostAction::InjectTurn { .. });
                    issued.id == *action && issued.is_open() && injects
                };
                if let Some(issued) = self.actions.iter_mut().find(is_done) {
                    issued.progress = Progress::Withdrawn;
                }
            }
            Some(Progress::Failed(_)) => self.handoff_refused(),
            Some(Progress::Issued | Progress::Withdrawn) | None => {}
        }
    }

    /// The history was rewritten once more, so that a handoff for the compaction before has no use.
    fn withdraw_handoffs(&mut self) {
        let running = self.sequence().map(|sequence| sequence.id.clone());
        let is_old = |issued: &&mut Issued| {
            issued.is_open()
                && matches!(issued.kind, HostAction::InjectTurn { .. })
                && issued.kind.hands_over()
                && Some(&issued.sequence) != running.as_ref()
        };
        for issued in self.actions.iter_mut().filter(is_old) {
            issued.progress = Progress::Withdrawn;
        }
    }
}
