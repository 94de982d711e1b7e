//! The decision: named gates in order, each with its evidence. "Why" and "why not" are the same record.

use crate::boundary::{Boundaries, Boundary};
use crate::event::{Entrance, Outcome, TurnStatus};
use crate::policy::{Mode, Policy, Tier, TierRule};
use crate::thread::{Mark, Thread, Turn};
use crate::units::{DecisionId, Percent, SequenceId, Timestamp, Tokens, TurnId};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Feature,
    Pressure,
    Origin,
    ModeOfHost,
    Guard,
    Breaker,
    Rearm,
    Cooldown,
    Boundary,
    WeakBoundary,
    SemanticBreak,
    ActiveWork,
    PacketWorth,
    Judgment,
    Mode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    Pass,
    Fail,
    Bypassed,
    NotReached,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateResult {
    pub gate: Gate,
    pub outcome: GateOutcome,
    pub evidence: String,
}

/// An assessment with everything that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub id: DecisionId,
    pub at: Timestamp,
    pub entrance: Entrance,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn: Option<TurnId>,
    pub outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tier: Option<Tier>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub percent: Option<Percent>,
    /// The boundaries that count at this tier and are present.
    #[serde(default)]
    pub boundaries: Boundaries,
    pub reason: String,
    /// The sequence that it starts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sequence: Option<SequenceId>,
    pub gates: Vec<GateResult>,
    /// What would have to change for a yes.
    #[serde(default)]
    pub would_fire_if: Vec<String>,
}

/// What is asked, and on whose behalf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'q> {
    /// A turn ended.
    TurnEnd(&'q TurnId),
    /// A person wants a compaction now: only what would make it wrong or impossible still counts.
    Person,
}

/// What lifts a gate that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lift {
    Nothing,
    Person,
    PersonOrEmergency,
}

