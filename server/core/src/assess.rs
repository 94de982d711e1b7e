//! The decision: named gates in order, each with its evidence. The same record explains "why" and "why not". The checks
//! are in `gates`.

mod confirmation;
mod context;
mod decision;
mod gates;
mod names;
mod question;
mod under;

pub use decision::{DecisionRecord, Judgment};
pub use question::{Inline, Question};

use context::GateContext;

use crate::boundary::Boundaries;
use crate::event::{Entrance, JudgeReply, JudgmentSource, Outcome};
use crate::policy::{ConfirmRule, JudgeBackend, Mode, Policy, Tier, TierRule};
use crate::thread::Thread;
use crate::units::{Percent, Timestamp};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A named check of a decision (docs/spec/decisions.md#gates). The serde names are stored in `decisions.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The configuration switches on what asks: rawr's own decisions, or the built-in compaction.
    Feature,
    /// Little enough of the context window is left.
    Pressure,
    /// The turn is one that may start a compaction, and no sequence or compaction runs.
    Origin,
    /// The host can do what is needed and is not in review mode.
    ModeOfHost,
    /// No guard is active.
    Guard,
    /// The compactions before this one helped.
    Breaker,
    /// Enough new tokens have come since the last compaction.
    Rearm,
    /// Enough turns and seconds have passed since the last compaction.
    Cooldown,
    /// A boundary that counts at this tier is present.
    Boundary,
    /// More than a plan update speaks for a compaction.
    WeakBoundary,
    /// A plan boundary comes with a semantic break, where the tier asks for one.
    SemanticBreak,
    /// No tool runs, and the turn completed.
    ActiveWork,
    /// There is something that a packet can carry over.
    PacketWorth,
    /// The next message or silence confirms that the phase has ended.
    Confirmation,
    /// The judge agrees.
    Judgment,
    /// `mode`, or `mid_turn` inside a turn, allows a compaction.
    Mode,
}

/// The result of one gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// The condition holds.
    Pass,
    /// The condition does not hold, and it counts.
    Fail,
    /// The condition does not hold, but an emergency or a person lifts the gate.
    Bypassed,
    /// The gate was not evaluated: another gate has to pass first, or it does not apply.
    NotReached,
}

/// A gate and what it found.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GateEvidence {
    pub gate: Gate,
    /// The gate's result.
    pub outcome: GateOutcome,
    /// What the gate saw, as one English fragment for people.
    pub evidence: String,
}

/// What lifts a gate that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lift {
    Nothing,
    Person,
    PersonOrEmergency,
}

/// Which compactions a gate applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AppliesTo {
    All,
    /// Not to the built-in compaction, which has no tiers and needs no boundary.
    Tiers,
}

