//! Payloads about decisions: verdicts and the record of all gates behind them.

use crate::names::names;
use crate::{
    CompactionStatus, CompactionTrigger, Entrance, Gate, GateOutcome, JudgmentSource, PacketAuthor,
    Purpose, RequestState, Tier,
};
use serde::{Deserialize, Serialize};

/// The outcome of an assessment, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The decision, for `rawr/decision/explain`; absent if none was made here, and `reason` says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    /// What was decided.
    pub outcome: Outcome,
    /// The tier that held; absent above every tier, or while usage is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Percent of the context window left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_remaining: Option<u8>,
    /// Why, in one sentence for people.
    pub reason: String,
    /// The sequence that was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
    /// For a proposal: what decides about it. Its outcome is `defer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Confirm>,
}

names! {
    /// What was decided.
    pub enum Outcome {
        /// Nothing.
        Nothing = "nothing" => "no compaction",
        /// Log that a compaction would have happened.
        Tag = "tag" => "would compact",
        /// Recommend it to the person.
        Suggest = "suggest" => "compaction recommended",
        /// Ask the person.
        Ask = "ask" => "waiting for your approval",
        /// Ask the judge; the sequence goes on or ends with the answer.
        Judge = "judge" => "asking the judge",
        /// Compact before the next user input.
        Defer = "defer" => "compaction deferred",
        /// Compact.
        Compact = "compact" => "compaction decided",
    }
}

names! {
    /// What decides about a compaction that was proposed at the end of a turn.
    pub enum Confirm {
        /// The next message: it confirms if it opens something new or closes the work, else it drops the proposal.
        Message = "message",
        /// Silence confirms; a message that comes first drops the proposal.
        Idle = "idle",
        /// The next message or silence, whichever comes first.
        Either = "either",
        /// The next message closed the work and confirmed. The compaction comes when the turn that carries it out has ended,
        /// unless that fails.
        TurnEnd = "turn_end",
    }
}

/// A verdict with everything that led to it. The same record explains "why" and "why not".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The decision.
    pub decision_id: String,
    /// What was decided.
    pub outcome: Outcome,
    /// The tier that held; absent above every tier, or while usage is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Percent of the context window left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_remaining: Option<u8>,
    /// Why, in one sentence for people.
    pub reason: String,
    /// The sequence that was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<String>,
    /// For a proposal: what decides about it. Its outcome is `defer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Confirm>,
    /// The proposal that it confirms or drops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal_id: Option<String>,
    /// When, Unix milliseconds.
    pub at_ms: i64,
    /// What the compaction is recorded under; absent where none was in sight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<CompactionTrigger>,
    /// The entrance that asked.
    pub entrance: Entrance,
    /// Every gate, in the order in which they run.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub gates: Vec<GateResult>,
    /// What would have to change for a compaction, in sentences for people.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub would_fire_if: Vec<String>,
    /// What the agent is asked for before the compaction, in order.
    #[serde(
        default,
        deserialize_with = "crate::lenient::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub requests: Vec<Purpose>,
    /// What came of each; absent where no sequence followed, and of old decisions.
    #[serde(
        default,
        deserialize_with = "crate::lenient::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub pre_compact_requests: Vec<PreCompactRequest>,
    /// The judge's part in it; absent where no judge was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgment: Option<DecisionJudgment>,
    /// What came of the sequence that it started; absent until that has reached its compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction: Option<DecisionCompaction>,
    /// What became of it; absent where nothing was to follow, and of old decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fate: Option<DecisionFate>,
}

/// What became of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecisionFate {
    /// The decision.
    pub decision_id: String,
    /// How far it came.
    pub status: FateStatus,
    /// When that happened, Unix milliseconds.
    pub at_ms: i64,
    /// Who called it off, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The decision that replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overtaken_by: Option<String>,
    /// All of it in a few words for people, without the time: "called off by Neovim (snoozed)".
    pub text: String,
}

names! {
    /// How far a decision came.
    pub enum FateStatus {
        /// Waits for a judge, for the next message, or to start.
        Waiting = "waiting",
        /// The decision's sequence runs.
        Running = "running",
        /// The history was compacted and the packet handed back.
        CarriedOut = "carried_out",
        /// Nothing came of it.
        Dropped = "dropped",
        /// A person stopped it.
        CalledOff = "called_off",
        /// The decision's sequence failed.
        Failed = "failed",
        /// A later decision took its place.
        Overtaken = "overtaken",
    }
}

impl Decision {
    /// The decision in short.
    pub fn verdict(&self) -> Verdict {
        Verdict {
            decision_id: Some(self.decision_id.clone()),
            outcome: self.outcome,
            tier: self.tier,
            percent_remaining: self.percent_remaining,
            reason: self.reason.clone(),
            sequence_id: self.sequence_id.clone(),
            confirm: self.confirm,
        }
    }
}

/// A judge's part in a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecisionJudgment {
    /// The question; absent for the heuristic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Who was asked.
    pub source: JudgmentSource,
    /// The answer; absent while it is waited for, or where none came that could be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub should_compact: Option<bool>,
    /// Why, in the judge's words; empty without an answer.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub reason: String,
    /// Why there is no answer, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What came of a decision to compact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecisionCompaction {
    /// How it went, or goes.
    pub status: CompactionStatus,
    /// Tokens in the context before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// Tokens in the context after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// Who wrote the packet that was handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_author: Option<PacketAuthor>,
    /// Facts that the packet's author had left out and the check put in, in sentences for people.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub packet_added: Vec<String>,
}

/// What came of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GateResult {
    /// Which gate.
    pub gate: Gate,
    /// What came of it.
    pub outcome: GateOutcome,
    /// The facts that it went by, for people; empty if it was not reached.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub evidence: String,
}

/// `rawr/decision/explain`: why, or why not?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecisionExplainParams {
    /// The thread.
    pub thread_id: String,
    /// The decision; the latest if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
}

/// Answer to `rawr/decision/explain`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecisionExplainResult {
    /// The decision.
    pub decision: Decision,
}

/// `rawr/decision/list`: past decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecisionListParams {
    /// The thread.
    pub thread_id: String,
    /// How many to return at most, the latest; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Only decisions before this one, for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// Answer to `rawr/decision/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecisionListResult {
    /// Latest last: a page ends where the one that was read before it begins.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub decisions: Vec<Decision>,
}

/// `rawr/decision/recorded`: a decision was written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecisionRecordedNotification {
    /// The thread.
    pub thread_id: String,
    /// The decision.
    pub decision: Decision,
}

/// Something that the agent is asked for before a compaction, or the packet that rawr writes in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PreCompactRequest {
    /// What is asked for.
    pub purpose: Purpose,
    /// Who is to write what it asks for, or wrote it.
    pub author: PacketAuthor,
    /// How far it has come.
    pub state: RequestState,
    /// The newest action that asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_id: Option<String>,
    /// What came of it, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}
