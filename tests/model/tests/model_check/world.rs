//! Everything that can happen in a small world, one step at a time: rawr, a host, the connection between them, a person
//! with messages, a judge. The properties are checked elsewhere.

use crate::explore::{CheckedModel, Hashed, PathEnding, Violation};
use crate::host::{HostStep, SmallHost};
use crate::process::{IDLE, Played, RawrInput, is_idle};
use crate::properties::{self, CheckedHistory};
use crate::state::{ModelState, ModelStep, PendingInput};
use crate::task::input_id;
use rawr_core::event::{Choice, JudgmentSource, TurnStatus};
use rawr_core::units::ThreadId;
use rawr_core::{Machine, Thread};
use std::rc::Rc;

type PlayedStep = (ModelStep, Result<ModelState, Violation>);

const CHOICES: [Choice; 5] =
    [Choice::CompactNow, Choice::Approve, Choice::Snooze, Choice::Cancel, Choice::EditPacket];

impl CheckedModel for Played<'_> {
    type State = ModelState;
    type Step = ModelStep;

    const RESTS: &'static str = IDLE;

    fn start(&self) -> ModelState {
        let machine = Machine::new(Thread::new(ThreadId::new("t")));
        let state = ModelState {
            rawr: self.same(&machine),
            synced: None,
            host: SmallHost::new(self.world),
            left: self.world.may,
            past: CheckedHistory::default(),
        };
        self.reopens(state.clone()).unwrap_or(state)
    }

    fn steps(&self, state: &ModelState) -> Vec<PlayedStep> {
        let mut taken = Vec::new();
        let words = CHOICES.into_iter().map(PendingInput::Word);
        for what in [PendingInput::Message, PendingInput::Report, PendingInput::Tick]
            .into_iter()
            .chain(words)
        {
            self.said(state, what, &mut taken);
        }
        self.host_goes_on(state, &mut taken);
        self.host_fails(state, &mut taken);
        self.judge_answers(state, &mut taken);
        self.line_is_disturbed(state, &mut taken);
        self.process_dies(state, &mut taken);
        taken
    }

    /// Everything arrives, the host performs its actions, and then deadlines pass.
    fn ending(&self, state: &ModelState) -> PathEnding<ModelStep> {
        let (host, rawr) = (&state.host, state.rawr.thread());
        if !host.said.is_empty() {
            PathEnding::Goes(ModelStep::Said(PendingInput::Report))
        } else if host.next(self.world).is_some() {
            PathEnding::Goes(ModelStep::TakesUp)
        } else if host.is_busy() {
            PathEnding::Goes(ModelStep::GoesOn)
        } else if self.due(&state.rawr).is_some() {
            PathEnding::Goes(ModelStep::Said(PendingInput::Tick))
        } else if !is_idle(rawr) {
            PathEnding::Stuck("a sequence waits, and has no deadline")
        } else if !rawr.held.is_empty() {
            PathEnding::Stuck("a message waits, and has no deadline")
        } else if !host.has_all_of(state.submitted(self.world)) {
            PathEnding::Stuck("a message is gone")
        } else {
            PathEnding::Rests
        }
    }

    fn describe(&self, state: &ModelState, step: ModelStep) -> String {
        let told = match step {
            ModelStep::Said(what) | ModelStep::DiesOver { what, .. } => {
                self.told(state, what).map(|(told, _)| told)
            }
            ModelStep::Arrives { nth, .. } => {
                state.host.said.get(nth).cloned().map(RawrInput::Report)
            }
            _ => None,
        };
        let Some(told) = told else { return format!("{step:?}") };
        let heard = self.hears(&state.rawr, &told);
        let records = heard.records.iter().map(|record| format!("\n      {:?}", record.event));
        format!("{step:?}: {:?}{}", self.input(&told), records.collect::<String>())
    }
}

