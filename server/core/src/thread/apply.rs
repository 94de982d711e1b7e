//! The fold: what each event changes. It depends on nothing but the state and the event. Longer parts are in a file per
//! subject.
//!
//! `v` is the format that a record was written in. An old record folds as it did in its time.

mod actions;
mod boundaries;
mod compaction;
mod decisions;
mod turns;

use super::{CompactionGuard, LastPacket, Thread, WaitingInput, short_title};
use crate::boundary::{Boundaries, Boundary};
use crate::event::{
    EVERY_COMPACTION_HANDS_OVER, Event, GuardEnd, Record, ThreadOpened, ThreadPhase,
};
use crate::thread::sequence::Sequence;
use crate::units::{InputId, SignalId, Timestamp};

/// The version of the fold, raised with every change of the fold or of [`Thread`]. A cached state with another version
/// is discarded, and the log is folded again. A test compares it with the samples.
pub const FOLD: u32 = 16;

/// Since this format, old messages are shortened and ended guards are dropped.
const BOUNDED_SINCE: u16 = 2;

impl Thread {
    /// Folds one event in. Records must come in the order of the log, each once.
    pub fn apply(&mut self, record: &Record) {
        if !self.numbered(record.id) {
            return;
        }
        let (at, v) = (record.at, record.v);
        if at < self.updated_at {
            self.clock_was_set_back(at);
        }
        self.updated_at = at;
        self.between_requests = None;
        match &record.event {
            Event::ThreadOpened(opened) => self.opened(opened, at, v),
            Event::ThreadClosed(_) | Event::ClockSetBack(_) => {}
            Event::TurnStarted(started) => self.turn_started(started, at, v),
            Event::UserMessage(said) => self.user_message(said, at),
            Event::UsageReported(reported) => self.usage_reported(reported, at, v),
            Event::TurnCompleted(completed) => {
                self.may_ask_again();
                self.handoff_waits = false;
                self.turn_completed(completed, at, v);
                if v >= BOUNDED_SINCE {
                    self.shorten_old_messages();
                }
            }
            Event::PlanUpdated(updated) => {
                self.known.planned(&updated.steps, at);
                self.signaled(
                    updated.boundaries,
                    updated.turn.as_ref(),
                    updated.signal.as_ref(),
                    v,
                );
            }
            Event::CommandFinished(finished) => {
                let (turn, signal) = (finished.turn.as_ref(), finished.signal.as_ref());
                self.signaled(finished.boundaries, turn, signal, v);
                if !finished.boundaries.is_empty() {
                    self.known.milestone(&finished.command);
                }
                if finished.boundaries.has(Boundary::Commit) {
                    self.known.commit_told = true;
                    self.guards.retain(|guard| guard.until != GuardEnd::NextCommit);
                }
                if finished.tests_passed {
                    self.guards.retain(|guard| guard.until != GuardEnd::TestsPass);
                }
                self.known.ran(&finished.command, finished.exit_code);
                if let Some(check) = &finished.check {
                    self.checked(check, finished.exit_code == 0, turn);
                }
            }
            Event::CommitMade(made) => {
                let signal = made.signal.clone().or_else(|| made.hash.clone().map(SignalId::new));
                let commit = Boundaries::of(&[Boundary::Commit]);
                self.signaled(commit, made.turn.as_ref(), signal.as_ref(), v);
                self.known.commit_told = true;
                let hash = made.hash.as_deref().unwrap_or("commit");
                let subject = made.subject.as_deref().unwrap_or_default();
                self.known.milestone(&format!("{hash} {subject}"));
                self.guards.retain(|guard| guard.until != GuardEnd::NextCommit);
            }
            Event::PrCheckpoint(pr) => {
                let checkpoint = Boundaries::of(&[Boundary::PrCheckpoint]);
                self.signaled(checkpoint, pr.turn.as_ref(), pr.signal.as_ref(), v);
                let url = pr.url.as_deref().unwrap_or_default();
                self.known.milestone(&format!("pull request: {} {url}", pr.action));
            }
            Event::BranchChanged(changed) => {
                self.signaled(changed.boundaries, None, None, v);
                self.known.branch = Some(changed.branch.clone());
            }
            Event::TitleChanged(changed) => {
                self.known.host_title = changed.title.as_deref().and_then(short_title);
            }
            Event::ToolStarted(started) => {
                self.known.tools_running.insert(started.call.clone(), started.name.clone());
            }
            Event::ToolFinished(finished) => {
                self.known.tools_running.remove(&finished.call);
            }
            Event::PhaseEnded(ended) => {
                self.signaled(ended.boundaries, ended.turn.as_ref(), ended.signal.as_ref(), v);
                self.label(ended.boundaries, ended.turn.as_ref(), Some(&ended.label));
                self.phase_ended(ended);
                self.known.finished = Some(ended.label.trim().to_owned());
                self.known.milestone(&ended.label);
            }
            Event::DirectiveGiven(given) => self.known.directed(given, at),
            Event::DirectiveCleared(cleared) => {
                self.known.directives.retain(|known| known.id != cleared.directive);
            }
            Event::RepoObserved(observed) => self.known.looked_at(&observed.repo, at),
            Event::InputHeld(held) => {
                self.may_ask_again();
                self.handoff_waits = false;
                self.held.push_back(WaitingInput {
                    id: held.input.clone(),
                    text: held.text.clone(),
                    action: None,
                    asked_again: false,
                    assessed: false,
                });
            }
            Event::InputCancelled(cancelled) => self.input_cancelled(&cancelled.input),
            Event::GuardSet(set) => {
                self.guards_set += 1;
                if record.v >= BOUNDED_SINCE {
                    let turns_ended = self.turns_ended;
                    self.guards.retain(|guard| guard.is_active(turns_ended, at));
                }
                self.guards.push(CompactionGuard {
                    id: set.guard.clone(),
                    until: set.until.clone(),
                    note: set.note.clone(),
                    by: set.by.clone(),
                    set_at: at,
                    set_at_turn: self.turns_ended,
                });
            }
            Event::GuardCleared(cleared) => self.guards.retain(|guard| guard.id != cleared.guard),
            Event::CompactionReported(reported) => self.compaction_reported(reported, record),
            Event::Assessed(assessed) => self.assessed(assessed, at, v),
            Event::JudgmentAnswered(answered) => self.judgment_answered(answered),
            Event::SequenceStarted(started) => {
                self.sequences += 1;
                let starting = self.starting.take();
                if let Some(overflowed) = self.overflowed.as_mut().filter(|_| started.recovers) {
                    overflowed.tried = true;
                }
                self.unclosed &= !started.only_tells();
                // A sequence that only tells uses up no boundary.
                if !started.only_tells() || v < EVERY_COMPACTION_HANDS_OVER {
                    self.spend_boundaries(&started.sequence, v);
                }
                if !started.only_tells() {
                    self.fate_runs(&started.sequence, at);
                }
                let mut sequence = Sequence::new(started, at);
                if let Some(draft) = &started.draft {
                    sequence.adopt(draft);
                    self.draft = None;
                    self.drafts.used += 1;
                }
                let confirming = self.held.front().filter(|_| !started.only_tells());
                sequence.confirmed_by = confirming.map(|held| held.id.clone());
                sequence.after_closing = starting.is_some_and(|starting| starting.after_closing);
                self.sequence = Some(sequence);
                // Any other sequence may end before it compacts. The handoff stays due until then.
                let hands_over = started.late.is_some();
                if hands_over || v < EVERY_COMPACTION_HANDS_OVER {
                    self.late_handoff = None;
                    self.compacted_in = None;
                    if std::mem::take(&mut self.known.outdated) && hands_over {
                        self.known.compacted(v);
                    }
                }
            }
            Event::ActionIssued(issued) => self.action_issued(issued, at),
            Event::ActionReported(reported) => self.action_reported(reported, v),
            Event::PacketTaken(taken) => {
                self.last_packet = Some(LastPacket {
                    sequence: taken.sequence.clone(),
                    packet: taken.packet.clone(),
                    turns_ended: self.turns_ended,
                    handed_over: false,
                    failed: false,
                });
                if let Some(sequence) = &mut self.sequence {
                    sequence.took(&taken.packet, at);
                }
                if self.known.outdated && self.late_handoff.is_none() {
                    self.known.compacted(v);
                }
            }
            Event::Responded(responded) => self.responded(responded, at, v),
            Event::DeadlinePassed(passed) => self.deadline_passed(passed.phase, v),
            Event::SequenceEnded(ended) => self.sequence_ended(ended, at, v),
        }
        if self.deferred.is_none() && self.judging.is_none() && self.starting.is_none() {
            self.withdraw_draft();
        }
    }

