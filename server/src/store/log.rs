//! One thread's files, open: appending under the lock, catching up with what others appended, owning.

use super::archive::InUse;
use super::reader::{Unreadable, newer, parse};
use super::{
    DECISIONS, Damage, EVENTS, OWNER, QUARANTINE, Replay, StoreError, cache, failed, open_private,
    replay, sync_folder,
};
use rawr_core::Thread;
use rawr_core::event::Record;
use rawr_core::units::ThreadId;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The state is cached again after so many events, so that a crash costs little on the next start.
const CACHE_EVERY: u64 = 4096;

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

#[derive(Debug)]
pub struct ThreadLog {
    folder: PathBuf,
    path: PathBuf,
    events: File,
    decisions: Option<File>,
    /// How far decisions of other processes were looked at.
    decisions_read: Option<u64>,
    /// Everything before this byte has been folded into the caller's state.
    bytes: u64,
    lines: u64,
    cached_at: u64,
    /// The batch: lines that wait for the commit.
    buffer: Vec<u8>,
    pushed: u64,
    durable: bool,
    locked: bool,
    _in_use: InUse,
}

impl ThreadLog {
    pub(super) fn open(
        folder: PathBuf,
        thread: &ThreadId,
        in_use: InUse,
        reader: &mut impl Reader,
    ) -> Result<(Self, Replay), StoreError> {
        let path = folder.join(EVENTS);
        let fresh = !path.exists();
        let mut events = open_private(&path, true)?;
        if fresh {
            sync_folder(&folder)?;
        }
        // Nobody may be in the middle of a line while its end is looked for.
        events.lock().map_err(failed("lock", &path))?;
        // A folder that was copied holds the state of another thread.
        let cached = cache::load(&folder, &mut events).filter(|cache| cache.thread.id == *thread);
        let cached = cached
            .and_then(|cache| reader.resume(cache.thread).then_some((cache.bytes, cache.lines)));
        let (start, lines) = cached.unwrap_or_default();
        let result = replay(&mut events, &path, start, lines + 1, |record| reader.record(record));
        let mut log = Self {
            folder,
            path,
            events,
            decisions: None,
            decisions_read: None,
            bytes: start,
            lines,
            cached_at: lines,
            buffer: Vec::new(),
            pushed: 0,
            durable: false,
            locked: false,
            _in_use: in_use,
        };
        let repaired = result.and_then(|replay| log.repair(replay, reader));
        let unlocked = log.events.unlock().map_err(failed("unlock", &log.path));
        let replay = repaired?;
        unlocked?;
        Self::quarantine(&log.folder, &replay.damage)?;
        Ok((log, replay))
    }

    /// Cuts a torn tail. A last line that only lacks its newline is whole, and is kept.
    fn repair(
        &mut self,
        mut replay: Replay,
        reader: &mut impl Reader,
    ) -> Result<Replay, StoreError> {
        self.bytes = replay.bytes;
        self.lines += replay.lines();
        let Some(Damage::TornTail { .. }) = replay.damage.last() else { return Ok(replay) };
        let tail = self.tail()?;
        match parse(&tail) {
            Ok(record) => {
                self.events.write_all(b"\n").map_err(failed("repair", &self.path))?;
                reader.record(record);
                replay.damage.pop();
                replay.records += 1;
                self.bytes += tail.len() as u64 + 1;
                self.lines += 1;
            }
            Err(Unreadable::Newer(found)) => {
                return Err(newer(&self.path, self.lines + 1, found));
            }
            Err(Unreadable::Broken(_)) => {
                self.events.set_len(self.bytes).map_err(failed("repair", &self.path))?;
            }
        }
        self.events.sync_data().map_err(failed("sync", &self.path))?;
        Ok(replay)
    }

    /// What stands behind the last whole line.
    fn tail(&mut self) -> Result<Vec<u8>, StoreError> {
        let mut tail = Vec::new();
        self.events.seek(SeekFrom::Start(self.bytes)).map_err(failed("read", &self.path))?;
        self.events.read_to_end(&mut tail).map_err(failed("read", &self.path))?;
        Ok(tail)
    }

