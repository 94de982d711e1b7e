//! What a packet names of the facts that rawr knew, as its author wrote it and after rawr's additions.

use rawr_core::coverage;
use rawr_core::event::{Fact, FactKind, Packet};
use rawr_core::policy::PacketAuthor;
use serde::Serialize;

/// A packet and the facts in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PacketFacts {
    /// Who wrote it.
    pub author: PacketAuthor,
    /// All facts.
    pub facts: FactCounts,
    /// Those that are standing instructions of the user.
    pub directives: FactCounts,
}

/// How many facts there were, and how many are in the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FactCounts {
    /// What rawr knew.
    pub known: u32,
    /// Those that the author named.
    pub named: u32,
    /// Those that the packet names with rawr's additions.
    pub kept: u32,
}

impl PacketFacts {
    /// `facts` are those of the thread when the packet was taken.
    pub(super) fn of(packet: &Packet, facts: &[Fact]) -> Self {
        let missing = coverage::missing(&packet.text, facts);
        let count = |counts: fn(FactKind) -> bool| {
            let mut counted = FactCounts::default();
            for fact in facts.iter().filter(|fact| counts(fact.kind)) {
                let is_kept = !missing.contains(fact);
                counted.known += 1;
                counted.kept += u32::from(is_kept);
                counted.named += u32::from(is_kept && !packet.added.contains(fact));
            }
            counted
        };
        Self {
            author: packet.author,
            facts: count(|_| true),
            directives: count(|kind| kind == FactKind::Directive),
        }
    }
}

impl PacketFacts {
    /// The author, for people.
    pub const fn author(&self) -> &'static str {
        match self.author {
            PacketAuthor::Agent => "the agent",
            PacketAuthor::Watcher => "rawr",
            PacketAuthor::Person => "a person",
        }
    }
}

impl FactCounts {
    /// Adds those of another packet.
    pub const fn add(&mut self, other: Self) {
        self.known += other.known;
        self.named += other.named;
        self.kept += other.kept;
    }
}