type Check = fn(&Case<'_>) -> Finding;

/// The order is the order of evaluation; the first failure names the outcome.
const GATES: [(Gate, Lift, Check); 15] = [
    (Gate::Feature, Lift::Nothing, feature),
    (Gate::Pressure, Lift::Person, pressure),
    (Gate::Origin, Lift::Nothing, origin),
    (Gate::ModeOfHost, Lift::Nothing, mode_of_host),
    (Gate::Guard, Lift::PersonOrEmergency, guard),
    (Gate::Breaker, Lift::Person, breaker),
    (Gate::Rearm, Lift::Person, rearm),
    (Gate::Cooldown, Lift::PersonOrEmergency, cooldown),
    (Gate::Boundary, Lift::PersonOrEmergency, boundary),
    (Gate::WeakBoundary, Lift::PersonOrEmergency, weak_boundary),
    (Gate::SemanticBreak, Lift::PersonOrEmergency, semantic_break),
    (Gate::ActiveWork, Lift::PersonOrEmergency, active_work),
    (Gate::PacketWorth, Lift::PersonOrEmergency, packet_worth),
    (Gate::Judgment, Lift::PersonOrEmergency, judgment),
    (Gate::Mode, Lift::Person, mode),
];

enum Finding {
    Pass(String),
    Fail {
        evidence: String,
        would_fire_if: String,
    },
    /// Another gate has to say yes first for this one to mean anything.
    NotReached(&'static str),
}

fn pass(evidence: impl Into<String>) -> Finding {
    Finding::Pass(evidence.into())
}

fn fail(evidence: impl Into<String>, would_fire_if: impl Into<String>) -> Finding {
    Finding::Fail { evidence: evidence.into(), would_fire_if: would_fire_if.into() }
}

struct Case<'c> {
    thread: &'c Thread,
    policy: &'c Policy,
    turn: Option<&'c Turn>,
    percent: Option<Percent>,
    tier: Option<Tier>,
    now: Timestamp,
}

impl<'c> Case<'c> {
    fn rule(&self) -> Option<(Tier, &'c TierRule)> {
        self.tier.map(|tier| (tier, self.policy.tiers.rule(tier)))
    }

    fn present(&self) -> Boundaries {
        let turn_complete = self
            .turn
            .and_then(|turn| turn.end.as_ref())
            .is_some_and(|end| end.status == TurnStatus::Completed);
        let set = self.thread.present();
        if turn_complete { set.or(Boundaries::of(&[Boundary::TurnComplete])) } else { set }
    }

    fn counting(&self) -> Boundaries {
        self.rule().map_or(Boundaries::NONE, |(tier, rule)| self.present().and(rule.counting(tier)))
    }
}

/// Runs every gate and keeps every result: one that fails does not hide what the others would have said.
pub fn assess(
    thread: &Thread,
    policy: &Policy,
    question: Question<'_>,
    now: Timestamp,
) -> Decision {
    let percent = thread.percent_remaining();
    let turn = match question {
        Question::TurnEnd(id) => thread.turn(id),
        Question::Person => None,
    };
    let tier = percent.and_then(|percent| policy.tiers.pick(percent));
    let case = Case { thread, policy, turn, percent, tier, now };
    let mut decision = Decision {
        id: thread.next_decision_id(),
        at: now,
        entrance: Entrance::TurnComplete,
        turn: match question {
            Question::TurnEnd(id) => Some(id.clone()),
            Question::Person => None,
        },
        outcome: Outcome::Compact,
        tier,
        percent,
        boundaries: case.counting(),
        reason: String::new(),
        sequence: None,
        gates: Vec::with_capacity(GATES.len()),
        would_fire_if: Vec::new(),
    };
    let lifts = |lift: Lift| match question {
        Question::Person => lift != Lift::Nothing,
        Question::TurnEnd(_) => lift == Lift::PersonOrEmergency && tier == Some(Tier::Emergency),
    };
    for (gate, lift, check) in GATES {
        let (outcome, evidence) = match check(&case) {
            Finding::Pass(evidence) => (GateOutcome::Pass, evidence),
            Finding::NotReached(evidence) => (GateOutcome::NotReached, evidence.to_owned()),
            Finding::Fail { evidence, .. } if lifts(lift) => (GateOutcome::Bypassed, evidence),
            Finding::Fail { evidence, would_fire_if } => {
                if decision.would_fire_if.is_empty() {
                    decision.outcome = outcome_of_failure(gate, policy);
                    decision.reason.clone_from(&evidence);
                }
                decision.would_fire_if.push(would_fire_if);
                (GateOutcome::Fail, evidence)
            }
        };
        decision.gates.push(GateResult { gate, outcome, evidence });
    }
    if decision.outcome == Outcome::Compact {
        if policy.mode == Mode::Ask && question != Question::Person {
            decision.outcome = Outcome::Ask;
        }
        decision.reason = reason_to_compact(&case, question);
        decision.sequence = Some(thread.next_sequence_id());
    }
    decision
}

impl Decision {
    /// Under pressure, and at the first turn's end after a compaction: elsewhere a record would only be noise.
    /// The ends of a sequence's own turns decide nothing.
    pub fn is_worth_storing(&self, thread: &Thread) -> bool {
        let turn = self.turn.as_ref().and_then(|turn| thread.turn(turn));
        let own = turn.is_some_and(Turn::is_synthetic);
        let after = thread
            .last_compaction
            .as_ref()
            .is_some_and(|last| last.turns_ended + 1 == thread.turns_ended);
        !own && (self.tier.is_some() || after)
    }
}

const fn outcome_of_failure(gate: Gate, policy: &Policy) -> Outcome {
    match (gate, policy.mode) {
        (Gate::Mode, Mode::Tag) => Outcome::Tag,
        (Gate::Mode, Mode::Suggest) => Outcome::Suggest,
        (Gate::Judgment, _) => Outcome::Defer,
        _ => Outcome::Nothing,
    }
}

fn reason_to_compact(case: &Case<'_>, question: Question<'_>) -> String {
    match (question, case.rule(), case.percent) {
        (Question::Person, ..) => "a person asked for it".to_owned(),
        (_, Some((Tier::Emergency, _)), Some(percent)) => format!("{percent} left: emergency"),
        (_, Some((tier, _)), Some(percent)) => {
            format!("{percent} left ({tier}) at {}", case.counting())
        }
        _ => String::new(),
    }
}

fn feature(case: &Case<'_>) -> Finding {
    if case.policy.enabled {
        pass("features.rawr_auto_compaction is on")
    } else {
        fail("features.rawr_auto_compaction is off", "features.rawr_auto_compaction = true")
    }
}

fn pressure(case: &Case<'_>) -> Finding {
    let Some(percent) = case.percent else {
        let missing =
            if case.thread.context.is_none() { "token usage" } else { "the context window" };
        return fail(format!("{missing} is not known"), format!("the host reports {missing}"));
    };
    match case.rule() {
        Some((tier, rule)) => {
            pass(format!("{percent} left is below {} ({tier})", Percent(rule.percent_remaining_lt)))
        }
        None => {
            let highest = Tier::ALL
                .map(|tier| case.policy.tiers.rule(tier).percent_remaining_lt)
                .into_iter()
                .max();
            let highest = Percent(highest.unwrap_or(0));
            fail(
                format!("{percent} left is above every tier"),
                format!("less than {highest} is left"),
            )
        }
    }
}

fn origin(case: &Case<'_>) -> Finding {
    if let Some(sequence) = &case.thread.sequence {
        return fail(format!("sequence {} is running", sequence.id), "no sequence runs");
    }
    if case.thread.compaction_running {
        return fail("a compaction is running", "no compaction runs");
    }
    match case.turn {
        Some(turn) if turn.is_synthetic() => {
            fail("the turn belongs to a sequence", "a turn of the user's ends")
        }
        Some(_) => pass("a turn of the user's or the host's own"),
        None => pass("no turn is concerned"),
    }
}

fn mode_of_host(case: &Case<'_>) -> Finding {
    if case.thread.review_mode {
        fail("the host is in review mode", "the review ends")
    } else if !case.thread.host.can.compact {
        fail("the host says that it cannot compact", "the host declares the capability `compact`")
    } else if !case.thread.host.can.inject_turn {
        fail(
            "the host says that it cannot take a turn",
            "the host declares the capability `injectTurn`",
        )
    } else {
        pass("the host allows it")
    }
}

fn guard(case: &Case<'_>) -> Finding {
    match case.thread.guards.iter().find(|guard| guard.is_active(case.thread.turns_ended, case.now))
    {
        None => pass("no guard is active"),
        Some(guard) => {
            let by = guard.by.as_deref().map(|by| format!(" set by {by}")).unwrap_or_default();
            fail(
                format!("guard {}{by} is active", guard.id),
                format!("guard {} ends or is cleared", guard.id),
            )
        }
    }
}

fn breaker(case: &Case<'_>) -> Finding {
    let (strikes, limit) = (case.thread.strikes, case.policy.breaker.strikes);
    if limit > 0 && strikes >= limit {
        fail(
            format!("the last {strikes} sequences failed or freed too little"),
            "a compaction asked for by hand works",
        )
    } else {
        pass(format!("{strikes} of {limit} strikes"))
    }
}

fn rearm(case: &Case<'_>) -> Finding {
    let Some(last) = &case.thread.last_compaction else { return pass("never compacted") };
    let needed = case.policy.rearm_after(case.thread.window);
    let grown = match (case.thread.context, last.after) {
        (Some(now), Some(after)) => Tokens(now.0.saturating_sub(after.0)),
        _ => {
            return fail(
                "growth since the last compaction is not known",
                "the host reports token usage",
            );
        }
    };
    if grown < needed {
        let missing = needed.0 - grown.0;
        fail(
            format!("{grown} of {needed} new tokens since the last compaction"),
            format!("{missing} more tokens come"),
        )
    } else {
        pass(format!("{grown} new tokens since the last compaction"))
    }
}

fn cooldown(case: &Case<'_>) -> Finding {
    let Some(last) = &case.thread.last_compaction else { return pass("never compacted") };
    let turns = case.thread.turns_ended.saturating_sub(last.turns_ended);
    let seconds = case.now.seconds_since(last.at);
    let (need_turns, need_seconds) = (case.policy.cooldown_turns, case.policy.cooldown_seconds);
    if turns < need_turns {
        fail(
            format!("{turns} of {need_turns} turns since the last compaction"),
            format!("{} more turns end", need_turns - turns),
        )
    } else if seconds < need_seconds {
        fail(
            format!("{seconds} of {need_seconds} seconds since the last compaction"),
            format!("{} more seconds pass", need_seconds - seconds),
        )
    } else {
        pass(format!("{turns} turns and {seconds} seconds since the last compaction"))
    }
}

const NEEDS_TIER: Finding = Finding::NotReached("no tier holds");

fn boundary(case: &Case<'_>) -> Finding {
    let Some((tier, rule)) = case.rule() else { return NEEDS_TIER };
    let counting = case.counting();
    if !counting.is_empty() {
        return pass(counting.to_string());
    }
    let spent: Boundaries = marks_spent(case).map(|mark| mark.boundary).collect();
    let by = marks_spent(case).find_map(|mark| mark.spent_by.as_ref());
    let present = case.present().without(Boundaries::of(&[Boundary::TurnComplete]));
    let evidence = match (present.is_empty(), spent.is_empty()) {
        (true, true) => "no boundary in this turn".to_owned(),
        (true, false) => {
            format!("spent by {}: {spent}", by.map_or("a sequence", SequenceId::as_str))
        }
        (false, _) => format!("{present} does not count at {tier}"),
    };
    fail(evidence, format!("one of: {}", rule.counting(tier)))
}

fn marks_spent<'c>(case: &Case<'c>) -> impl Iterator<Item = &'c Mark> {
    case.thread.boundaries.iter().filter(|mark| mark.spent_by.is_some())
}

