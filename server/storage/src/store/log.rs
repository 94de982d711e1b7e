//! The open files of one thread: appending under the lock, and reading what other processes appended.
//!
//! A commit with a durable event is synced when it returns, and so are the folders above it. A commit without one is in
//! the page cache: it survives this process, but not the machine. `decisions.jsonl`, `quarantine.jsonl` and
//! `state.json` are never synced, because the log can restore them.

use super::archive::UseLock;
use super::disk::{Disk, locked, patiently};
use super::held::{self, OriginalText};
use super::owner::OwnerLock;
use super::reader::{LineError, RecordReader, newer, parse, replay_until};
use super::unsynced::UnsyncedWrites;
use super::{EVENTS, LogDamage, QUARANTINE, Replay, StoreError, cache, failed, folders, replay};
use rawr_core::Thread;
use rawr_core::event::Record;
use rawr_core::steps;
use rawr_core::units::{EventId, ThreadId};
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The state is cached after so many events, so that the start after a crash replays little.
pub(super) const CACHE_EVERY: u64 = 4096;
/// The disk counts as working again only if it has room for so many bytes.
const ROOM: usize = 4096;

/// The open files of one thread.
#[derive(Debug)]
pub struct ThreadLog {
    disk: Disk,
    folder: PathBuf,
    path: PathBuf,
    events: File,
    /// Everything before this byte has been folded into the caller's state.
    bytes: u64,
    /// Readable or not.
    pub lines: u64,
    cached_at: u64,
    /// Lines of the current batch.
    buffer: Vec<u8>,
    held: held::HeldChanges,
    pushed: u64,
    durable: bool,
    locked: bool,
    /// The lock was just taken and what others appended has not been read.
    is_behind: bool,
    unsynced: UnsyncedWrites,
    /// A failed batch could not be cut off: the file up to here holds records that were never reported.
    leftover: Option<u64>,
    /// The length of the last batch that failed.
    refused: usize,
    _in_use: UseLock,
}

/// How far a batch has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogWrite {
    Enough,
    /// Written; counts once it is synced.
    ToSync,
}

impl ThreadLog {
    pub(super) fn open(
        disk: &Disk,
        folder: PathBuf,
        thread: &ThreadId,
        in_use: UseLock,
        reader: &mut impl RecordReader,
    ) -> Result<(Self, Replay), StoreError> {
        let path = folder.join(EVENTS);
        let events = disk.open_to_append(&path).map_err(failed("open", &path))?;
        // Also if an earlier process created the file and died before it synced: nothing in it was acknowledged.
        if events.metadata().map_err(failed("read", &path))?.len() == 0 {
            folders::sync_way_to(disk, &folder, in_use.created)?;
        }
        let mut log = Self {
            disk: disk.clone(),
            folder,
            path,
            events,
            bytes: 0,
            lines: 0,
            cached_at: 0,
            buffer: Vec::new(),
            held: held::HeldChanges::default(),
            pushed: 0,
            durable: false,
            locked: false,
            is_behind: false,
            unsynced: UnsyncedWrites::default(),
            leftover: None,
            refused: 0,
            _in_use: in_use,
        };
        log.take_lock()?;
        let replay = log.with_lock(|log| log.read_all(thread, reader))?;
        Ok((log, replay))
    }

    /// The disk for files next to the log.
    pub const fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Makes this process the thread's owner while the result lives.
    pub fn own(&self, thread: &ThreadId, holder: &str) -> Result<OwnerLock, StoreError> {
        OwnerLock::take(&self.disk, &self.folder, thread, holder)
    }

    /// The thread as the disk has it, for a caller whose memory may be wrong. An uncommitted batch is discarded.
    pub fn reread(&mut self, thread: &ThreadId) -> Result<(Thread, Replay), StoreError> {
        self.replayed(thread, |_| Ok(()))
    }

    /// Like [`Self::reread`], after testing that the disk accepts the doubtful bytes, and as much as failed last.
    pub fn recover(&mut self, thread: &ThreadId) -> Result<(Thread, Replay), StoreError> {
        self.replayed(thread, Self::try_disk)
    }

