//! The keys of `[rawr_auto_compaction.deadlines]`.

use crate::config::keys::{Key, KeyStorage, Kind, Narrow, Table, Value};

const DAY: u64 = 24 * 60 * 60;

macro_rules! deadline {
    ($name:literal, $field:ident, $doc:expr) => {
        number!(
            concat!("rawr_auto_compaction.deadlines.", $name),
            Never,
            1..=DAY,
            policy.deadlines.$field,
            $doc
        )
    };
}

pub(super) const TABLE: Table = Table {
    path: "rawr_auto_compaction.deadlines",
    doc: "How many seconds each phase may take before rawr helps itself.",
    keys: &[
        deadline!(
            "judgment_seconds",
            judgment,
            "How many seconds the judge may take. Then it counts as having failed: early and ready wait, asap goes on."
        ),
        deadline!(
            "approval_seconds",
            approval,
            "How many seconds you may take to answer in mode `ask`. Then the compaction is called off."
        ),
        deadline!(
            "heads_up_seconds",
            heads_up,
            "How many seconds the turn of the heads-up may take, where rawr writes the packet. Then it goes on without."
        ),
        deadline!(
            "scratch_write_seconds",
            scratch_write,
            "How many seconds the turn of the working notes may take, where rawr writes the packet. Then it goes on without."
        ),
        deadline!(
            "packet_seconds",
            packet,
            "How many seconds the agent may take for its packet. Then one built by rawr stands in."
        ),
        deadline!(
            "compaction_seconds",
            compaction,
            "How many seconds the host may take to compact. Then the compaction has failed, and messages that waited are delivered."
        ),
        deadline!(
            "handoff_seconds",
            handoff,
            "How many seconds the host may take to accept the handoff. Then the sequence has failed, and messages that waited are delivered."
        ),
    ],
};
