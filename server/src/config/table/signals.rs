//! The keys of `[rawr_auto_compaction.semantic_signals]`.

use crate::config::keys::{Key, KeyStorage, Kind, Narrow, Table, Value};

macro_rules! phrases {
    ($name:literal, $field:ident, $doc:expr) => {
        Key {
            path: concat!("rawr_auto_compaction.semantic_signals.", $name),
            kind: Kind::Phrases,
            doc: $doc,
            example: "",
            narrow: Narrow::Subset,
            place: KeyStorage::Own {
                get: |config| Some(Value::Phrases(config.policy.phrases.$field.clone())),
                set: |config, value| {
                    if let Value::Phrases(phrases) = value {
                        config.policy.phrases.$field = phrases;
                    }
                },
            },
        }
    };
}

pub(super) const TABLE: Table = Table {
    path: "rawr_auto_compaction.semantic_signals",
    doc: "Phrases of the agent's last message that count as a boundary. Case does not matter; a list replaces the built-in one.",
    keys: &[
        phrases!(
            "agent_done",
            agent_done,
            "Phrases that say that the work is done: boundary `agent_done`."
        ),
        phrases!(
            "topic_shift",
            topic_shift,
            "Phrases that say that the agent turns to something else: boundary `topic_shift`."
        ),
        phrases!(
            "concluding_thought",
            concluding_thought,
            "Phrases that say that the agent sums up: boundary `concluding_thought`."
        ),
        phrases!(
            "directive",
            directive,
            "Phrases by which a sentence of yours begins that every compaction carries over word for word, as long as it is among the newest 20. What you pin stays without a limit."
        ),
    ],
};
