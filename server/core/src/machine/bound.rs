//! How much clients may add to a thread. More is refused instead of dropped, because a person or an agent asked for it.

use super::Refusal;
use std::fmt;

/// What is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Guards that are active.
    Guards,
    /// Directives in force.
    Directives,
    /// Messages that wait for a sequence.
    HeldMessages,
}

impl Bound {
    /// How many a thread keeps at most.
    pub const fn most(self) -> usize {
        match self {
            Self::Guards => 100,
            Self::Directives => 200,
            Self::HeldMessages => 1000,
        }
    }

    pub(super) const fn check(self, there: usize) -> Result<(), Refusal> {
        if there < self.most() { Ok(()) } else { Err(Refusal::Full(self)) }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Guards => "guards are active",
            Self::Directives => "directives are in force",
            Self::HeldMessages => "messages are held",
        };
        write!(f, "{} {what}, which is as many as a thread keeps", self.most())
    }
}
