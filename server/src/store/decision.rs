//! The lines of `decisions.jsonl`: why, for people. The events carry the truth, so that a line that cannot be read here
//! is left out and told, and stops nothing.

use rawr_core::assess::Decision;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Raised by the same rule as that of the events.
pub const DECISION_FORMAT: u16 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub struct StoredDecision<'d> {
    v: u16,
    decision: Cow<'d, Decision>,
}

impl<'d> StoredDecision<'d> {
    pub const fn of(decision: &'d Decision) -> Self {
        Self { v: DECISION_FORMAT, decision: Cow::Borrowed(decision) }
    }

    /// Oldest first. They are a record of why, and no truth hangs on them.
    pub fn read(bytes: &[u8]) -> Vec<Decision> {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let mut decisions = Vec::new();
        for line in lines {
            match read_decision(line) {
                Ok(decision) => decisions.push(decision),
                Err(error) => tracing::warn!(%error, "an unreadable decision is left out"),
            }
        }
        decisions
    }
}

#[derive(Debug, thiserror::Error)]
pub enum BadDecision {
    #[error("it has format {0}, this release reads up to {DECISION_FORMAT}: update rawr")]
    Newer(u16),
    #[error("{0}")]
    Broken(serde_json::Error),
}

pub fn read_decision(line: &[u8]) -> Result<Decision, BadDecision> {
    #[derive(Deserialize)]
    struct Version {
        v: u16,
    }
    // A newer line may well look like one of ours, and mean something else.
    match serde_json::from_slice::<Version>(line) {
        Ok(Version { v }) if v > DECISION_FORMAT => Err(BadDecision::Newer(v)),
        _ => serde_json::from_slice::<StoredDecision<'_>>(line)
            .map(|stored| stored.decision.into_owned())
            .map_err(BadDecision::Broken),
    }
}
