//! `state.json`: the folded state up to a byte of the log. It only saves time: a cache that does not match the log
//! exactly is discarded.

use super::disk::Disk;
use super::{EVENTS, STATE, StoreError, failed};
use rawr_core::Thread;
use rawr_core::event::FORMAT;
use rawr_core::thread::FOLD;
use rawr_core::units::stable_hash;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

const TAIL: u64 = 512;

/// The versions of the code that folded the state. Another build may fold the same lines differently, so that it starts
/// from the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldedBy {
    format: u16,
    fold: u32,
}

impl FoldedBy {
    pub const PRESENT: Self = Self { format: FORMAT, fold: FOLD };
}

#[derive(Serialize, Deserialize)]
pub struct StateCache {
    folded_by: FoldedBy,
    /// The state covers the log up to this byte.
    pub bytes: u64,
    pub lines: u64,
    /// Hash of the last bytes before that.
    tail: u64,
    /// When the log was last written, if the state covers all of it. Absent in files of older releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_written: Option<SystemTime>,
    pub thread: Thread,
}

impl StateCache {
    /// Not yet compared with the log.
    pub fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read(folder.join(STATE)).ok()?;
        let cache: Self = serde_json::from_slice(&text).ok()?;
        (cache.folded_by == FoldedBy::PRESENT).then_some(cache)
    }

    /// Whether it is the state at the end of the log. Unlike [`load`], this trusts the times of the file system, and opens no
    /// file: good enough for a list of many threads.
    pub fn is_newest(&self, folder: &Path) -> bool {
        let log = std::fs::metadata(folder.join(EVENTS));
        log.is_ok_and(|log| {
            self.bytes == log.len()
                && self.log_written.is_some_and(|at| log.modified().is_ok_and(|now| at == now))
        })
    }

    pub fn fits(self, log: &mut File) -> Option<Self> {
        (tail_hash(log, self.bytes).ok()? == Some(self.tail)).then_some(self)
    }
}

pub fn load(folder: &Path, log: &mut File) -> Option<StateCache> {
    StateCache::read(folder)?.fits(log)
}

/// Not synced: after a crash the file either does not match the log or is the older one.
pub fn save(
    disk: &Disk,
    folder: &Path,
    log: &mut File,
    bytes: u64,
    lines: u64,
    thread: &Thread,
) -> Result<(), StoreError> {
    let path = folder.join(STATE);
    let Some(tail) = tail_hash(log, bytes).map_err(failed("read", &path))? else { return Ok(()) };
    let folded_by = FoldedBy::PRESENT;
    let found = log.metadata().map_err(failed("read", &path))?;
    let log_written = found.modified().ok().filter(|_| found.len() == bytes);
    let thread = thread.clone();
    let cache = StateCache { folded_by, bytes, lines, tail, log_written, thread };
    let text = serde_json::to_vec(&cache).map_err(|error| failed("write", &path)(error.into()))?;
    disk.replace(folder, &path, &text).map_err(failed("write", &path))
}

/// `None` if the log is shorter than that.
fn tail_hash(log: &mut File, end: u64) -> std::io::Result<Option<u64>> {
    if log.metadata()?.len() < end {
        return Ok(None);
    }
    let start = end.saturating_sub(TAIL);
    log.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    Read::by_ref(log).take(end - start).read_to_end(&mut bytes)?;
    Ok(Some(stable_hash(&String::from_utf8_lossy(&bytes))))
}