fn weak_boundary(case: &Case<'_>) -> Finding {
    let Some((tier, rule)) = case.rule() else { return NEEDS_TIER };
    let (counting, present) = (case.counting(), case.present());
    if counting != Boundaries::of(&[Boundary::PlanUpdate]) {
        return pass("not a plan update alone");
    }
    let stronger =
        Boundaries::SEMANTIC.or(Boundaries::of(&[Boundary::PlanCheckpoint])).and(present);
    if rule.plan_needs_semantic_break == Some(false) {
        pass(format!("{tier} takes a plan update alone"))
    } else if stronger.is_empty() {
        fail("plan_update alone", "a plan step is completed or the agent concludes")
    } else {
        pass(format!("plan_update with {stronger}"))
    }
}

fn semantic_break(case: &Case<'_>) -> Finding {
    let Some((tier, rule)) = case.rule() else { return NEEDS_TIER };
    let (counting, semantic) = (case.counting(), case.present().and(Boundaries::SEMANTIC));
    if counting.is_empty() {
        Finding::NotReached("no boundary counts")
    } else if !counting.without(Boundaries::PLAN).is_empty() {
        pass("not only the plan speaks for it")
    } else if !rule.needs_semantic_break(tier) {
        pass(format!("{tier} does not ask for one"))
    } else if semantic.is_empty() {
        fail("only the plan speaks for it", "the agent says that it is done, concludes or moves on")
    } else {
        pass(semantic.to_string())
    }
}

