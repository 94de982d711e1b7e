//! What a replay found, as data: for people, for files and for the wire.

use crate::tokens::{ModelTokens, add};
use rawr_core::assess::{Gate, GateEvidence};
use rawr_core::boundary::Boundaries;
use rawr_core::event::{CompactionOrigin, Entrance, Outcome, TurnStatus};
use rawr_core::policy::Tier;
use rawr_core::units::{Percent, Timestamp, Tokens};
use rawr_records::read::{LineCounts, RecordFormat};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is done again within so many turns after a compaction is rework.
pub(crate) const REWORK_TURNS: u32 = 5;

/// With less work than this, a count for an hour is chance.
const SHORTEST_FOR_A_RATE_MS: u64 = 600_000;

/// What becomes of the context after a compaction that the replay starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayOrder {
    /// Each compaction is counted and not carried out: the context grows on as it was recorded.
    First,
    /// The context shrinks after a compaction, so that the next one comes later, as it would in life.
    #[default]
    Second,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedDecision {
    /// When it was made.
    pub at: Timestamp,
    /// The turn, counted from 1; 0 before the first.
    pub turn: u32,
    /// Which entrance asked.
    pub entrance: Entrance,
    /// What follows.
    pub outcome: Outcome,
    /// The tier in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Percent of the context window left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<Percent>,
    /// Tokens in the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// The boundaries that counted.
    pub boundaries: Boundaries,
    /// Why, for people.
    pub reason: String,
    /// Whether the decision only proposes; the next message or silence decides.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub proposes: bool,
    /// A message that closes the work confirmed the proposal. It is carried out first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub confirms: bool,
    /// The compaction after a message that closed the work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub after_closing: bool,
    /// Why it drops the proposal before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<String>,
    /// Only the judge was against it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vetoed: bool,
    /// The only gate that stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<Gate>,
    /// Every gate that failed. Empty for a record, which would be a lot to keep.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<GateEvidence>,
}

impl ReplayedDecision {
    /// Whether a compaction begins.
    pub fn fires(&self) -> bool {
        self.outcome == Outcome::Compact
    }
}

/// A turn that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedTurn {
    /// The turn, counted from 1.
    pub turn: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Milliseconds of it without pauses above ten minutes.
    pub active_ms: u64,
    /// How it ended.
    pub ending: TurnStatus,
    /// Sampling requests.
    pub requests: u32,
    /// Shell commands that finished.
    pub commands: u32,
    /// Those that failed.
    pub failed_commands: u32,
    /// Files read again in it after a recorded compaction.
    pub files_read_again: u32,
    /// Tokens that requests read since the turn before ended, with those of compactions.
    pub tokens_read: u64,
    /// Tokens in the context after the last request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Percent left then of what the host fills before it compacts by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<Percent>,
    /// What was said, where it is kept.
    #[serde(skip)]
    pub texts: Option<TurnTexts>,
}

/// What was said in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnTexts {
    /// How the person's message begins, with which the turn began.
    pub request: Option<String>,
    /// How the agent's last message ends.
    pub last_message: Option<String>,
}

/// The context after a sampling request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextPoint {
    /// When.
    pub at: Timestamp,
    /// The turn, counted from 1.
    pub turn: u32,
    /// Percent of the window left.
    pub percent: Percent,
    /// Percent left of what the host fills before it compacts by itself. Decisions use it.
    pub percent_left: Percent,
}

/// A compaction that is in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedCompaction {
    /// When.
    pub at: Timestamp,
    /// The turn, counted from 1.
    pub turn: u32,
    /// Who started it.
    pub by: CompactionOrigin,
    /// Tokens in the context before it.
    pub tokens_before: Tokens,
    /// Whether the compaction came while the agent worked.
    pub inside_turn: bool,
}

impl RecordedCompaction {
    /// The host compacted by its own rules.
    pub fn is_by_host(&self) -> bool {
        self.by == CompactionOrigin::Host
    }
}

/// One session under one policy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionReport {
    /// The session's id.
    pub session: String,
    /// The folder that the agent worked in.
    pub cwd: String,
    /// The format of its record; absent if no line showed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<RecordFormat>,
    /// The last model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The context window that percentages are of.
    pub window: Tokens,
    /// The percentage left below which each tier begins.
    #[serde(skip)]
    pub tiers: BTreeMap<Tier, Percent>,
    /// The first and the last time in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spans: Option<(Timestamp, Timestamp)>,
    /// Milliseconds in which something happened: longer pauses than ten minutes are left out.
    pub active_ms: u64,
    /// How many turns ended.
    pub turns: u32,
    /// The session's lines.
    pub lines: LineCounts,
    /// The turns that ended, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<ReplayedTurn>,
    /// All decisions that rawr would have stored, in order.
    pub decisions: Vec<ReplayedDecision>,
    /// The context over time.
    pub context: Vec<ContextPoint>,
    /// What the host did by itself.
    pub recorded: Vec<RecordedCompaction>,
    /// Files that were read before a recorded compaction and again within five turns after it.
    pub files_read_again: u32,
    /// The tokens of all requests under this policy, by model.
    pub tokens: ModelTokens,
    /// The tokens of all requests as recorded, by model.
    pub recorded_tokens: ModelTokens,
    /// Inputs that the machine refused; more than a few mean that the record was misread.
    pub refused: u32,
}

