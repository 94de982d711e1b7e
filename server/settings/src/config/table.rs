//! The table of all configuration keys. Parsing, unknown-key detection, the commented default file and the
//! documentation are derived from it.

use super::Config;
use super::keys::{ConfigKey, KeyKind, KeyStorage, KeyTable, KeyValue, ProjectRule, Unread};
use super::models;

/// The key of the preset, which is read before all others.
pub(super) const PRESET: &str = "rawr_auto_compaction.preset";

macro_rules! switch {
    ($path:expr, $narrow:ident, $($field:ident).+, $doc:expr) => {
        ConfigKey {
            path: $path,
            kind: KeyKind::Switch,
            doc: $doc,
            example: "",
            narrow: ProjectRule::$narrow,
            unread: ProjectRule::$narrow.unread_switch(),
            place: KeyStorage::Own {
                get: |config| Some(KeyValue::Switch(config.$($field).+)),
                set: |config, value| if let KeyValue::Switch(on) = value { config.$($field).+ = on },
            },
        }
    };
}

macro_rules! number {
    ($path:expr, $narrow:ident, $range:expr, $($field:ident).+, $doc:expr) => {
        number!($path, Number, $narrow, $range, $($field).+, $doc)
    };
    ($path:expr, $kind:ident, $narrow:ident, $range:expr, $($field:ident).+, $doc:expr) => {
        ConfigKey {
            path: $path,
            kind: KeyKind::$kind($range),
            doc: $doc,
            example: "",
            narrow: ProjectRule::$narrow,
            unread: ProjectRule::$narrow.unread(),
            place: KeyStorage::Own {
                get: |config| Some(KeyValue::Number(config.$($field).+ as u64)),
                set: |config, value| if let KeyValue::Number(number) = value {
                    config.$($field).+ = number as _;
                },
            },
        }
    };
}

macro_rules! word {
    ($path:expr, $narrow:ident, $words:ty, $($field:ident).+, $doc:expr) => {
        ConfigKey {
            path: $path,
            kind: KeyKind::Word(<$words>::WORDS),
            doc: $doc,
            example: "",
            narrow: ProjectRule::$narrow,
            unread: <$words>::UNREAD,
            place: KeyStorage::Own {
                get: |config| Some(config.$($field).+.word()),
                set: |config, value| if let KeyValue::Word(word) = value {
                    config.$($field).+ = <$words>::from_word(word).unwrap_or(config.$($field).+);
                },
            },
        }
    };
}

macro_rules! text {
    ($path:expr, $example:expr, $($field:ident).+, $doc:expr) => {
        ConfigKey {
            path: $path,
            kind: KeyKind::Text,
            doc: $doc,
            example: $example,
            narrow: ProjectRule::Never,
            unread: Unread::Lower,
            place: KeyStorage::Own {
                get: |config| config.$($field).+.clone().map(KeyValue::Text),
                set: |config, value| if let KeyValue::Text(text) = value {
                    config.$($field).+ = (!text.is_empty()).then_some(text);
                },
            },
        }
    };
}

// Below the macros that they use.
mod deadlines;
mod general;
mod judgment;
mod prompts;
mod signals;
mod tiers;

