//! The events that an input adds to the log: boundaries filled in, repeats dropped, impossible inputs refused. The state
//! itself is not changed here.

use super::repo;
use super::{Bound, Input, InputKind, Machine, Refusal, Response, ShellCommand};
use crate::assess::{DecisionRecord, assess};
use crate::boundary::{Boundaries, Boundary};
use crate::event::{
    Choice, ClockSetBack, CommandFinished, CompactionOrigin, DeadlinePassed, Event, GuardEnd,
    GuardSet, InputHeld, Outcome, Phase, Responded, TurnOrigin,
};
use crate::packet;
use crate::policy::{Phrases, Policy};
use crate::signal::message::MessageSignals;
use crate::signal::{command, message, plan};
use crate::thread::sequence::{Sequence, Step};
use crate::thread::{Progress, Stage, Turn, WaitingInput, short_title};
use crate::units::Timestamp;

impl Machine {
    /// The event that an input adds to the log, after those that are derived from it. `on_message` is the decision on a
    /// message that is submitted.
    pub(super) fn observe(
        &self,
        input: Input,
        on_message: Option<&DecisionRecord>,
        policy: &Policy,
        now: Timestamp,
    ) -> Result<(Vec<Event>, Option<Event>), Refusal> {
        let one = |event: Event| Ok((Vec::new(), Some(event)));
        let nothing = || Ok((Vec::new(), None));
        match input {
            Input::Saw(event) => self.observe_event(event, policy),
            Input::Command { turn, signal, command, exit_code, cwd } => {
                let ran = match &command {
                    ShellCommand::Line(line) => command::Command::Line(line),
                    ShellCommand::Words(words) => command::Command::Words(words),
                };
                let ran_in = cwd.as_deref().unwrap_or(&self.thread.session.cwd);
                let command::CommandSignals { check, boundaries } =
                    command::signals(ran, exit_code, ran_in, &self.thread.session.cwd);
                let tests_passed = exit_code == 0 && check.is_some();
                let turned_green = tests_passed
                    && check
                        .as_ref()
                        .is_some_and(|of| self.thread.known.failed_checks.contains(of));
                let green = [Boundary::TestsGreen].into_iter().filter(|_| turned_green).collect();
                let boundaries = boundaries.or(green);
                let command = match command {
                    ShellCommand::Line(line) => line,
                    ShellCommand::Words(words) => words.join(" "),
                };
                one(CommandFinished {
                    turn,
                    signal,
                    command,
                    exit_code,
                    boundaries,
                    tests_passed,
                    check,
                }
                .into())
            }
            Input::Submitted { input, text, kind } => {
                let known = self.thread.takes_care_of(&input, &text);
                let waits = kind == InputKind::Message && self.must_wait(on_message, policy);
                if !waits || known {
                    return nothing();
                }
                Bound::HeldMessages.check(self.thread.held.len())?;
                one(InputHeld { input, text }.into())
            }
            Input::Judged(answered) => {
                let open = self.thread.judging().filter(|open| open.answer.is_none());
                match open {
                    Some(open) if open.request == answered.request => one(answered.into()),
                    // Late, or an answer to another question.
                    _ => nothing(),
                }
            }
            Input::Respond(response) => Ok((self.respond(response)?, None)),
            Input::SetGuard { until, note, by } => {
                Bound::Guards.check(self.thread.active_guards(now).count())?;
                one(GuardSet { guard: self.thread.next_guard_id(), until, note, by }.into())
            }
            Input::Tick => {
                if self.wakes_at(policy, now).is_none_or(|at| at > now) {
                    return nothing();
                }
                if self.clock_was_set_back(now) {
                    return one(ClockSetBack {}.into());
                }
                let running = self.thread.sequence().map(|running| running.id.clone());
                let ended = self.thread.last_sequence.clone();
                let ended = ended.filter(|_| self.thread.judging().is_none());
                // Before the first sequence, the event names the next one.
                let sequence = running.or(ended).unwrap_or_else(|| self.thread.next_sequence_id());
                let phase = match self.thread.phase() {
                    Phase::Proposed => Phase::Deferred,
                    phase => phase,
                };
                one(DeadlinePassed { sequence, phase }.into())
            }
        }
    }

    /// The decision on a message that is submitted, made once because classifying the message is slow. A message that
    /// waits behind others is assessed when its turn comes.
    pub(super) fn decision_on_message(
        &self,
        input: &Input,
        policy: &Policy,
        now: Timestamp,
    ) -> Option<DecisionRecord> {
        let Input::Submitted { text, kind: InputKind::Message, .. } = input else {
            return None;
        };
        let thread = &self.thread;
        let is_next = thread.is_idle() && thread.held.is_empty();
        let question = self.before_input(text, policy).filter(|_| is_next)?;
        Some(assess(thread, policy, question, now))
    }

