//! What a configuration key is: its type, its place in `Config`, and how far a project may change it. The keys
//! themselves stand in `table`.

use super::Config;
use super::table::TABLES;
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::policy::{JudgeBackend, MidTurn, Mode, PacketAuthor, PacketChannel, Tier};
use serde_json::json;
use std::ops::RangeInclusive;

/// One `[table]` of the file.
#[derive(Debug)]
pub struct Table {
    pub path: &'static str,
    pub doc: &'static str,
    pub keys: &'static [Key],
}

#[derive(Debug)]
pub struct Key {
    /// With its table: `rawr_auto_compaction.mode`.
    pub path: &'static str,
    pub kind: Kind,
    pub doc: &'static str,
    /// Where there is no default to show, a value in the file's own notation.
    pub example: &'static str,
    pub(super) narrow: Narrow,
    pub(super) place: KeyStorage,
}

#[derive(Debug)]
pub enum Kind {
    Switch,
    Number(RangeInclusive<u64>),
    /// A number, which may also be written as a text with `%` behind it.
    Percent(RangeInclusive<u64>),
    /// From the strictest to the widest.
    Word(&'static [&'static str]),
    /// An empty text is the same as none.
    Text,
    /// Of an HTTP endpoint, without a user or a password. An empty text is the same as none.
    Url,
    /// The name of an environment variable. An empty text is the same as none.
    Variable,
    /// A path relative to the thread's folder that does not leave it.
    ScratchTemplate,
    /// With the tier that it is about, unless it is about all of them.
    Boundaries(Option<Tier>),
    Phrases,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Switch(bool),
    Number(u64),
    Word(&'static str),
    Text(String),
    Boundaries(Boundaries),
    Phrases(Vec<String>),
}

/// What a project's file may do to the value of the user's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Narrow {
    Never,
    ToFalse,
    ToTrue,
    Down,
    Up,
    /// Towards the first word.
    Earlier,
    Subset,
}

#[derive(Debug)]
pub(super) enum KeyStorage {
    Own {
        /// `None`: not set, and the built-in rule is no single value.
        get: fn(&Config) -> Option<Value>,
        set: fn(&mut Config, Value),
    },
    /// A short form: sets these keys wherever they are not set themselves.
    Short(&'static [&'static str]),
}

impl Key {
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }

    pub fn table(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(table, _)| table)
    }

    /// The keys whose value it sets: itself, unless it is a short form.
    pub fn targets(&'static self) -> impl Iterator<Item = &'static Self> {
        let (own, short) = match self.place {
            KeyStorage::Own { .. } => (Some(self), &[][..]),
            KeyStorage::Short(paths) => (None, paths),
        };
        own.into_iter().chain(short.iter().filter_map(|path| key(path)))
    }

    pub(super) fn get(&self, config: &Config) -> Option<Value> {
        match self.place {
            KeyStorage::Own { get, .. } => get(config),
            KeyStorage::Short(_) => None,
        }
    }

    pub(super) fn set(&self, config: &mut Config, value: Value) {
        if let KeyStorage::Own { set, .. } = self.place {
            set(config, value);
        }
    }

    /// As in the file; `None` where it is not set unless somebody sets it.
    pub fn default_value(&'static self) -> Option<serde_json::Value> {
        let defaults = Config::default();
        self.targets().last().and_then(|target| target.get(&defaults)).map(|value| value.to_json())
    }
}

impl Value {
    pub(super) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Switch(on) => json!(on),
            Self::Number(number) => json!(number),
            Self::Word(word) => json!(word),
            Self::Text(text) => json!(text),
            Self::Boundaries(boundaries) => {
                json!(boundaries.iter().map(Boundary::name).collect::<Vec<_>>())
            }
            Self::Phrases(phrases) => json!(phrases),
        }
    }
}

/// Every table, in the order of the file.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    TABLES.iter()
}

/// Every key, in the order of the file.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    TABLES.iter().flat_map(|table| table.keys)
}

pub fn key(path: &str) -> Option<&'static Key> {
    keys().find(|key| key.path == path)
}

/// A table of the file, or one that only holds other tables.
pub fn is_table(path: &str) -> bool {
    TABLES.iter().any(|table| {
        let rest = table.path.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// What may stand directly in a table: its keys and its sub-tables.
pub fn names_in(path: &str) -> impl Iterator<Item = &'static str> {
    let below = move |of: &'static str| {
        let rest = if path.is_empty() { of } else { of.strip_prefix(path)?.strip_prefix('.')? };
        rest.split('.').next()
    };
    let tables = TABLES.iter().filter_map(move |table| below(table.path));
    tables.chain(keys().filter_map(move |key| below(key.path)))
}

/// An enum with the words for it, from the strictest to the widest.
pub(super) trait Words: Copy + PartialEq + 'static {
    const WORDS: &'static [&'static str];
    const VALUES: &'static [Self];

    fn word(self) -> Value {
        let at = Self::VALUES.iter().position(|value| *value == self).unwrap_or(0);
        Value::Word(Self::WORDS[at])
    }

    fn from_word(word: &str) -> Option<Self> {
        let at = Self::WORDS.iter().position(|known| *known == word)?;
        Self::VALUES.get(at).copied()
    }
}

impl Words for Mode {
    const WORDS: &'static [&'static str] = &["tag", "suggest", "ask", "auto"];
    const VALUES: &'static [Self] = &[Self::Tag, Self::Suggest, Self::Ask, Self::Auto];
}

impl Words for PacketAuthor {
    const WORDS: &'static [&'static str] = &["agent", "watcher"];
    const VALUES: &'static [Self] = &[Self::Agent, Self::Watcher];
}

impl Words for PacketChannel {
    const WORDS: &'static [&'static str] = &["transcript", "sample"];
    const VALUES: &'static [Self] = &[Self::Transcript, Self::Sample];
}

impl Words for JudgeBackend {
    const WORDS: &'static [&'static str] =
        &["auto", "host", "responses", "chat", "heuristic", "off"];
    const VALUES: &'static [Self] =
        &[Self::Auto, Self::Host, Self::Responses, Self::Chat, Self::Heuristic, Self::Off];
}

impl Words for MidTurn {
    const WORDS: &'static [&'static str] = &["off", "emergency", "policy"];
    const VALUES: &'static [Self] = &[Self::Off, Self::Emergency, Self::Policy];
}
