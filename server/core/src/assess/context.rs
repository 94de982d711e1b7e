//! The state that a decision is made of, and what the gates ask of it.

use super::confirmation::{Confirmation, TurnEvidence};
use super::{AppliesTo, Check, GateFinding, Inline, Judgment, Lift, NOT_INLINE, Question, judge};
use crate::boundary::{Boundaries, Boundary};
use crate::event::{Assessed, JudgeReply, JudgmentSource, TurnStatus};
use crate::judgment;
use crate::policy::{ConfirmRule, Mode, Policy, Silence, Tier, TierRule};
use crate::signal::message;
use crate::thread::{Overflowed, Thread, Turn};
use crate::units::{DecisionId, Percent, Timestamp};
use crate::words::Probability;

/// What the gates look at.
pub(super) struct GateContext<'c> {
    pub(super) thread: &'c Thread,
    pub(super) policy: &'c Policy,
    pub(super) question: Question<'c>,
    pub(super) turn: Option<&'c Turn>,
    /// The model refused the turn's last request as too long.
    pub(super) overflows: Option<&'c Overflowed>,
    pub(super) judgment: Option<Judgment>,
    /// What the next message says of the proposal.
    pub(super) confirmed: Option<Confirmation>,
    /// What the turn says of its own proposal, where something happened in it that may confirm by itself.
    pub(super) turn_evidence: Option<TurnEvidence>,
    pub(super) percent: Option<Percent>,
    pub(super) tier: Option<Tier>,
    /// The boundaries that count here.
    pub(super) counting: Boundaries,
    pub(super) now: Timestamp,
}

impl<'c> GateContext<'c> {
    pub(super) fn new(
        thread: &'c Thread,
        policy: &'c Policy,
        question: Question<'c>,
        now: Timestamp,
    ) -> Self {
        let overflows =
            thread.gauge.overflowed.as_ref().filter(|of| question.is_about_end_of(&of.turn));
        let percent = match question {
            // Whatever the numbers say.
            _ if overflows.is_some() => Some(Percent(0)),
            Question::Inline(Inline::BeforeInput(more)) => {
                thread.percent_remaining_with(more, policy)
            }
            _ => thread.percent_remaining(policy),
        };
        let inline = matches!(question, Question::Inline(_));
        let tier = match overflows {
            Some(_) => Some(Tier::Emergency),
            None => percent.and_then(|percent| thread.tier_at(percent, &policy.tiers)),
        };
        let tier = tier.filter(|_| !inline);
        let mut case = Self {
            thread,
            policy,
            question,
            turn: question.turn().and_then(|id| thread.turn(id)),
            overflows,
            judgment: None,
            confirmed: None,
            turn_evidence: None,
            percent,
            tier,
            counting: Boundaries::NONE,
            now,
        };
        case.counting = case.boundaries_that_count();
        case.confirmed = case.next_message();
        case.turn_evidence = case.turn_evidence();
        case.judgment = case.judgment();
        case
    }

    /// What the gate finds, unless it does not apply.
    pub(super) fn finding(&self, applies_to: AppliesTo, check: Check) -> GateFinding {
        let skips = self.is_inline() && applies_to == AppliesTo::Tiers;
        if skips { NOT_INLINE } else { check(self) }
    }

    pub(super) fn lifts(&self, lift: Lift) -> bool {
        match self.question {
            Question::Person => lift != Lift::Nothing,
            _ => lift == Lift::PersonOrEmergency && self.tier == Some(Tier::Emergency),
        }
    }

    pub(super) fn rule(&self) -> Option<(Tier, &'c TierRule)> {
        self.tier.map(|tier| (tier, self.policy.tiers.rule(tier)))
    }

    pub(super) fn present(&self) -> Boundaries {
        let turn_complete = self
            .turn
            .and_then(|turn| turn.end.as_ref())
            .is_some_and(|end| end.status == TurnStatus::Completed);
        let closed = self.closing().map_or(Boundaries::NONE, |closing| closing.boundaries);
        let set = self.thread.present(self.question.turn()).or(closed);
        if turn_complete { set.or(Boundaries::of(&[Boundary::TurnComplete])) } else { set }
    }

    pub(super) fn is_inline(&self) -> bool {
        matches!(self.question, Question::Inline(_))
    }

    /// The judge's answer: given earlier, or computed here by the heuristic.
    pub(super) fn judgment(&self) -> Option<Judgment> {
        let tier = self.tier.filter(|_| !self.is_inline())?;
        self.policy.tiers.rule(tier).decision_prompt_path.as_ref()?;
        if tier == Tier::Emergency || matches!(self.question, Question::Person) {
            return None;
        }
        if self.skips_judge() {
            return None;
        }
        if self.awaits_confirmation() || self.is_clear() {
            return None;
        }
        let by_itself = |source, answer| Some(Judgment { request: None, source, answer });
        match judge(self.policy, tier, self.thread) {
            None => None,
            Some(JudgmentSource::Heuristic) => {
                let case = judgment::JudgmentCase {
                    thread: self.thread,
                    tier,
                    percent: self.percent?,
                    boundaries: self.counting,
                    last_message: self.thread.known.last_message.as_deref(),
                    next_message: None,
                    excerpt: None,
                };
                by_itself(JudgmentSource::Heuristic, judgment::heuristic(&case))
            }
            Some(JudgmentSource::Host) if !self.thread.session.host.can.judge => {
                let error = "the host cannot judge".to_owned();
                by_itself(JudgmentSource::Host, JudgeReply::Failed { error })
            }
            Some(_) => {
                let judging = self.thread.judging()?;
                let (source, answer) = judging.answer.clone()?;
                Some(Judgment { request: Some(judging.request.clone()), source, answer })
            }
        }
    }

