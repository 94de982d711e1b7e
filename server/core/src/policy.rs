//! The configuration as plain data, with the built-in values: tiers, modes, limits.

mod silence;
mod tiers;

pub use silence::Silence;
pub use tiers::{ConfirmRule, Pressure, SelfConfirmation, Tier, TierRule, Tiers};

use crate::boundary::{Boundaries, Boundary};
use crate::units::Tokens;
use crate::words::Probability;
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// Phrases of the last message that add to what the classifier hears, or veto it, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrases {
    /// With one of these a message is no semantic break, whatever else it says.
    pub not_done: Vec<String>,
    /// The agent says that the work is done.
    pub agent_done: Vec<String>,
    /// The agent moves on.
    pub topic_shift: Vec<String>,
    /// The agent sums up.
    pub concluding_thought: Vec<String>,
    /// A sentence of the user that begins with one of these is a standing instruction, too.
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
    /// Compacts while strictly less than this percentage is left.
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
    /// Whether the packet takes the place of the host's summary.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub packet_only: bool,
}

/// Between these probabilities, in percent, it is unclear whether a phase has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnclearRange {
    /// From this one on.
    pub from: u8,
    /// Below this one.
    pub below: u8,
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
    /// Whether a packet that is sampled is asked for as soon as its compaction is proposed.
    pub packet_ahead: bool,
    /// Whether a heads-up tells the agent about the compaction (rule `heads-up.first`).
    pub turn_based_handoff: bool,
    /// Whether a sequence may run inside a turn.
    pub mid_turn: MidTurn,
    /// The built-in compaction of `[auto_compact]`.
    pub inline: InlineCompact,
    /// Who judges.
    pub judge: JudgeBackend,
    /// Where a model is asked about a next message.
    pub judge_unclear: UnclearRange,
    /// How many seconds a person's message waits for the judge. After that the classifier decides.
    pub judge_wait_seconds: u64,
    /// Whether a model is asked even if `mode` compacts nothing and its answer only improves the advice.
    pub judge_for_advice: bool,
    /// Thresholds and required boundaries of each tier.
    pub tiers: Tiers,
    /// New tokens needed between two compactions. `None`: 1/50 of the window and at least 64, or 256 if the window is
    /// unknown (rule `gate.rearm-tokens`).
    pub rearm_tokens: Option<Tokens>,
    /// Turns that must end between two compactions.
    pub cooldown_turns: u32,
    /// Seconds that must pass between two compactions.
    pub cooldown_seconds: u64,
    /// When a turn confirms its own proposal, in tiers that name what does.
    pub self_confirmation: SelfConfirmation,
    /// A message that confirms a proposal by closing the work is carried out before the compaction, not after it.
    pub closing_first: bool,
    /// Seconds of silence that confirm a proposal; see [`Policy::silence`].
    pub idle_seconds: u64,
    /// For how many seconds the provider keeps a prompt cached. `None`: as the host reports; 0: unknown.
    pub cache_seconds: Option<u64>,
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

    /// Whether it is unclear for the classifier that a phase has ended.
    pub fn is_unclear(&self, ended: Probability) -> bool {
        let UnclearRange { from, below } = self.judge_unclear;
        (Probability::of_percent(from)..Probability::of_percent(below)).contains(&ended)
    }

    /// How many new tokens another compaction needs at least.
    pub fn rearm_after(&self, window: Option<Tokens>) -> Tokens {
        self.rearm_tokens
            .unwrap_or_else(|| window.map_or(Tokens(256), |window| Tokens((window.0 / 50).max(64))))
    }
}

/// A set of values to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// As the specification has it: compacts when a turn ends.
    Spec,
    /// A turn's end proposes; the next message, or silence, confirms.
    #[default]
    Calm,
}

impl Preset {
    /// The name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Calm => "calm",
        }
    }
}

impl Policy {
    /// The values of a preset.
    pub fn preset(preset: Preset) -> Self {
        // What is left, in percent; tokens that come first in large windows, of which a percentage is many tokens; and how
        // likely the end of a phase must be, which is less where the alternative is the host's own compaction soon.
        const CALM: [(Tier, u8, u64, u8); 3] = [
            (Tier::Early, 60, 100_000, 60),
            (Tier::Ready, 50, 150_000, 60),
            (Tier::Asap, 35, 200_000, 50),
        ];
        const JUDGMENT: &str = "judgment.md";
        const CONFIRMS_ITSELF: Boundaries = Boundaries::of(&[Boundary::Commit]);
        let mut policy = Self::default();
        if preset == Preset::Calm {
            policy.closing_first = true;
            policy.judge_unclear.below = 100;
            for (tier, left, used, likely) in CALM {
                let rule = policy.tiers.rule_mut(tier);
                rule.percent_remaining_lt = left;
                rule.tokens_used_gt = Some(Tokens(used));
                rule.confirm = ConfirmRule::Message;
                rule.confirm_percent = likely;
                rule.confirms_itself = CONFIRMS_ITSELF;
                rule.decision_prompt_path = Some(JUDGMENT.to_owned());
            }
        }
        policy
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            enabled: true,
            mode: Mode::Auto,
            packet_author: PacketAuthor::Agent,
            packet_channel: PacketChannel::Transcript,
            packet_ahead: true,
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
            judge_unclear: UnclearRange { from: 12, below: 85 },
            judge_wait_seconds: 3,
            judge_for_advice: false,
            rearm_tokens: None,
            cooldown_turns: 1,
            cooldown_seconds: 0,
            self_confirmation: SelfConfirmation { percent: 65, everywhere: false },
            closing_first: false,
            idle_seconds: 240,
            cache_seconds: None,
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
            not_done: Vec::new(),
            agent_done: Vec::new(),
            topic_shift: Vec::new(),
            concluding_thought: own(&[
                "in summary",
                "to summarize",
                "to summarise",
                "in conclusion",
                "to conclude",
                "to wrap up",
                "wrapping up",
                "wrap-up:",
                "to sum up",
                "summing up",
                "summary:",
                "to recap",
                "recap:",
                "in short",
                "final thoughts",
                "the bottom line",
                "overall,",
                "that covers",
            ]),
            directive: Vec::new(),
        }
    }
}
