//! The compactions of a thread, started by anyone.

use super::CompletedCompaction;
use super::breaker::Strike;
use super::sequence::Sequence;
use crate::units::{SequenceId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The compaction that runs, the newest that completed, and what they were worth.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Compactions {
    /// Since when the host is compacting, started by anyone.
    pub running_since: Option<Timestamp>,
    /// The newest compaction.
    pub last: Option<CompletedCompaction>,
    /// Earlier compactions, oldest first.
    pub earlier: VecDeque<CompletedCompaction>,
    /// Sequences in a row that failed or did not help, oldest first.
    pub strikes: Vec<Strike>,
    /// The last sequence, if it ended while the host may still complete its compaction.
    pub given_up: Option<Box<Sequence>>,
}

impl Compactions {
    /// The compaction of a sequence.
    pub fn of(&self, sequence: &SequenceId) -> Option<&CompletedCompaction> {
        let newest_first = self.last.iter().chain(self.earlier.iter().rev());
        newest_first.into_iter().find(|last| last.sequence.as_ref() == Some(sequence))
    }
}
