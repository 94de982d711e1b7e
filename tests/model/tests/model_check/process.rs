//! rawr as a process: it handles inputs, writes, syncs and requests actions; it dies, and another process continues
//! from what was written. The world decides which inputs come when.

use crate::defects::TestedMachine;
use crate::explore::{Hashed, Violation, name};
use crate::properties;
use crate::same::{KnownMachine, NOW, normalised};
use crate::state::ModelState;
use crate::task::{HostReport, ReportKind, input_id, input_text};
use crate::worlds::{SmallWorld, WINDOW};
use rawr_core::event::{Choice, HostInfo, JudgmentSource, Phase, ThreadOpened};
use rawr_core::machine::{InputKind, Response, must_be_durable};
use rawr_core::policy::JudgeBackend;
use rawr_core::thread::Issued;
use rawr_core::units::{Timestamp, Tokens, TurnId};
use rawr_core::{Effect, Input, Machine, Record, Thread};
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

pub const IDLE: &str = "always back to idle";

/// The number of cached reactions. Neighboring states need the same ones.
const MOST_HEARD: usize = 20_000;

/// A world with the machine, real or defective.
#[derive(Debug)]
pub struct Played<'w> {
    pub world: &'w SmallWorld,
    pub rawr: TestedMachine,
    /// Machines that are known to become idle on their own.
    resting: RefCell<HashSet<u64>>,
    /// The cached reactions, by the hashes of machine and input: in most states only the host differs.
    heard: RefCell<HashMap<(u64, u64), Rc<Reaction>>>,
}

/// An input to rawr.
#[derive(Debug, Clone, Hash)]
pub enum RawrInput {
    Message(u8),
    Report(Rc<Hashed<HostReport>>),
    /// The next deadline has passed.
    Tick,
    Word(Choice),
    /// A new process opens the thread while this turn runs.
    Opened(Option<TurnId>),
}

/// The reaction of rawr to an input.
#[derive(Debug)]
pub struct Reaction {
    pub records: Vec<Record>,
    effects: Vec<Effect>,
    machine: Rc<KnownMachine>,
    /// The machine for each number of records that were written.
    written: OnceCell<Vec<Rc<KnownMachine>>>,
}

impl HostReport {
    pub fn input(&self) -> Input {
        match &self.said {
            ReportKind::Event(event) => Input::Saw(event.clone()),
            ReportKind::Judged(answered) => Input::Judged(answered.clone()),
        }
    }
}

impl RawrInput {
    pub fn report(&self) -> Option<&HostReport> {
        match self {
            Self::Report(report) => Some(report),
            _ => None,
        }
    }
}

/// A deferred compaction is idle, too: it waits for a message.
pub fn is_idle(thread: &Thread) -> bool {
    matches!(thread.phase(), Phase::Idle | Phase::Deferred | Phase::Proposed)
}

impl<'w> Played<'w> {
    pub fn new(world: &'w SmallWorld, rawr: TestedMachine) -> Self {
        Self { world, rawr, resting: RefCell::default(), heard: RefCell::default() }
    }
}

