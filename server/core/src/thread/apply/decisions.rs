//! Folds decisions, judgments and people's answers.

use super::Thread;
use crate::event::{
    Assessed, Choice, EVERY_COMPACTION_HANDS_OVER, Entrance, HostAction, JudgeReply,
    JudgmentAnswered, JudgmentSource, Outcome, Responded, SequenceStarted, Trigger,
};
use crate::thread::fate::Fate;
use crate::thread::sequence::Sequence;
use crate::thread::{Answered, Deferred, Judging, Progress, Proposed, Stage, Starting, Turn};
use crate::units::{ActionId, Timestamp, Tokens};

impl Thread {
    pub(super) fn assessed(&mut self, assessed: &Assessed, at: Timestamp, v: u16) {
        self.counts.decisions += 1;
        // A person who asked during a turn gets a decision of their own after it.
        let asked_by_person =
            assessed.entrance == Entrance::TurnComplete && assessed.turn.is_none();
        let starts = matches!(assessed.outcome, Outcome::Compact | Outcome::Ask);
        self.asked_at = self.asked_at.filter(|_| v > 1 && !asked_by_person && !starts);
        self.unassessed = None;
        self.decided.last = Some(assessed.clone());
        let is_mid_turn = assessed.entrance == Entrance::MidTurn;
        let nothing_yet = is_mid_turn && assessed.outcome == Outcome::Nothing && !assessed.vetoed;
        if is_mid_turn {
            self.mid_turn_tier = self.mid_turn_tier.max(assessed.tier);
        }
        // The turn that closes the work goes on, and its end decides.
        if nothing_yet && self.closing().is_some() {
            return;
        }
        let fate = match &assessed.dropped {
            Some(why) => Fate::Dropped { why: why.clone() },
            None => Fate::Overtaken { by: assessed.decision.clone() },
        };
        self.settle_waiting(&fate, at);
        let follows = match assessed.outcome {
            Outcome::Compact | Outcome::Ask | Outcome::Judge => true,
            Outcome::Defer => assessed.entrance == Entrance::Preflight,
            Outcome::Nothing | Outcome::Tag | Outcome::Suggest => false,
        };
        if follows {
            self.awaits_fate(&assessed.decision, at);
        }
        let for_input = match assessed.entrance {
            Entrance::Preflight => assessed.outcome != Outcome::Defer || assessed.after_turn,
            Entrance::Inline => assessed.turn.is_none(),
            Entrance::TurnComplete | Entrance::MidTurn => false,
        };
        if let Some(held) = self.held.front_mut().filter(|_| for_input) {
            held.assessed = true;
        }
        self.enter_decided(assessed, at);
        if !follows && !nothing_yet {
            // The end of a sequence's own turn leaves the marks of other turns alone.
            let turn = assessed.turn.as_ref().and_then(|turn| self.turn(turn));
            if !turn.is_none_or(Turn::is_synthetic) && self.sequence().is_none() {
                self.leave_boundaries_behind(assessed.turn.as_ref(), v);
            }
        }
    }

    /// Enters the stage that a decision leads to, with the sample that may have been asked for ahead of time. A running
    /// sequence goes on, and one that is about to start starts, unless another decision starts one.
    fn enter_decided(&mut self, assessed: &Assessed, at: Timestamp) {
        match &mut self.stage {
            Stage::Running(sequence) => {
                sequence.occasion.closes_later = None;
                return;
            }
            Stage::Starting(_) if !matches!(assessed.outcome, Outcome::Compact | Outcome::Ask) => {
                return;
            }
            _ => {}
        }
        let closing = self.closing().map(|closing| closing.decision.clone());
        let draft = self.leave_stage();
        let assessed = assessed.clone();
        self.stage = match assessed.outcome {
            Outcome::Compact | Outcome::Ask => {
                Stage::Starting(Starting { closing, draft, ..self.starting_of(&assessed) })
            }
            Outcome::Judge => Stage::Judging(Judging {
                request: Self::request_id(&assessed.decision),
                asked_by: assessed,
                since: at,
                action: None,
                answer: None,
                draft,
            }),
            Outcome::Defer if assessed.entrance == Entrance::Preflight => match assessed.confirm {
                Some(confirm) => Stage::Proposed(Proposed {
                    assessed,
                    confirm,
                    since: at,
                    confirmed_at: None,
                    draft,
                }),
                None => Stage::Deferred(Deferred { assessed, since: at, draft }),
            },
            Outcome::Defer | Outcome::Nothing | Outcome::Tag | Outcome::Suggest => {
                self.withdraw_draft(draft);
                Stage::Idle
            }
        };
    }

    /// Leaves the stage, and returns the sample that was asked for ahead of time. The judge need not answer any more.
    fn leave_stage(&mut self) -> Option<ActionId> {
        let mut left = std::mem::take(&mut self.stage);
        if let Stage::Judging(Judging { action: Some(action), .. }) = &left {
            self.progressed(action, Progress::Withdrawn);
        }
        left.draft_mut().and_then(Option::take)
    }

