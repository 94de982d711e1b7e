//! Machines with deliberate defects: the real one, whose state or input is tampered with. They show that such a defect
//! would be detected.

use crate::same::NOW;
use crate::worlds::SmallWorld;
use rawr_core::event::TurnOrigin;
use rawr_core::policy::{ConfirmRule, Policy};
use rawr_core::thread::sequence::{Rewrite, Step};
use rawr_core::thread::{Progress, Stage, WaitingInput};
use rawr_core::units::{ActionId, Timestamp};
use rawr_core::{Effect, Event, Input, Machine, Rules, Thread};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// After a restart it requests pending actions under new ids.
    NewNamesAfterARestart,
    KeepsBoundaries,
    /// Delivers a message twice.
    DeliversTwice,
    /// Ignores emergencies, and waits for the judge.
    AsksInAnEmergency,
    NoDeadlines,
    /// Treats a turn of a sequence like any other turn.
    ForgetsWhoseTurn,
    /// After a restart it requests actions of a sequence that has ended.
    ActsAfterTheEnd,
    /// Hands off without waiting for the compaction.
    HandsOffAtOnce,
    /// Forgets the handoff after a compaction that it did not request.
    OwesNothing,
    /// Compacts at a turn's end, without a confirmation.
    Unconfirmed,
}

/// The machine of a world: the real one, or one with a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestedMachine(pub Option<Defect>);

impl TestedMachine {
    pub fn handle(
        self,
        machine: &Machine,
        input: Input,
        world: &SmallWorld,
        now: Timestamp,
    ) -> (Machine, Vec<Effect>) {
        let restarts = matches!(input, Input::Saw(Event::ThreadOpened(_)));
        let mut handling = match self.0 {
            Some(defect) if restarts => Machine::new(defect.at_restart(machine.thread())),
            _ => machine.clone(),
        };
        let policy = self.policy(world);
        let rules = Rules { policy: &policy, prompts: &world.prompts, notes_exist: false };
        // A refusal leaves the machine unchanged.
        let effects = handling.handle(input, &rules, now).unwrap_or_default();
        let Some(defect) = self.0 else { return (handling, effects) };
        let broken = defect.after(machine.thread(), handling.thread());
        let mut broken = Machine::new(broken);
        // The machine continues with the tampered state.
        let more = broken.handle(Input::Tick, &rules, NOW).unwrap_or_default();
        (broken, effects.into_iter().chain(more).collect())
    }

    pub fn next_deadline(self, machine: &Machine, world: &SmallWorld) -> Option<Timestamp> {
        machine.next_deadline(&world.policy).filter(|_| self.0 != Some(Defect::NoDeadlines))
    }

    fn policy(self, world: &SmallWorld) -> Policy {
        let mut policy = world.policy.clone();
        match self.0 {
            Some(Defect::AsksInAnEmergency) => {
                policy.tiers.emergency.percent_remaining_lt = 0;
            }
            Some(Defect::Unconfirmed) => policy.tiers.asap.confirm = ConfirmRule::None,
            _ => {}
        }
        policy
    }
}

impl Defect {
    fn at_restart(self, thread: &Thread) -> Thread {
        let mut thread = thread.clone();
        match self {
            Self::NewNamesAfterARestart => {
                let open = thread.pending_actions().map(|issued| issued.id.clone());
                open.collect::<Vec<_>>().iter().for_each(|id| rename(&mut thread, id));
            }
            Self::ActsAfterTheEnd => {
                let ended = |progress: &Progress| *progress == Progress::Withdrawn;
                for issued in thread.actions.iter_mut().filter(|issued| ended(&issued.progress)) {
                    issued.progress = Progress::Issued;
                }
            }
            _ => {}
        }
        thread
    }

    fn after(self, before: &Thread, after: &Thread) -> Thread {
        let mut thread = after.clone();
        match self {
            Self::KeepsBoundaries => {
                for mark in &mut thread.boundaries {
                    (mark.spent_by, mark.assessed) = (None, false);
                }
            }
            Self::DeliversTwice => {
                let gone =
                    |held: &&WaitingInput| !after.held.iter().any(|other| other.id == held.id);
                for held in before.held.iter().filter(gone) {
                    let again = WaitingInput { action: None, ..held.clone() };
                    thread.held.push_front(again);
                }
            }
            Self::ForgetsWhoseTurn => {
                for turn in &mut thread.turns {
                    turn.origin = TurnOrigin::User;
                }
            }
            Self::OwesNothing => thread.handoffs.late = None,
            Self::HandsOffAtOnce => {
                if let Stage::Running(sequence) = &mut thread.stage
                    && sequence.packet.is_some()
                    && !matches!(sequence.step, Step::HandingOff { .. })
                {
                    sequence.step = Step::HandingOff { rewrite: Rewrite::Unasked, action: None };
                }
            }
            _ => {}
        }
        thread
    }
}

fn rename(thread: &mut Thread, id: &ActionId) {
    let new = ActionId::new(format!("{id}'"));
    let change = |known: &mut ActionId| {
        if known == id {
            *known = new.clone();
        }
    };
    thread.actions.iter_mut().for_each(|issued| change(&mut issued.id));
    thread.held.iter_mut().filter_map(|held| held.action.as_mut()).for_each(change);
    let Stage::Running(sequence) = &mut thread.stage else { return };
    sequence.current.iter_mut().for_each(change);
    match &mut sequence.step {
        Step::Compacting { action, .. } => change(action),
        Step::HandingOff { rewrite, action } => {
            action.iter_mut().for_each(change);
            if let Rewrite::Asked(compact) | Rewrite::Unconfirmed(compact) = rewrite {
                change(compact);
            }
        }
        Step::Approval | Step::Preparing | Step::CalledOff { .. } | Step::Overtaken => {}
    }
}