    /// What has to confirm a proposal of this turn. A host that cannot hold a message back lets only silence confirm. A
    /// person who has to compact by hand confirms by doing so.
    pub(super) fn confirm(&self) -> ConfirmRule {
        let Some((tier, rule)) = self.rule().filter(|_| !self.is_inline()) else {
            return ConfirmRule::None;
        };
        match rule.confirm {
            _ if tier == Tier::Emergency || self.question.is_inside_a_turn() => ConfirmRule::None,
            _ if self.thread.session.host.can.compact_by_person => ConfirmRule::None,
            ConfirmRule::Message | ConfirmRule::Either
                if !self.thread.can_compact_before_message() =>
            {
                ConfirmRule::Idle
            }
            confirm => confirm,
        }
    }

    /// The confirmed proposal whose compaction comes at the end of this turn.
    pub(super) fn closing(&self) -> Option<&'c Assessed> {
        self.thread.closing().filter(|_| matches!(self.question, Question::TurnEnd(_)))
    }

    /// The message confirms by closing the work, and is carried out before the compaction.
    pub(super) fn closes_first(&self) -> bool {
        let Question::Preflight { message, .. } = self.question else { return false };
        self.policy.closing_first && self.confirmed.as_ref().is_some_and(|of| of.closes(message))
    }

    /// The proposal that this confirms or drops.
    pub(super) fn proposal(&self) -> Option<DecisionId> {
        let answers = self.closing().is_some()
            || matches!(
                self.question,
                Question::Preflight { .. } | Question::Silence(_) | Question::Person
            );
        self.thread
            .proposal()
            .filter(|_| answers)
            .map(|proposed| proposed.assessed.decision.clone())
    }

    /// How likely a phase must have ended for the next message to confirm.
    pub(super) fn needed(&self) -> Probability {
        let percent = self.rule().map_or(100, |(_, rule)| rule.confirm_percent);
        Probability::of_percent(percent)
    }

    /// The silence that would confirm a proposal.
    pub(super) fn silence(&self) -> Silence {
        self.policy.silence(self.thread.session.host.can.cache_seconds)
    }

    /// The end of a turn only proposes, unless the turn confirms itself.
    pub(super) fn awaits_confirmation(&self) -> bool {
        matches!(self.question, Question::TurnEnd(_))
            && self.confirm() != ConfirmRule::None
            && self.confirms_itself().is_none()
    }

    /// What confirms the proposal of this turn without waiting.
    pub(super) fn confirms_itself(&self) -> Option<&TurnEvidence> {
        self.turn_evidence.as_ref().filter(|of| of.objection.is_none())
    }

    /// Whether a judge other than the heuristic answers at this tier.
    pub(super) fn asks_judge(&self, tier: Tier) -> bool {
        let by = judge(self.policy, tier, self.thread);
        self.policy.tiers.rule(tier).decision_prompt_path.is_some()
            && by.is_some_and(|by| by != JudgmentSource::Heuristic)
    }

    /// The next message, or what happened in the turn, leaves no doubt, so the judge is not asked.
    pub(super) fn is_clear(&self) -> bool {
        self.confirmed
            .as_ref()
            .is_some_and(|of| of.by_facts.is_some() || !self.policy.is_unclear(of.ended))
            || self.confirms_itself().is_some_and(TurnEvidence::is_certain)
    }

    /// No model is paid for an answer where `mode` compacts nothing.
    pub(super) fn skips_judge(&self) -> bool {
        let by = self.tier.and_then(|tier| judge(self.policy, tier, self.thread));
        let is_free = by == Some(JudgmentSource::Heuristic);
        !self.compacts()
            && !self.question.is_inside_a_turn()
            && !is_free
            && !self.policy.judge_for_advice
    }

    /// A turn that completed may propose without a boundary where the next message decides: what the agent's words leave
    /// open is settled by it or by the judge.
    fn boundaries_that_count(&self) -> Boundaries {
        let Some((tier, rule)) = self.rule() else { return Boundaries::NONE };
        let confirm = self.confirm();
        let counting = self.present().and(rule.counting_with(confirm, tier));
        let may_propose = || {
            confirm.by_message() && self.asks_judge(tier)
                || confirm == ConfirmRule::Message
                    && rule.required.is_none()
                    && self.may_have_ended()
        };
        // A plan boundary alone may not be enough.
        if counting.without(Boundaries::PLAN).is_empty() && may_propose() {
            let turn_complete = Boundaries::of(&[Boundary::TurnComplete]);
            return counting.or(self.present().and(turn_complete));
        }
        counting
    }

    fn may_have_ended(&self) -> bool {
        let end = self.turn.and_then(|turn| turn.end.as_ref());
        let message = end.and_then(|end| end.message.as_deref());
        message.is_some_and(|text| message::may_have_ended(text, &self.policy.phrases))
    }

    /// Whether `mode` compacts, and does not only advise.
    pub(super) fn compacts(&self) -> bool {
        matches!(self.policy.mode, Mode::Auto | Mode::Ask)
    }
}