impl Played<'_> {
    pub fn input(&self, told: &RawrInput) -> Input {
        match told {
            RawrInput::Message(nth) => Input::Submitted {
                input: input_id(*nth),
                text: input_text(*nth),
                kind: InputKind::Message,
            },
            RawrInput::Report(report) => report.input(),
            RawrInput::Tick => Input::Tick,
            RawrInput::Word(choice) => {
                let packet = (*choice == Choice::EditPacket).then(|| "edited".to_owned());
                let (sequence, turns, minutes, by) = (None, Some(1), None, None);
                Input::Respond(Response { choice: *choice, sequence, turns, minutes, packet, by })
            }
            RawrInput::Opened(running_turn) => self.opened(running_turn.clone()),
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
            compacts_above: None,
            baseline: Tokens(0),
            agent: None,
            transcript: None,
            began_at: None,
            running_turn,
        };
        Input::Saw(opened.into())
    }

    pub fn due(&self, machine: &Machine) -> Option<Timestamp> {
        self.rawr.next_deadline(machine, self.world)
    }

    pub const fn judge(&self) -> JudgmentSource {
        match self.world.policy.judge {
            JudgeBackend::Responses => JudgmentSource::Responses,
            JudgeBackend::Chat => JudgmentSource::Chat,
            JudgeBackend::Auto
            | JudgeBackend::Host
            | JudgeBackend::Heuristic
            | JudgeBackend::Off => JudgmentSource::Host,
        }
    }

    pub fn same(&self, machine: &Machine) -> Rc<KnownMachine> {
        normalised(machine, &self.world.policy)
    }

    pub fn hears(&self, machine: &KnownMachine, told: &RawrInput) -> Rc<Reaction> {
        let of = (machine.name(), name(told));
        if let Some(heard) = self.heard.borrow().get(&of) {
            return Rc::clone(heard);
        }
        let due = || self.due(machine).unwrap_or(NOW);
        let now = if matches!(told, RawrInput::Tick) { due() } else { NOW };
        let (after, effects) = self.rawr.handle(machine, self.input(told), self.world, now);
        let record = |effect: &Effect| match effect {
            Effect::Record(record) => Some(record.clone()),
            _ => None,
        };
        let heard = Rc::new(Reaction {
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

    /// All records were written, and the host gets the actions. `report`: the input, if it was one.
    pub fn lands(
        &self,
        mut state: ModelState,
        heard: &Reaction,
        report: Option<&HostReport>,
    ) -> Result<ModelState, Violation> {
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

    /// Checks the first records.
    fn check(
        &self,
        state: &mut ModelState,
        heard: &Reaction,
        written: usize,
    ) -> Result<(), Violation> {
        for (nth, record) in heard.records[..written].iter().enumerate() {
            if properties::is_looked_at(record) {
                let machines = self.written(&state.rawr, heard);
                state.past.recorded(machines[nth].thread(), record);
                properties::check_record(machines[nth].thread(), record, &state.past)?;
                properties::check_confirmed(self.world, machines[nth].thread(), record)?;
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

    /// A sync also covers everything before it.
    fn sync(&self, state: &mut ModelState, heard: &Reaction) {
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

    fn written<'h>(
        &self,
        before: &Rc<KnownMachine>,
        heard: &'h Reaction,
    ) -> &'h [Rc<KnownMachine>] {
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

    /// A new process opens the thread from what was written, and pending actions are requested again.
    pub fn reopens(&self, mut state: ModelState) -> Result<ModelState, Violation> {
        state.synced = None;
        // The sidecar's own judge dies with it.
        if self.judge() != JudgmentSource::Host {
            state.host.judging.clear();
        }
        let running_turn = state.host.turn.as_ref().map(|turn| turn.id.clone());
        let heard = self.hears(&state.rawr, &RawrInput::Opened(running_turn));
        let mut state = self.lands(state, &heard, None)?;
        let pending: Vec<Issued> = state.rawr.thread().pending_actions().cloned().collect();
        for issued in pending {
            properties::check_pending(state.rawr.thread(), &issued)?;
            state.host.take(&issued)?;
        }
        Ok(state)
    }

    /// Dies while handling an input, with only so many records written. `again`: the input is repeated.
    pub fn dies_over(
        &self,
        mut state: ModelState,
        told: &RawrInput,
        written: usize,
        again: bool,
    ) -> Result<ModelState, Violation> {
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

    /// Unsynced records are lost, too. Deaths while handling an input cover partial losses.
    pub fn loses_power(&self, mut state: ModelState) -> Option<Result<ModelState, Violation>> {
        let synced = state.synced.take()?;
        (state.rawr, state.past) = (Rc::clone(&synced.0), synced.1.clone());
        Some(self.reopens(state))
    }

    /// Without further inputs, deadlines pass one after the other, and the thread becomes idle. A message that was
    /// delivered is the host's responsibility.
    fn check_silence(&self, machine: &Rc<KnownMachine>) -> Result<(), Violation> {
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
                    let heard = self.hears(&machine, &RawrInput::Tick);
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