pub(super) static TABLES: [KeyTable; 13] = [
    KeyTable {
        path: "features",
        doc: "",
        keys: &[switch!(
            "features.rawr_auto_compaction",
            ToFalse,
            policy.enabled,
            "Whether rawr decides about compaction. If false, `[auto_compact]` or the host does."
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
    KeyTable {
        path: "rawr_auto_compaction.repo_observation",
        doc: "What rawr records about the repository.",
        keys: &[
            switch!(
                "rawr_auto_compaction.repo_observation.enabled",
                ToFalse,
                repo_observation.enabled,
                "Whether rawr reads branch, commit and changed files when a phase of work may have ended."
            ),
            number!(
                "rawr_auto_compaction.repo_observation.timeout_seconds",
                Down,
                1..=60,
                repo_observation.timeout_seconds,
                "How many seconds reading the repository may take. What takes longer is left out."
            )
            .unread_as(Unread::Lower),
            switch!(
                "rawr_auto_compaction.repo_observation.graphite_enabled",
                ToFalse,
                repo_observation.graphite_enabled,
                "Whether rawr also reads the stack of Graphite branches."
            ),
            number!(
                "rawr_auto_compaction.repo_observation.graphite_max_chars",
                Down,
                0..=1_000_000,
                repo_observation.graphite_max_chars,
                "How many characters of the stack are kept."
            )
            .unread_as(Unread::Lower),
        ],
    },
    prompts::TABLE,
    KeyTable {
        path: models::TABLE,
        doc: "For threads with one model: `[rawr_auto_compaction.models.\"gpt-5.2\"]`, or `\"gpt-5*\"`, where `*` is any text, holds keys of [rawr_auto_compaction], policy, deadlines and judgment. For each key the model's own name goes before a pattern, a longer pattern before a shorter, and all of them before the tables above.",
        keys: &[],
    },
    KeyTable {
        path: "auto_compact",
        doc: "The built-in compaction inside a turn. Only used if features.rawr_auto_compaction is false.",
        keys: &[
            switch!(
                "auto_compact.enabled",
                ToFalse,
                policy.inline.enabled,
                "Whether the host compacts below the threshold, without a packet or a handoff; the agent continues."
            ),
            number!(
                "auto_compact.threshold_percent",
                Percent,
                Down,
                0..=100,
                policy.inline.threshold_percent,
                "Compacts when less than this percentage of the context window is left. 0: never."
            ),
            switch!(
                "auto_compact.interrupt_mid_turn",
                ToFalse,
                policy.inline.interrupt_mid_turn,
                "Whether a running request may be interrupted for it, if the host supports that (see the page on hosts)."
            ),
        ],
    },
];

/// Every table, in the order of the file.
pub fn tables() -> impl Iterator<Item = &'static KeyTable> {
    TABLES.iter()
}

/// Every key, in the order of the file.
pub fn keys() -> impl Iterator<Item = &'static ConfigKey> {
    TABLES.iter().flat_map(|table| table.keys)
}

/// The key with this path.
pub fn key(path: &str) -> Option<&'static ConfigKey> {
    keys().find(|key| key.path == path)
}

/// Whether this is a table of the file, or the parent of one.
pub fn is_table(path: &str) -> bool {
    TABLES.iter().any(|table| {
        let rest = table.path.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The keys and sub-tables of a table.
pub fn names_in(path: &str) -> impl Iterator<Item = &'static str> {
    let below = move |of: &'static str| {
        let rest = if path.is_empty() { of } else { of.strip_prefix(path)?.strip_prefix('.')? };
        rest.split('.').next()
    };
    let tables = TABLES.iter().filter_map(move |table| below(table.path));
    tables.chain(keys().filter_map(move |key| below(key.path)))
}

impl ConfigKey {
    /// The keys whose value it sets: itself, unless it is a short form.
    pub fn targets(&'static self) -> impl Iterator<Item = &'static Self> {
        let (own, short) = match self.place {
            KeyStorage::Own { .. } => (Some(self), &[][..]),
            KeyStorage::Short(paths) => (None, paths),
        };
        own.into_iter().chain(short.iter().filter_map(|path| key(path)))
    }

    /// As in the file. `None` if the key has no default.
    pub fn default_value(&'static self) -> Option<serde_json::Value> {
        self.value_in(&Config::default())
    }

    /// The value there, as in the file. A short form has one where all that it sets have the same.
    pub(super) fn value_in(&'static self, config: &Config) -> Option<serde_json::Value> {
        let mut values =
            self.targets().map(|target| target.get(config).map(|value| value.to_json()));
        let value = values.next()??;
        values.all(|other| other.as_ref() == Some(&value)).then_some(value)
    }
}
