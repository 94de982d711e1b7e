//! The keys of `[rawr_auto_compaction.semantic_signals]`. A project may add vetoes and take away what counts as an end. It may
//! not change what counts as an instruction: only the newest are kept, so that more of them push out others.

use crate::config::keys::{ConfigKey, KeyKind, KeyStorage, KeyTable, KeyValue, ProjectRule};

macro_rules! phrases {
    ($name:literal, $narrow:ident, $field:ident, $doc:expr) => {
        ConfigKey {
            path: concat!("rawr_auto_compaction.semantic_signals.", $name),
            kind: KeyKind::Phrases,
            doc: $doc,
            example: "",
            narrow: ProjectRule::$narrow,
            unread: ProjectRule::$narrow.unread(),
            place: KeyStorage::Own {
                get: |config| Some(KeyValue::Phrases(config.policy.phrases.$field.clone())),
                set: |config, value| {
                    if let KeyValue::Phrases(phrases) = value {
                        config.policy.phrases.$field = phrases;
                    }
                },
            },
        }
    };
}

pub(super) const TABLE: KeyTable = KeyTable {
    path: "rawr_auto_compaction.semantic_signals",
    doc: "The agent's last message is classified without a list. These phrases add to what is heard there, or veto it. Case does not matter; a list replaces the built-in one.",
    keys: &[
        phrases!(
            "not_done",
            Superset,
            not_done,
            "Phrases that veto: a message with one of them ends, concludes and announces nothing."
        ),
        phrases!(
            "agent_done",
            Subset,
            agent_done,
            "Phrases that mean that the work is done: boundary `agent_done`."
        ),
        phrases!(
            "topic_shift",
            Subset,
            topic_shift,
            "Phrases that mean that the agent changes the topic: boundary `topic_shift`."
        ),
        phrases!(
            "concluding_thought",
            Subset,
            concluding_thought,
            "Phrases that mean that the agent sums up: boundary `concluding_thought`."
        ),
        phrases!(
            "directive",
            Never,
            directive,
            "Your standing instructions (\"Don't push.\") are recognized without a list. Sentences that begin with one of these phrases count, too. Every compaction carries them over word for word, as long as they are among the newest 20; pinned ones stay without a limit."
        ),
    ],
};