    fn replayed(
        &mut self,
        thread: &ThreadId,
        then: fn(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(Thread, Replay), StoreError> {
        self.forget_batch();
        self.held = Default::default();
        self.with_lock(|log| {
            let mut state = Thread::new(thread.clone());
            let replay = log.read_all(thread, &mut state)?;
            state.skip_to(EventId(log.lines));
            then(log).map(|()| (state, replay))
        })
    }

    /// Replays the log. Called with the lock, because no process may be writing while the last line is examined.
    fn read_all(
        &mut self,
        thread: &ThreadId,
        reader: &mut impl RecordReader,
    ) -> Result<Replay, StoreError> {
        let end = match self.cut_leftover() {
            Ok(()) => u64::MAX,
            // The part before the failure is valid, whatever follows it.
            Err(error) => {
                tracing::warn!(%error, "read the log without the batch that failed");
                self.bytes
            }
        };
        // A copied folder holds the state of another thread.
        let cached = cache::load(&self.folder, &mut self.events)
            .filter(|cache| cache.thread.id == *thread && cache.bytes <= end);
        let cached = cached
            .and_then(|cache| reader.resume(cache.thread).then_some((cache.bytes, cache.lines)));
        let (start, lines) = cached.unwrap_or_default();
        let record = |record| reader.record(record);
        let replay = replay_until(end, &mut self.events, &self.path, start, lines + 1, record)?;
        (self.lines, self.cached_at) = (lines, lines);
        let replay = self.repair(replay, reader)?;
        Self::quarantine(&self.disk, &self.folder, &replay.damage)?;
        Ok(replay)
    }

    /// Cuts off an incomplete last line. One that only lacks its newline is complete and kept.
    fn repair(
        &mut self,
        mut replay: Replay,
        reader: &mut impl RecordReader,
    ) -> Result<Replay, StoreError> {
        self.bytes = replay.bytes;
        self.lines += replay.lines();
        let Some(LogDamage::TornTail { .. }) = replay.damage.last() else { return Ok(replay) };
        let tail = self.tail()?;
        let (disk, events, path) = (&self.disk, &self.events, &self.path);
        match parse(&tail) {
            Ok(record) => {
                disk.append(events, path, b"\n").map_err(failed("repair", path))?;
                reader.record(record);
                replay.damage.pop();
                replay.records += 1;
                self.bytes += tail.len() as u64 + 1;
                self.lines += 1;
            }
            Err(LineError::Newer(found)) => return Err(newer(path, self.lines + 1, found)),
            Err(LineError::Broken(_)) => {
                disk.set_length(events, path, self.bytes).map_err(failed("repair", path))?;
            }
        }
        disk.sync(events, path).map_err(failed("sync", path))?;
        Ok(replay)
    }

    /// A failed batch may be cut off only while no process has appended behind it, because others have read it then.
    fn cut_leftover(&mut self) -> Result<(), StoreError> {
        let Some(end) = self.leftover else { return Ok(()) };
        if self.length()? == end {
            self.set_length(self.bytes)?;
        }
        self.leftover = None;
        Ok(())
    }

    /// Writes, syncs and removes test bytes. A crash in between leaves an incomplete line.
    fn try_disk(&mut self) -> Result<(), StoreError> {
        let room = vec![b' '; self.refused.max(ROOM)];
        let (disk, path) = (&self.disk, &self.path);
        let tried = self
            .unsynced
            .write_again(disk, &self.events, path, self.bytes)
            .and_then(|()| disk.append(&self.events, path, &room))
            .map_err(failed("write", path))
            .and_then(|()| self.sync());
        match tried {
            Ok(()) => self.unsynced.settled(),
            Err(_) => self.unsynced.doubt(),
        }
        let cut = self.take_back();
        tried.and(cut)
    }

    /// The bytes after the last newline.
    fn tail(&mut self) -> Result<Vec<u8>, StoreError> {
        let mut tail = Vec::new();
        self.events.seek(SeekFrom::Start(self.bytes)).map_err(failed("read", &self.path))?;
        self.events.read_to_end(&mut tail).map_err(failed("read", &self.path))?;
        Ok(tail)
    }

    /// Copies unreadable lines to a separate file, once each, by line number. The log is not changed.
    pub(crate) fn quarantine(
        disk: &Disk,
        folder: &Path,
        damage: &[LogDamage],
    ) -> Result<(), StoreError> {
        if !damage.iter().any(|damage| matches!(damage, LogDamage::Unreadable { .. })) {
            return Ok(());
        }
        let path = folder.join(QUARANTINE);
        let mut file = disk.open_to_append(&path).map_err(failed("open", &path))?;
        let mut known = String::new();
        file.read_to_string(&mut known).map_err(failed("read", &path))?;
        let known: HashSet<_> = known.lines().inspect(|_| steps::add(1)).collect();
        let mut news = String::new();
        for damage in damage {
            if let LogDamage::Unreadable { line, reason, text } = damage {
                let entry =
                    serde_json::json!({ "v": 1, "line": line, "reason": reason, "text": text });
                let entry = entry.to_string();
                if !known.contains(entry.as_str()) {
                    news.push_str(&entry);
                    news.push('\n');
                }
            }
        }
        disk.append(&file, &path, news.as_bytes()).map_err(failed("write", &path))
    }

    /// The thread's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn length(&self) -> Result<u64, StoreError> {
        Ok(self.events.metadata().map_err(failed("read", &self.path))?.len())
    }

    fn set_length(&self, length: u64) -> Result<(), StoreError> {
        self.disk.set_length(&self.events, &self.path, length).map_err(failed("repair", &self.path))
    }

    /// Takes the append lock, or fails with [`StoreError::Locked`]. It is held until [`Self::commit`].
    pub fn take_lock(&mut self) -> Result<(), StoreError> {
        if !self.locked {
            locked(self.disk.try_lock(&self.events, &self.path), &self.path)?;
            (self.locked, self.is_behind) = (true, true);
        }
        Ok(())
    }

    /// Like [`Self::take_lock`], but waits if another process holds the lock.
    fn wait_for_lock(&mut self) -> Result<(), StoreError> {
        patiently(|| self.take_lock())
    }

    fn unlock(&mut self) {
        if std::mem::take(&mut self.locked)
            && let Err(error) = self.disk.unlock(&self.events, &self.path)
        {
            tracing::warn!(%error, path = %self.path.display(), "cannot release the append lock");
        }
    }

    fn with_lock<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.wait_for_lock()?;
        let result = work(self);
        self.unlock();
        result
    }

