//! Machines that are broken on purpose: the sound one, with something wrong done to what it remembers or is told. They
//! show that a defect of their kind would be found.

use crate::model_check::same::NOW;
use crate::model_check::worlds::World;
use rawr_core::event::Origin;
use rawr_core::policy::Policy;
use rawr_core::thread::{HeldInput, Progress};
use rawr_core::units::{ActionId, Timestamp};
use rawr_core::{Effect, Event, Input, Machine, Rules, Thread};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// After a restart it asks for what it owes under new names.
    NewNamesAfterARestart,
    KeepsBoundaries,
    /// A message that was delivered is given out once more.
    DeliversTwice,
    /// It knows no emergencies, so that the judge has the last word.
    AsksInAnEmergency,
    NoDeadlines,
    /// A turn that belongs to a sequence is a turn like any other.
    ForgetsWhoseTurn,
    /// What its sequence ended without is asked for again after a restart.
    ActsAfterTheEnd,
    /// Its handoff does not wait for the compaction.
    HandsOffAtOnce,
    /// What it owes after a compaction that it did not ask for is forgotten.
    OwesNothing,
}

/// The machine of a world: the sound one, or a broken copy of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rawr(pub Option<Defect>);

impl Rawr {
    pub fn handle(
        self,
        machine: &Machine,
        input: Input,
        world: &World,
        now: Timestamp,
    ) -> (Machine, Vec<Effect>) {
        let restarts = matches!(input, Input::Saw(Event::ThreadOpened(_)));
        let mut handling = match self.0 {
            Some(defect) if restarts => Machine::new(defect.at_restart(machine.thread())),
            _ => machine.clone(),
        };
        let policy = self.policy(world);
        let rules = Rules { policy: &policy, prompts: &world.prompts };
        // A refusal leaves the machine as it was.
        let effects = handling.handle(input, &rules, now).unwrap_or_default();
        let Some(defect) = self.0 else { return (handling, effects) };
        let broken = defect.after(machine.thread(), handling.thread());
        let mut broken = Machine::new(broken);
        // It goes on from what it remembers now.
        let more = broken.handle(Input::Tick, &rules, NOW).unwrap_or_default();
        (broken, effects.into_iter().chain(more).collect())
    }

    pub fn next_deadline(self, machine: &Machine, world: &World) -> Option<Timestamp> {
        machine.next_deadline(&world.policy).filter(|_| self.0 != Some(Defect::NoDeadlines))
    }

    fn policy(self, world: &World) -> Policy {
        let mut policy = world.policy.clone();
        if self.0 == Some(Defect::AsksInAnEmergency) {
            policy.tiers.emergency.percent_remaining_lt = 0;
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
                let gone = |held: &&HeldInput| !after.held.iter().any(|other| other.id == held.id);
                for held in before.held.iter().filter(gone) {
                    let again = HeldInput { action: None, ..held.clone() };
                    thread.held.push_front(again);
                }
            }
            Self::ForgetsWhoseTurn => {
                for turn in &mut thread.turns {
                    turn.origin = Origin::User;
                }
            }
            Self::OwesNothing => thread.late_handoff = None,
            Self::HandsOffAtOnce => {
                if let Some(sequence) = &mut thread.sequence
                    && sequence.packet.is_some()
                {
                    sequence.compaction = rawr_core::thread::sequence::CompactionSeen::Completed;
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
    if let Some(sequence) = &mut thread.sequence {
        let known = [&mut sequence.current, &mut sequence.compact, &mut sequence.handoff];
        known.into_iter().flatten().for_each(change);
    }
}
