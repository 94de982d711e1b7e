//! What can be said of stored threads, how much each weighs, and what to do about it: one table.

use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub kind: Kind,
    pub weight: Weight,
    pub file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    Wrong,
    /// Worth knowing; nothing is wrong.
    Note,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    TornTail,
    UnreadableLine,
    NewerFormat,
    CacheUnfit,
    CacheOld,
    Permissions,
    IdTwice,
    ThereTwice,
    Unreachable,
    LockStuck,
    Leftover,
    NoEvents,
    OddFile,
    Owned,
    Pending,
    Waiting,
    Quarantined,
    Backup,
}

const REPAIR: Option<&str> = Some("`rawr state repair` puts it right");
const UPDATE: Option<&str> = Some("a newer rawr wrote it: update this one; nothing was changed");
const REPORT: Option<&str> = Some("`rawr state export` makes a report of it");
const OWN_HAND: Option<&str> = Some("move one of the two folders out of the way");
const ACCESS: Option<&str> = Some("make it readable and writable for you");
const STUCK: Option<&str> = Some("end the program that holds it");

impl Kind {
    const fn about(self) -> (Weight, Option<&'static str>) {
        match self {
            Self::TornTail | Self::UnreadableLine | Self::CacheUnfit | Self::Permissions => {
                (Weight::Wrong, REPAIR)
            }
            Self::NewerFormat => (Weight::Wrong, UPDATE),
            Self::IdTwice => (Weight::Wrong, REPORT),
            Self::ThereTwice => (Weight::Wrong, OWN_HAND),
            Self::Unreachable => (Weight::Wrong, ACCESS),
            Self::LockStuck => (Weight::Wrong, STUCK),
            Self::Leftover | Self::NoEvents => (Weight::Note, REPAIR),
            Self::CacheOld
            | Self::OddFile
            | Self::Owned
            | Self::Pending
            | Self::Waiting
            | Self::Quarantined
            | Self::Backup => (Weight::Note, None),
        }
    }

    /// Lines are lost, or cannot be read by this release.
    pub const fn is_damage(self) -> bool {
        matches!(
            self,
            Self::TornTail
                | Self::UnreadableLine
                | Self::NewerFormat
                | Self::Unreachable
                | Self::LockStuck
        )
    }

    /// Something that a repair can put right.
    pub fn is_repairable(self) -> bool {
        self.about().1 == REPAIR
    }
}

impl Finding {
    pub(super) fn new(kind: Kind, file: &Path, message: impl Into<String>) -> Self {
        let (weight, todo) = kind.about();
        Self { kind, weight, file: file.to_owned(), line: None, message: message.into(), todo }
    }

    pub(super) fn at(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    pub fn is_wrong(&self) -> bool {
        self.weight == Weight::Wrong
    }
}
