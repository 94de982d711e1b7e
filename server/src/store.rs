//! Threads on disk: `events.jsonl` is the truth, everything beside it but `held/` can be rebuilt. This room reads and
//! writes lines; what they mean is the core's business.
//!
//! Layout: `<home>/rawr/auto_compaction/threads/<thread>/` with `events.jsonl`, `decisions.jsonl`,
//! `state.json` (a cache), `owner.lock`, `held/` with the texts of messages that wait and hold secrets, and
//! `quarantine.jsonl` where lines were unreadable. A thread that rests lies in `archive/<thread>/` beside `threads/`.

pub mod archive;
mod backwards;
pub(crate) mod cache;
mod decision;
mod disk;
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
pub use disk::{Disk, Fate, Faults, Operation};
pub(crate) use disk::{LockPatience, is_unfinished, unfinished};
pub use log::ThreadLog;
pub use owner::OwnerLock;
pub use reader::{Damage, Reader, Replay, replay};
pub(crate) use reader::{Unreadable, parse};

use archive::Wanted;
use rawr_core::Thread;
use rawr_core::units::ThreadId;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot {verb} {path}: {source}", path = path.display())]
    Io { verb: &'static str, path: PathBuf, source: io::Error },
    #[error("line {line} of {path} has format {found}, this release reads up to {known}", path = path.display())]
    NewerFormat { path: PathBuf, line: u64, found: u16, known: u16 },
    #[error("cannot lock {path}: another process holds it", path = path.display())]
    Locked { path: PathBuf },
    #[error("thread {thread} is owned by {holder}")]
    OwnedElsewhere { thread: ThreadId, holder: String },
    #[error("no thread {thread} is stored")]
    NoThread { thread: ThreadId },
}

impl StoreError {
    /// The same error for another request that it concerns.
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

    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. } | Self::Locked { path } | Self::NewerFormat { path, .. } => {
                Some(path)
            }
            Self::OwnedElsewhere { .. } | Self::NoThread { .. } => None,
        }
    }
}

/// Turns an I/O error into ours, with what was being done to which file.
pub(crate) fn failed<'p>(
    verb: &'static str,
    path: &'p Path,
) -> impl FnOnce(io::Error) -> StoreError + 'p {
    move |source| StoreError::Io { verb, path: path.to_owned(), source }
}

#[derive(Debug, Clone)]
pub struct Store {
    threads: PathBuf,
    disk: Disk,
}

impl Store {
    /// Nothing is created before a thread is opened: looking at an empty home leaves no trace.
    pub fn new(home: &Path) -> Self {
        Self::on(Disk::default(), home)
    }

    pub fn on(disk: Disk, home: &Path) -> Self {
        Self { threads: home.join("rawr").join("auto_compaction").join("threads"), disk }
    }

    /// Where all threads are.
    pub fn root(&self) -> &Path {
        &self.threads
    }

    pub fn folder(&self, thread: &ThreadId) -> PathBuf {
        self.threads.join(thread.as_str())
    }

    /// All stored threads, in no order.
    pub fn thread_ids(&self) -> Result<Vec<ThreadId>, StoreError> {
        let entries = match fs::read_dir(&self.threads) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed("list", &self.threads))?,
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed("list", &self.threads))?;
            let name = entry.file_name();
            if let Some(name) = name.to_str().filter(|_| entry.path().join(EVENTS).is_file()) {
                ids.push(ThreadId::new(name));
            }
        }
        Ok(ids)
    }

    /// Archived or not. While it is being moved, it may seem not to be there.
    pub fn exists(&self, thread: &ThreadId) -> bool {
        let folders = [self.folder(thread), self.archived(thread)];
        folders.iter().any(|folder| folder.join(EVENTS).is_file())
    }

    /// So that it can be watched before the first thread is there.
    pub fn create(&self) -> Result<(), StoreError> {
        folders::create(&self.disk, &self.threads).map(drop)
    }

    /// The threads in which something was recorded last, the newest first, and behind them all others that are owned.
    pub fn newest(&self, most: usize) -> Result<Vec<ThreadId>, StoreError> {
        let changed = |id: &ThreadId| {
            let file = fs::metadata(self.folder(id).join(EVENTS));
            file.and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
        };
        let mut ids = self.thread_ids()?;
        ids.sort_by_cached_key(|id| std::cmp::Reverse(changed(id)));
        let rest = ids.split_off(most.min(ids.len()));
        ids.extend(rest.into_iter().filter(|id| self.owner(id).is_some()));
        Ok(ids)
    }

    /// The file whose modification tells the owner of a thread that another process has recorded something.
    pub fn wake_file(&self, thread: &ThreadId) -> PathBuf {
        self.folder(thread).join(OWNER)
    }

    /// Who holds the thread's owner lock, this process included.
    pub fn owner(&self, thread: &ThreadId) -> Option<String> {
        OwnerLock::holder(&self.folder(thread))
    }

    /// The same of a thread that may be archived.
    pub fn owner_in(&self, place: &archive::ThreadFolder) -> Option<String> {
        OwnerLock::holder(&place.folder)
    }

    /// Beside the thread's log, there or not.
    pub fn decisions(&self, thread: &ThreadId) -> DecisionFile {
        DecisionFile::of(&self.disk, &self.folder(thread))
    }

    /// What is kept beside a log goes to the same disk.
    pub const fn disk(&self) -> &Disk {
        &self.disk
    }

    /// A thread that is not open here, as its log has it now. Takes no lock and changes nothing: for lists, which may be
    /// outdated as soon as they are read. After a long replay the state is cached.
    pub fn glance(&self, thread: &ThreadId) -> Result<Thread, StoreError> {
        glance::glance(&self.disk, &self.folder(thread), thread)
    }

    /// Opens or creates a thread's log and replays what is in it. One that was archived is brought back.
    pub fn open(&self, thread: &ThreadId) -> Result<(ThreadLog, (Thread, Replay)), StoreError> {
        let mut state = Thread::new(thread.clone());
        let (log, replay) =
            disk::patiently(|| self.try_open_into(thread, Wanted::StoredOrNew, &mut state))?;
        Ok((log, (state, replay)))
    }

    /// Opens a thread's log, or creates it where that is wanted, and replays it into `reader`. Where another process holds one of the locks, it fails
    /// with [`StoreError::Locked`] before anything is read.
    pub fn try_open_into(
        &self,
        thread: &ThreadId,
        wanted: Wanted,
        reader: &mut impl Reader,
    ) -> Result<(ThreadLog, Replay), StoreError> {
        let in_use = self.take_in_use(thread, wanted)?;
        ThreadLog::open(&self.disk, self.folder(thread), thread, in_use, reader)
    }
}

pub const EVENTS: &str = "events.jsonl";
pub const DECISIONS: &str = "decisions.jsonl";
pub(crate) const STATE: &str = "state.json";
pub const OWNER: &str = "owner.lock";
pub(crate) const QUARANTINE: &str = "quarantine.jsonl";

/// A new file is only safe once its folder knows it.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(failed("sync", path))
}
