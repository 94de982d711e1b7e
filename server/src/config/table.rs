//! The one table of all configuration keys. Reading, unknown-key detection, the commented default file and the
//! documentation follow from it; nothing here is about how a value is read.

use super::keys::{Key, KeyStorage, Kind, Narrow, Table, Value};
use super::models;

macro_rules! switch {
    ($path:expr, $narrow:ident, $($field:ident).+, $doc:expr) => {
        Key {
            path: $path,
            kind: Kind::Switch,
            doc: $doc,
            example: "",
            narrow: Narrow::$narrow,
            place: KeyStorage::Own {
                get: |config| Some(Value::Switch(config.$($field).+)),
                set: |config, value| if let Value::Switch(on) = value { config.$($field).+ = on },
            },
        }
    };
}

macro_rules! number {
    ($path:expr, $narrow:ident, $range:expr, $($field:ident).+, $doc:expr) => {
        number!($path, Number, $narrow, $range, $($field).+, $doc)
    };
    ($path:expr, $kind:ident, $narrow:ident, $range:expr, $($field:ident).+, $doc:expr) => {
        Key {
            path: $path,
            kind: Kind::$kind($range),
            doc: $doc,
            example: "",
            narrow: Narrow::$narrow,
            place: KeyStorage::Own {
                get: |config| Some(Value::Number(config.$($field).+ as u64)),
                set: |config, value| if let Value::Number(number) = value {
                    config.$($field).+ = number as _;
                },
            },
        }
    };
}

macro_rules! text {
    ($path:expr, $example:expr, $($field:ident).+, $doc:expr) => {
        Key {
            path: $path,
            kind: Kind::Text,
            doc: $doc,
            example: $example,
            narrow: Narrow::Never,
            place: KeyStorage::Own {
                get: |config| config.$($field).+.clone().map(Value::Text),
                set: |config, value| if let Value::Text(text) = value {
                    config.$($field).+ = (!text.is_empty()).then_some(text);
                },
            },
        }
    };
}

// Below the macros, which they use.
mod deadlines;
mod general;
mod judgment;
mod prompts;
mod signals;
mod tiers;

pub(super) static TABLES: [Table; 13] = [
    Table {
        path: "features",
        doc: "",
        keys: &[switch!(
            "features.rawr_auto_compaction",
            ToFalse,
            policy.enabled,
            "Whether rawr decides about compaction at all. False leaves it to `[auto_compact]`, or to the host."
        )],
    },
    general::TABLE,
    tiers::EARLY,
    tiers::READY,
    tiers::ASAP,
    tiers::EMERGENCY,
    deadlines::TABLE,
    judgment::TABLE,
    signals::TABLE,
    Table {
        path: "rawr_auto_compaction.repo_observation",
        doc: "What is looked up in the repository for the record.",
        keys: &[
            switch!(
                "rawr_auto_compaction.repo_observation.enabled",
                ToFalse,
                repo_observation.enabled,
                "Whether branch, commit and changed files are looked up where a phase of work may have ended."
            ),
            number!(
                "rawr_auto_compaction.repo_observation.timeout_seconds",
                Down,
                1..=60,
                repo_observation.timeout_seconds,
                "How many seconds all of it may take. What is not known by then is left out."
            ),
            switch!(
                "rawr_auto_compaction.repo_observation.graphite_enabled",
                ToFalse,
                repo_observation.graphite_enabled,
                "Whether the stack of Graphite branches is looked up, too."
            ),
            number!(
                "rawr_auto_compaction.repo_observation.graphite_max_chars",
                Down,
                0..=1_000_000,
                repo_observation.graphite_max_chars,
                "How many characters of the stack are kept."
            ),
        ],
    },
    prompts::TABLE,
    Table {
        path: models::TABLE,
        doc: "For threads with one model: `[rawr_auto_compaction.models.\"gpt-5.2\"]`, or `\"gpt-5*\"`, where `*` is any text, holds keys of [rawr_auto_compaction], policy, deadlines and judgment. For each key the model's own name goes before a pattern, a longer pattern before a shorter, and all of them before the tables above.",
        keys: &[],
    },
    Table {
        path: "auto_compact",
        doc: "The built-in compaction inside a turn. It works only where features.rawr_auto_compaction is false.",
        keys: &[
            switch!(
                "auto_compact.enabled",
                ToFalse,
                policy.inline.enabled,
                "Whether the host compacts by itself below the threshold: no packet, no handoff, the agent goes on."
            ),
            number!(
                "auto_compact.threshold_percent",
                Percent,
                Down,
                0..=100,
                policy.inline.threshold_percent,
                "It compacts strictly below this percentage of the context window remaining. 0: never."
            ),
            switch!(
                "auto_compact.interrupt_mid_turn",
                ToFalse,
                policy.inline.interrupt_mid_turn,
                "Whether a running request may be interrupted for it, on a host that can (see the page on hosts)."
            ),
        ],
    },
];