    /// A message waits for a sequence, for the judge, and if a compaction or a late handoff comes before it.
    fn must_wait(&self, on_message: Option<&DecisionRecord>, policy: &Policy) -> bool {
        let thread = &self.thread;
        let works = thread.stage.is_at_work() && !thread.awaits_person();
        let busy = works || !thread.held.is_empty();
        busy || thread.is_idle()
            && (self.hands_over_with_message(policy)
                || self.closes_with_message()
                || on_message.is_some_and(comes_first))
    }

    /// Whether the message of this decision does not confirm the proposal. It does not wait then.
    pub(super) fn drops_proposal(&self, on_message: &DecisionRecord) -> bool {
        self.thread.proposal().is_some() && !comes_first(on_message)
    }

    fn observe_event(
        &self,
        mut event: Event,
        policy: &Policy,
    ) -> Result<(Vec<Event>, Option<Event>), Refusal> {
        match &mut event {
            Event::PlanUpdated(updated) => {
                updated.boundaries = plan::boundaries(&self.thread.known.plan, &updated.steps);
            }
            Event::PhaseEnded(ended) => {
                ended.boundaries = Boundaries::of(&[Boundary::PhaseEnded]);
            }
            Event::BranchChanged(changed) => {
                changed.boundaries = repo::switched(&self.thread, &changed.branch);
            }
            Event::TurnStarted(started) if started.origin == TurnOrigin::User => {
                // A host may report an injected text as the user's. Only a message that waited holds the user's words.
                let text = match &started.action {
                    Some(action) => {
                        self.thread.action(action).and_then(|issued| issued.kind.delivered_text())
                    }
                    None => started.text.as_deref(),
                };
                started.directives = message::directives(text.unwrap_or_default(), &policy.phrases);
            }
            Event::UserMessage(said) => {
                said.directives = message::directives(&said.text, &policy.phrases);
            }
            Event::UsageReported(reported) => {
                let turn = self.thread.turn(&reported.turn);
                let synthetic = turn.is_some_and(Turn::is_synthetic);
                let message =
                    reported.last_message.as_deref().filter(|_| !synthetic).unwrap_or_default();
                let signals = signals_of(message, &policy.phrases);
                (reported.boundaries, reported.heard) = (signals.boundaries, signals.because);
            }
            // Derived events come first, because they compare with the observation before this one.
            Event::RepoObserved(observed) => {
                let derived = repo::news(&self.thread, observed);
                return Ok((derived, Some(event)));
            }
            // Hosts repeat the title each time that they open a thread.
            Event::TitleChanged(changed)
                if changed.title.as_deref().and_then(short_title)
                    == self.thread.known.host_title =>
            {
                return Ok((Vec::new(), None));
            }
            Event::DirectiveCleared(cleared) => {
                let known = &self.thread.known.directives;
                if !known.iter().any(|directive| directive.id == cleared.directive) {
                    return Err(Refusal::UnknownDirective(cleared.directive.clone()));
                }
            }
            Event::TurnCompleted(completed) => {
                let turn = self.thread.turn(&completed.turn);
                // A repeat.
                if turn.is_some_and(|turn| turn.end.is_some()) {
                    return Ok((Vec::new(), None));
                }
                let synthetic = turn.is_some_and(Turn::is_synthetic);
                let message =
                    completed.last_message.as_deref().filter(|_| !synthetic).unwrap_or_default();
                let signals = signals_of(message, &policy.phrases);
                (completed.boundaries, completed.heard) = (signals.boundaries, signals.because);
            }
            Event::ActionReported(reported) => {
                match self.thread.action(&reported.action).map(|known| &known.progress) {
                    None => return Err(Refusal::UnknownAction(reported.action.clone())),
                    Some(Progress::Completed(_) | Progress::Failed(_) | Progress::Withdrawn) => {
                        let binds = reported.turn.as_ref().is_some_and(|turn| {
                            self.thread.turn(turn).is_none_or(|turn| turn.action.is_none())
                        });
                        if !binds {
                            return Ok((Vec::new(), None));
                        }
                    }
                    Some(Progress::Issued | Progress::Accepted) => {}
                }
            }
            Event::CompactionReported(reported) if reported.origin == CompactionOrigin::Rawr => {
                if let Some(action) = &reported.action
                    && self.thread.action(action).is_none()
                {
                    return Err(Refusal::UnknownAction(action.clone()));
                }
                if !self.thread.awaits_compaction(reported.action.as_ref()) {
                    return Ok((Vec::new(), None));
                }
            }
            Event::InputCancelled(cancelled) => {
                let waits =
                    |held: &WaitingInput| held.id == cancelled.input && held.action.is_none();
                if !self.thread.held.iter().any(waits) {
                    return Err(Refusal::UnknownInput(cancelled.input.clone()));
                }
            }
            Event::GuardCleared(cleared)
                if !self.thread.guards.iter().any(|guard| guard.id == cleared.guard) =>
            {
                return Err(Refusal::UnknownGuard(cleared.guard.clone()));
            }
            Event::DirectiveGiven(given) if !self.thread.known.has_directive(&given.text) => {
                Bound::Directives.check(self.thread.known.directives.len())?;
            }
            _ => {}
        }
        Ok((Vec::new(), Some(event)))
    }

