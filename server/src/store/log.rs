//! One thread's files, open: appending under the lock, catching up with what others appended, owning.

use super::{
    DECISIONS, Damage, EVENTS, OWNER, QUARANTINE, Replay, StoreError, cache, create_folder, failed, open_private,
    replay, sync_folder,
};
use rawr_core::event::Record;
use rawr_core::units::ThreadId;
use rawr_core::Thread;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The state is cached again after so many events, so that a crash costs little on the next start.
const CACHE_EVERY: u64 = 4096;

#[derive(Debug)]
pub struct ThreadLog {
    folder: PathBuf,
    path: PathBuf,
    events: File,
    decisions: Option<File>,
    /// Everything before this byte has been folded into the caller's state.
    bytes: u64,
    lines: u64,
    cached_at: u64,
    /// One line after the other, reused.
    buffer: Vec<u8>,
}

impl ThreadLog {
    pub(super) fn open(folder: PathBuf, thread: &ThreadId) -> Result<(Self, (Thread, Replay)), StoreError> {
        create_folder(&folder)?;
        let path = folder.join(EVENTS);
        let fresh = !path.exists();
        let mut events = open_private(&path, true)?;
        if fresh {
            sync_folder(&folder)?;
        }
        // Nobody may be in the middle of a line while its end is looked for.
        events.lock().map_err(failed("lock", &path))?;
        let cached = cache::load(&folder, &mut events);
        let (mut state, start, lines) = match cached {
            Some(cache) => (cache.thread, cache.bytes, cache.lines),
            None => (Thread::new(thread.clone()), 0, 0),
        };
        let result = replay(&mut events, &path, start, lines + 1, |record| state.apply(&record));
        let mut log = Self {
            folder,
            path,
            events,
            decisions: None,
            bytes: start,
            lines,
            cached_at: lines,
            buffer: Vec::new(),
        };
        let repaired = result.and_then(|replay| log.repair(replay, &mut state));
        let unlocked = log.events.unlock().map_err(failed("unlock", &log.path));
        let replay = repaired?;
        unlocked?;
        log.quarantine(&replay.damage)?;
        Ok((log, (state, replay)))
    }

    /// Cuts a torn tail. A last line that only lacks its newline is whole, and is kept.
    fn repair(&mut self, mut replay: Replay, state: &mut Thread) -> Result<Replay, StoreError> {
        self.bytes = replay.bytes;
        self.lines += replay.records + replay.damage.iter().filter(|d| matches!(d, Damage::Unreadable { .. })).count() as u64;
        let Some(Damage::TornTail { .. }) = replay.damage.last() else { return Ok(replay) };
        let mut tail = Vec::new();
        self.events.seek(SeekFrom::Start(self.bytes)).map_err(failed("read", &self.path))?;
        self.events.read_to_end(&mut tail).map_err(failed("read", &self.path))?;
        if let Ok(record) = serde_json::from_slice::<Record>(&tail) {
            self.events.write_all(b"\n").map_err(failed("repair", &self.path))?;
            state.apply(&record);
            replay.damage.pop();
            replay.records += 1;
            self.bytes += tail.len() as u64 + 1;
            self.lines += 1;
        } else {
            self.events.set_len(self.bytes).map_err(failed("repair", &self.path))?;
        }
        self.events.sync_data().map_err(failed("sync", &self.path))?;
        Ok(replay)
    }

