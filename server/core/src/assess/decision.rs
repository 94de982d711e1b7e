//! The record of a decision.

use super::{Gate, GateEvidence, GateOutcome};
use crate::boundary::Boundaries;
use crate::event::{AgentRequest, Entrance, JudgeReply, JudgmentSource, Outcome};
use crate::policy::{ConfirmRule, Tier};
use crate::thread::{Thread, Turn};
use crate::units::{DecisionId, JudgeRequestId, Percent, SequenceId, Timestamp, Tokens, TurnId};
use serde::{Deserialize, Serialize};

/// A decision with everything that led to it. Stored in `decisions.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DecisionRecord {
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
    /// Tokens in the context; absent while the host has not reported usage.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens: Option<Tokens>,
    /// The boundaries that count at this tier and are present.
    #[serde(default)]
    pub boundaries: Boundaries,
    /// Why the outcome is this one, for people.
    pub reason: String,
    /// The sequence that it starts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sequence: Option<SequenceId>,
    /// Every gate with its result, in the order of evaluation.
    pub gates: Vec<GateEvidence>,
    /// What the agent is asked for before the compaction, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub requests: Vec<AgentRequest>,
    /// What the judge answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judgment: Option<Judgment>,
    /// For a proposal: what has to confirm it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confirm: Option<ConfirmRule>,
    /// A message that closes the work confirmed the proposal, and is carried out before the compaction.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub after_turn: bool,
    /// The proposal that it confirms or drops.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proposal: Option<DecisionId>,
    /// What would have to change for a compaction, for people.
    #[serde(default)]
    pub would_fire_if: Vec<String>,
}

/// The judge's part in a decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Judgment {
    /// The question's id; absent for the heuristic and where the judge could not be asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request: Option<JudgeRequestId>,
    /// Who judged.
    pub source: JudgmentSource,
    /// The answer, or why there was none.
    pub answer: JudgeReply,
}

impl Judgment {
    /// The judge did not agree to a compaction.
    pub(super) fn is_against(&self) -> bool {
        !matches!(self.answer, JudgeReply::Says { should_compact: true, .. })
    }
}

impl DecisionRecord {
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
            .compactions
            .last
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
        let pressed = |result: &GateEvidence| {
            (result.gate, result.outcome) == (Gate::Pressure, GateOutcome::Pass)
        };
        self.gates.iter().any(pressed)
    }

    /// Why it drops a proposal, for people.
    pub fn drops(&self) -> Option<String> {
        let drops = self.entrance == Entrance::Preflight && self.outcome == Outcome::Nothing;
        self.proposal.as_ref().filter(|_| drops)?;
        let failed = self.gates.iter().find(|result| result.outcome == GateOutcome::Fail)?;
        Some(match failed.gate {
            Gate::Judgment => format!("the judge says no ({})", failed.evidence),
            _ => failed.evidence.clone(),
        })
    }

    /// There is nothing to do, and no judge was against it.
    pub(crate) fn is_nothing(&self) -> bool {
        self.outcome == Outcome::Nothing && !self.is_vetoed()
    }

    /// Only the judge was against it.
    pub fn is_vetoed(&self) -> bool {
        self.outcome != Outcome::Compact && self.judgment.as_ref().is_some_and(Judgment::is_against)
    }
}