    /// Takes the append lock and passes on what others appended since, to be folded before anything is decided. The
    /// lock is held until [`Self::commit`]: many events share it, one write and one sync.
    ///
    /// On an error the lock is released, because nothing may be appended after records that cannot be folded.
    pub fn begin(&mut self, foreign: impl FnMut(Record)) -> Result<Vec<LogDamage>, StoreError> {
        self.wait_for_lock()?;
        if !self.is_behind {
            return Ok(Vec::new());
        }
        let caught_up = self.cut_leftover().and_then(|()| self.catch_up(foreign));
        self.is_behind = caught_up.is_err();
        if caught_up.is_err() {
            self.unlock();
        }
        caught_up
    }

    /// Whether other processes have appended something.
    pub fn has_news(&self) -> Result<bool, StoreError> {
        Ok((!self.locked || self.is_behind)
            && self.length()? != self.leftover.unwrap_or(self.bytes))
    }

    fn catch_up(&mut self, foreign: impl FnMut(Record)) -> Result<Vec<LogDamage>, StoreError> {
        let length = self.length()?;
        if length == self.bytes {
            return Ok(Vec::new());
        }
        // All of it or nothing: no record may be folded twice.
        let (start, mut records) = (self.bytes, Vec::new());
        let each = |record| records.push(record);
        let replay = replay(&mut self.events, &self.path, start, self.lines + 1, each)?;
        records.into_iter().for_each(foreign);
        self.bytes = replay.bytes;
        self.lines += replay.lines();
        // A process died while it wrote this line, so that it was never acknowledged.
        if length > self.bytes {
            if let Err(LineError::Newer(found)) = parse(&self.tail()?) {
                return Err(newer(&self.path, self.lines + 1, found));
            }
            self.set_length(self.bytes)?;
        }
        Self::quarantine(&self.disk, &self.folder, &replay.damage)?;
        Ok(replay.damage)
    }

    /// Adds one event to the batch. If any event is `durable`, the commit syncs.
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

    /// Stores the text of a message that is held from this batch on.
    pub fn keep(&mut self, original: OriginalText) {
        self.held.keep(original, &self.folder);
    }

