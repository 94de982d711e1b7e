//! The configuration as plain data, with the built-in values: tiers, modes, limits.

use crate::boundary::{Boundaries, Boundary};
use crate::units::{Percent, Tokens};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Urgency by percent of the context window remaining (rule `1-6.2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Plenty is left: compacts at plan and pull request boundaries only.
    Early,
    /// A commit counts as well.
    Ready,
    /// Room is getting short: every boundary counts except `turn_complete`.
    Asap,
    /// The window is nearly full: needs no boundary and no judge, and lifts guards.
    Emergency,
}

impl Tier {
    /// Every tier, the least urgent first.
    pub const ALL: [Self; 4] = [Self::Early, Self::Ready, Self::Asap, Self::Emergency];
    /// The order in which tiers are tried: the first one that holds wins.
    pub const MOST_URGENT_FIRST: [Self; 4] =
        [Self::Emergency, Self::Asap, Self::Ready, Self::Early];

    /// The name on disk, on the wire and in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Early => "early",
            Self::Ready => "ready",
            Self::Asap => "asap",
            Self::Emergency => "emergency",
        }
    }

    /// The threshold that is not configured: the tier holds strictly below this percentage.
    pub const fn built_in_threshold(self) -> u8 {
        match self {
            Self::Early => 85,
            Self::Ready => 75,
            Self::Asap => 65,
            Self::Emergency => 15,
        }
    }

    /// The boundaries that may count at this tier, whatever a policy requires. An emergency needs none.
    pub const fn allowed(self) -> Boundaries {
        use Boundary::{
            AgentDone, Commit, ConcludingThought, PlanCheckpoint, PlanUpdate, PrCheckpoint,
            TopicShift,
        };
        const EARLY: Boundaries =
            Boundaries::of(&[PlanCheckpoint, PlanUpdate, PrCheckpoint, TopicShift]);
        const READY: Boundaries = EARLY.or(Boundaries::of(&[Commit]));
        const ASAP: Boundaries = READY.or(Boundaries::of(&[AgentDone, ConcludingThought]));
        match self {
            Self::Early => EARLY,
            Self::Ready => READY,
            Self::Asap | Self::Emergency => ASAP,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The configuration of one tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierRule {
    /// The tier holds while strictly less than this percentage is left; 0 switches the tier off.
    pub percent_remaining_lt: u8,
    /// `None`: every boundary that the tier allows.
    pub required: Option<Boundaries>,
    /// `None`: the tier's built-in answer (yes in early and ready). `Some(false)` also lifts the weak-boundary gate.
    pub plan_needs_semantic_break: Option<bool>,
    /// The decision prompt for the judge; `None`: no judge is asked at this tier.
    pub decision_prompt_path: Option<String>,
    /// The model or project whose override set the threshold; named in the evidence.
    pub set_by: Option<String>,
}

impl TierRule {
    /// The rule of a tier that is not configured.
    pub const fn built_in(tier: Tier) -> Self {
        Self {
            percent_remaining_lt: tier.built_in_threshold(),
            required: None,
            plan_needs_semantic_break: None,
            decision_prompt_path: None,
            set_by: None,
        }
    }

    /// `turn_complete` counts only where a policy names it.
    pub fn counting(&self, tier: Tier) -> Boundaries {
        let turn_complete = Boundaries::of(&[Boundary::TurnComplete]);
        match self.required {
            None => tier.allowed(),
            Some(required) => required.and(tier.allowed().or(turn_complete)),
        }
    }

    /// Whether the compaction waits for the next message, because the tier requires `turn_complete` (rule `1-7.g1`). An
    /// emergency does not wait.
    pub fn waits_for_input(&self, tier: Tier) -> bool {
        tier != Tier::Emergency
            && self.required.is_some_and(|required| required.has(Boundary::TurnComplete))
    }

    /// Whether a plan update counts without a stronger boundary. This lifts the gate `weak_boundary`.
    pub fn takes_a_plan_update_alone(&self) -> bool {
        self.plan_needs_semantic_break == Some(false)
    }

    /// Whether a plan boundary counts only together with a semantic break.
    pub fn needs_semantic_break(&self, tier: Tier) -> bool {
        self.plan_needs_semantic_break.unwrap_or(matches!(tier, Tier::Early | Tier::Ready))
    }
}

/// The rule of each tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiers {
    /// [`Tier::Early`].
    pub early: TierRule,
    /// [`Tier::Ready`].
    pub ready: TierRule,
    /// [`Tier::Asap`].
    pub asap: TierRule,
    /// [`Tier::Emergency`].
    pub emergency: TierRule,
}

impl Tiers {
    /// The rule of this tier.
    pub const fn rule(&self, tier: Tier) -> &TierRule {
        match tier {
            Tier::Early => &self.early,
            Tier::Ready => &self.ready,
            Tier::Asap => &self.asap,
            Tier::Emergency => &self.emergency,
        }
    }

    /// The rule of this tier, for changing it.
    pub const fn rule_mut(&mut self, tier: Tier) -> &mut TierRule {
        match tier {
            Tier::Early => &mut self.early,
            Tier::Ready => &mut self.ready,
            Tier::Asap => &mut self.asap,
            Tier::Emergency => &mut self.emergency,
        }
    }

    /// The most urgent tier that holds, or `None` above every tier.
    pub fn pick(&self, remaining: Percent) -> Option<Tier> {
        self.holding(remaining).next()
    }

    /// Every tier whose threshold is passed, the most urgent first.
    pub fn holding(&self, remaining: Percent) -> impl Iterator<Item = Tier> {
        let holds = move |tier: &Tier| remaining.0 < self.rule(*tier).percent_remaining_lt;
        Tier::MOST_URGENT_FIRST.into_iter().filter(holds)
    }
}

/// What happens when every other gate is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Log that a compaction would have happened.
    Tag,
    /// Recommend it.
    Suggest,
    /// Ask the person.
    Ask,
    /// Do it.
    Auto,
}

/// Who wrote a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PacketAuthor {
    /// The agent, in answer to the packet request.
    Agent,
    /// rawr, from what it observed. The text says that the agent did not write it.
    Watcher,
    /// A person edited or wrote it.
    Person,
}

/// How the agent is asked for its packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PacketChannel {
    /// In a turn, which stays in the conversation until the compaction.
    #[default]
    Transcript,
    /// Outside of the conversation, if the host can.
    Sample,
}

/// Who judges at tiers that have a decision prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeBackend {
    /// The host if it can judge, else the heuristic.
    #[default]
    Auto,
    /// The host, with its own model.
    Host,
    /// A model behind the Responses API.
    Responses,
    /// A model behind the Chat Completions API.
    Chat,
    /// rawr itself, by a score of signals and without a model.
    Heuristic,
    /// No judge: decision prompts are ignored.
    Off,
}

/// Phrases of the last message that count as a semantic break, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrases {
    /// The agent says that the work is done.
    pub agent_done: Vec<String>,
    /// The agent moves on.
    pub topic_shift: Vec<String>,
    /// The agent sums up.
    pub concluding_thought: Vec<String>,
    /// A sentence of the user that begins with one of these is a standing instruction.
    pub directive: Vec<String>,
}

/// How a compaction is measured for the breaker. Each sequence stores the rule that it started under, so that an old
/// log folds as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Worth {
    /// Good if it leaves at most this percentage of the tokens above the floor.
    #[serde(rename = "land_above_floor_percent")]
    AboveFloor(u8),
    /// Good if it leaves at most this percentage of all tokens, as format 1 measured.
    #[serde(rename = "land_at_percent")]
    OfAll(u8),
}

/// Whether a compaction may run between two sampling requests of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MidTurn {
    /// Never.
    Off,
    /// Only in an emergency.
    Emergency,
    /// In every tier.
    Policy,
}

impl MidTurn {
    /// Whether a compaction in this tier may run inside a turn. `None` is no tier.
    pub fn allows(self, tier: Option<Tier>) -> bool {
        match self {
            Self::Off => false,
            Self::Emergency => tier == Some(Tier::Emergency),
            Self::Policy => true,
        }
    }
}

/// `[auto_compact]`: the built-in compaction, for when rawr's own decisions are switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlineCompact {
    /// Whether it may compact when `features.rawr_auto_compaction` is off.
    pub enabled: bool,
    /// It compacts while strictly less than this percentage is left.
    pub threshold_percent: u8,
    /// Whether it may abort a sampling request that runs.
    pub interrupt_mid_turn: bool,
}

/// How many seconds each phase may take before the sequence goes on without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// For the judge to answer.
    pub judgment: u64,
    /// For a person to approve; without an answer the compaction is called off.
    pub approval: u64,
    /// For the heads-up turn, where it is a turn of its own.
    pub heads_up: u64,
    /// For the agent to update its scratch file.
    pub scratch_write: u64,
    /// For the agent's packet; after that rawr writes one itself.
    pub packet: u64,
    /// For the host to compact.
    pub compaction: u64,
    /// For the host to take the handoff.
    pub handoff: u64,
}

/// Pauses compactions that do not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breaker {
    /// How many bad sequences in a row pause their tier; 0: never.
    pub strikes: u32,
    /// A compaction is good if it leaves at most this percentage of what it could free: the tokens above the floor.
    pub land_at_percent: u8,
    /// Seconds after the last bad sequence until one more try is allowed; 0: none before a good compaction.
    pub reset_seconds: u64,
}

/// Passed on to the host with the compaction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct CompactionSettings {
    /// The model that writes the host's summary.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// The reasoning effort of that model, in the host's words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reasoning_effort: Option<String>,
    /// The verbosity of that model, in the host's words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verbosity: Option<String>,
}

/// Everything that is configured for a thread. [`Policy::default`] holds the built-in values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// `features.rawr_auto_compaction`: whether rawr decides. If not, `inline` may.
    pub enabled: bool,
    /// What a passed decision leads to outside of a turn.
    pub mode: Mode,
    /// Who writes the packet between turns. Inside a turn it is always the agent.
    pub packet_author: PacketAuthor,
    /// How the agent is asked for its packet.
    pub packet_channel: PacketChannel,
    /// Whether a heads-up tells the agent about the compaction (rule `2-seq.2`).
    pub turn_based_handoff: bool,
    /// Whether a sequence may run inside a turn.
    pub mid_turn: MidTurn,
    /// The built-in compaction of `[auto_compact]`.
    pub inline: InlineCompact,
    /// Who judges.
    pub judge: JudgeBackend,
    /// Whether a model is asked even if `mode` compacts nothing and its answer only improves the advice.
    pub judge_for_advice: bool,
    /// Thresholds and required boundaries of each tier.
    pub tiers: Tiers,
    /// New tokens needed between two compactions. `None`: 1/50 of the window and at least 64, or 256 if the window is
    /// unknown (rule `5-rearm`).
    pub rearm_tokens: Option<Tokens>,
    /// Turns that must end between two compactions.
    pub cooldown_turns: u32,
    /// Seconds that must pass between two compactions.
    pub cooldown_seconds: u64,
    /// When compactions that do not help are paused.
    pub breaker: Breaker,
    /// How long each phase may take.
    pub deadlines: Deadlines,
    /// Whether the agent is asked to update its scratch file before a compaction.
    pub scratch_write_enabled: bool,
    /// The scratch file's path with the placeholder `{agentName}`; see [`crate::scratch::file`].
    pub scratch_file_template: String,
    /// How many characters of a message a packet by rawr quotes at most.
    pub packet_max_tail_chars: usize,
    /// Settings of the host's summary.
    pub compaction: CompactionSettings,
    /// Phrases in messages that are read as signals.
    pub phrases: Phrases,
}

impl Policy {
    /// Whether `[auto_compact]` decides instead of rawr.
    pub const fn built_in_decides(&self) -> bool {
        !self.enabled && self.inline.enabled
    }

    /// How many new tokens another compaction needs at least.
    pub fn rearm_after(&self, window: Option<Tokens>) -> Tokens {
        self.rearm_tokens
            .unwrap_or_else(|| window.map_or(Tokens(256), |window| Tokens((window.0 / 50).max(64))))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            enabled: true,
            mode: Mode::Auto,
            packet_author: PacketAuthor::Agent,
            packet_channel: PacketChannel::Transcript,
            turn_based_handoff: true,
            mid_turn: MidTurn::Emergency,
            inline: InlineCompact {
                enabled: false,
                threshold_percent: 15,
                interrupt_mid_turn: false,
            },
            tiers: Tiers {
                early: TierRule::built_in(Tier::Early),
                ready: TierRule::built_in(Tier::Ready),
                asap: TierRule::built_in(Tier::Asap),
                emergency: TierRule::built_in(Tier::Emergency),
            },
            judge: JudgeBackend::Auto,
            judge_for_advice: false,
            rearm_tokens: None,
            cooldown_turns: 1,
            cooldown_seconds: 0,
            breaker: Breaker { strikes: 3, land_at_percent: 80, reset_seconds: 1800 },
            deadlines: Deadlines {
                judgment: 60,
                approval: 600,
                heads_up: 300,
                scratch_write: 300,
                packet: 300,
                compaction: 600,
                handoff: 120,
            },
            scratch_write_enabled: false,
            scratch_file_template: crate::scratch::DEFAULT_TEMPLATE.to_owned(),
            packet_max_tail_chars: 1200,
            compaction: CompactionSettings::default(),
            phrases: Phrases::default(),
        }
    }
}

impl Default for Phrases {
    fn default() -> Self {
        let own = |list: &[&str]| list.iter().map(|&phrase| phrase.to_owned()).collect();
        Self {
            agent_done: own(&[
                "all done",
                "task is complete",
                "task is done",
                "work is complete",
                "work is done",
                "is now complete",
                "is finished",
                "i have finished",
                "i've finished",
                "i have completed",
                "i've completed",
                "everything is done",
                "nothing left to do",
            ]),
            topic_shift: own(&[
                "moving on to",
                "move on to",
                "next i will",
                "next, i will",
                "next i'll",
                "next, i'll",
                "turning to",
                "switching to",
                "on to the next",
                "next phase",
                "next step is",
            ]),
            concluding_thought: own(&[
                "in summary",
                "to summarize",
                "to summarise",
                "in conclusion",
                "to conclude",
                "to wrap up",
                "wrapping up",
                "overall,",
                "that covers",
            ]),
            directive: own(&[
                "always",
                "never",
                "do not ever",
                "don't ever",
                "from now on",
                "make sure",
                "remember",
                "you must",
            ]),
        }
    }
}
