//! Tiers of urgency, and the rule of each.

use super::Silence;
use crate::boundary::{Boundaries, Boundary};
use crate::units::{Percent, Seconds, Tokens};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Urgency by percent of the context window remaining (rule `tier.most-urgent-wins`).
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

    /// The boundaries that may count at this tier without a confirmation, whatever a policy requires. An emergency
    /// needs none.
    pub const fn allowed(self) -> Boundaries {
        use Boundary::{
            AgentDone, BranchChanged, Commit, ConcludingThought, Merged, PhaseEnded,
            PlanCheckpoint, PlanUpdate, PrCheckpoint, Pushed, TestsGreen, TopicShift,
        };
        const EARLY: Boundaries =
            Boundaries::of(&[PhaseEnded, PlanCheckpoint, PlanUpdate, PrCheckpoint, TopicShift]);
        const READY: Boundaries = EARLY.or(Boundaries::of(&[Commit, Pushed, Merged]));
        const ASAP: Boundaries =
            READY.or(Boundaries::of(&[BranchChanged, TestsGreen, AgentDone, ConcludingThought]));
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

/// How full the context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pressure {
    /// Percent of the window left.
    pub remaining: Percent,
    /// Tokens in the context, where they are known.
    pub used: Option<Tokens>,
}

/// What makes a proposal at the end of a turn a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmRule {
    /// Nothing: the compaction starts when the turn ends.
    #[default]
    None,
    /// The next message, if it opens something new or closes the work. The compaction comes before it.
    Message,
    /// Silence of [`idle_seconds`](super::Policy::idle_seconds).
    Idle,
    /// Whichever comes first.
    Either,
}

impl ConfirmRule {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::None, Self::Message, Self::Idle, Self::Either];

    /// The name on disk, on the wire and in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Message => "message",
            Self::Idle => "idle",
            Self::Either => "either",
        }
    }

    /// What decides about a proposal, for people.
    pub fn decides(self, silence: Silence) -> String {
        let of_silence = || format!("{} of silence", Seconds(silence.seconds));
        match self {
            Self::None => "nothing".to_owned(),
            Self::Message => "your next message".to_owned(),
            Self::Idle => of_silence(),
            Self::Either => format!("your next message or {}", of_silence()),
        }
    }

    /// Whether the next message can confirm.
    pub const fn by_message(self) -> bool {
        matches!(self, Self::Message | Self::Either)
    }

    /// Whether silence can confirm.
    pub const fn by_silence(self) -> bool {
        matches!(self, Self::Idle | Self::Either)
    }
}

/// When a turn confirms its own proposal, so that nothing is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelfConfirmation {
    /// From this probability on that a phase ended with the turn, in percent. The next message is not known.
    pub percent: u8,
    /// Also where the next message can be held and read.
    pub everywhere: bool,
}

/// The configuration of one tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierRule {
    /// The tier holds while strictly less than this percentage is left; 0 switches the tier off.
    pub percent_remaining_lt: u8,
    /// The tier also holds while strictly more than this many tokens are in the context; `None`: the percentage alone
    /// counts.
    pub tokens_used_gt: Option<Tokens>,
    /// `None`: every boundary that the tier allows.
    pub required: Option<Boundaries>,
    /// `None`: the tier's built-in answer (yes in early and ready). `Some(false)` also lifts the weak-boundary gate.
    pub plan_needs_semantic_break: Option<bool>,
    /// What makes a proposal a compaction. An emergency waits for nothing.
    pub confirm: ConfirmRule,
    /// A next message confirms a proposal from this probability on that the phase has ended, in percent.
    pub confirm_percent: u8,
    /// A turn in which one of these happened may confirm its proposal by itself; see [`SelfConfirmation`].
    pub confirms_itself: Boundaries,
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
            tokens_used_gt: None,
            required: None,
            plan_needs_semantic_break: None,
            confirm: ConfirmRule::None,
            confirm_percent: 60,
            confirms_itself: Boundaries::NONE,
            decision_prompt_path: None,
            set_by: None,
        }
    }

    /// Whether the tier holds: by the percentage or by the tokens, whichever holds first.
    pub fn holds(&self, pressure: Pressure) -> bool {
        pressure.remaining.0 < self.percent_remaining_lt || self.holds_by_tokens(pressure)
    }

    /// Whether it holds by the tokens.
    pub fn holds_by_tokens(&self, pressure: Pressure) -> bool {
        self.tokens_used_gt.zip(pressure.used).is_some_and(|(most, used)| used > most)
    }

    /// `turn_complete` counts only where a policy names it.
    pub fn counting(&self, tier: Tier) -> Boundaries {
        self.counting_with(self.confirm, tier)
    }

    /// The boundaries that count where this confirms a compaction.
    pub fn counting_with(&self, confirm: ConfirmRule, tier: Tier) -> Boundaries {
        let turn_complete = Boundaries::of(&[Boundary::TurnComplete]);
        match self.required {
            None => Self::allowed_with(confirm, tier),
            Some(required) => required.and(Self::allowed_with(confirm, tier).or(turn_complete)),
        }
    }

    /// The boundaries that may count.
    pub fn allowed(&self, tier: Tier) -> Boundaries {
        Self::allowed_with(self.confirm, tier)
    }

    /// Where a proposal is confirmed, every boundary may propose.
    fn allowed_with(confirm: ConfirmRule, tier: Tier) -> Boundaries {
        match confirm {
            ConfirmRule::None => tier.allowed(),
            ConfirmRule::Message | ConfirmRule::Idle | ConfirmRule::Either => {
                Boundaries::ALL.without(Boundaries::of(&[Boundary::TurnComplete]))
            }
        }
    }

    /// Whether the compaction waits for the next message, because the tier requires `turn_complete` (rule
    /// `deferral.turn-complete`). An emergency does not wait.
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
    pub fn pick(&self, pressure: Pressure) -> Option<Tier> {
        self.holding(pressure).next()
    }

    /// Every tier whose threshold is passed, the most urgent first.
    pub fn holding(&self, pressure: Pressure) -> impl Iterator<Item = Tier> {
        let holds = move |tier: &Tier| self.rule(*tier).holds(pressure);
        Tier::MOST_URGENT_FIRST.into_iter().filter(holds)
    }
}