/// Sums over sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayTotals {
    /// Sessions with at least one turn.
    pub sessions: u32,
    /// Turns that ended.
    pub turns: u32,
    /// Milliseconds in which something happened.
    pub active_ms: u64,
    pub proposals: u32,
    /// Proposals that a message, silence or a more urgent tier confirmed.
    pub confirmed: u32,
    /// Proposals that a message dropped.
    pub dropped: u32,
    /// Compactions that would have begun.
    pub fires: u32,
    /// Those inside of a turn.
    pub fires_inside_turn: u32,
    pub fires_by_tier: BTreeMap<&'static str, u32>,
    /// By boundary; a compaction with two of them counts for both.
    pub fires_by_boundary: BTreeMap<String, u32>,
    /// Decisions that only the judge stopped.
    pub vetoes: u32,
    /// Decisions that a single gate stopped, by gate.
    pub near_misses: BTreeMap<Gate, u32>,
    /// Compactions of the host by its own rules.
    pub host_compactions: u32,
    /// Those inside of a turn.
    pub host_compactions_inside_turn: u32,
    /// Those before which this policy had begun none in the same session.
    pub host_compactions_unforeseen: u32,
    /// Compactions that a person asked for.
    pub person_compactions: u32,
    /// Files read again after a recorded compaction.
    pub files_read_again: u32,
    /// The tokens of all requests under this policy, by model.
    pub tokens: ModelTokens,
    /// The tokens of all requests as recorded, by model.
    pub recorded_tokens: ModelTokens,
    /// Lines of all records.
    pub lines: LineCounts,
}

impl ReplayTotals {
    /// The sums of one session.
    pub fn of(session: &SessionReport) -> Self {
        let mut totals = Self { lines: session.lines, ..Self::default() };
        totals.count(session);
        totals
    }

    /// Adds other sums.
    pub fn add(&mut self, other: &Self) {
        self.lines.add(other.lines);
        for (sum, part) in self.counts().into_iter().zip(other.clone().counts()) {
            *sum += *part;
        }
        self.active_ms += other.active_ms;
        add(&mut self.tokens, &other.tokens);
        add(&mut self.recorded_tokens, &other.recorded_tokens);
        for (tier, count) in &other.fires_by_tier {
            *self.fires_by_tier.entry(tier).or_default() += count;
        }
        for (boundary, count) in &other.fires_by_boundary {
            *self.fires_by_boundary.entry(boundary.clone()).or_default() += count;
        }
        for (gate, count) in &other.near_misses {
            *self.near_misses.entry(*gate).or_default() += count;
        }
    }

    fn counts(&mut self) -> [&mut u32; 13] {
        [
            &mut self.sessions,
            &mut self.turns,
            &mut self.proposals,
            &mut self.confirmed,
            &mut self.dropped,
            &mut self.fires,
            &mut self.fires_inside_turn,
            &mut self.vetoes,
            &mut self.host_compactions,
            &mut self.host_compactions_inside_turn,
            &mut self.host_compactions_unforeseen,
            &mut self.person_compactions,
            &mut self.files_read_again,
        ]
    }

    fn count(&mut self, session: &SessionReport) {
        if session.turns == 0 {
            return;
        }
        self.sessions += 1;
        self.turns += session.turns;
        self.active_ms += session.active_ms;
        self.files_read_again += session.files_read_again;
        add(&mut self.tokens, &session.tokens);
        add(&mut self.recorded_tokens, &session.recorded_tokens);
        let mut is_open = false;
        for decision in &session.decisions {
            self.proposals += u32::from(decision.proposes);
            self.dropped += u32::from(decision.drops.is_some());
            self.vetoes += u32::from(decision.vetoed);
            if let Some(gate) = decision.stopped_by {
                *self.near_misses.entry(gate).or_default() += 1;
            }
            if decision.fires() {
                self.fires += 1;
                self.confirmed += u32::from(is_open);
                self.fires_inside_turn += u32::from(decision.entrance == Entrance::MidTurn);
                let tier = decision.tier.map_or("none", Tier::name);
                *self.fires_by_tier.entry(tier).or_default() += 1;
                for boundary in decision.boundaries.iter() {
                    *self.fires_by_boundary.entry(boundary.name().to_owned()).or_default() += 1;
                }
            }
            is_open = decision.proposes || decision.confirms;
        }
        for compaction in &session.recorded {
            match compaction.by {
                CompactionOrigin::Host => {
                    self.host_compactions += 1;
                    self.host_compactions_inside_turn += u32::from(compaction.inside_turn);
                    let before = |decision: &ReplayedDecision| decision.at <= compaction.at;
                    let foreseen = session.decisions.iter().any(|it| it.fires() && before(it));
                    self.host_compactions_unforeseen += u32::from(!foreseen);
                }
                CompactionOrigin::User => self.person_compactions += 1,
                CompactionOrigin::Rawr => {}
            }
        }
    }

    /// Compactions that would have begun in an hour of work.
    pub fn fires_per_hour(&self) -> Option<f64> {
        let hours = self.active_ms as f64 / 3_600_000.0;
        (hours > 0.0).then(|| f64::from(self.fires) / hours)
    }

    /// Whether there is so little work that a count for an hour says nothing.
    pub fn is_too_short_for_a_rate(&self) -> bool {
        self.active_ms < SHORTEST_FOR_A_RATE_MS
    }
}