    /// What could not be read is listed beside the log, once, under its line number; the log itself is left as it is.
    pub(crate) fn quarantine(folder: &Path, damage: &[Damage]) -> Result<(), StoreError> {
        if !damage.iter().any(|damage| matches!(damage, Damage::Unreadable { .. })) {
            return Ok(());
        }
        let path = folder.join(QUARANTINE);
        let mut file = open_private(&path, true)?;
        let mut known = String::new();
        file.read_to_string(&mut known).map_err(failed("read", &path))?;
        let mut news = String::new();
        for damage in damage {
            if let Damage::Unreadable { line, reason, text } = damage {
                let entry =
                    serde_json::json!({ "v": 1, "line": line, "reason": reason, "text": text });
                let entry = entry.to_string();
                if !known.lines().any(|known| known == entry) {
                    news.push_str(&entry);
                    news.push('\n');
                }
            }
        }
        file.write_all(news.as_bytes()).map_err(failed("write", &path))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes the append lock and hands over what others appended since, to be folded before anything is decided.
    /// The lock is held until [`Self::commit`]: many events share it, one write and one sync.
    pub fn begin(&mut self, foreign: impl FnMut(Record)) -> Result<Vec<Damage>, StoreError> {
        if self.locked {
            return Ok(Vec::new());
        }
        self.events.lock().map_err(failed("lock", &self.path))?;
        self.locked = true;
        let caught_up = self.catch_up(foreign);
        if caught_up.is_err() {
            // What cannot be folded must not be written behind, and nobody else must wait for us.
            self.commit()?;
        }
        caught_up
    }

    /// Whether others appended something since.
    pub fn has_news(&self) -> Result<bool, StoreError> {
        let length = self.events.metadata().map_err(failed("read", &self.path))?.len();
        Ok(!self.locked && length != self.bytes)
    }

    /// Hands over what others appended since, for somebody who only looks.
    pub fn look(&mut self, foreign: impl FnMut(Record)) -> Result<Vec<Damage>, StoreError> {
        if !self.has_news()? {
            return Ok(Vec::new());
        }
        let damage = self.begin(foreign)?;
        self.commit()?;
        Ok(damage)
    }

    fn catch_up(&mut self, foreign: impl FnMut(Record)) -> Result<Vec<Damage>, StoreError> {
        let length = self.events.metadata().map_err(failed("read", &self.path))?.len();
        if length == self.bytes {
            return Ok(Vec::new());
        }
        // All of it or nothing: what was folded once is not folded again.
        let (start, mut records) = (self.bytes, Vec::new());
        let each = |record| records.push(record);
        let replay = replay(&mut self.events, &self.path, start, self.lines + 1, each)?;
        records.into_iter().for_each(foreign);
        self.bytes = replay.bytes;
        self.lines += replay.lines();
        // Somebody died in the middle of a line: it was never acknowledged.
        if length > self.bytes {
            if let Err(Unreadable::Newer(found)) = parse(&self.tail()?) {
                return Err(newer(&self.path, self.lines + 1, found));
            }
            self.events.set_len(self.bytes).map_err(failed("repair", &self.path))?;
        }
        Self::quarantine(&self.folder, &replay.damage)?;
        Ok(replay.damage)
    }

    /// One more event of this batch. With `durable`, the batch is on the disk itself when its commit returns.
    pub fn push(&mut self, record: &Record, durable: bool) -> Result<(), StoreError> {
        let whole = self.buffer.len();
        if let Err(error) = serde_json::to_writer(&mut self.buffer, record) {
            self.buffer.truncate(whole);
            return Err(failed("write", &self.path)(error.into()));
        }
        self.buffer.push(b'\n');
        self.pushed += 1;
        self.durable |= durable;
        Ok(())
    }

    /// Writes the whole batch or nothing of it, and gives the lock back.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        let result = self.write_batch();
        self.buffer.clear();
        (self.pushed, self.durable) = (0, false);
        if std::mem::take(&mut self.locked)
            && let Err(error) = self.events.unlock()
        {
            tracing::warn!(%error, path = %self.path.display(), "cannot release the append lock");
        }
        result
    }

