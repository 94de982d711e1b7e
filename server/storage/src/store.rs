//! Threads on disk. `events.jsonl` is the truth; everything but `held/` can be rebuilt from it. This module reads and
//! writes lines; the core interprets them.
//!
//! Layout: `<home>/rawr/auto_compaction/threads/<thread>/` with `events.jsonl`, `decisions.jsonl`, `state.json` (a
//! cache), `owner.lock`, `held/` (the original texts of held messages that contain secrets) and `quarantine.jsonl`
//! (copies of unreadable lines). Idle threads are moved to `archive/<thread>/`, next to `threads/`.

pub mod archive;
mod backwards;
pub mod cache;
mod decision;
mod disk;
mod faults;
mod folders;
mod glance;
pub mod held;
#[cfg(debug_assertions)]
mod hold;
#[cfg(debug_assertions)]
mod kill;
mod log;
pub mod maintenance;
mod owner;
mod reader;
mod unsynced;

pub use decision::{BadDecision, DECISION_FORMAT, DecisionFile, StoredDecision, read_decision};
pub use disk::Disk;
pub use disk::{LockPatience, is_unfinished, unfinished};
pub use faults::{DiskFaults, DiskOperation, OperationOutcome};
pub use log::ThreadLog;
pub use owner::OwnerLock;
pub use reader::{LineError, parse};
pub use reader::{LogDamage, RecordReader, Replay, replay};

use archive::OpenMode;
use rawr_core::Thread;
use rawr_core::event::InputHeld;
use rawr_core::units::ThreadId;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Why the store cannot read or write a thread.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An I/O error.
    #[error("cannot {verb} {path}: {source}", path = path.display())]
    Io {
        /// What was being done, such as `write`.
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the OS.
        source: io::Error,
    },
    /// A line has a newer format than this release reads.
    #[error("line {line} of {path} has format {found}, this release reads up to {known}", path = path.display())]
    NewerFormat {
        /// The file or folder.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// The format of the line.
        found: u16,
        /// The newest format that this release reads.
        known: u16,
    },
    /// Another process holds a lock for too long.
    #[error("cannot lock {path}: another process holds it", path = path.display())]
    Locked {
        /// The file or folder.
        path: PathBuf,
    },
    /// Another process owns the thread.
    #[error("thread {thread} is owned by {holder}")]
    OwnedElsewhere {
        thread: ThreadId,
        /// The name of the owner.
        holder: String,
    },
    /// The thread does not exist.
    #[error("no thread {thread} is stored")]
    NoThread { thread: ThreadId },
}

impl StoreError {
    /// A copy of the error for another request.
    pub fn told_again(&self) -> Self {
        match self {
            Self::Io { verb, path, source } => {
                let source = io::Error::new(source.kind(), source.to_string());
                Self::Io { verb, path: path.clone(), source }
            }
            Self::Locked { path } => Self::Locked { path: path.clone() },
            Self::NewerFormat { path, line, found, known } => {
                Self::NewerFormat { path: path.clone(), line: *line, found: *found, known: *known }
            }
            Self::OwnedElsewhere { thread, holder } => {
                Self::OwnedElsewhere { thread: thread.clone(), holder: holder.clone() }
            }
            Self::NoThread { thread } => Self::NoThread { thread: thread.clone() },
        }
    }

    /// The file or folder of the error, if it concerns one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. } | Self::Locked { path } | Self::NewerFormat { path, .. } => {
                Some(path)
            }
            Self::OwnedElsewhere { .. } | Self::NoThread { .. } => None,
        }
    }
}

/// Converts an I/O error, with the operation and the file.
pub fn failed<'p>(verb: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> StoreError + 'p {
    move |source| StoreError::Io { verb, path: path.to_owned(), source }
}

/// The threads of one home.
#[derive(Debug, Clone)]
pub struct Store {
    threads: PathBuf,
    disk: Disk,
}

impl Store {
    /// Creates nothing before a thread is opened.
    pub fn new(home: &Path) -> Self {
        Self::on(Disk::default(), home)
    }

    /// Like [`Self::new`], on the given disk.
    pub fn on(disk: Disk, home: &Path) -> Self {
        Self { threads: home.join("rawr").join("auto_compaction").join("threads"), disk }
    }

    /// The folder of all threads.
    pub fn root(&self) -> &Path {
        &self.threads
    }

    /// The folder of a thread that is not archived.
    pub fn folder(&self, thread: &ThreadId) -> PathBuf {
        self.threads.join(thread.as_str())
    }

    /// All stored threads, in no order.
    pub fn thread_ids(&self) -> Result<Vec<ThreadId>, StoreError> {
        Ok(self.last_records()?.into_iter().map(|(id, _)| id).collect())
    }

