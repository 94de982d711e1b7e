//! The banner of a thread, derived from its state alone, so that every client sees the same banner.

use super::{BannerStage, HeadsUpBanner, Machine};
use crate::assess;
use crate::boundary::Boundaries;
use crate::event::{Assessed, Entrance, Outcome, Phase, Trigger};
use crate::policy::Policy;
use crate::thread::sequence::{Aim, Sequence, Step};
use crate::thread::{Stage, Thread};

impl Machine {
    /// The banner that stands now: that of the running sequence, or the advice of the last assessment for as long as it
    /// holds.
    pub fn heads_up(&self, policy: &Policy) -> Option<HeadsUpBanner> {
        match self.thread.sequence() {
            Some(sequence) => self.of_sequence(sequence, policy),
            None => advice(&self.thread, standing_advice(&self.thread)?, policy),
        }
    }

    /// There is none where no person can answer: for the built-in compaction, for a handoff that comes after the
    /// compaction, and once it was called off.
    fn of_sequence(&self, sequence: &Sequence, policy: &Policy) -> Option<HeadsUpBanner> {
        let stage = match (sequence.aim, &sequence.step) {
            (Aim::HandOver | Aim::CallOff, _) | (_, Step::CalledOff { .. } | Step::Overtaken) => {
                return None;
            }
            _ if sequence.is_inline() => return None,
            (Aim::Compact | Aim::Recover, Step::Approval) => BannerStage::AwaitingApproval,
            (
                Aim::Compact | Aim::Recover,
                Step::Preparing | Step::Compacting { .. } | Step::HandingOff { .. },
            ) => BannerStage::WillCompact,
        };
        let (tier, percent, boundaries) = match &sequence.trigger {
            Trigger::Rawr { tier, percent, boundaries, .. } => {
                (Some(*tier), Some(*percent), *boundaries)
            }
            Trigger::Inline { .. } | Trigger::Host | Trigger::User => {
                (None, self.thread.percent_remaining(policy), Boundaries::NONE)
            }
        };
        Some(HeadsUpBanner {
            sequence: Some(sequence.id.clone()),
            stage,
            phase: sequence.phase(&self.thread),
            tier,
            percent,
            reason: sequence.trigger.reason(),
            boundaries,
            author: sequence.terms.author,
            deadline: self.next_deadline(policy).filter(|_| sequence.can_be_stopped()),
            answers: sequence.allowed_answers(),
        })
    }
}

/// What the last assessment advised, until a turn or a compaction follows, a person answers, or the judge is asked.
fn standing_advice(thread: &Thread) -> Option<&Assessed> {
    let assessed = match &thread.stage {
        Stage::Deferred(_) | Stage::Proposed(_) => return thread.stage.waiting(),
        Stage::Judging(_) | Stage::Starting(_) | Stage::Running(_) => return None,
        Stage::Idle => thread.decided.last.as_ref()?,
    };
    let last_turn = thread.turns.back().map(|turn| &turn.id);
    let has_ended = |turns_ended: u32| turns_ended < thread.turns_ended;
    let overtaken = assessed.turn.as_ref() != last_turn
        || thread.asked_at.is_some()
        || thread.compactions.running_since.is_some()
        || thread.compactions.last.as_ref().is_some_and(|last| !has_ended(last.turns_ended))
        // The assessment passed the gate of the guards: one that was set since is a person's answer.
        || thread.guards.iter().any(|guard| !has_ended(guard.set_at_turn));
    (!overtaken && assessed.outcome != Outcome::Defer).then_some(assessed)
}

/// The banner of an assessment that people hear of, though no sequence follows it.
pub(super) fn advice(
    thread: &Thread,
    assessed: &Assessed,
    policy: &Policy,
) -> Option<HeadsUpBanner> {
    let (stage, phase) = match (assessed.outcome, assessed.entrance) {
        (Outcome::Tag, _) => (BannerStage::Tagged, Phase::Idle),
        (Outcome::Suggest, _) => (BannerStage::Recommended, Phase::Idle),
        // A proposal is shown by the phase alone: it may come to nothing.
        (Outcome::Defer, Entrance::Preflight) if assessed.confirm.is_none() => {
            (BannerStage::Deferred, Phase::Deferred)
        }
        _ => return None,
    };
    Some(HeadsUpBanner {
        sequence: None,
        stage,
        phase,
        tier: assessed.tier,
        percent: assessed.percent,
        reason: assess::pressed(assessed.tier?, assessed.percent?, assessed.boundaries),
        boundaries: assessed.boundaries,
        author: policy.packet_author,
        deadline: None,
        answers: thread.stage.allowed_answers(),
    })
}