    fn write_batch(&mut self) -> Result<(), StoreError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let written = write(&mut self.events, &self.buffer);
        let synced =
            written.and_then(|()| if self.durable { self.events.sync_data() } else { Ok(()) });
        if let Err(error) = synced {
            // What is half there was never acknowledged. If even this fails, the next open cuts the torn line.
            let _ = self.events.set_len(self.bytes);
            return Err(failed("write", &self.path)(error));
        }
        self.bytes += self.buffer.len() as u64;
        self.lines += self.pushed;
        Ok(())
    }

    pub fn append_decision(&mut self, line: &[u8]) -> Result<(), StoreError> {
        let path = self.folder.join(DECISIONS);
        let file = match &mut self.decisions {
            Some(file) => file,
            empty => empty.insert(open_private(&path, true)?),
        };
        file.write_all(line).map_err(failed("write", &path))?;
        if let Some(read) = &mut self.decisions_read {
            *read += line.len() as u64;
        }
        Ok(())
    }

    /// Whole lines that were appended since the last look, by whichever process. The first look finds none of those that
    /// were there before.
    pub fn new_decisions(&mut self) -> Result<Vec<u8>, StoreError> {
        let path = self.folder.join(DECISIONS);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.decisions_read.get_or_insert(0);
                return Ok(Vec::new());
            }
            file => file.map_err(failed("read", &path))?,
        };
        let length = file.metadata().map_err(failed("read", &path))?.len();
        let from = *self.decisions_read.get_or_insert(length);
        let mut lines = Vec::new();
        if length > from {
            file.seek(SeekFrom::Start(from)).map_err(failed("read", &path))?;
            file.read_to_end(&mut lines).map_err(failed("read", &path))?;
            lines.truncate(memchr::memrchr(b'\n', &lines).map_or(0, |last| last + 1));
            self.decisions_read = Some(from + lines.len() as u64);
        }
        Ok(lines)
    }

    pub fn read_decisions(&self) -> Result<Vec<u8>, StoreError> {
        let path = self.folder.join(DECISIONS);
        match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            bytes => bytes.map_err(failed("read", &path)),
        }
    }

    /// Nothing is written where nothing has come since.
    pub fn save_cache(&mut self, thread: &Thread) -> Result<(), StoreError> {
        if self.cached_at == self.lines {
            return Ok(());
        }
        self.cached_at = self.lines;
        cache::save(&self.folder, &mut self.events, self.bytes, self.lines, thread)
    }

    pub const fn wants_caching(&self) -> bool {
        self.lines >= self.cached_at + CACHE_EVERY
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
    /// Calls the owner's attention to what somebody else appended. Without an owner there is nobody to call.
    pub fn ring(folder: &Path) -> std::io::Result<()> {
        match File::options().append(true).open(folder.join(OWNER)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            file => file?.set_modified(SystemTime::now()),
        }
    }

    pub fn take(folder: &Path, thread: &ThreadId, holder: &str) -> Result<Self, StoreError> {
        let path = folder.join(OWNER);
        let mut file = open_private(&path, false)?;
        match lock_patiently(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = name_in(&mut file);
                return Err(StoreError::OwnedElsewhere { thread: thread.clone(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
        }
        let name = format!("{holder} (process {})", std::process::id());
        let written = file.set_len(0).and_then(|()| file.write_all(name.as_bytes()));
        written.map_err(failed("write", &path))?;
        Ok(Self { _file: file })
    }

    /// Who holds a thread's lock, if anybody does. Looking creates nothing.
    pub(super) fn holder(folder: &Path) -> Option<String> {
        let mut file = File::open(folder.join(OWNER)).ok()?;
        // Shared, so that two who look see no owner in each other.
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| name_in(&mut file))
    }
}

/// Whoever looks for an owner holds the lock for a moment, and is none.
fn lock_patiently(file: &File) -> Result<(), TryLockError> {
    const LOOKS: u32 = 5;
    const ONE_LOOK: Duration = Duration::from_millis(1);
    for _ in 0..LOOKS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(ONE_LOOK),
            locked => return locked,
        }
    }
    file.try_lock()
}

/// Empty while its holder is about to write it.
fn name_in(file: &mut File) -> String {
    let mut holder = String::new();
    let _ = file.read_to_string(&mut holder);
    if holder.is_empty() { "another process".to_owned() } else { holder }
}