    /// All stored threads and when each was last recorded in.
    fn last_records(&self) -> Result<Vec<(ThreadId, SystemTime)>, StoreError> {
        let entries = match fs::read_dir(&self.threads) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed("list", &self.threads))?,
        };
        let mut threads = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed("list", &self.threads))?;
            let log = fs::metadata(entry.path().join(EVENTS)).ok().filter(fs::Metadata::is_file);
            if let (Some(log), Some(name)) = (log, entry.file_name().to_str()) {
                let at = log.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                threads.push((ThreadId::new(name), at));
            }
        }
        Ok(threads)
    }

    /// Whether the thread exists, archived or not. While it is being moved, it may seem to be missing.
    pub fn exists(&self, thread: &ThreadId) -> bool {
        let folders = [self.folder(thread), self.archived(thread)];
        folders.iter().any(|folder| folder.join(EVENTS).is_file())
    }

    /// Creates the folder of threads, so that it can be watched before the first thread exists.
    pub fn create(&self) -> Result<(), StoreError> {
        folders::create(&self.disk, &self.threads).map(drop)
    }

    /// The `most` threads that were last recorded in, newest first, followed by all others that are owned.
    pub fn newest(&self, most: usize) -> Result<Vec<ThreadId>, StoreError> {
        let mut threads = self.last_records()?;
        threads.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
        let mut ids: Vec<_> = threads.into_iter().map(|(id, _)| id).collect();
        let rest = ids.split_off(most.min(ids.len()));
        ids.extend(rest.into_iter().filter(|id| self.owner(id).is_some()));
        Ok(ids)
    }

    /// The file that another process touches to tell the owner of a thread about new records.
    pub fn wake_file(&self, thread: &ThreadId) -> PathBuf {
        self.folder(thread).join(OWNER)
    }

    /// The holder of the thread's owner lock, this process included.
    pub fn owner(&self, thread: &ThreadId) -> Option<String> {
        OwnerLock::holder(&self.folder(thread))
    }

    /// Like [`Self::owner`], for a thread that may be archived.
    pub fn owner_in(&self, place: &archive::ThreadFolder) -> Option<String> {
        OwnerLock::holder(&place.folder)
    }

    /// The thread's file of decisions, whether it exists or not.
    pub fn decisions(&self, thread: &ThreadId) -> DecisionFile {
        DecisionFile::of(&self.disk, &self.folder(thread))
    }

    /// The disk of this store, for files next to a log.
    pub const fn disk(&self) -> &Disk {
        &self.disk
    }

    /// The current state of a thread that is not open here. Takes no lock and changes no record: for lists, which may
    /// be outdated as soon as they are read. After a long replay the state is cached.
    pub fn glance(&self, thread: &ThreadId) -> Result<Thread, StoreError> {
        glance::glance(&self.disk, &self.folder(thread), thread)
    }

    /// A message that no longer waited shortly before the thread's log ends, as where its session is ended: the host may have
    /// dropped it.
    pub fn held_at_end(&self, thread: &ThreadId) -> Result<Option<InputHeld>, StoreError> {
        held::at_end(&self.folder(thread).join(EVENTS))
    }

    /// How the thread's first message begins, by the same reading. `None` also if the thread cannot be read.
    pub fn title(&self, thread: &str) -> Option<String> {
        self.glance(&ThreadId::new(thread)).ok()?.known.title()
    }

    /// Opens or creates a thread's log and replays it. An archived thread is moved back.
    pub fn open(&self, thread: &ThreadId) -> Result<(ThreadLog, (Thread, Replay)), StoreError> {
        let mut state = Thread::new(thread.clone());
        let (log, replay) =
            disk::patiently(|| self.try_open_into(thread, OpenMode::StoredOrNew, &mut state))?;
        Ok((log, (state, replay)))
    }

    /// Opens a thread's log, or creates it if `wanted` allows, and replays it into `reader`. Fails with
    /// [`StoreError::Locked`] before anything is read if another process holds one of the locks.
    pub fn try_open_into(
        &self,
        thread: &ThreadId,
        wanted: OpenMode,
        reader: &mut impl RecordReader,
    ) -> Result<(ThreadLog, Replay), StoreError> {
        let in_use = self.take_in_use(thread, wanted)?;
        ThreadLog::open(&self.disk, self.folder(thread), thread, in_use, reader)
    }
}

/// The name of a thread's log.
pub const EVENTS: &str = "events.jsonl";
/// The name of a thread's file of decisions.
pub const DECISIONS: &str = "decisions.jsonl";
pub(crate) const STATE: &str = "state.json";
/// The name of a thread's owner lock.
pub const OWNER: &str = "owner.lock";
pub(crate) const QUARANTINE: &str = "quarantine.jsonl";

/// A new file survives a crash only after its folder is synced.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(failed("sync", path))
}