impl Played<'_> {
    /// The input, and the state without it.
    fn told(&self, state: &ModelState, what: PendingInput) -> Option<(RawrInput, ModelState)> {
        match what {
            PendingInput::Message => {
                let state = state.spend(|left| &mut left.inputs)?;
                Some((RawrInput::Message(state.submitted(self.world)), state))
            }
            PendingInput::Report => {
                let mut state = state.clone();
                let report = state.host.said.pop_front()?;
                Some((RawrInput::Report(report), state))
            }
            PendingInput::Tick => {
                self.due(&state.rawr)?;
                // If nothing else can happen, a deadline is not late.
                let silent = !state.host.is_busy()
                    && state.host.said.is_empty()
                    && state.host.next(self.world).is_none();
                let late = || state.disturb(|left| &mut left.late);
                Some((RawrInput::Tick, if silent { state.clone() } else { late()? }))
            }
            PendingInput::Word(choice) => {
                let state = state.spend(|left| &mut left.words)?;
                Some((RawrInput::Word(choice), state))
            }
        }
    }

    /// The input arrives, or rawr dies during it.
    fn said(&self, before: &ModelState, what: PendingInput, taken: &mut Vec<PlayedStep>) {
        let Some((told, state)) = self.told(before, what) else { return };
        let heard = self.hears(&before.rawr, &told);
        for (again, died) in deaths(&state, what) {
            for written in 0..=heard.records.len() {
                let led = self.dies_over(died.clone(), &told, written, again);
                let led = led.and_then(|state| self.answered(state, what));
                taken.push((ModelStep::DiesOver { what, written, again }, led));
            }
        }
        let led = self.lands(state, &heard, told.report());
        taken.push((ModelStep::Said(what), led.and_then(|state| self.answered(state, what))));
    }

    /// A message that is not held goes to the host at once.
    fn answered(&self, mut state: ModelState, what: PendingInput) -> Result<ModelState, Violation> {
        let newest = state.submitted(self.world);
        let waits = state.rawr.thread().held.iter().any(|held| held.id == input_id(newest));
        if what == PendingInput::Message && !waits {
            properties::check_owed(self.world, state.rawr.thread(), &state.past)?;
            state.host.todo.push_back(HostStep::Prompt(newest));
        }
        Ok(state)
    }

    fn host_goes_on(&self, before: &ModelState, taken: &mut Vec<PlayedStep>) {
        if let Some(at) = before.host.next(self.world) {
            let mut state = before.clone();
            let took = state.host.take_up(at, self.world);
            taken.push((ModelStep::TakesUp, took.map(|()| state)));
        }
        if before.host.is_busy() {
            let mut state = before.clone();
            state.host.advance(TurnStatus::Completed, self.world);
            taken.push((ModelStep::GoesOn, Ok(state)));
        }
        let idle = !before.host.is_busy();
        let inside = self.world.compacts_inside && before.host.compacting.is_none();
        if (idle || inside)
            && let Some(mut state) = before.disturb(|left| &mut left.own_compactions)
        {
            state.host.compacts_by_itself(self.world);
            taken.push((ModelStep::CompactsByItself, Ok(state)));
        }
    }

    fn host_fails(&self, before: &ModelState, taken: &mut Vec<PlayedStep>) {
        if let Some(at) = before.host.next(self.world)
            && matches!(before.host.todo[at], HostStep::Perform(_))
            && let Some(mut state) = before.disturb(|left| &mut left.refusals)
        {
            state.host.refuse(at);
            taken.push((ModelStep::Refuses, Ok(state)));
        }
        let fails = before.disturb(|left| &mut left.refusals);
        let interrupted = before.disturb(|left| &mut left.interrupts);
        let ends = [
            (ModelStep::Fails, TurnStatus::Failed, fails),
            (ModelStep::Interrupted, TurnStatus::Interrupted, interrupted),
        ];
        for (step, status, state) in ends {
            if let Some(mut state) = state.filter(|state| state.host.is_busy()) {
                state.host.advance(status, self.world);
                taken.push((step, Ok(state)));
            }
        }
    }

    /// The host's judge answers with a report, the sidecar's own at once. It may never answer.
    fn judge_answers(&self, before: &ModelState, taken: &mut Vec<PlayedStep>) {
        for says in [Some(true), Some(false), None] {
            if before.host.judging.is_empty() {
                return;
            }
            let mut state = before.clone();
            let Some(report) = state.host.judged(says, self.judge()) else { return };
            let led = if self.judge() == JudgmentSource::Host {
                state.host.says_that(report);
                Ok(state)
            } else {
                let heard =
                    self.hears(&state.rawr, &RawrInput::Report(Rc::new(Hashed::new(report))));
                self.lands(state, &heard, None)
            };
            taken.push((ModelStep::Judged(says), led));
        }
    }

    fn line_is_disturbed(&self, before: &ModelState, taken: &mut Vec<PlayedStep>) {
        let mut arrives = |nth: usize, comes_again: bool, state: Option<ModelState>| {
            let Some(mut state) = state else { return };
            let Some(report) = state.host.said.remove(nth) else { return };
            if comes_again {
                state.host.said.push_back(Rc::clone(&report));
            }
            let heard = self.hears(&state.rawr, &RawrInput::Report(Rc::clone(&report)));
            let led = self.lands(state, &heard, Some(&report));
            taken.push((ModelStep::Arrives { nth, comes_again }, led));
        };
        for nth in 1..before.host.said.len() {
            arrives(nth, false, before.disturb(|left| &mut left.overtakes));
        }
        arrives(0, true, before.disturb(|left| &mut left.repeats));
        if !before.host.said.is_empty()
            && let Some(mut state) = before.disturb(|left| &mut left.losses)
        {
            state.host.said.pop_front();
            taken.push((ModelStep::Lost, Ok(state)));
        }
    }

    fn process_dies(&self, before: &ModelState, taken: &mut Vec<PlayedStep>) {
        if let Some(state) = before.disturb(|left| &mut left.crashes) {
            taken.push((ModelStep::Dies, self.reopens(state)));
        }
        if let Some(mut state) = before.disturb(|left| &mut left.host_crashes) {
            state.host.dies();
            taken.push((ModelStep::HostDies, self.reopens(state)));
        }
        let cut = before.disturb(|left| &mut left.power_cuts);
        let cut = cut.and_then(|state| self.loses_power(state));
        taken.extend(cut.map(|led| (ModelStep::PowerCut, led)));
    }
}

/// Whether the input is repeated, and the state for that: a person's client retries, a host that dies may not, and a
/// deadline passes again.
fn deaths(state: &ModelState, what: PendingInput) -> Vec<(bool, ModelState)> {
    let dies = |state: &ModelState| state.disturb(|left| &mut left.crashes);
    let again = dies(state).map(|state| (true, state));
    let gives_up = || state.spend(|left| &mut left.losses).as_ref().and_then(dies);
    match what {
        PendingInput::Message => again.into_iter().collect(),
        PendingInput::Report => {
            gives_up().map(|state| (false, state)).into_iter().chain(again).collect()
        }
        PendingInput::Tick => again.map(|(_, state)| (false, state)).into_iter().collect(),
        PendingInput::Word(_) => Vec::new(),
    }
}
