//! Folds decisions, judgments and people's answers.

use super::Thread;
use crate::event::{
    Assessed, DecisionEntrance, DecisionOutcome, HostAction, JudgeReply, JudgeSource,
    JudgmentAnswered, Responded, Trigger, UserChoice,
};
use crate::thread::fate::Fate;
use crate::thread::{Answered, Judging, Progress, Starting, Turn};
use crate::units::{Timestamp, Tokens};

impl Thread {
    pub(super) fn assessed(&mut self, assessed: &Assessed, at: Timestamp, v: u16) {
        self.decisions += 1;
        // A person who asked during a turn gets a decision of their own after it.
        let asked_by_person =
            assessed.entrance == DecisionEntrance::TurnComplete && assessed.turn.is_none();
        let after_closing = self.closing().is_some();
        let starts = matches!(assessed.outcome, DecisionOutcome::Compact | DecisionOutcome::Ask);
        self.asked_for &= v > 1 && !asked_by_person && !starts;
        self.unassessed = None;
        self.deferred = None;
        self.idle = false;
        self.drop_question();
        self.last_assessed = Some(assessed.clone());
        let fate = match &assessed.dropped {
            Some(why) => Fate::Dropped { why: why.clone() },
            None => Fate::Overtaken { by: assessed.decision.clone() },
        };
        self.settle_waiting(&fate, at);
        let follows = match assessed.outcome {
            DecisionOutcome::Compact | DecisionOutcome::Ask | DecisionOutcome::Judge => true,
            DecisionOutcome::Defer => assessed.entrance == DecisionEntrance::Preflight,
            DecisionOutcome::Nothing | DecisionOutcome::Tag | DecisionOutcome::Suggest => false,
        };
        if follows {
            self.awaits_fate(&assessed.decision, at);
        }
        if assessed.entrance == DecisionEntrance::MidTurn {
            self.mid_turn_tier = self.mid_turn_tier.max(assessed.tier);
        }
        let for_input = match assessed.entrance {
            DecisionEntrance::Preflight => {
                assessed.outcome != DecisionOutcome::Defer || assessed.after_turn
            }
            DecisionEntrance::Inline => assessed.turn.is_none(),
            DecisionEntrance::TurnComplete | DecisionEntrance::MidTurn => false,
        };
        if let Some(held) = self.held.front_mut().filter(|_| for_input) {
            held.assessed = true;
        }
        match assessed.outcome {
            DecisionOutcome::Compact | DecisionOutcome::Ask => {
                self.starting = Some(Starting { after_closing, ..self.starting_of(assessed) });
            }
            DecisionOutcome::Judge => {
                self.judging = Some(Judging {
                    request: Self::request_id(&assessed.decision),
                    asked_by: assessed.clone(),
                    since: at,
                    action: None,
                    answer: None,
                });
            }
            DecisionOutcome::Defer if assessed.entrance == DecisionEntrance::Preflight => {
                self.deferred = Some(assessed.clone());
                self.deferred_since = at;
            }
            DecisionOutcome::Nothing
                if assessed.entrance == DecisionEntrance::MidTurn && !assessed.vetoed => {}
            DecisionOutcome::Defer
            | DecisionOutcome::Nothing
            | DecisionOutcome::Tag
            | DecisionOutcome::Suggest => {
                // The end of a sequence's own turn leaves the marks of other turns alone.
                let turn = assessed.turn.as_ref().and_then(|turn| self.turn(turn));
                if !turn.is_none_or(Turn::is_synthetic) && self.sequence.is_none() {
                    self.leave_boundaries_behind(assessed.turn.as_ref(), v);
                }
            }
        }
    }

    pub(crate) fn starting_of(&self, assessed: &Assessed) -> Starting {
        let trigger = match (assessed.turn.as_ref(), assessed.tier, assessed.percent) {
            (_, _, Some(percent)) if assessed.entrance == DecisionEntrance::Inline => {
                Trigger::Inline { percent }
            }
            (Some(_), Some(tier), Some(percent)) => Trigger::Rawr {
                entrance: assessed.entrance,
                tier,
                percent,
                boundaries: assessed.boundaries,
            },
            _ => Trigger::User,
        };
        let turn = assessed.turn.clone().filter(|turn| self.is_in_turn(turn));
        let needs_approval = assessed.outcome == DecisionOutcome::Ask;
        Starting { trigger, turn, needs_approval, after_closing: false }
    }

    pub(super) fn judgment_answered(&mut self, answered: &JudgmentAnswered) {
        if let Some(usage) = answered.usage {
            let sum = &mut self.judged.usage;
            sum.input = Tokens(sum.input.0.saturating_add(usage.input.0));
            sum.output = Tokens(sum.output.0.saturating_add(usage.output.0));
        }
        if !answered.rate_limits.is_empty() {
            self.judged.rate_limits.clone_from(&answered.rate_limits);
        }
        self.judge_said(answered.source, answered.answer.clone());
    }

    pub(super) fn judge_failed(&mut self, error: &str) {
        let action = self.judging.as_ref().and_then(|judging| judging.action.as_ref());
        let by = match action.and_then(|action| self.action(action)).map(|issued| &issued.kind) {
            Some(HostAction::Judge { by, .. }) => *by,
            _ => JudgeSource::Host,
        };
        self.judge_said(by, JudgeReply::Failed { error: error.to_owned() });
    }

    pub(super) fn judge_said(&mut self, source: JudgeSource, answer: JudgeReply) {
        self.judged.failures += u32::from(matches!(answer, JudgeReply::Failed { .. }));
        let Some(judging) = &mut self.judging else { return };
        judging.answer.get_or_insert((source, answer));
        if let Some(action) = judging.action.clone() {
            self.progressed(&action, Progress::Completed(None));
        }
    }

    /// The occasion that the judge was asked about has passed.
    pub(super) fn drop_question(&mut self) {
        if let Some(action) = self.judging.take().and_then(|judging| judging.action) {
            self.progressed(&action, Progress::Withdrawn);
        }
    }

    pub(super) fn responded(&mut self, responded: &Responded, at: Timestamp, v: u16) {
        if let Some(sequence) = &mut self.sequence {
            sequence.responded(responded, at);
            let (sequence, choice, by) =
                (sequence.id.clone(), responded.choice, responded.by.clone());
            self.answered = Some(Answered { sequence, choice, by });
            return;
        }
        if let Some(why) = responded.choice.stops() {
            let (by, why) = (responded.by.clone(), why.to_owned());
            self.settle_waiting(&Fate::CalledOff { by, why }, at);
            self.drop_question();
            self.deferred = None;
            self.leave_boundaries_behind(None, v);
        } else {
            self.asked_for |=
                matches!(responded.choice, UserChoice::CompactNow | UserChoice::Approve);
        }
    }
}
