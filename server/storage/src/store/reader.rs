//! From lines to records. Incomplete and unreadable lines are reported, never silently skipped.

use super::{StoreError, failed};
use rawr_core::Thread;
use rawr_core::event::{FORMAT, Record};
use serde::Deserialize;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

const BLOCK: usize = 1 << 18;

/// Receives the records of a log, from its start or from where a cached state ends.
pub trait RecordReader {
    /// Offered before the first record. On false, the log is read from its start.
    fn resume(&mut self, cached: Thread) -> bool;
    /// The next record.
    fn record(&mut self, record: Record);
}

impl RecordReader for Thread {
    fn resume(&mut self, cached: Thread) -> bool {
        *self = cached;
        true
    }

    fn record(&mut self, record: Record) {
        self.apply(&record);
    }
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replay {
    /// The number of records.
    pub records: u64,
    /// The end of the last complete line.
    pub bytes: u64,
    /// What is wrong with the lines.
    pub damage: Vec<LogDamage>,
}

impl Replay {
    /// Complete lines, readable or not.
    pub fn lines(&self) -> u64 {
        let unreadable = self
            .damage
            .iter()
            .filter(|damage| matches!(damage, LogDamage::Unreadable { .. }))
            .count();
        self.records + unreadable as u64
    }
}

/// Something wrong with a line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogDamage {
    /// The last line was incomplete and was cut off.
    TornTail {
        /// The number of the line, from 1.
        line: u64,
        /// The length that was cut off.
        bytes: u64,
    },
    /// A line in the middle cannot be read. It stays in the file and was copied to the quarantine.
    Unreadable {
        /// The number of the line, from 1.
        line: u64,
        /// Why it cannot be read.
        reason: String,
        /// The line, with invalid UTF-8 replaced.
        text: String,
    },
}

/// Reads records from `start` on and passes each to `each`, in constant memory. `first_line` is the number of the line
/// at `start`, for messages.
pub fn replay(
    file: &mut File,
    path: &Path,
    start: u64,
    first_line: u64,
    each: impl FnMut(Record),
) -> Result<Replay, StoreError> {
    replay_until(u64::MAX, file, path, start, first_line, each)
}

/// Like [`replay`], for a log whose bytes after `end` are not valid.
pub(super) fn replay_until(
    end: u64,
    file: &mut File,
    path: &Path,
    start: u64,
    first_line: u64,
    mut each: impl FnMut(Record),
) -> Result<Replay, StoreError> {
    let mut replay = Replay { bytes: start, ..Replay::default() };
    let mut line_number = first_line;
    let length = file.metadata().map_err(failed("read", path))?.len();
    // Usually there are only a few lines to read.
    let block = usize::try_from(length.saturating_sub(start) + 1).map_or(BLOCK, |l| l.min(BLOCK));
    let mut pending: Vec<u8> = Vec::with_capacity(block * 2);
    file.seek(SeekFrom::Start(start)).map_err(failed("read", path))?;
    let mut file = file.take(end.saturating_sub(start));
    loop {
        let read = fill(&mut file, &mut pending, block).map_err(failed("read", path))?;
        let whole = memchr::memrchr(b'\n', &pending).map_or(0, |last| last + 1);
        for line in WholeLines(&pending[..whole]) {
            match parse(line) {
                Ok(record) => {
                    replay.records += 1;
                    each(record);
                }
                Err(LineError::Newer(found)) => return Err(newer(path, line_number, found)),
                Err(LineError::Broken(reason)) => {
                    let text = String::from_utf8_lossy(line).into_owned();
                    replay.damage.push(LogDamage::Unreadable { line: line_number, reason, text });
                }
            }
            line_number += 1;
        }
        replay.bytes += whole as u64;
        pending.drain(..whole);
        if read == 0 {
            break;
        }
    }
    if !pending.is_empty() {
        replay.damage.push(LogDamage::TornTail { line: line_number, bytes: pending.len() as u64 });
    }
    Ok(replay)
}

fn fill(file: &mut impl Read, pending: &mut Vec<u8>, block: usize) -> std::io::Result<usize> {
    let had = pending.len();
    pending.resize(had + block, 0);
    let read = loop {
        match file.read(&mut pending[had..]) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => break read,
        }
    };
    pending.truncate(had + *read.as_ref().unwrap_or(&0));
    read
}

/// Complete lines, without their newlines.
struct WholeLines<'b>(&'b [u8]);

impl<'b> Iterator for WholeLines<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        let end = memchr::memchr(b'\n', self.0)?;
        let (line, rest) = (&self.0[..end], &self.0[end + 1..]);
        self.0 = rest;
        Some(line)
    }
}

pub(super) fn newer(path: &Path, line: u64, found: u16) -> StoreError {
    StoreError::NewerFormat { path: path.to_owned(), line, found, known: FORMAT }
}

pub enum LineError {
    Newer(u16),
    Broken(String),
}

pub fn parse(line: &[u8]) -> Result<Record, LineError> {
    #[derive(Deserialize)]
    struct RecordVersion {
        v: u16,
    }
    // Checking the whole line once is cheaper than checking each of its strings.
    let text = std::str::from_utf8(line).map_err(|error| LineError::Broken(error.to_string()))?;
    match Record::parse(text) {
        Ok(record) if record.v <= FORMAT => Ok(record),
        Ok(record) => Err(LineError::Newer(record.v)),
        Err(error) => Err(match serde_json::from_str::<RecordVersion>(text) {
            Ok(RecordVersion { v }) if v > FORMAT => LineError::Newer(v),
            _ => LineError::Broken(error.to_string()),
        }),
    }
}
