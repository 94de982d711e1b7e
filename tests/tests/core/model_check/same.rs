//! When two threads are the same to a model: what only counts, only looks back or is only shown is left out, so that a
//! small world is a small number of states. Everything else is kept, so that a new field of a thread can only add states.

use crate::model_check::explore::Named;
use rawr_core::Machine;
use rawr_core::event::Until;
use rawr_core::policy::{JudgeBackend, Policy};
use rawr_core::thread::Judged;
use rawr_core::units::Timestamp;
use std::rc::Rc;

/// A world has no clock: it is always now, and waiting means that the next deadline is now. That is sound because the
/// core asks of a time only whether the next deadline has passed, and there is one at a time; the other two uses of time
/// are ruled out by [`is_timeless`].
pub const NOW: Timestamp = Timestamp(0);

pub fn is_timeless(policy: &Policy) -> bool {
    policy.cooldown_seconds == 0
}

/// A machine that stands for all that are the same to a model.
pub type Known = Named<Machine>;

pub fn normalised(machine: &Machine, policy: &Policy) -> Rc<Known> {
    let mut thread = machine.thread().clone();
    thread.updated_at = NOW;
    thread.sequence.iter_mut().for_each(|sequence| sequence.since = NOW);
    thread.gave_up_on.iter_mut().for_each(|sequence| sequence.since = NOW);
    thread.judging.iter_mut().for_each(|judging| judging.since = NOW);
    thread.actions.iter_mut().for_each(|issued| issued.issued_at = NOW);
    thread.compaction_since = NOW;
    thread.last_compaction.iter_mut().for_each(|last| last.at = NOW);
    for guard in &mut thread.guards {
        assert!(!matches!(guard.until, Until::Minutes(_)), "a world has no clock");
        guard.set_at = NOW;
    }
    // Shown to people, read by nothing that decides.
    thread.last_assessed = None;
    thread.answered = None;
    thread.judged = Judged::default();
    thread.compactions.clear();
    thread.fates.clear();
    if thread.fresh_packet().is_none() {
        thread.last_packet = None;
    }
    // Quoted in prompts; a world's prompts quote nothing. Whether there is one counts.
    thread.known.milestones.truncate(1);
    thread.known.said.clear();
    thread.known.moves.clear();
    // The number in a judgment's id, which matters only if a judge is asked.
    if !asks(policy) {
        thread.decisions = 0;
    }
    Rc::new(Named::new(Machine::new(thread)))
}

fn asks(policy: &Policy) -> bool {
    !matches!(policy.judge, JudgeBackend::Off | JudgeBackend::Heuristic)
}
