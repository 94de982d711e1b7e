//! rawr as a process: it hears, writes, syncs and speaks, it dies, and another takes up what it wrote. What may be said
//! to it, and when, is not known here.

use crate::model_check::defects::Rawr;
use crate::model_check::explore::{Named, Violation, name};
use crate::model_check::properties;
use crate::model_check::same::{Known, NOW, normalised};
use crate::model_check::state::State;
use crate::model_check::task::{Report, Said, input_id, input_text};
use crate::model_check::worlds::{WINDOW, World};
use rawr_core::event::{Choice, HostInfo, JudgeSource, Phase, ThreadOpened};
use rawr_core::machine::{InputKind, Response, must_be_durable};
use rawr_core::policy::JudgeBackend;
use rawr_core::thread::Issued;
use rawr_core::units::{Timestamp, Tokens, TurnId};
use rawr_core::{Effect, Input, Machine, Record, Thread};
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

pub const IDLE: &str = "always back to idle";

/// How many answers are kept in memory. States that are near each other ask the same.
const MOST_HEARD: usize = 20_000;

/// A world with rawr in it, sound or not.
#[derive(Debug)]
pub struct Played<'w> {
    pub world: &'w World,
    pub rawr: Rawr,
    /// Machines that are known to come to rest by themselves.
    resting: RefCell<HashSet<u64>>,
    /// What a machine makes of an input, by the names of both: in most states only the host is another.
    heard: RefCell<HashMap<(u64, u64), Rc<Heard>>>,
}

/// What rawr is told.
#[derive(Debug, Clone, Hash)]
pub enum Told {
    Message(u8),
    Report(Rc<Named<Report>>),
    /// The next deadline has passed.
    Tick,
    Word(Choice),
    /// A new process takes the thread up; this turn runs.
    Opened(Option<TurnId>),
}

/// What rawr made of an input.
#[derive(Debug)]
pub struct Heard {
    pub records: Vec<Record>,
    effects: Vec<Effect>,
    machine: Rc<Known>,
    /// The machine with so many of the records written.
    written: OnceCell<Vec<Rc<Known>>>,
}

impl Report {
    pub fn input(&self) -> Input {
        match &self.said {
            Said::Event(event) => Input::Saw(event.clone()),
            Said::Judged(answered) => Input::Judged(answered.clone()),
        }
    }
}

impl Told {
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::Report(report) => Some(report),
            _ => None,
        }
    }
}

/// A compaction that was put off rests too: it waits for a message.
pub fn is_idle(thread: &Thread) -> bool {
    matches!(thread.phase(), Phase::Idle | Phase::Deferred)
}

impl<'w> Played<'w> {
    pub fn new(world: &'w World, rawr: Rawr) -> Self {
        Self { world, rawr, resting: RefCell::default(), heard: RefCell::default() }
    }
}

