//! The findings of a check, their severity, and what to do about each: one table.

use serde::Serialize;
use std::path::{Path, PathBuf};

/// One finding of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// How severe it is.
    pub weight: FindingSeverity,
    /// The file or folder.
    pub file: PathBuf,
    /// The number of the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Details, for people.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo: Option<&'static str>,
}

/// How severe a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// Something is wrong.
    Wrong,
    /// Worth knowing, but nothing is wrong.
    Note,
}

/// What a finding is about. The names are part of the output of `rawr state check --json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The last line is incomplete.
    TornTail,
    /// A line cannot be read.
    UnreadableLine,
    /// A line has a newer format.
    NewerFormat,
    /// The cache does not match the log.
    CacheUnfit,
    /// The cache is from another build.
    CacheOld,
    /// A file has wrong permissions.
    Permissions,
    /// An id is used twice.
    IdTwice,
    /// A line is there twice.
    LineTwice,
    /// The thread exists in both folders.
    ThereTwice,
    /// A file cannot be read.
    Unreachable,
    /// Another process holds a lock for too long.
    LockStuck,
    /// A temporary file of a dead process.
    Leftover,
    /// A folder without a log.
    NoEvents,
    /// A file that rawr does not create.
    OddFile,
    /// A process runs the thread.
    Owned,
    /// Actions are pending.
    Pending,
    /// Messages are held.
    Waiting,
    /// Lines are in quarantine.
    Quarantined,
    /// A backup of an earlier repair.
    Backup,
}

const REPAIR: Option<&str> = Some("`rawr state repair` fixes it");
const UPDATE: Option<&str> = Some("written by a newer rawr: update this one; nothing was changed");
const REPORT: Option<&str> = Some("`rawr state export` writes a report for a bug report");
const OWN_HAND: Option<&str> = Some("move one of the two folders out of the way");
const ACCESS: Option<&str> = Some("make it readable and writable for yourself");
const STUCK: Option<&str> = Some("stop the program that holds it");

impl FindingKind {
    const fn about(self) -> (FindingSeverity, Option<&'static str>) {
        match self {
            Self::TornTail | Self::UnreadableLine | Self::CacheUnfit | Self::Permissions => {
                (FindingSeverity::Wrong, REPAIR)
            }
            Self::NewerFormat => (FindingSeverity::Wrong, UPDATE),
            Self::IdTwice => (FindingSeverity::Wrong, REPORT),
            Self::ThereTwice => (FindingSeverity::Wrong, OWN_HAND),
            Self::Unreachable => (FindingSeverity::Wrong, ACCESS),
            Self::LockStuck => (FindingSeverity::Wrong, STUCK),
            Self::Leftover | Self::NoEvents => (FindingSeverity::Note, REPAIR),
            Self::CacheOld
            | Self::LineTwice
            | Self::OddFile
            | Self::Owned
            | Self::Pending
            | Self::Waiting
            | Self::Quarantined
            | Self::Backup => (FindingSeverity::Note, None),
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

    /// Whether `rawr state repair` fixes it.
    pub fn is_repairable(self) -> bool {
        self.about().1 == REPAIR
    }
}

impl Finding {
    pub(super) fn new(kind: FindingKind, file: &Path, message: impl Into<String>) -> Self {
        let (weight, todo) = kind.about();
        Self { kind, weight, file: file.to_owned(), line: None, message: message.into(), todo }
    }

    pub(super) fn at(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    /// Whether something is wrong.
    pub fn is_wrong(&self) -> bool {
        self.weight == FindingSeverity::Wrong
    }
}
