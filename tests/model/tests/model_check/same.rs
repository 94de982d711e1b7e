//! When two threads count as the same state: counters, history and display data are ignored, so that a small world has
//! few states. Everything else is kept, so that a new field of a thread can only add states.

use crate::explore::Hashed;
use rawr_core::Machine;
use rawr_core::event::GuardEnd;
use rawr_core::policy::{JudgeBackend, Policy};
use rawr_core::thread::{Judged, Stage};
use rawr_core::units::Timestamp;
use std::rc::Rc;

/// A world has no clock: the time is constant, and waiting means that the next deadline is now. That is sound because
/// the core only asks whether the next deadline has passed, and there is one at a time; [`is_timeless`] excludes the
/// other two uses of time.
pub const NOW: Timestamp = Timestamp(0);

pub fn is_timeless(policy: &Policy) -> bool {
    policy.cooldown_seconds == 0
}

/// A machine that represents all equivalent ones.
pub type KnownMachine = Hashed<Machine>;

pub fn normalised(machine: &Machine, policy: &Policy) -> Rc<KnownMachine> {
    let mut thread = machine.thread().clone();
    thread.updated_at = NOW;
    let given_up = thread.compactions.given_up.as_mut().and_then(|of| of.wait.since_mut());
    thread.stage.since_mut().into_iter().chain(given_up).for_each(|since| *since = NOW);
    for known in
        [&mut thread.silent_since, &mut thread.asked_at, &mut thread.compactions.running_since]
    {
        *known = known.map(|_| NOW);
    }
    if let Stage::Proposed(proposed) = &mut thread.stage {
        proposed.confirmed_at = proposed.confirmed_at.map(|_| NOW);
    }
    thread.actions.iter_mut().for_each(|issued| issued.issued_at = NOW);
    thread.compactions.last.iter_mut().for_each(|last| last.at = NOW);
    for guard in &mut thread.guards {
        assert!(!matches!(guard.until, GuardEnd::Minutes(_)), "a world has no clock");
        guard.set_at = NOW;
    }
    // Only displayed; no decision depends on it.
    thread.decided.last = None;
    thread.answered = None;
    thread.decided.judged = Judged::default();
    thread.compactions.earlier.clear();
    thread.decided.fates.clear();
    if thread.owed_packet().is_none() {
        thread.handoffs.last_packet = None;
    }
    // Quoted in prompts and packets, which are empty here. Only its presence matters.
    thread.known.milestones.truncate(1);
    thread.known.said.clear();
    thread.known.moves.clear();
    thread.known.asked.clear();
    thread.known.failed_commands.clear();
    thread.known.unchecked_files.clear();
    // Part of the id of a question to the judge; without a judge it does not matter.
    if !asks(policy) {
        thread.counts.decisions = 0;
    }
    Rc::new(Hashed::new(Machine::new(thread)))
}

fn asks(policy: &Policy) -> bool {
    !matches!(policy.judge, JudgeBackend::Off | JudgeBackend::Heuristic)
}