impl Played<'_> {
    pub fn input(&self, told: &Told) -> Input {
        match told {
            Told::Message(nth) => Input::Submitted {
                input: input_id(*nth),
                text: input_text(*nth),
                kind: InputKind::Message,
            },
            Told::Report(report) => report.input(),
            Told::Tick => Input::Tick,
            Told::Word(choice) => {
                let (sequence, turns, minutes, packet, by) = (None, Some(1), None, None, None);
                Input::Respond(Response { choice: *choice, sequence, turns, minutes, packet, by })
            }
            Told::Opened(running_turn) => self.opened(running_turn.clone()),
        }
    }

    fn opened(&self, running_turn: Option<TurnId>) -> Input {
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

    pub fn hears(&self, machine: &Known, told: &Told) -> Rc<Heard> {
        let of = (machine.name(), name(told));
        if let Some(heard) = self.heard.borrow().get(&of) {
            return Rc::clone(heard);
        }
        let due = || self.due(machine).unwrap_or(NOW);
        let now = if matches!(told, Told::Tick) { due() } else { NOW };
        let (after, effects) = self.rawr.handle(machine, self.input(told), self.world, now);
        let record = |effect: &Effect| match effect {
            Effect::Record(record) => Some(record.clone()),
            _ => None,
        };
        let heard = Rc::new(Heard {
            records: effects.iter().filter_map(record).collect(),
            effects,
            machine: self.same(&after),
            written: OnceCell::new(),
        });
        let mut known = self.heard.borrow_mut();
        if known.len() >= MOST_HEARD {
            known.clear();
        }
        known.insert(of, Rc::clone(&heard));
        heard
    }

    /// Everything was written, and the host hears of it. `report`: where the input was one.
    pub fn lands(
        &self,
        mut state: State,
        heard: &Heard,
        report: Option<&Report>,
    ) -> Result<State, Violation> {
        self.check(&mut state, heard, heard.records.len())?;
        state.past.told(report.filter(|_| !heard.records.is_empty()));
        self.sync(&mut state, heard);
        state.rawr = Rc::clone(&heard.machine);
        properties::check_rest(self.world, state.rawr.thread())?;
        self.check_silence(&state.rawr)?;
        for effect in &heard.effects {
            if let Effect::Perform(issued) = effect {
                state.host.take(issued)?;
            }
        }
        Ok(state)
    }

    /// Looks at so many of the records.
    fn check(&self, state: &mut State, heard: &Heard, written: usize) -> Result<(), Violation> {
        for (nth, record) in heard.records[..written].iter().enumerate() {
            if properties::is_looked_at(record) {
                let machines = self.written(&state.rawr, heard);
                state.past.recorded(machines[nth].thread(), record);
                properties::check_record(machines[nth].thread(), record, &state.past)?;
                state.past.counted(machines[nth + 1].thread());
            }
        }
        for effect in &heard.effects {
            if let Effect::Decided(decision) = effect {
                properties::check_emergency(self.world, decision)?;
            }
        }
        Ok(())
    }

    /// One sync brings everything before it to the disk as well.
    fn sync(&self, state: &mut State, heard: &Heard) {
        if !state.left.allows_power_cut() {
            state.synced = None;
            return;
        }
        let records = &heard.records;
        let durable = records.iter().rposition(|record| must_be_durable(&record.event));
        let synced = durable.map_or(0, |at| at + 1);
        if synced == 0 && state.synced.is_some() {
            return;
        }
        state.synced = (synced < records.len()).then(|| {
            let synced = Rc::clone(&self.written(&state.rawr, heard)[synced]);
            Rc::new((synced, state.past.clone()))
        });
    }

    fn written<'h>(&self, before: &Rc<Known>, heard: &'h Heard) -> &'h [Rc<Known>] {
        heard.written.get_or_init(|| {
            let mut machines = vec![Rc::clone(before)];
            let mut machine = Machine::clone(before);
            for record in &heard.records {
                machine.apply(record);
                machines.push(self.same(&machine));
            }
            machines
        })
    }

    /// A new process takes the thread up from what was written, and what it owed is asked for again.
    pub fn reopens(&self, mut state: State) -> Result<State, Violation> {
        state.synced = None;
        // The sidecar's own judge dies with it.
        if self.judge() != JudgeSource::Host {
            state.host.judging.clear();
        }
        let running_turn = state.host.turn.as_ref().map(|turn| turn.id.clone());
        let heard = self.hears(&state.rawr, &Told::Opened(running_turn));
        let mut state = self.lands(state, &heard, None)?;
        let pending: Vec<Issued> = state.rawr.thread().pending_actions().cloned().collect();
        for issued in pending {
            properties::check_pending(state.rawr.thread(), &issued)?;
            state.host.take(&issued)?;
        }
        Ok(state)
    }

    /// It dies over an input of which only so many records were written. `again`: it is said once more.
    pub fn dies_over(
        &self,
        mut state: State,
        told: &Told,
        written: usize,
        again: bool,
    ) -> Result<State, Violation> {
        let report = told.report();
        let heard = self.hears(&state.rawr, told);
        self.check(&mut state, &heard, written)?;
        state.past.told(report.filter(|_| written > 0));
        state.rawr = Rc::clone(&self.written(&state.rawr, &heard)[written]);
        let state = self.reopens(state)?;
        if !again {
            return Ok(state);
        }
        let heard = self.hears(&state.rawr, told);
        self.lands(state, &heard, report)
    }

    /// What was written and not synced is gone as well. That a part of it may stay is what a death over an input shows.
    pub fn loses_power(&self, mut state: State) -> Option<Result<State, Violation>> {
        let synced = state.synced.take()?;
        (state.rawr, state.past) = (Rc::clone(&synced.0), synced.1.clone());
        Some(self.reopens(state))
    }

    /// No further input arrives: every deadline passes, and the process becomes idle. A message that
    /// was given to the host is the host's then.
    fn check_silence(&self, machine: &Rc<Known>) -> Result<(), Violation> {
        const MOST_DEADLINES: usize = 8;
        let broken = |why: &str| Err(Violation::of(IDLE, format!("nothing arrives, and {why}")));
        let (mut machine, mut passed) = (Rc::clone(machine), Vec::new());
        while !self.resting.borrow().contains(&machine.name()) {
            passed.push(machine.name());
            match self.due(&machine) {
                Some(_) if passed.len() > MOST_DEADLINES => {
                    return broken("deadlines follow each other for good");
                }
                Some(_) => {
                    let heard = self.hears(&machine, &Told::Tick);
                    machine = Rc::clone(&heard.machine);
                }
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
