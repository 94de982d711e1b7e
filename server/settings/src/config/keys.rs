//! Configuration keys: types, how they are stored in `Config`, and how far a project may change them. The keys
//! themselves are in `table`.

use super::Config;
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::policy::{
    ConfirmRule, JudgeBackend, MidTurn, Mode, PacketAuthor, PacketChannel, Preset,
};
use serde_json::json;
use std::ops::RangeInclusive;

/// One `[table]` of the file.
#[derive(Debug)]
pub struct KeyTable {
    /// The name of the table.
    pub path: &'static str,
    /// What the table is for, as a sentence for users.
    pub doc: &'static str,
    /// The table's keys, in the order of the file.
    pub keys: &'static [ConfigKey],
}

/// A configuration key.
#[derive(Debug)]
pub struct ConfigKey {
    /// With its table: `rawr_auto_compaction.mode`.
    pub path: &'static str,
    /// The type of its value.
    pub kind: KeyKind,
    /// What the key does, as sentences for users.
    pub doc: &'static str,
    /// An example value as TOML, for keys without a default.
    pub example: &'static str,
    pub(super) narrow: ProjectRule,
    pub(super) unread: Unread,
    pub(super) place: KeyStorage,
}

/// The type of a key's value.
#[derive(Debug)]
pub enum KeyKind {
    /// A boolean.
    Switch,
    /// A whole number in this range.
    Number(RangeInclusive<u64>),
    /// A number, or a string with a number and `%`.
    Percent(RangeInclusive<u64>),
    /// From strictest to most permissive.
    Word(&'static [&'static str]),
    /// An empty string means not set.
    Text,
    /// The address of an HTTP endpoint without user and password. An empty string means not set.
    Url,
    /// The name of an environment variable. An empty string means not set.
    Variable,
    /// A path relative to the thread's folder that stays inside it.
    ScratchTemplate,
    /// A list of boundaries.
    Boundaries {
        /// With an empty list nothing would happen any more.
        needs_one: bool,
    },
    /// A list of strings.
    Phrases,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyValue {
    Switch(bool),
    Number(u64),
    Word(&'static str),
    Text(String),
    Boundaries(Boundaries),
    Phrases(Vec<String>),
}

/// How a project's file may change the value of the user's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProjectRule {
    Never,
    ToFalse,
    ToTrue,
    Down,
    Up,
    /// Towards the first word.
    Earlier,
    Subset,
    Superset,
}

/// What holds while a value cannot be read: the strictest that could have been meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// The value of the next lower layer: no value makes rawr compact more.
    Lower,
    Switch(bool),
    Word(&'static str),
    NoBoundary,
    /// Any value could have been meant, so nothing is compacted without approval.
    Approval,
    /// Needs approval as well, and no model is asked: the question could go to another one than was meant.
    NoModel,
}

impl ProjectRule {
    /// What a switch is while it cannot be read.
    pub(super) const fn unread_switch(self) -> Unread {
        match self {
            Self::ToFalse => Unread::Switch(false),
            Self::ToTrue => Unread::Switch(true),
            _ => Unread::Lower,
        }
    }

    /// What holds while a number or a list cannot be read.
    pub(super) const fn unread(self) -> Unread {
        match self {
            Self::Never => Unread::Lower,
            _ => Unread::Approval,
        }
    }
}

#[derive(Debug)]
pub(super) enum KeyStorage {
    Own {
        /// `None` if the key is not set and its default is not a single value.
        get: fn(&Config) -> Option<KeyValue>,
        set: fn(&mut Config, KeyValue),
    },
    /// A short form: sets each of these keys that the file does not set itself.
    Short(&'static [&'static str]),
}

impl ConfigKey {
    /// The last segment of its path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }

    /// Replaces what holds while its value cannot be read.
    pub(super) const fn unread_as(self, unread: Unread) -> Self {
        Self { unread, ..self }
    }

    /// Shows this value in the default file, where it has no default.
    pub(super) const fn shown_as(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// The path of its table.
    pub fn table(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(table, _)| table)
    }

    pub(super) fn get(&self, config: &Config) -> Option<KeyValue> {
        match self.place {
            KeyStorage::Own { get, .. } => get(config),
            KeyStorage::Short(_) => None,
        }
    }

    pub(super) fn set(&self, config: &mut Config, value: KeyValue) {
        if let KeyStorage::Own { set, .. } = self.place {
            set(config, value);
        }
    }
}

impl KeyValue {
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

/// An enum and its words in the file, from strictest to most permissive.
pub(super) trait WordEnum: Copy + PartialEq + 'static {
    const WORDS: &'static [&'static str];
    const VALUES: &'static [Self];
    /// What holds while a word cannot be read.
    const UNREAD: Unread;

    fn word(self) -> KeyValue {
        let at = Self::VALUES.iter().position(|value| *value == self).unwrap_or(0);
        KeyValue::Word(Self::WORDS[at])
    }

    fn from_word(word: &str) -> Option<Self> {
        let at = Self::WORDS.iter().position(|known| *known == word)?;
        Self::VALUES.get(at).copied()
    }
}

impl WordEnum for Mode {
    const WORDS: &'static [&'static str] = &["tag", "suggest", "ask", "auto"];
    const VALUES: &'static [Self] = &[Self::Tag, Self::Suggest, Self::Ask, Self::Auto];
    const UNREAD: Unread = Unread::Word("ask");
}

impl WordEnum for PacketAuthor {
    const WORDS: &'static [&'static str] = &["agent", "watcher"];
    const VALUES: &'static [Self] = &[Self::Agent, Self::Watcher];
    const UNREAD: Unread = Unread::Lower;
}

impl WordEnum for PacketChannel {
    const WORDS: &'static [&'static str] = &["transcript", "sample"];
    const VALUES: &'static [Self] = &[Self::Transcript, Self::Sample];
    const UNREAD: Unread = Unread::Lower;
}

impl WordEnum for JudgeBackend {
    const WORDS: &'static [&'static str] =
        &["auto", "host", "responses", "chat", "heuristic", "off"];
    const VALUES: &'static [Self] =
        &[Self::Auto, Self::Host, Self::Responses, Self::Chat, Self::Heuristic, Self::Off];
    const UNREAD: Unread = Unread::NoModel;
}

impl WordEnum for MidTurn {
    const WORDS: &'static [&'static str] = &["off", "emergency", "policy"];
    const VALUES: &'static [Self] = &[Self::Off, Self::Emergency, Self::Policy];
    const UNREAD: Unread = Unread::Word("off");
}

impl WordEnum for ConfirmRule {
    const WORDS: &'static [&'static str] = &["message", "idle", "either", "none"];
    const VALUES: &'static [Self] = &[Self::Message, Self::Idle, Self::Either, Self::None];
    const UNREAD: Unread = Unread::Word("message");
}

impl WordEnum for Preset {
    const WORDS: &'static [&'static str] = &["calm", "spec"];
    const VALUES: &'static [Self] = &[Self::Calm, Self::Spec];
    const UNREAD: Unread = Unread::Word("calm");
}