type Check = fn(&GateContext<'_>) -> GateFinding;

type GateRule = (Gate, AppliesTo, Lift, Check);

/// In the order of evaluation. The first failure sets the outcome.
const GATES: [GateRule; 16] = [
    (Gate::Feature, AppliesTo::All, Lift::Nothing, gates::feature),
    (Gate::Pressure, AppliesTo::All, Lift::Person, gates::pressure),
    (Gate::Origin, AppliesTo::All, Lift::Nothing, gates::origin),
    (Gate::ModeOfHost, AppliesTo::All, Lift::Nothing, gates::mode_of_host),
    (Gate::Guard, AppliesTo::All, Lift::PersonOrEmergency, gates::guard),
    (Gate::Breaker, AppliesTo::All, Lift::PersonOrEmergency, gates::breaker),
    (Gate::Rearm, AppliesTo::All, Lift::Person, gates::rearm),
    (Gate::Cooldown, AppliesTo::Tiers, Lift::PersonOrEmergency, gates::cooldown),
    (Gate::Boundary, AppliesTo::Tiers, Lift::PersonOrEmergency, gates::boundary),
    (Gate::WeakBoundary, AppliesTo::Tiers, Lift::PersonOrEmergency, gates::weak_boundary),
    (Gate::SemanticBreak, AppliesTo::Tiers, Lift::PersonOrEmergency, gates::semantic_break),
    (Gate::ActiveWork, AppliesTo::Tiers, Lift::PersonOrEmergency, gates::active_work),
    (Gate::PacketWorth, AppliesTo::Tiers, Lift::PersonOrEmergency, gates::packet_worth),
    (Gate::Confirmation, AppliesTo::Tiers, Lift::PersonOrEmergency, gates::confirmation),
    (Gate::Judgment, AppliesTo::Tiers, Lift::PersonOrEmergency, gates::judgment),
    (Gate::Mode, AppliesTo::Tiers, Lift::Person, gates::mode),
];

enum GateFinding {
    Pass(Cow<'static, str>),
    Fail {
        evidence: String,
        would_fire_if: String,
    },
    /// Means nothing until another gate passes.
    NotReached(&'static str),
    /// A confirmation must come first.
    Wait {
        evidence: String,
        comes_if: String,
    },
    /// The judge must be asked first.
    Ask,
}

/// What [`DecisionRecord::is_nothing`] says of [`assess`] inside a turn, without the record that says why. Between two
/// requests of a turn that is nearly always so.
pub fn is_nothing(
    thread: &Thread,
    policy: &Policy,
    question: Question<'_>,
    now: Timestamp,
) -> bool {
    let case = GateContext::new(thread, policy, question, now);
    if case.judgment.as_ref().is_some_and(Judgment::is_against) {
        return false;
    }
    // Here every failure means that there is nothing to do, so their order is free. The last gate fails most often.
    let fails = |(_, applies_to, lift, check): &GateRule| {
        matches!(case.finding(*applies_to, *check), GateFinding::Fail { .. }) && !case.lifts(*lift)
    };
    GATES.iter().rev().any(fails)
}

/// Evaluates every gate and keeps every result: a failing gate does not hide the others.
pub fn assess(
    thread: &Thread,
    policy: &Policy,
    question: Question<'_>,
    now: Timestamp,
) -> DecisionRecord {
    let case = GateContext::new(thread, policy, question, now);
    let mut decision = DecisionRecord {
        id: thread.next_decision_id(),
        at: now,
        entrance: question.entrance(),
        turn: question.turn().cloned(),
        outcome: Outcome::Compact,
        tier: case.tier,
        percent: case.percent,
        tokens: thread.gauge.context,
        boundaries: case.counting,
        reason: String::new(),
        sequence: None,
        gates: Vec::with_capacity(GATES.len()),
        requests: Vec::new(),
        judgment: case.judgment.clone(),
        confirm: None,
        after_turn: false,
        proposal: case.proposal(),
        would_fire_if: Vec::new(),
    };
    let (mut asks, mut waits) = (false, None);
    for (gate, applies_to, lift, check) in GATES {
        let (outcome, evidence) = match case.finding(applies_to, check) {
            GateFinding::Wait { evidence, comes_if } => {
                waits = decision.would_fire_if.is_empty().then_some(comes_if);
                (GateOutcome::NotReached, evidence)
            }
            GateFinding::Ask => {
                asks = decision.would_fire_if.is_empty();
                let evidence = if asks { "the judge is asked" } else { "the judge is not asked" };
                (GateOutcome::NotReached, evidence.to_owned())
            }
            GateFinding::Pass(evidence) => (GateOutcome::Pass, evidence.into_owned()),
            GateFinding::NotReached(evidence) => (GateOutcome::NotReached, evidence.to_owned()),
            GateFinding::Fail { evidence, .. } if case.lifts(lift) => {
                (GateOutcome::Bypassed, evidence)
            }
            GateFinding::Fail { evidence, would_fire_if } => {
                if decision.would_fire_if.is_empty() {
                    decision.outcome = case.outcome_of_failure(gate);
                    decision.reason.clone_from(&evidence);
                }
                decision.would_fire_if.push(would_fire_if);
                (GateOutcome::Fail, evidence)
            }
        };
        decision.gates.push(GateEvidence { gate, outcome, evidence });
    }
    if asks {
        decision.outcome = Outcome::Judge;
        decision.reason = format!("{}; the judge is asked", case.reason());
        decision.would_fire_if = vec!["the judge says yes".to_owned()];
    } else if decision.outcome == Outcome::Compact {
        case.conclude(waits, &mut decision);
    } else if let Some(why) = decision.drops() {
        let proposed = thread.proposal().map_or(Boundaries::NONE, |of| of.assessed.boundaries);
        let proposed = proposed.labels();
        decision.reason = format!("proposed at {proposed}; dropped, because {why}");
    }
    decision
}

impl GateContext<'_> {
    /// Fills in the outcome after every gate passed, or only the confirmation is missing.
    fn conclude(&self, waits: Option<String>, decision: &mut DecisionRecord) {
        decision.reason = self.reason();
        if let Some(waits) = waits {
            let confirm = self.confirm();
            let decides = confirm.decides(self.silence());
            decision.outcome = Outcome::Defer;
            decision.entrance = Entrance::Preflight;
            decision.confirm = Some(confirm);
            decision.reason = format!("{}; {decides} decides", decision.reason);
            decision.would_fire_if = vec![waits];
            return;
        }
        if self.closes_first() {
            decision.outcome = Outcome::Defer;
            decision.entrance = Entrance::Preflight;
            decision.confirm = Some(self.confirm());
            decision.after_turn = true;
            decision.reason = format!(
                "{}; it is carried out first, and its turn's end compacts",
                decision.reason
            );
            decision.would_fire_if = vec!["the turn of that message completes".to_owned()];
            return;
        }
        let waits = |(tier, rule): (Tier, &TierRule)| {
            rule.waits_for_input(tier) && self.closing().is_none()
        };
        if matches!(self.question, Question::TurnEnd(_)) && self.rule().is_some_and(waits) {
            decision.outcome = Outcome::Defer;
            decision.entrance = Entrance::Preflight;
            decision.would_fire_if = vec!["the next message comes".to_owned()];
            return;
        }
        let person = matches!(self.question, Question::Person);
        if self.policy.mode == Mode::Ask
            && !person
            && !self.question.is_inside_a_turn()
            && !self.is_inline()
        {
            decision.outcome = Outcome::Ask;
        }
        decision.sequence = Some(self.thread.next_sequence_id());
    }

    fn outcome_of_failure(&self, gate: Gate) -> Outcome {
        let failed = |judgment: &Judgment| matches!(judgment.answer, JudgeReply::Failed { .. });
        match (gate, self.policy.mode) {
            (Gate::Mode, _) if self.question.is_inside_a_turn() => Outcome::Nothing,
            (Gate::Mode, Mode::Tag) => Outcome::Tag,
            (Gate::Mode, Mode::Suggest) => Outcome::Suggest,
            // Without an answer, the next message decides alone.
            (Gate::Judgment, _)
                if self.confirmed.is_none() && self.judgment.as_ref().is_some_and(failed) =>
            {
                Outcome::Defer
            }
            _ => Outcome::Nothing,
        }
    }

    /// What confirmed the proposal, for people.
    fn confirmed_by(&self) -> String {
        match (self.question, &self.confirmed) {
            (Question::TurnEnd(_), _) => {
                let evidence = self.confirms_itself().map(|by| format!("; {}", by.confirmed_by()));
                evidence.unwrap_or_default()
            }
            (Question::Preflight { .. }, Some(next)) => format!("; {}", next.confirms()),
            (Question::Silence(_), _) => {
                format!("; nothing was said for {}", self.silence())
            }
            _ => String::new(),
        }
    }

    fn reason(&self) -> String {
        let inside = if self.question.is_inside_a_turn() { ", inside the turn" } else { "" };
        match (self.question, self.rule(), self.percent) {
            _ if self.overflows.is_some() => gates::TOO_LONG.to_owned(),
            (Question::Person, ..) => "a person asked for it".to_owned(),
            (Question::Inline(_), _, Some(percent)) => {
                let threshold = Percent(self.policy.inline.threshold_percent);
                format!("{percent} left is below {threshold} (auto_compact){inside}")
            }
            (_, Some((tier, _)), Some(percent)) => {
                pressed(tier, percent, self.counting) + inside + &self.confirmed_by()
            }
            _ => String::new(),
        }
    }
}

/// Why a compaction comes, for people.
pub fn pressed(tier: Tier, percent: Percent, boundaries: Boundaries) -> String {
    match tier {
        Tier::Emergency => format!("{percent} left: emergency"),
        tier => format!("{percent} left ({tier}) at {}", boundaries.labels()),
    }
}

/// Who judges at this tier; `None` if no judge is used. Where a confirmation is needed, the heuristic knows no more than the
/// classifier of the next message.
pub fn judge(policy: &Policy, tier: Tier, thread: &Thread) -> Option<JudgmentSource> {
    match policy.judge {
        JudgeBackend::Off => None,
        JudgeBackend::Auto if thread.session.host.can.judge => Some(JudgmentSource::Host),
        JudgeBackend::Auto if policy.tiers.rule(tier).confirm != ConfirmRule::None => None,
        JudgeBackend::Auto | JudgeBackend::Heuristic => Some(JudgmentSource::Heuristic),
        JudgeBackend::Host => Some(JudgmentSource::Host),
        JudgeBackend::Responses => Some(JudgmentSource::Responses),
        JudgeBackend::Chat => Some(JudgmentSource::Chat),
    }
}

const NOT_INLINE: GateFinding =
    GateFinding::NotReached("does not apply to the built-in compaction");