    /// What could not be read is listed beside the log, under its line number; the log itself is left as it is.
    fn quarantine(&self, damage: &[Damage]) -> Result<(), StoreError> {
        let mut lines = String::new();
        for damage in damage {
            if let Damage::Unreadable { line, reason, text } = damage {
                lines.push_str(&serde_json::json!({ "line": line, "reason": reason, "text": text }).to_string());
                lines.push('\n');
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let path = self.folder.join(QUARANTINE);
        let mut file = open_private(&path, true)?;
        file.set_len(0).and_then(|()| file.write_all(lines.as_bytes())).map_err(failed("write", &path))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes the append lock and hands over what others appended since, to be folded before anything is decided.
    /// The lock is held until the returned value is dropped.
    pub fn begin(&mut self, foreign: impl FnMut(Record)) -> Result<Writing<'_>, StoreError> {
        self.events.lock().map_err(failed("lock", &self.path))?;
        let mut writing = Writing { log: self };
        writing.catch_up(foreign)?;
        Ok(writing)
    }

    pub fn append_decision(&mut self, line: &[u8]) -> Result<(), StoreError> {
        let path = self.folder.join(DECISIONS);
        let file = match &mut self.decisions {
            Some(file) => file,
            empty => empty.insert(open_private(&path, true)?),
        };
        file.write_all(line).map_err(failed("write", &path))
    }

    pub fn read_decisions(&self) -> Result<Vec<u8>, StoreError> {
        let path = self.folder.join(DECISIONS);
        match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            bytes => bytes.map_err(failed("read", &path)),
        }
    }

    pub fn save_cache(&mut self, thread: &Thread) -> Result<(), StoreError> {
        self.cached_at = self.lines;
        cache::save(&self.folder, &mut self.events, self.bytes, self.lines, thread)
    }

    pub const fn wants_caching(&self) -> bool {
        self.lines >= self.cached_at + CACHE_EVERY
    }
}

/// The log with its append lock held.
#[derive(Debug)]
pub struct Writing<'l> {
    log: &'l mut ThreadLog,
}

impl Writing<'_> {
    fn catch_up(&mut self, foreign: impl FnMut(Record)) -> Result<(), StoreError> {
        let log = &mut *self.log;
        let length = log.events.metadata().map_err(failed("read", &log.path))?.len();
        if length == log.bytes {
            return Ok(());
        }
        let replay = replay(&mut log.events, &log.path, log.bytes, log.lines + 1, foreign)?;
        log.bytes = replay.bytes;
        log.lines += replay.records;
        // Somebody died in the middle of a line: it was never acknowledged.
        if length > log.bytes {
            log.events.set_len(log.bytes).map_err(failed("repair", &log.path))?;
        }
        Ok(())
    }

    /// Appends all records or none. With `durable`, they are on the disk when this returns.
    pub fn append<'r>(
        &mut self,
        records: impl IntoIterator<Item = &'r Record>,
        durable: bool,
    ) -> Result<(), StoreError> {
        let log = &mut *self.log;
        log.buffer.clear();
        let mut count = 0;
        for record in records {
            serde_json::to_writer(&mut log.buffer, record)
                .map_err(|error| failed("write", &log.path)(error.into()))?;
            log.buffer.push(b'\n');
            count += 1;
        }
        let written = write(&mut log.events, &log.buffer);
        let result = if durable { written.and_then(|()| log.events.sync_data()) } else { written };
        if let Err(error) = result {
            // What is half there was never acknowledged. If even this fails, the next open cuts the torn line.
            let _ = log.events.set_len(log.bytes);
            return Err(failed("write", &log.path)(error));
        }
        log.bytes += log.buffer.len() as u64;
        log.lines += count;
        Ok(())
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.log.events.unlock() {
            tracing::warn!(%error, path = %self.log.path.display(), "cannot release the append lock");
        }
    }
}

#[cfg(not(debug_assertions))]
fn write(file: &mut File, lines: &[u8]) -> std::io::Result<()> {
    file.write_all(lines)
}

#[cfg(debug_assertions)]
fn write(file: &mut File, lines: &[u8]) -> std::io::Result<()> {
    let Some(limit) = super::fault::kill_after() else { return file.write_all(lines) };
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        file.write_all(line)?;
        super::fault::count_event(limit);
    }
    Ok(())
}

/// Held for as long as this process may act on the thread. The system gives it back when the process dies.
#[derive(Debug)]
pub struct OwnerLock {
    _file: File,
}

impl OwnerLock {
    pub fn take(folder: &Path, thread: &ThreadId, holder: &str) -> Result<Self, StoreError> {
        let path = folder.join(OWNER);
        let mut file = open_private(&path, false)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                let holder = if holder.is_empty() { "another process".to_owned() } else { holder };
                return Err(StoreError::OwnedElsewhere { thread: thread.clone(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
        }
        let name = format!("{holder} (process {})", std::process::id());
        let written = file.set_len(0).and_then(|()| file.write_all(name.as_bytes()));
        written.map_err(failed("write", &path))?;
        Ok(Self { _file: file })
    }
}
