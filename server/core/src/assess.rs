//! The decision: named gates in order, each with its evidence. The same record explains "why" and "why not". The checks
//! are in `gates`.

mod gates;
mod under;

use crate::boundary::{Boundaries, Boundary};
use crate::event::{Answer, Entrance, JudgeSource, Outcome, TurnStatus};
use crate::judgment;
use crate::policy::{JudgeBackend, Mode, Policy, Tier, TierRule};
use crate::thread::{Thread, Turn};
use crate::units::{DecisionId, Percent, RequestId, SequenceId, Timestamp, Tokens, TurnId};
use serde::{Deserialize, Serialize};

/// A named check of a decision (rule `4-arb.6-decision`). The serde names are stored in `decisions.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
pub struct GateResult {
    /// The gate.
    pub gate: Gate,
    /// Its result.
    pub outcome: GateOutcome,
    /// What the gate saw, as one English fragment for people.
    pub evidence: String,
}

/// A decision with everything that led to it. Stored in `decisions.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Decision {
    /// The id of this decision, unique in its thread.
    pub id: DecisionId,
    /// When it was made.
    pub at: Timestamp,
    /// Which entrance asked.
    pub entrance: Entrance,
    /// The turn that it is about; absent where a person asked, or before a message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn: Option<TurnId>,
    /// What follows.
    pub outcome: Outcome,
    /// The tier in force; absent above every tier and for the built-in compaction.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tier: Option<Tier>,
    /// Percent of the context window left; absent while the host has not reported usage.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub percent: Option<Percent>,
    /// The boundaries that count at this tier and are present.
    #[serde(default)]
    pub boundaries: Boundaries,
    /// Why the outcome is this one, for people.
    pub reason: String,
    /// The sequence that it starts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sequence: Option<SequenceId>,
    /// Every gate with its result, in the order of evaluation.
    pub gates: Vec<GateResult>,
    /// What the judge answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judgment: Option<Judgment>,
    /// What would have to change for a compaction, for people.
    #[serde(default)]
    pub would_fire_if: Vec<String>,
}

/// The judge's part in a decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Judgment {
    /// The question's id; absent for the heuristic and where the judge could not be asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request: Option<RequestId>,
    /// Who judged.
    pub source: JudgeSource,
    /// The answer, or why there was none.
    pub answer: Answer,
}