    fn respond(&self, mut response: Response) -> Result<Vec<Event>, Refusal> {
        let running = self.thread.sequence();
        let is_asked = running.is_some_and(|running| running.step == Step::Approval);
        // Who wants a compaction now approves the one that waits for it.
        if is_asked && response.choice == Choice::CompactNow {
            response.choice = Choice::Approve;
        }
        self.check_answer(&response)?;
        let mut events = Vec::new();
        if response.choice == Choice::Snooze {
            let until = match (response.turns, response.minutes) {
                (_, Some(minutes)) => GuardEnd::Minutes(minutes),
                (turns, None) => GuardEnd::Turns(turns.unwrap_or(1)),
            };
            let (guard, note) = (self.thread.next_guard_id(), Some("snoozed".to_owned()));
            events.push(GuardSet { guard, until, note, by: response.by.clone() }.into());
        }
        let is_open = match self.thread.stage {
            Stage::Idle | Stage::Starting(_) => response.choice == Choice::CompactNow,
            Stage::Judging(_) | Stage::Deferred(_) | Stage::Proposed(_) | Stage::Running(_) => true,
        };
        if is_open {
            let sequence = running.map(|sequence| sequence.id.clone());
            let Response { choice, packet, by, .. } = response;
            // Who edits the packet of a compaction that waits for an approval wants that compaction.
            let approves = is_asked && choice == Choice::EditPacket;
            let approval = approves.then(|| {
                let (choice, sequence, by) = (Choice::Approve, sequence.clone(), by.clone());
                Responded { choice, sequence, packet: None, by }.into()
            });
            events.push(Responded { choice, sequence, packet, by }.into());
            events.extend(approval);
        }
        Ok(events)
    }

    /// Refuses an answer to another sequence, one that the stage does not allow, and one that comes second.
    fn check_answer(&self, response: &Response) -> Result<(), Refusal> {
        let running = self.thread.sequence();
        let meant = response.sequence.as_ref().or(running.map(|running| &running.id));
        let answered = self.thread.answered.as_ref();
        let answered = answered.filter(|answered| Some(&answered.sequence) == meant);
        // Without a sequence, an answer is to the one that would start: a banner may stand for long after its end.
        let current =
            running.map_or_else(|| self.thread.next_sequence_id(), |running| running.id.clone());
        if response.sequence.as_ref().is_some_and(|asked| *asked != current) {
            return Err(match (answered, running) {
                (Some(answered), _) => Refusal::Answered(answered.clone()),
                (None, Some(_)) => Refusal::OtherSequence(current),
                (None, None) => Refusal::NoSequence,
            });
        }
        let is_allowed = self.thread.stage.allowed_answers().contains(&response.choice);
        // Editing the packet does not answer whether to compact.
        let settled = answered.filter(|answered| answered.choice != Choice::EditPacket);
        let acted_on = settled.is_none() || running.is_none_or(Sequence::has_acted_on_answer);
        if !is_allowed || !acted_on {
            return Err(match (answered, running) {
                (Some(answered), _) => Refusal::Answered(answered.clone()),
                (None, None) => Refusal::NoSequence,
                (None, Some(_)) => Refusal::NotNow(self.thread.phase()),
            });
        }
        let is_blank = response.packet.as_deref().is_none_or(|packet| packet.trim().is_empty());
        if response.choice == Choice::EditPacket && is_blank {
            return Err(Refusal::PacketMissing);
        }
        Ok(())
    }
}

/// Whether the message that this decision is about waits for its compaction, or for the judge.
fn comes_first(decision: &DecisionRecord) -> bool {
    matches!(decision.outcome, Outcome::Compact | Outcome::Ask | Outcome::Judge)
}

/// A packet speaks of the work that goes on, and not of the turn.
fn signals_of(message: &str, phrases: &Phrases) -> MessageSignals {
    match packet::is_packet(message) {
        true => MessageSignals::default(),
        false => message::signals(message, phrases),
    }
}