fn active_work(case: &Case<'_>) -> Finding {
    if let Some(call) = case.thread.tools_running.first() {
        return fail(format!("tool call {call} is running"), "the running tools finish");
    }
    match case.turn.and_then(|turn| turn.end.as_ref()) {
        Some(end) if end.status != TurnStatus::Completed => {
            fail(format!("the turn ended {}", end.status.name()), "a turn completes")
        }
        _ if !case.thread.is_idle() => fail("a turn is running", "the turn completes"),
        _ => pass("nothing is running"),
    }
}

fn packet_worth(case: &Case<'_>) -> Finding {
    if case.thread.has_packet_material() {
        pass("there is something to carry over")
    } else {
        fail("nothing that a packet could be made of", "the agent says something or has a plan")
    }
}

/// No judge is part of this release: a tier that asks for one is treated as one whose judge does not answer.
fn judgment(case: &Case<'_>) -> Finding {
    let Some((tier, rule)) = case.rule() else { return NEEDS_TIER };
    match (&rule.decision_prompt_path, tier) {
        (None, _) => pass("not configured"),
        (Some(_), Tier::Early | Tier::Ready) => {
            fail("no judge is available", "a judge is available")
        }
        (Some(_), Tier::Asap | Tier::Emergency) => {
            pass("no judge is available; the policy decides")
        }
    }
}

fn mode(case: &Case<'_>) -> Finding {
    match case.policy.mode {
        Mode::Auto => pass("auto"),
        Mode::Ask => pass("ask: a person decides"),
        Mode::Tag => fail("tag: would compact here", "mode = \"auto\""),
        Mode::Suggest => fail("suggest: a compaction is recommended here", "mode = \"auto\""),
    }
}
