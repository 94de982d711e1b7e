//! `decisions.jsonl`: explanations for people. The events hold the truth, so that an unreadable line is logged and left
//! out.

use super::backwards::ReverseLines;
use super::disk::Disk;
use super::{DECISIONS, StoreError, failed};
use rawr_core::assess::DecisionRecord;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Incremented by the same rule as the format of events.
pub const DECISION_FORMAT: u16 = 1;

/// A decision with its format, as it is stored.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredDecision<'d> {
    v: u16,
    decision: Cow<'d, DecisionRecord>,
}

impl<'d> StoredDecision<'d> {
    /// A decision of the current format.
    pub const fn of(decision: &'d DecisionRecord) -> Self {
        Self { v: DECISION_FORMAT, decision: Cow::Borrowed(decision) }
    }

    /// Parses decisions, oldest first. Unreadable ones are logged and left out.
    pub fn read(bytes: &[u8]) -> Vec<DecisionRecord> {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.filter_map(readable).collect()
    }
}

fn readable(line: &[u8]) -> Option<DecisionRecord> {
    read_decision(line)
        .inspect_err(|error| tracing::warn!(%error, "left out an unreadable decision"))
        .ok()
}

/// Why a line is not a decision.
#[derive(Debug, thiserror::Error)]
pub enum BadDecision {
    /// The line has this newer format.
    #[error("it has format {0}, this release reads up to {DECISION_FORMAT}: update rawr")]
    Newer(u16),
    /// The line cannot be parsed.
    #[error("{0}")]
    Broken(serde_json::Error),
}

/// Parses one line. Checks its format first.
pub fn read_decision(line: &[u8]) -> Result<DecisionRecord, BadDecision> {
    #[derive(Deserialize)]
    struct FormatVersion {
        v: u16,
    }
    // A line of a newer format may parse as ours and mean something else.
    match serde_json::from_slice::<FormatVersion>(line) {
        Ok(FormatVersion { v }) if v > DECISION_FORMAT => Err(BadDecision::Newer(v)),
        _ => serde_json::from_slice::<StoredDecision<'_>>(line)
            .map(|stored| stored.decision.into_owned())
            .map_err(BadDecision::Broken),
    }
}

/// The file of decisions of one thread. It grows until `rawr state compact` drops old ones. Never synced, and its
/// failures are not fatal.
#[derive(Debug)]
pub struct DecisionFile {
    disk: Disk,
    path: PathBuf,
    /// Open once something was appended, until an append fails.
    file: Option<File>,
    /// How far the file was read.
    looked_at: Option<u64>,
}

impl DecisionFile {
    pub(super) fn of(disk: &Disk, folder: &Path) -> Self {
        Self { disk: disk.clone(), path: folder.join(DECISIONS), file: None, looked_at: None }
    }

    /// Appends one line. `line` ends with a newline.
    pub fn append(&mut self, line: &[u8]) -> Result<(), StoreError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        self.disk.append(&file, &self.path, line).map_err(failed("write", &self.path))?;
        self.file = Some(file);
        if let Some(looked_at) = &mut self.looked_at {
            *looked_at += line.len() as u64;
        }
        Ok(())
    }

    /// Whole lines that any process appended since the last call. The first call skips the existing ones.
    pub fn look(&mut self) -> Result<Vec<u8>, StoreError> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.looked_at.get_or_insert(0);
                return Ok(Vec::new());
            }
            file => file.map_err(failed("read", &self.path))?,
        };
        let length = file.metadata().map_err(failed("read", &self.path))?.len();
        let from = *self.looked_at.get_or_insert(length);
        let mut lines = Vec::new();
        if length > from {
            file.seek(SeekFrom::Start(from)).map_err(failed("read", &self.path))?;
            file.read_to_end(&mut lines).map_err(failed("read", &self.path))?;
            lines.truncate(memchr::memrchr(b'\n', &lines).map_or(0, |last| last + 1));
            self.looked_at = Some(from + lines.len() as u64);
        }
        Ok(lines)
    }

    /// Readable decisions, newest first. Reads no more of the file than the caller consumes.
    pub fn newest_first(&self) -> Result<impl Iterator<Item = DecisionRecord> + use<>, StoreError> {
        let lines = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            file => Some(file.and_then(ReverseLines::new).map_err(failed("read", &self.path))?),
        };
        let path = self.path.clone();
        let line = move |line: std::io::Result<Vec<u8>>| match line {
            Ok(line) => Some(line),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "left out older decisions");
                None
            }
        };
        let lines = lines.into_iter().flatten().map_while(line);
        Ok(lines.filter(|line| !line.is_empty()).filter_map(|line| readable(&line)))
    }

    /// If the last line is incomplete, the next one starts on a new line.
    fn open(&self) -> Result<File, StoreError> {
        let (disk, path) = (&self.disk, &self.path);
        let file = disk.open_to_append(path).map_err(failed("open", path))?;
        let length = file.metadata().map_err(failed("read", path))?.len();
        let mut last = [b'\n'];
        if length > 0 {
            file.read_exact_at(&mut last, length - 1).map_err(failed("read", path))?;
        }
        if last != [b'\n'] {
            disk.append(&file, path, b"\n").map_err(failed("write", path))?;
        }
        Ok(file)
    }
}
