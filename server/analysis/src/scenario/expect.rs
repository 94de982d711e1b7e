//! What is expected of a scenario, what happened in it, and whether they agree.

use crate::play::Player;
use crate::report::ReplayedDecision;
use rawr_core::assess::Gate;
use rawr_core::boundary::Boundary;
use rawr_core::event::{Entrance, Outcome};
use rawr_core::policy::Tier;
use rawr_core::units::Percent;
use serde::Serialize;
use std::fmt;

/// What comes of a scenario, or of one decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioOutcome {
    /// A compaction begins.
    Compact,
    /// A compaction waits for a confirmation, or for the next message.
    Propose,
    /// Neither.
    Nothing,
}

impl ScenarioOutcome {
    /// Every outcome, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Compact, Self::Propose, Self::Nothing];

    /// The name in policy tests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Propose => "propose",
            Self::Nothing => "nothing",
        }
    }

    /// The inverse of [`Self::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// What is expected. What is absent does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// What comes of the scenario, or of its step.
    pub outcome: ScenarioOutcome,
    /// The step, counted from 1. Absent: the whole scenario, as it is at its end.
    pub at_step: Option<usize>,
    /// The tier in force.
    pub tier: Option<Tier>,
    /// A boundary that counted.
    pub boundary: Option<Boundary>,
    /// A gate that failed.
    pub stopped_by: Option<Gate>,
    /// How many decisions of the whole scenario have this outcome.
    pub times: Option<usize>,
}

impl Expectation {
    /// Nothing but the outcome of the whole scenario.
    pub const fn of(outcome: ScenarioOutcome) -> Self {
        Self { outcome, at_step: None, tier: None, boundary: None, stopped_by: None, times: None }
    }

    /// Whether the decision is at the step, if one is named.
    fn is_at(&self, decision: &PlacedDecision) -> bool {
        self.at_step.is_none_or(|step| step == decision.step)
    }

    /// Whether the decision has all that is named.
    fn fits(&self, placed: &PlacedDecision) -> bool {
        let decision = &placed.decision;
        placed.makes == self.outcome
            && self.is_at(placed)
            && self.tier.is_none_or(|tier| decision.tier == Some(tier))
            && self.boundary.is_none_or(|boundary| decision.boundaries.has(boundary))
            && self.stopped_by.is_none_or(|gate| decision.failed.iter().any(|it| it.gate == gate))
    }

    fn names_a_decision(&self) -> bool {
        self.tier.is_some() || self.boundary.is_some() || self.stopped_by.is_some()
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.outcome.name())?;
        if let Some(step) = self.at_step {
            write!(f, " at step {step}")?;
        }
        let tier = self.tier.map(Tier::name);
        let boundary = self.boundary.map(Boundary::name);
        let stopped = self.stopped_by.map(|gate| format!("stopped by {}", gate.name()));
        let named: Vec<_> = tier.into_iter().chain(boundary).chain(stopped.as_deref()).collect();
        if !named.is_empty() {
            write!(f, " ({})", named.join(", "))?;
        }
        match self.times {
            None => Ok(()),
            Some(1) => f.write_str(", once"),
            Some(times) => write!(f, ", {times} times"),
        }
    }
}

/// A decision and the step that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacedDecision {
    /// Counted from 1.
    pub step: usize,
    /// What it makes of the scenario.
    pub makes: ScenarioOutcome,
    /// The decision. Its time counts from the beginning of the scenario.
    #[serde(flatten)]
    pub decision: ReplayedDecision,
}

impl PlacedDecision {
    pub(super) fn new(step: usize, decision: ReplayedDecision) -> Self {
        let makes = match decision.outcome {
            Outcome::Compact => ScenarioOutcome::Compact,
            // One that a gate put off, such as a judge without an answer, promises nothing.
            Outcome::Defer if decision.failed.is_empty() => ScenarioOutcome::Propose,
            _ => ScenarioOutcome::Nothing,
        };
        Self { step, makes, decision }
    }
}

/// What happened in a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedScenario {
    /// A compaction, if one began; else what is pending at the end.
    pub outcome: ScenarioOutcome,
    /// All decisions, in order.
    pub decisions: Vec<PlacedDecision>,
    /// Percent of the window left at the end; `None` without a request.
    pub left: Option<Percent>,
}

impl PlayedScenario {
    pub(super) fn new(decisions: Vec<PlacedDecision>, player: &Player<'_>) -> Self {
        let compacts = decisions.iter().any(|it| it.makes == ScenarioOutcome::Compact);
        let outcome = match player.is_pending() {
            _ if compacts => ScenarioOutcome::Compact,
            true => ScenarioOutcome::Propose,
            false => ScenarioOutcome::Nothing,
        };
        Self { outcome, decisions, left: player.percent_remaining() }
    }

    /// Whether it went as expected.
    pub fn meets(&self, expected: &Expectation) -> bool {
        let outcome_is_right = match expected.at_step {
            None => self.outcome == expected.outcome,
            Some(_) if expected.outcome != ScenarioOutcome::Nothing => true,
            Some(_) => (self.decisions.iter())
                .filter(|it| expected.is_at(it))
                .all(|it| it.makes == ScenarioOutcome::Nothing),
        };
        let needs_a_decision =
            expected.outcome != ScenarioOutcome::Nothing || expected.names_a_decision();
        let has_decision = self.decisions.iter().any(|it| expected.fits(it));
        let times = self.decisions.iter().filter(|it| it.makes == expected.outcome).count();
        outcome_is_right
            && (has_decision || !needs_a_decision)
            && expected.times.is_none_or(|expected| expected == times)
    }

    /// What happened, in one line for people.
    pub fn summary(&self) -> String {
        if self.decisions.is_empty() {
            return "nothing, because no turn ended and no request was followed by another"
                .to_owned();
        }
        let told: Vec<_> = self.decisions.iter().filter_map(PlacedDecision::summary).collect();
        if told.is_empty() { ScenarioOutcome::Nothing.name().to_owned() } else { told.join(", ") }
    }
}

impl PlacedDecision {
    /// The outcome and why, for people. Where gates say why, it only says when they were asked.
    pub fn headline(&self) -> String {
        let decision = &self.decision;
        let makes = self.makes.name();
        if decision.failed.is_empty() || decision.drops.is_some() {
            return format!("{makes}: {}", decision.reason);
        }
        let left = match (decision.percent, decision.tier) {
            (Some(percent), Some(tier)) => format!("{percent} left ({tier})"),
            (Some(percent), None) => format!("{percent} left"),
            (None, _) => "no request yet".to_owned(),
        };
        let inside = if decision.entrance == Entrance::MidTurn { ", inside the turn" } else { "" };
        format!("{makes}: {left}{inside}")
    }

    /// `None` if nothing came of it and nothing was pending before.
    fn summary(&self) -> Option<String> {
        let decision = &self.decision;
        let does = match self.makes {
            ScenarioOutcome::Nothing => {
                decision.drops.as_ref()?;
                return Some(format!("dropped at step {}", self.step));
            }
            outcome => outcome.name(),
        };
        let tier = decision.tier.map(Tier::name);
        let boundaries = decision.boundaries.iter().map(Boundary::name);
        let named: Vec<_> = tier.into_iter().chain(boundaries).collect();
        let named =
            if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
        Some(format!("{does} at step {}{named}", self.step))
    }
}
