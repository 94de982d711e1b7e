//! The fold: what each event changes. It depends on nothing but the state and the event. Longer parts are in a file per
//! subject.
//!
//! `v` is the format that a record was written in. An old record folds as it did in its time.

mod actions;
mod boundaries;
mod compaction;
mod decisions;
mod turns;

use super::{CompactionGuard, Stage, Thread, WaitingInput, short_title};
use crate::boundary::{Boundaries, Boundary};
use crate::event::{Event, GuardEnd, Record, ThreadOpened};
use crate::thread::sequence::{Sequence, Wait};
use crate::units::{InputId, SignalId, Timestamp};

/// The version of the fold, raised with every change of the fold or of [`Thread`]. A cached state with another version
/// is discarded, and the log is folded again. A test compares it with the samples.
pub const FOLD: u32 = 17;

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
        let boundaries = record.event.boundaries().unwrap_or(Boundaries::NONE);
        match &record.event {
            Event::ThreadOpened(opened) => self.opened(opened, at, v),
            Event::ThreadClosed(_) | Event::ClockSetBack(_) => {}
            Event::TurnStarted(started) => self.turn_started(started, at, v),
            Event::UserMessage(said) => self.user_message(said, at),
            Event::UsageReported(reported) => self.usage_reported(reported, at, v),
            Event::TurnCompleted(completed) => {
                self.may_ask_again();
                self.handoffs.waits = false;
                self.turn_completed(completed, at, v);
                if v >= BOUNDED_SINCE {
                    self.shorten_old_messages();
                }
            }
            Event::PlanUpdated(updated) => {
                self.known.planned(&updated.steps, at);
                self.signaled(boundaries, updated.turn.as_ref(), updated.signal.as_ref(), v);
            }
            Event::CommandFinished(finished) => {
                let (turn, signal) = (finished.turn.as_ref(), finished.signal.as_ref());
                self.signaled(boundaries, turn, signal, v);
                if !boundaries.is_empty() {
                    self.known.milestone(&finished.command);
                }
                if boundaries.has(Boundary::Commit) {
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
                self.signaled(boundaries, made.turn.as_ref(), signal.as_ref(), v);
                self.known.commit_told = true;
                let hash = made.hash.as_deref().unwrap_or("commit");
                let subject = made.subject.as_deref().unwrap_or_default();
                self.known.milestone(&format!("{hash} {subject}"));
                self.guards.retain(|guard| guard.until != GuardEnd::NextCommit);
            }
            Event::PrCheckpoint(pr) => {
                self.signaled(boundaries, pr.turn.as_ref(), pr.signal.as_ref(), v);
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
                self.signaled(boundaries, ended.turn.as_ref(), ended.signal.as_ref(), v);
                self.label(boundaries, ended.turn.as_ref(), Some(&ended.label));
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
                self.handoffs.waits = false;
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
                self.counts.guards += 1;
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
            Event::SequenceStarted(started) => self.sequence_started(started, at, v),
            Event::ActionIssued(issued) => self.action_issued(issued, at),
            Event::ActionReported(reported) => self.action_reported(reported, v),
            Event::PacketTaken(taken) => self.packet_taken(taken, at, v),
            Event::Responded(responded) => self.responded(responded, at, v),
            Event::DeadlinePassed(_) => self.deadline_passed(at, v),
            Event::SequenceEnded(ended) => self.sequence_ended(ended, at, v),
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
        let given_up = self.compactions.given_up.as_mut().and_then(|of| of.wait.since_mut());
        let waits = self.stage.since_mut().into_iter().chain(given_up);
        waits.for_each(|since| *since = (*since).min(now));
        self.guards.iter_mut().for_each(|guard| guard.set_at = guard.set_at.min(now));
        self.compactions.last.iter_mut().for_each(|last| last.at = last.at.min(now));
        self.compactions.running_since.iter_mut().for_each(|since| *since = (*since).min(now));
    }

    /// A client can answer again: a user wrote, a turn ended, or a host came back.
    fn may_ask_again(&mut self) {
        self.held.iter_mut().for_each(|held| held.asked_again = false);
    }

    /// What waits longest for an answer gives up: a sequence or the judge, else the host, else a proposal.
    fn deadline_passed(&mut self, at: Timestamp, v: u16) {
        let ends_compaction = v > 1 && self.awaits_end_of_compaction();
        let delivers = self.unanswered_delivery().is_some();
        let waits_for_host = self.waits_for_host();
        match &mut self.stage {
            Stage::Running(sequence) => sequence.wait = Wait::Overdue,
            Stage::Judging(_) => self.judge_failed("the judge did not answer in time"),
            _ if ends_compaction => self.compactions.running_since = None,
            _ if delivers => {
                self.held.front_mut().into_iter().for_each(|front| front.asked_again = true);
            }
            Stage::Proposed(proposed) if !waits_for_host => proposed.confirmed_at = Some(at),
            Stage::Idle | Stage::Deferred(_) | Stage::Proposed(_) | Stage::Starting(_) => {
                self.silent_since = Some(at);
            }
        }
    }

    /// Without the message that confirmed it, a compaction that the host was not asked for is not wanted any more.
    fn input_cancelled(&mut self, input: &InputId) {
        self.held.retain(|held| held.id != *input);
        let shown = self.phase();
        let confirmed = |of: &&mut Sequence| of.occasion.message.as_ref() == Some(input);
        if let Some(sequence) = self.sequence_mut().filter(confirmed) {
            sequence.call_off("the message that confirmed it went on without it", shown);
        }
    }

    /// A message that did not wait for the compaction behind a closing turn says what is wanted now.
    fn person_went_on(&mut self) {
        let shown = self.phase();
        let closes = |of: &&mut Sequence| of.occasion.closing.is_some();
        if let Some(sequence) = self.sequence_mut().filter(closes) {
            sequence.call_off("another message came before it", shown);
        }
    }

    /// A host that opens a thread again has nothing running except what it reports. Deadlines restart, because no one
    /// could act in the meantime.
    fn opened(&mut self, opened: &ThreadOpened, at: Timestamp, v: u16) {
        self.session.cwd.clone_from(&opened.cwd);
        self.session.host.clone_from(&opened.host);
        self.uses_model(opened.model.as_ref());
        self.session.agent.clone_from(&opened.agent);
        self.session.transcript.clone_from(&opened.transcript);
        self.session.began_at = opened.began_at;
        let gauge = &mut self.gauge;
        if opened.window.is_some() {
            (gauge.window, gauge.window_is_assumed) = (opened.window, opened.window_is_assumed);
            gauge.keep_learned_window();
        }
        gauge.compacts_above = opened.compacts_above;
        gauge.baseline = opened.baseline;
        self.known.tools_running.clear();
        self.compactions.running_since = None;
        self.handoffs.waits = false;
        if v > 1 {
            self.only_runs(opened.running_turn.as_ref(), at);
            self.may_ask_again();
        }
        self.stage.since_mut().into_iter().for_each(|since| *since = at);
    }
}