    /// The last message of a turn is kept in full while a report may still name the turn as the answer to an action. Of
    /// older turns the end of the message is enough.
    fn shorten_old_messages(&mut self) {
        const IN_FULL: usize = 4;
        const KEPT: usize = 4096;
        let old = self.turns.iter_mut().rev().skip(IN_FULL);
        for message in old.filter_map(|turn| turn.end.as_mut()?.message.as_mut()) {
            let Some(cut) = message.len().checked_sub(KEPT).filter(|cut| *cut > 0) else {
                continue;
            };
            let start = (cut..).find(|at| message.is_char_boundary(*at)).unwrap_or(cut);
            message.drain(..start);
        }
    }

    /// No wait began later than now.
    fn clock_was_set_back(&mut self, now: Timestamp) {
        let given_up = self.gave_up_on.iter_mut().map(AsMut::as_mut);
        let sequences = self.sequence.iter_mut().chain(given_up);
        sequences.for_each(|sequence| sequence.since = sequence.since.min(now));
        self.judging.iter_mut().for_each(|judging| judging.since = judging.since.min(now));
        self.guards.iter_mut().for_each(|guard| guard.set_at = guard.set_at.min(now));
        self.last_compaction.iter_mut().for_each(|last| last.at = last.at.min(now));
        self.compaction_since = self.compaction_since.min(now);
        self.deferred_since = self.deferred_since.min(now);
    }

