//! What the classifiers answer: a probability, and its evidence for people.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A probability in thousandths, so that it can be compared, stored and replayed exactly.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Probability(u16);

impl Probability {
    /// From thousandths; more than 1,000 is certainty.
    pub const fn of_thousandths(thousandths: u16) -> Self {
        Self(if thousandths > 1000 { 1000 } else { thousandths })
    }

    /// From percent; more than 100 is certainty.
    pub const fn of_percent(percent: u8) -> Self {
        Self::of_thousandths(percent as u16 * 10)
    }

    /// In thousandths.
    pub const fn thousandths(self) -> u16 {
        self.0
    }

    /// From a share, rounded.
    pub fn of(share: f64) -> Self {
        // A float becomes an integer without wrapping, and what is no number becomes 0.
        Self((share * 1000.0 + 0.5).clamp(0.0, 1000.0) as u16)
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", (self.0 + 5) / 10)
    }
}

/// Why a classifier says what it says: a piece of the text, or a trait of it such as "a closing question".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// A piece of the message, word for word.
    Quote(String),
    /// A trait of the message as a whole.
    Trait(String),
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quote(text) => write!(f, "'{text}'"),
            Self::Trait(name) => f.write_str(name),
        }
    }
}
