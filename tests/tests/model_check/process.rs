//! rawr as a process: it hears, writes, syncs and speaks, it dies, and another takes up what it wrote. What may be said
//! to it, and when, is not known here.

use crate::defects::Rawr;
use crate::explore::Violation;
use crate::host::Host;
use crate::properties;
use crate::same::{Known, NOW, normalised};
use crate::state::State;
use crate::task::{Report, Said};
use crate::worlds::{WINDOW, World};
use rawr_core::event::{HostInfo, JudgeSource, Phase, ThreadOpened};
use rawr_core::machine::must_be_durable;
use rawr_core::policy::JudgeBackend;
use rawr_core::thread::Issued;
use rawr_core::units::{Timestamp, Tokens};
use rawr_core::{Effect, Input, Machine, Record, Thread};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

pub const IDLE: &str = "always back to idle";

/// A world with rawr in it, sound or not.
#[derive(Debug)]
pub struct Played<'w> {
    pub world: &'w World,
    pub rawr: Rawr,
    /// Machines that are known to come to rest by themselves.
    resting: RefCell<HashSet<u64>>,
}

/// What rawr made of an input.
#[derive(Debug)]
pub struct Heard {
    pub records: Vec<Record>,
    effects: Vec<Effect>,
    machine: Machine,
}

impl Report {
    pub fn input(&self) -> Input {
        match &self.said {
            Said::Event(event) => Input::Saw(event.clone()),
            Said::Judged(answered) => Input::Judged(answered.clone()),
        }
    }
}

/// A compaction that was put off rests too: it waits for a message.
pub fn is_idle(thread: &Thread) -> bool {
    matches!(thread.phase(), Phase::Idle | Phase::Deferred)
}

impl<'w> Played<'w> {
    pub fn new(world: &'w World, rawr: Rawr) -> Self {
        Self { world, rawr, resting: RefCell::default() }
    }
}

