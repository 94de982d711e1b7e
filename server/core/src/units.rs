//! Basic types: ids, tokens, percent, time.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes an id. Its form is checked where it enters the process, not here.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// The host's id of a conversation.
    ThreadId;
    /// The host's id of a turn: the processing of one user input.
    TurnId;
    /// The client's id of a user message.
    InputId;
    /// The host's id of a tool call.
    CallId;
    /// The host's id of a signal: an item's id, a commit's hash.
    SignalId;
    /// The id of a sequence: one run of heads-up, packet, compaction and handoff.
    SequenceId;
    /// The id of an action, which is done once however often it is asked for.
    ActionId;
    /// The id of a decision.
    DecisionId;
    /// The id of a guard: "do not compact until …".
    GuardId;
    /// The id of a question to the judge.
    JudgeRequestId;
    /// The id of a standing instruction of the user.
    DirectiveId;
}

/// The number of an event in its thread's log, counted from 1. A line that cannot be read does not shift the numbers
/// after it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EventId(pub u64);

impl EventId {
    /// The number of the next event.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Integer Unix milliseconds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This many seconds later; saturates.
    pub fn plus_seconds(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000)))
    }

    /// This many milliseconds later; saturates.
    pub fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
    }

    /// Whole seconds since `earlier`; 0 if `earlier` is later.
    pub fn seconds_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0) / 1000).unwrap_or(0)
    }
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
/// A number of tokens, as the host counts them.
#[serde(transparent)]
pub struct Tokens(pub u64);

/// With commas between thousands: `5,494`.
impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        grouped(self.0, f)
    }
}

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub u64);

/// For people: `90 seconds`, `4 minutes`.
impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, unit) = match self.0 {
            seconds @ 60.. if seconds.is_multiple_of(60) => (seconds / 60, "minute"),
            seconds => (seconds, "second"),
        };
        grouped(count, f)?;
        write!(f, " {unit}{}", if count == 1 { "" } else { "s" })
    }
}

fn grouped(number: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let digits = number.to_string();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            f.write_char(',')?;
        }
        f.write_char(digit)?;
    }
    Ok(())
}

/// How much of the context window is left, 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Percent(pub u8);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl Percent {
    /// Percent of the window left. The baseline (fixed instructions and tools) is subtracted from both sides, as hosts
    /// do, so that both show the same number. `None` if the baseline fills the window.
    pub fn remaining(used: Tokens, window: Tokens, baseline: Tokens) -> Option<Self> {
        let room = window.0.checked_sub(baseline.0).filter(|room| *room > 0)?;
        let left = room.saturating_sub(used.0.saturating_sub(baseline.0));
        let rounded = (u128::from(left) * 200 + u128::from(room)) / (u128::from(room) * 2);
        Some(Self(u8::try_from(rounded).unwrap_or(100).min(100)))
    }
}

/// A hash that is the same on every platform and in every release (FNV-1a), for names that must not change.
pub fn stable_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_in_english() {
        let tokens = [7, 123, 1234, 123_456, 1_234_567].map(|count| Tokens(count).to_string());
        assert_eq!(tokens, ["7", "123", "1,234", "123,456", "1,234,567"]);
        assert_eq!(Percent(69).to_string(), "69%");
        let spoken = [0, 1, 59, 60, 90, 240].map(|seconds| Seconds(seconds).to_string());
        let expected = ["0 seconds", "1 second", "59 seconds", "1 minute", "90 seconds"];
        assert_eq!(spoken[..5], expected);
        assert_eq!(spoken[5], "4 minutes");
    }

    // rule: tier.percent-left
    // rule: tier.one-computation
    #[test]
    fn percent_takes_the_baseline_off_both_sides() {
        let percent = |used, window, baseline| {
            Percent::remaining(Tokens(used), Tokens(window), Tokens(baseline))
        };
        assert_eq!(percent(143_139, 190_000, 0), Some(Percent(25)));
        assert_eq!(percent(143_139, 190_000, 12_000), Some(Percent(26)));
        assert_eq!(percent(5_000, 190_000, 12_000), Some(Percent(100)));
        assert_eq!(percent(500_000, 190_000, 12_000), Some(Percent(0)));
        assert_eq!(percent(1, 12_000, 12_000), None);
        assert_eq!(percent(u64::MAX, u64::MAX, 0), Some(Percent(0)));
    }
}