/// What a decision is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'q> {
    /// A turn ended.
    TurnEnd(&'q TurnId),
    /// A sampling request of this turn completed, and the turn goes on with another.
    MidTurn(&'q TurnId),
    /// A message came, and a compaction was deferred until then.
    Preflight(&'q TurnId),
    /// The built-in compaction inside a turn.
    Inline(Inline<'q>),
    /// A person wants a compaction now. Only gates that nothing lifts still count.
    Person,
}

/// The occasions on which the built-in compaction is considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inline<'q> {
    /// Before a message, with an estimate of the tokens that it adds.
    BeforeInput(Tokens),
    /// Between two sampling requests of this turn.
    MidTurn(&'q TurnId),
    /// This turn ended.
    TurnEnd(&'q TurnId),
}

impl<'q> Question<'q> {
    const fn turn(self) -> Option<&'q TurnId> {
        match self {
            Self::TurnEnd(turn)
            | Self::MidTurn(turn)
            | Self::Preflight(turn)
            | Self::Inline(Inline::MidTurn(turn) | Inline::TurnEnd(turn)) => Some(turn),
            Self::Inline(Inline::BeforeInput(_)) | Self::Person => None,
        }
    }

    const fn entrance(self) -> Entrance {
        match self {
            Self::TurnEnd(_) | Self::Person => Entrance::TurnComplete,
            Self::MidTurn(_) => Entrance::MidTurn,
            Self::Preflight(_) => Entrance::Preflight,
            Self::Inline(_) => Entrance::Inline,
        }
    }

    const fn is_inside_a_turn(self) -> bool {
        matches!(self, Self::MidTurn(_) | Self::Inline(Inline::MidTurn(_)))
    }
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

type Check = fn(&GateContext<'_>) -> Finding;

/// In the order of evaluation. The first failure sets the outcome.
const GATES: [(Gate, AppliesTo, Lift, Check); 15] = [
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
    (Gate::Judgment, AppliesTo::Tiers, Lift::PersonOrEmergency, gates::judgment),
    (Gate::Mode, AppliesTo::Tiers, Lift::Person, gates::mode),
];

enum Finding {
    Pass(String),
    Fail {
        evidence: String,
        would_fire_if: String,
    },
    /// Means nothing until another gate passes.
    NotReached(&'static str),
    /// The judge must be asked first.
    Ask,
}

struct GateContext<'c> {
    thread: &'c Thread,
    policy: &'c Policy,
    question: Question<'c>,
    turn: Option<&'c Turn>,
    judgment: Option<Judgment>,
    percent: Option<Percent>,
    tier: Option<Tier>,
    now: Timestamp,
}

impl<'c> GateContext<'c> {
    fn rule(&self) -> Option<(Tier, &'c TierRule)> {
        self.tier.map(|tier| (tier, self.policy.tiers.rule(tier)))
    }

    fn present(&self) -> Boundaries {
        let turn_complete = self
            .turn
            .and_then(|turn| turn.end.as_ref())
            .is_some_and(|end| end.status == TurnStatus::Completed);
        let set = self.thread.present(self.question.turn());
        if turn_complete { set.or(Boundaries::of(&[Boundary::TurnComplete])) } else { set }
    }

    fn is_inline(&self) -> bool {
        matches!(self.question, Question::Inline(_))
    }

    /// The judge's answer: given earlier, or computed here by the heuristic.
    fn judgment(&self) -> Option<Judgment> {
        let tier = self.tier.filter(|_| !self.is_inline())?;
        self.policy.tiers.rule(tier).decision_prompt_path.as_ref()?;
        if tier == Tier::Emergency || matches!(self.question, Question::Person) {
            return None;
        }
        if self.skips_judge() {
            return None;
        }
        let by_itself = |source, answer| Some(Judgment { request: None, source, answer });
        match judge(self.policy.judge, self.thread) {
            None => None,
            Some(JudgeSource::Heuristic) => {
                let case = judgment::JudgmentCase {
                    thread: self.thread,
                    tier,
                    percent: self.percent?,
                    boundaries: self.counting(),
                    last_message: self.thread.known.last_message.as_deref(),
                    excerpt: None,
                };
                by_itself(JudgeSource::Heuristic, judgment::heuristic(&case))
            }
            Some(JudgeSource::Host) if !self.thread.host.can.judge => {
                let error = "the host cannot judge".to_owned();
                by_itself(JudgeSource::Host, Answer::Failed { error })
            }
            Some(_) => {
                let judging = self.thread.judging.as_ref()?;
                let (source, answer) = judging.answer.clone()?;
                Some(Judgment { request: Some(judging.request.clone()), source, answer })
            }
        }
    }

    /// No model is paid for an answer where `mode` compacts nothing.
    fn skips_judge(&self) -> bool {
        let advises = matches!(self.policy.mode, Mode::Tag | Mode::Suggest);
        let is_free = judge(self.policy.judge, self.thread) == Some(JudgeSource::Heuristic);
        advises && !self.question.is_inside_a_turn() && !is_free && !self.policy.judge_for_advice
    }

    fn counting(&self) -> Boundaries {
        self.rule().map_or(Boundaries::NONE, |(tier, rule)| self.present().and(rule.counting(tier)))
    }
}

/// Evaluates every gate and keeps every result: a failing gate does not hide the others.
pub fn assess(
    thread: &Thread,
    policy: &Policy,
    question: Question<'_>,
    now: Timestamp,
) -> Decision {
    let percent = match question {
        Question::Inline(Inline::BeforeInput(more)) => thread.percent_remaining_with(more, policy),
        _ => thread.percent_remaining(policy),
    };
    let turn = question.turn().and_then(|id| thread.turn(id));
    let inline = matches!(question, Question::Inline(_));
    let tier =
        percent.filter(|_| !inline).and_then(|percent| thread.tier_at(percent, &policy.tiers));
    let mut case =
        GateContext { thread, policy, question, turn, judgment: None, percent, tier, now };
    case.judgment = case.judgment();
    let mut decision = Decision {
        id: thread.next_decision_id(),
        at: now,
        entrance: question.entrance(),
        turn: question.turn().cloned(),
        outcome: Outcome::Compact,
        tier,
        percent,
        boundaries: case.counting(),
        reason: String::new(),
        sequence: None,
        gates: Vec::with_capacity(GATES.len()),
        judgment: case.judgment.clone(),
        would_fire_if: Vec::new(),
    };
    let lifts = |lift: Lift| match question {
        Question::Person => lift != Lift::Nothing,
        _ => lift == Lift::PersonOrEmergency && tier == Some(Tier::Emergency),
    };
    let mut asks = false;
    for (gate, applies_to, lift, check) in GATES {
        let finding =
            if inline && applies_to == AppliesTo::Tiers { NOT_INLINE } else { check(&case) };
        let (outcome, evidence) = match finding {
            Finding::Ask => {
                asks = decision.would_fire_if.is_empty();
                let evidence = if asks { "the judge is asked" } else { "the judge is not asked" };
                (GateOutcome::NotReached, evidence.to_owned())
            }
            Finding::Pass(evidence) => (GateOutcome::Pass, evidence),
            Finding::NotReached(evidence) => (GateOutcome::NotReached, evidence.to_owned()),
            Finding::Fail { evidence, .. } if lifts(lift) => (GateOutcome::Bypassed, evidence),
            Finding::Fail { evidence, would_fire_if } => {
                if decision.would_fire_if.is_empty() {
                    decision.outcome = case.outcome_of_failure(gate);
                    decision.reason.clone_from(&evidence);
                }
                decision.would_fire_if.push(would_fire_if);
                (GateOutcome::Fail, evidence)
            }
        };
        decision.gates.push(GateResult { gate, outcome, evidence });
    }
    if asks {
        decision.outcome = Outcome::Judge;
        decision.reason = format!("{}; the judge is asked", case.reason());
        decision.would_fire_if = vec!["the judge says yes".to_owned()];
    } else if decision.outcome == Outcome::Compact {
        case.conclude(&mut decision);
    }
    decision
}

impl GateContext<'_> {
    /// Fills in the outcome after every gate passed.
    fn conclude(&self, decision: &mut Decision) {
        decision.reason = self.reason();
        let waits = |(tier, rule): (Tier, &TierRule)| rule.waits_for_input(tier);
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
        let failed = |judgment: &Judgment| matches!(judgment.answer, Answer::Failed { .. });
        match (gate, self.policy.mode) {
            (Gate::Mode, _) if self.question.is_inside_a_turn() => Outcome::Nothing,
            (Gate::Mode, Mode::Tag) => Outcome::Tag,
            (Gate::Mode, Mode::Suggest) => Outcome::Suggest,
            (Gate::Judgment, _) if self.judgment.as_ref().is_some_and(failed) => Outcome::Defer,
            _ => Outcome::Nothing,
        }
    }

    fn reason(&self) -> String {
        let inside = if self.question.is_inside_a_turn() { ", inside the turn" } else { "" };
        match (self.question, self.rule(), self.percent) {
            (Question::Person, ..) => "a person asked for it".to_owned(),
            (Question::Inline(_), _, Some(percent)) => {
                let threshold = Percent(self.policy.inline.threshold_percent);
                format!("{percent} left is below {threshold} (auto_compact){inside}")
            }
            (_, Some((tier, _)), Some(percent)) => pressed(tier, percent, self.counting()) + inside,
            _ => String::new(),
        }
    }
}

/// Why a compaction comes, for people.
pub fn pressed(tier: Tier, percent: Percent, boundaries: Boundaries) -> String {
    match tier {
        Tier::Emergency => format!("{percent} left: emergency"),
        tier => format!("{percent} left ({tier}) at {boundaries}"),
    }
}

/// Who judges under this setting; `None` if no judge is used.
pub const fn judge(backend: JudgeBackend, thread: &Thread) -> Option<JudgeSource> {
    match backend {
        JudgeBackend::Off => None,
        JudgeBackend::Auto if thread.host.can.judge => Some(JudgeSource::Host),
        JudgeBackend::Auto | JudgeBackend::Heuristic => Some(JudgeSource::Heuristic),
        JudgeBackend::Host => Some(JudgeSource::Host),
        JudgeBackend::Responses => Some(JudgeSource::Responses),
        JudgeBackend::Chat => Some(JudgeSource::Chat),
    }
}

impl Decision {
    /// A person asked for the compaction.
    pub fn is_by_person(&self) -> bool {
        self.entrance == Entrance::TurnComplete && self.turn.is_none()
    }

    /// Decisions under pressure are stored, and the first one after a compaction. Others would only be noise, and the
    /// end of a sequence's own turn decides nothing.
    pub fn is_worth_storing(&self, thread: &Thread) -> bool {
        let turn = self.turn.as_ref().and_then(|turn| thread.turn(turn));
        let own = turn.is_some_and(Turn::is_synthetic);
        let after = thread
            .last_compaction
            .as_ref()
            .is_some_and(|last| last.turns_ended + 1 == thread.turns_ended);
        match self.entrance {
            Entrance::TurnComplete => !own && (self.is_by_person() || self.tier.is_some() || after),
            Entrance::Inline => {
                self.outcome != Outcome::Nothing || !own && (after || self.is_pressed())
            }
            Entrance::MidTurn | Entrance::Preflight => true,
        }
    }

    /// The gate `pressure` passed.
    fn is_pressed(&self) -> bool {
        let pressed = |result: &GateResult| {
            (result.gate, result.outcome) == (Gate::Pressure, GateOutcome::Pass)
        };
        self.gates.iter().any(pressed)
    }

    /// Only the judge was against it.
    pub fn is_vetoed(&self) -> bool {
        let says_no = |judgment: &Judgment| {
            !matches!(judgment.answer, Answer::Says { should_compact: true, .. })
        };
        self.outcome != Outcome::Compact && self.judgment.as_ref().is_some_and(says_no)
    }
}

const NOT_INLINE: Finding = Finding::NotReached("does not apply to the built-in compaction");