impl Played<'_> {
    pub fn opened(&self, host: &Host) -> Input {
        let running_turn = host.turn.as_ref().map(|turn| turn.id.clone());
        let info = HostInfo { name: "h".to_owned(), version: None, can: self.world.can };
        let opened = ThreadOpened {
            cwd: "/".to_owned(),
            host: info,
            model: None,
            window: Some(Tokens(WINDOW)),
            window_is_assumed: false,
            baseline: Tokens(0),
            agent: None,
            transcript: None,
            running_turn,
        };
        Input::Saw(opened.into())
    }

    pub fn due(&self, machine: &Machine) -> Option<Timestamp> {
        self.rawr.next_deadline(machine, self.world)
    }

    pub const fn judge(&self) -> JudgeSource {
        match self.world.policy.judge {
            JudgeBackend::Responses => JudgeSource::Responses,
            JudgeBackend::Chat => JudgeSource::Chat,
            JudgeBackend::Auto
            | JudgeBackend::Host
            | JudgeBackend::Heuristic
            | JudgeBackend::Off => JudgeSource::Host,
        }
    }

    pub fn same(&self, machine: &Machine) -> Rc<Known> {
        normalised(machine, &self.world.policy)
    }

    pub fn hears(&self, machine: &Machine, input: Input, now: Timestamp) -> Heard {
        let (machine, effects) = self.rawr.handle(machine, input, self.world, now);
        let record = |effect: &Effect| match effect {
            Effect::Record(record) => Some(record.clone()),
            _ => None,
        };
        Heard { records: effects.iter().filter_map(record).collect(), effects, machine }
    }

    /// Everything was written, and the host hears of it. `report`: where the input was one.
    pub fn lands(
        &self,
        mut state: State,
        heard: Heard,
        report: Option<&Report>,
    ) -> Result<State, Violation> {
        properties::check(self.world, &state.rawr, &heard.effects, &mut state.past)?;
        state.past.told(report.filter(|_| !heard.records.is_empty()));
        self.sync(&mut state, &heard.records);
        state.rawr = self.same(&heard.machine);
        properties::check_rest(self.world, state.rawr.thread())?;
        self.check_silence(&state.rawr)?;
        for effect in &heard.effects {
            if let Effect::Perform(issued) = effect {
                state.host.take(issued)?;
            }
        }
        Ok(state)
    }

    /// One sync brings everything before it to the disk as well.
    fn sync(&self, state: &mut State, records: &[Record]) {
        if !state.left.allows_power_cut() {
            state.synced = None;
            return;
        }
        let durable = records.iter().rposition(|record| must_be_durable(&record.event));
        let synced = durable.map_or(0, |at| at + 1);
        if synced == 0 && state.synced.is_some() {
            return;
        }
        state.synced = (synced < records.len()).then(|| {
            let synced = self.written(&state.rawr, &records[..synced]);
            Rc::new((synced, state.past.clone()))
        });
    }

    fn written(&self, before: &Machine, records: &[Record]) -> Rc<Known> {
        let mut machine = before.clone();
        records.iter().for_each(|record| machine.apply(record));
        self.same(&machine)
    }

    /// A new process takes the thread up from what was written, and what it owed is asked for again.
    pub fn reopens(&self, mut state: State) -> Result<State, Violation> {
        state.synced = None;
        // The sidecar's own judge dies with it.
        if self.judge() != JudgeSource::Host {
            state.host.judging.clear();
        }
        let heard = self.hears(&state.rawr, self.opened(&state.host), NOW);
        let mut state = self.lands(state, heard, None)?;
        let pending: Vec<Issued> = state.rawr.thread().pending_actions().cloned().collect();
        for issued in pending {
            properties::check_pending(state.rawr.thread(), &issued)?;
            state.host.take(&issued)?;
        }
        Ok(state)
    }

    /// It dies over an input of which only these records were written. `again`: the input that is said once more.
    pub fn dies_over(
        &self,
        mut state: State,
        records: &[Record],
        report: Option<&Report>,
        again: Option<Input>,
    ) -> Result<State, Violation> {
        let effects: Vec<_> = records.iter().cloned().map(Effect::Record).collect();
        properties::check(self.world, &state.rawr, &effects, &mut state.past)?;
        state.past.told(report.filter(|_| !records.is_empty()));
        state.rawr = self.written(&state.rawr, records);
        let state = self.reopens(state)?;
        let Some(again) = again else { return Ok(state) };
        let heard = self.hears(&state.rawr, again, NOW);
        self.lands(state, heard, report)
    }

    /// What was written and not synced is gone as well. That a part of it may stay is what a death over an input shows.
    pub fn loses_power(&self, mut state: State) -> Option<Result<State, Violation>> {
        let synced = state.synced.take()?;
        (state.rawr, state.past) = (Rc::clone(&synced.0), synced.1.clone());
        Some(self.reopens(state))
    }

    /// Nothing arrives any more, and nobody does anything: deadline after deadline passes, and it is idle. A message that
    /// was given to the host is the host's then.
    fn check_silence(&self, machine: &Rc<Known>) -> Result<(), Violation> {
        const MOST_DEADLINES: usize = 8;
        let broken = |why: &str| Err(Violation::of(IDLE, format!("nothing arrives, and {why}")));
        let (mut machine, mut passed) = (Rc::clone(machine), Vec::new());
        while !self.resting.borrow().contains(&machine.name) {
            passed.push(machine.name);
            match self.due(&machine) {
                Some(_) if passed.len() > MOST_DEADLINES => {
                    return broken("deadlines follow each other for good");
                }
                Some(due) => machine = self.same(&self.hears(&machine, Input::Tick, due).machine),
                None if !is_idle(machine.thread()) => return broken("a sequence has no deadline"),
                None if waits_for_us(machine.thread()) => {
                    return broken("a message has no deadline");
                }
                None => break,
            }
        }
        self.resting.borrow_mut().extend(passed);
        Ok(())
    }
}

fn waits_for_us(thread: &Thread) -> bool {
    thread.held.front().is_some_and(|held| held.action.is_none())
}
