//! Boundaries: signals that a phase of work may have ended.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A signal that a phase of work may have ended (rule `boundary.observable-signal`). The discriminants are bits of
/// [`Boundaries`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Boundary {
    /// A commit was made.
    Commit,
    /// Commits were pushed.
    Pushed,
    /// A branch was merged.
    Merged,
    /// Another branch was checked out.
    BranchChanged,
    /// A check that failed before now passes.
    TestsGreen,
    /// A person or a program ended a phase explicitly.
    PhaseEnded,
    /// A step of the plan was completed.
    PlanCheckpoint,
    /// The plan changed. Weak on its own.
    PlanUpdate,
    /// A pull request was created, updated, merged or reviewed.
    PrCheckpoint,
    /// The agent says that it is done.
    AgentDone,
    /// The agent says that it moves on to something else.
    TopicShift,
    /// The agent sums up.
    ConcludingThought,
    /// The turn completed. Counts only where a policy names it.
    TurnComplete,
}

impl Boundary {
    /// Every boundary, in the order in which lists print them.
    pub const ALL: [Self; 13] = [
        Self::Commit,
        Self::Pushed,
        Self::Merged,
        Self::BranchChanged,
        Self::TestsGreen,
        Self::PhaseEnded,
        Self::PlanCheckpoint,
        Self::PlanUpdate,
        Self::PrCheckpoint,
        Self::AgentDone,
        Self::TopicShift,
        Self::ConcludingThought,
        Self::TurnComplete,
    ];

    /// The name on disk, on the wire and in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Pushed => "pushed",
            Self::Merged => "merged",
            Self::BranchChanged => "branch_changed",
            Self::TestsGreen => "tests_green",
            Self::PhaseEnded => "phase_ended",
            Self::PlanCheckpoint => "plan_checkpoint",
            Self::PlanUpdate => "plan_update",
            Self::PrCheckpoint => "pr_checkpoint",
            Self::AgentDone => "agent_done",
            Self::TopicShift => "topic_shift",
            Self::ConcludingThought => "concluding_thought",
            Self::TurnComplete => "turn_complete",
        }
    }

    /// The name in sentences for people. The protocol has the same labels.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Pushed => "push",
            Self::Merged => "merge",
            Self::BranchChanged => "branch changed",
            Self::TestsGreen => "tests pass again",
            Self::PhaseEnded => "phase ended",
            Self::PlanCheckpoint => "plan step done",
            Self::PlanUpdate => "plan changed",
            Self::PrCheckpoint => "pull request",
            Self::AgentDone => "agent done",
            Self::TopicShift => "new topic",
            Self::ConcludingThought => "conclusion",
            Self::TurnComplete => "turn ended",
        }
    }

    /// The inverse of [`Self::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|boundary| boundary.name() == name)
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of boundaries. Stored as a list of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Boundaries(u16);

impl Boundaries {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// Every boundary.
    pub const ALL: Self = Self::of(&Boundary::ALL);
    /// The boundaries that a plan gives.
    pub const PLAN: Self = Self::of(&[Boundary::PlanCheckpoint, Boundary::PlanUpdate]);
    /// Something with a name of its own was finished: a step of the plan, or a phase.
    pub const FINISHED: Self = Self::of(&[Boundary::PhaseEnded, Boundary::PlanCheckpoint]);
    /// Read from the agent's last message (rule `boundary.semantic-break`).
    pub const SEMANTIC: Self =
        Self::of(&[Boundary::AgentDone, Boundary::TopicShift, Boundary::ConcludingThought]);

    /// The set of these boundaries.
    pub const fn of(list: &[Boundary]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < list.len() {
            bits |= 1 << list[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// Whether the set contains this boundary.
    pub const fn has(self, boundary: Boundary) -> bool {
        self.0 & (1 << boundary as u8) != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// For serde: an empty set is not written.
    pub const fn none(&self) -> bool {
        self.0 == 0
    }

    /// The intersection.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The union.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The difference: `self` minus `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The boundaries of the set, in the order of [`Boundary::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Boundary> {
        Boundary::ALL.into_iter().filter(move |boundary| self.has(*boundary))
    }

    /// The set in a sentence for people.
    pub fn labels(self) -> String {
        match self.is_empty() {
            true => "none".to_owned(),
            false => self.iter().map(Boundary::label).collect::<Vec<_>>().join(", "),
        }
    }
}

impl FromIterator<Boundary> for Boundaries {
    fn from_iter<I: IntoIterator<Item = Boundary>>(iter: I) -> Self {
        iter.into_iter().fold(Self::NONE, |set, boundary| set.or(Self::of(&[boundary])))
    }
}

impl fmt::Display for Boundaries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Boundary::name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(", "))
    }
}

impl Serialize for Boundaries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Boundaries {
    /// Drops names of a newer release: an older reader must still replay the thread.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Ok(names.iter().filter_map(|name| Boundary::from_name(name)).collect())
    }
}
