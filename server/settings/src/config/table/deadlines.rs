//! The keys of `[rawr_auto_compaction.deadlines]`.

use crate::config::keys::{ConfigKey, KeyKind, KeyStorage, KeyTable, KeyValue, ProjectRule};

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

pub(super) const TABLE: KeyTable = KeyTable {
    path: "rawr_auto_compaction.deadlines",
    doc: "How many seconds each phase may take before rawr continues without it.",
    keys: &[
        deadline!(
            "judgment_seconds",
            judgment,
            "How many seconds the judge may take. After that, early and ready do not compact, and asap does."
        ),
        deadline!(
            "approval_seconds",
            approval,
            "How many seconds you have to answer in mode `ask`. After that, the compaction is canceled."
        ),
        deadline!(
            "heads_up_seconds",
            heads_up,
            "How many seconds the agent's turn after the heads-up may take, if rawr writes the packet. After that, rawr continues."
        ),
        deadline!(
            "scratch_write_seconds",
            scratch_write,
            "How many seconds the agent may take to write its working notes, if rawr writes the packet. After that, rawr continues."
        ),
        deadline!(
            "packet_seconds",
            packet,
            "How many seconds the agent may take to write its packet. After that, rawr builds one."
        ),
        deadline!(
            "compaction_seconds",
            compaction,
            "How many seconds the host may take to compact. After that, the compaction has failed and held messages are delivered."
        ),
        deadline!(
            "handoff_seconds",
            handoff,
            "How many seconds the host may take to accept the handoff. After that, the sequence has failed and held messages are delivered."
        ),
    ],
};