    /// Removes the file of a message that is no longer held after this batch.
    pub fn settle(&mut self, file: PathBuf) {
        self.held.settle(file);
    }

    /// Writes the whole batch or nothing of it, and releases the lock.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        let written = self.held.write(&self.disk, &self.folder).and_then(|()| self.write());
        let synced = match &written {
            Ok(LogWrite::ToSync) => self.sync(),
            _ => Ok(()),
        };
        self.finish(written, synced)
    }

    /// Whether the next commit syncs.
    pub fn wants_sync(&self) -> bool {
        let wants = self.durable || self.unsynced.is_too_much_with(self.buffer.len());
        !self.held.is_empty() || !self.buffer.is_empty() && wants
    }

    fn write(&mut self) -> Result<LogWrite, StoreError> {
        if self.buffer.is_empty() {
            return Ok(LogWrite::Enough);
        }
        let (disk, path) = (&self.disk, &self.path);
        let to_sync = self.wants_sync();
        if to_sync {
            let again = self.unsynced.write_again(disk, &self.events, path, self.bytes);
            again.map_err(failed("write", path))?;
        }
        disk.append(&self.events, path, &self.buffer).map_err(failed("write", path))?;
        Ok(if to_sync { LogWrite::ToSync } else { LogWrite::Enough })
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.disk.sync(&self.events, &self.path).map_err(failed("sync", &self.path))
    }

    fn finish(
        &mut self,
        written: Result<LogWrite, StoreError>,
        synced: Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if synced.is_err() {
            self.unsynced.doubt();
        }
        let result = written.and_then(|written| synced.map(|()| written));
        match &result {
            Ok(_) if self.buffer.is_empty() => {}
            Ok(written) => {
                match written {
                    LogWrite::ToSync => self.unsynced.settled(),
                    LogWrite::Enough => self.unsynced.add(self.bytes, &self.buffer),
                }
                self.bytes += self.buffer.len() as u64;
                self.lines += self.pushed;
                self.refused = 0;
            }
            Err(_) => {
                self.refused = self.buffer.len();
                // The rest of the batch was never acknowledged, and is removed before anything else is read or written.
                if let Err(error) = self.take_back() {
                    tracing::warn!(%error, "failed to remove a failed batch; will retry");
                }
            }
        }
        match result {
            Ok(_) => self.held.stored(&self.disk),
            Err(_) => self.held = held::HeldChanges::default(),
        }
        self.forget_batch();
        self.unlock();
        result.map(drop)
    }

    fn take_back(&mut self) -> Result<(), StoreError> {
        let cut = self.set_length(self.bytes);
        let length = self.length().unwrap_or(self.bytes + self.refused as u64);
        self.leftover = (cut.is_err() && length > self.bytes).then_some(length);
        cut
    }

    fn forget_batch(&mut self) {
        self.buffer.clear();
        (self.pushed, self.durable) = (0, false);
    }

    /// Writes the cache if the log has grown. Never while a batch is open, because the state is ahead of the log then.
    pub fn save_cache(&mut self, thread: &Thread) -> Result<(), StoreError> {
        if self.cached_at == self.lines || !self.buffer.is_empty() {
            return Ok(());
        }
        self.cached_at = self.lines;
        cache::save(&self.disk, &self.folder, &mut self.events, self.bytes, self.lines, thread)
    }

    /// Whether the log is longer than its cache, or will be with this batch.
    pub const fn is_uncached(&self) -> bool {
        self.cached_at != self.lines || !self.buffer.is_empty()
    }

    /// Whether the log has grown enough to write the cache.
    pub const fn wants_caching(&self) -> bool {
        self.lines >= self.cached_at + CACHE_EVERY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_unreadable_lines_take_linear_time() {
        let cost = |lines: u64| {
            let folder = tempfile::TempDir::new().unwrap();
            let damage = (1..=lines).map(|line| LogDamage::Unreadable {
                line,
                reason: "not JSON".to_owned(),
                text: "{".to_owned(),
            });
            let damage: Vec<_> = damage.collect();
            let list = || ThreadLog::quarantine(&Disk::default(), folder.path(), &damage).unwrap();
            list();
            steps::take();
            list();
            steps::take()
        };
        assert!(cost(1000) >= 1000);
        assert!(cost(2000) <= cost(1000) * 2 + 100);
    }
}