    /// A client can answer again: a user wrote, a turn ended, or a host came back.
    fn may_ask_again(&mut self) {
        self.held.iter_mut().for_each(|held| held.asked_again = false);
    }

    fn deadline_passed(&mut self, phase: ThreadPhase, v: u16) {
        let ends_compaction = v > 1 && self.awaits_end_of_compaction();
        let delivers = self.unanswered_delivery().is_some();
        if let Some(sequence) = &mut self.sequence {
            sequence.overdue = true;
        } else if phase == ThreadPhase::AwaitingJudgment {
            self.judge_failed("the judge did not answer in time");
        } else if ends_compaction {
            self.compaction_running = false;
        } else if let Some(front) = self.held.front_mut().filter(|_| delivers) {
            front.asked_again = true;
        } else if self.proposal().is_some() && !self.waits_for_host() {
            self.idle = true;
        } else {
            self.silent = true;
        }
    }

    /// Without the message that confirmed it, a compaction that the host was not asked for is not wanted any more.
    fn input_cancelled(&mut self, input: &InputId) {
        self.held.retain(|held| held.id != *input);
        self.no_longer_wanted("the message that confirmed it went on without it", |sequence| {
            sequence.confirmed_by.as_ref() == Some(input)
        });
    }

    /// A message that did not wait for the compaction behind a closing turn says what is wanted now.
    fn person_went_on(&mut self) {
        self.no_longer_wanted("another message came before it", |sequence| sequence.after_closing);
    }

    /// Calls off the compaction of such a sequence, if the host was not asked for it.
    fn no_longer_wanted(&mut self, why: &str, is_meant: impl Fn(&Sequence) -> bool) {
        if let Some(sequence) = &mut self.sequence
            && is_meant(sequence)
            && sequence.approved
            && sequence.compact.is_none()
            && sequence.cancelled.is_none()
        {
            sequence.cancelled = Some(why.to_owned());
        }
    }

    /// A host that opens a thread again has nothing running except what it reports. Deadlines restart, because no one
    /// could act in the meantime.
    fn opened(&mut self, opened: &ThreadOpened, at: Timestamp, v: u16) {
        self.cwd.clone_from(&opened.cwd);
        self.host.clone_from(&opened.host);
        self.uses_model(opened.model.as_ref());
        self.agent.clone_from(&opened.agent);
        self.transcript.clone_from(&opened.transcript);
        self.began_at = opened.began_at;
        if opened.window.is_some() {
            (self.window, self.window_is_assumed) = (opened.window, opened.window_is_assumed);
            self.keep_learned_window();
        }
        self.compacts_above = opened.compacts_above;
        self.baseline = opened.baseline;
        self.known.tools_running.clear();
        self.compaction_running = false;
        self.handoff_waits = false;
        if v > 1 {
            self.only_runs(opened.running_turn.as_ref(), at);
            self.may_ask_again();
        }
        if let Some(sequence) = &mut self.sequence {
            sequence.since = at;
        }
        if let Some(judging) = &mut self.judging {
            judging.since = at;
        }
        self.deferred_since = at;
    }
}
