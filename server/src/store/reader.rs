//! From lines to records: a torn tail and unreadable lines are found and told, never silently skipped.

use super::{StoreError, failed};
use rawr_core::Thread;
use rawr_core::event::{FORMAT, Record};
use serde::Deserialize;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

const BLOCK: usize = 1 << 18;

/// Takes in what a log says, from its start or from where a cached state ends.
pub trait Reader {
    /// Offered before the first record; where it is not taken, the log is read from its start.
    fn resume(&mut self, cached: Thread) -> bool;
    fn record(&mut self, record: Record);
}

impl Reader for Thread {
    fn resume(&mut self, cached: Thread) -> bool {
        *self = cached;
        true
    }

    fn record(&mut self, record: Record) {
        self.apply(&record);
    }
}

/// What a replay met.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replay {
    pub records: u64,
    /// Where the last whole line ends.
    pub bytes: u64,
    pub damage: Vec<Damage>,
}

impl Replay {
    /// Whole lines, readable or not.
    pub fn lines(&self) -> u64 {
        let unreadable =
            self.damage.iter().filter(|damage| matches!(damage, Damage::Unreadable { .. })).count();
        self.records + unreadable as u64
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Damage {
    /// The last line was not written to its end; it was cut off.
    TornTail { line: u64, bytes: u64 },
    /// A line in the middle cannot be read; it stays in the file and was set aside.
    Unreadable { line: u64, reason: String, text: String },
}

/// Reads records from `start` on and hands each to `each`. Constant memory, whatever the length of the log.
/// `first_line` is the number of the line at `start`, for messages.
pub fn replay(
    file: &mut File,
    path: &Path,
    start: u64,
    first_line: u64,
    each: impl FnMut(Record),
) -> Result<Replay, StoreError> {
    replay_until(u64::MAX, file, path, start, first_line, each)
}

/// The same for a log of which what stands behind `end` is not to be believed.
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
    // Mostly there are a few lines to catch up with.
    let block = usize::try_from(length.saturating_sub(start) + 1).map_or(BLOCK, |l| l.min(BLOCK));
    let mut pending: Vec<u8> = Vec::with_capacity(block * 2);
    file.seek(SeekFrom::Start(start)).map_err(failed("read", path))?;
    let mut file = file.take(end.saturating_sub(start));
    loop {
        let read = fill(&mut file, &mut pending, block).map_err(failed("read", path))?;
        let whole = memchr::memrchr(b'\n', &pending).map_or(0, |last| last + 1);
        for line in Lines(&pending[..whole]) {
            match parse(line) {
                Ok(record) => {
                    replay.records += 1;
                    each(record);
                }
                Err(Unreadable::Newer(found)) => return Err(newer(path, line_number, found)),
                Err(Unreadable::Broken(reason)) => {
                    let text = String::from_utf8_lossy(line).into_owned();
                    replay.damage.push(Damage::Unreadable { line: line_number, reason, text });
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
        replay.damage.push(Damage::TornTail { line: line_number, bytes: pending.len() as u64 });
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

/// Whole lines, without their ends.
struct Lines<'b>(&'b [u8]);

impl<'b> Iterator for Lines<'b> {
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

pub(crate) enum Unreadable {
    Newer(u16),
    Broken(String),
}

pub(crate) fn parse(line: &[u8]) -> Result<Record, Unreadable> {
    #[derive(Deserialize)]
    struct Version {
        v: u16,
    }
    // One look at the whole line is cheaper than one at each of its strings.
    let text = std::str::from_utf8(line).map_err(|error| Unreadable::Broken(error.to_string()))?;
    match serde_json::from_str::<Record>(text) {
        Ok(record) if record.v <= FORMAT => Ok(record),
        Ok(record) => Err(Unreadable::Newer(record.v)),
        Err(error) => Err(match serde_json::from_str::<Version>(text) {
            Ok(Version { v }) if v > FORMAT => Unreadable::Newer(v),
            _ => Unreadable::Broken(error.to_string()),
        }),
    }
}