    /// Nothing follows any more from what was proposed or asked of the judge.
    pub(super) fn end_waiting(&mut self) {
        match self.stage {
            Stage::Judging(_) | Stage::Deferred(_) | Stage::Proposed(_) => {
                let draft = self.leave_stage();
                self.withdraw_draft(draft);
            }
            Stage::Idle | Stage::Starting(_) | Stage::Running(_) => {}
        }
    }

    /// The occasion that the judge was asked about has passed.
    pub(super) fn drop_question(&mut self) {
        if let Stage::Judging(_) = self.stage {
            self.end_waiting();
        }
    }

    pub(super) fn sequence_started(&mut self, started: &SequenceStarted, at: Timestamp, v: u16) {
        self.counts.sequences += 1;
        if let Some(overflowed) = self.gauge.overflowed.as_mut().filter(|_| started.recovers) {
            overflowed.tried = true;
        }
        self.handoffs.unclosed &= !started.only_tells();
        // A sequence that only tells uses up no boundary.
        if !started.only_tells() || v < EVERY_COMPACTION_HANDS_OVER {
            self.spend_boundaries(&started.sequence, v);
        }
        let mut sequence = Sequence::new(started, at);
        match &self.stage {
            _ if !started.only_tells() => {
                // What a person asked for while it was about to start is this.
                self.asked_at = None;
                self.fate_runs(&started.sequence, at);
            }
            Stage::Proposed(proposed) if proposed.assessed.after_turn => {
                let proposed = Proposed { draft: None, ..proposed.clone() };
                sequence.occasion.closes_later = Some(Box::new(proposed));
            }
            _ => {
                let why = "the agent was told of an earlier compaction first".to_owned();
                self.settle_waiting(&Fate::Dropped { why }, at);
            }
        }
        if let Stage::Starting(starting) = &self.stage {
            sequence.occasion.closing.clone_from(&starting.closing);
        }
        let confirming = self.held.front().filter(|_| !started.only_tells());
        sequence.occasion.message = confirming.map(|held| held.id.clone());
        let draft = self.leave_stage();
        match &started.draft {
            Some(draft) => {
                sequence.adopt(draft);
                self.decided.drafts.used += 1;
            }
            None => self.withdraw_draft(draft),
        }
        self.stage = Stage::Running(Box::new(sequence));
        // Any other sequence may end before it compacts. The handoff stays due until then.
        let hands_over = started.late.is_some();
        if hands_over || v < EVERY_COMPACTION_HANDS_OVER {
            self.handoffs.late = None;
            self.handoffs.compacted_in = None;
            if std::mem::take(&mut self.known.outdated) && hands_over {
                self.known.compacted(v);
            }
        }
    }

    pub(crate) fn starting_of(&self, assessed: &Assessed) -> Starting {
        let trigger = match (assessed.turn.as_ref(), assessed.tier, assessed.percent) {
            (_, _, Some(percent)) if assessed.entrance == Entrance::Inline => {
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
        let needs_approval = assessed.outcome == Outcome::Ask;
        Starting { trigger, turn, needs_approval, closing: None, draft: None }
    }

    pub(super) fn judgment_answered(&mut self, answered: &JudgmentAnswered) {
        if let Some(usage) = answered.usage {
            let sum = &mut self.decided.judged.usage;
            sum.input = Tokens(sum.input.0.saturating_add(usage.input.0));
            sum.output = Tokens(sum.output.0.saturating_add(usage.output.0));
        }
        if !answered.rate_limits.is_empty() {
            self.decided.judged.rate_limits.clone_from(&answered.rate_limits);
        }
        self.judge_said(answered.source, answered.answer.clone());
    }

    pub(super) fn judge_failed(&mut self, error: &str) {
        let action = self.judging().and_then(|judging| judging.action.as_ref());
        let by = match action.and_then(|action| self.action(action)).map(|issued| &issued.kind) {
            Some(HostAction::Judge { by, .. }) => *by,
            _ => JudgmentSource::Host,
        };
        self.judge_said(by, JudgeReply::Failed { error: error.to_owned() });
    }

    pub(super) fn judge_said(&mut self, source: JudgmentSource, answer: JudgeReply) {
        self.decided.judged.failures += u32::from(matches!(answer, JudgeReply::Failed { .. }));
        let Some(judging) = self.judging_mut() else { return };
        judging.answer.get_or_insert((source, answer));
        if let Some(action) = judging.action.clone() {
            self.progressed(&action, Progress::Completed(None));
        }
    }

    pub(super) fn responded(&mut self, responded: &Responded, at: Timestamp, v: u16) {
        let shown = self.phase();
        if let Some(sequence) = self.sequence_mut() {
            sequence.responded(responded, shown, at);
            let (sequence, choice, by) =
                (sequence.id.clone(), responded.choice, responded.by.clone());
            self.answered = Some(Answered { sequence, choice, by });
            return;
        }
        match responded.choice {
            Choice::Snooze | Choice::Cancel => {
                let why = responded.choice.stops().unwrap_or_default().to_owned();
                self.settle_waiting(&Fate::CalledOff { by: responded.by.clone(), why }, at);
                self.asked_at = None;
                self.end_waiting();
                self.leave_boundaries_behind(None, v);
            }
            Choice::CompactNow | Choice::Approve => {
                self.asked_at.get_or_insert(at);
            }
            Choice::EditPacket => {}
        }
    }
}
