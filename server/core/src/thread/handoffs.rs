//! What the agent still has to be told after a compaction, or after one that did not come.

use super::LastPacket;
use crate::event::CompactionOrigin;
use crate::units::TurnId;
use serde::{Deserialize, Serialize};

/// The newest packet, and what is owed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Handoffs {
    /// The newest packet that was taken.
    pub last_packet: Option<LastPacket>,
    /// A compaction still needs a handoff: it was outside of a sequence, or the sequence could not hand over.
    pub late: Option<CompactionOrigin>,
    /// How many handoffs of the newest compaction failed.
    pub failed: u32,
    /// The last one failed, and nothing that could change this has happened since.
    pub waits: bool,
    /// The host's turn in which that compaction happened. It may be the compaction's own turn.
    pub compacted_in: Option<TurnId>,
    /// The agent was told of a compaction that did not come, and not yet that it will not.
    pub unclosed: bool,
}
