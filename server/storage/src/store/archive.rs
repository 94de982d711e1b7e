//! Idle threads. `archive/<thread>/` holds what `threads/<thread>/` held, moved as a whole. A thread is never moved or
//! changed while a process has it open.
//!
//! Two locks guarantee that, both on folders, so that they leave no files. The gate (`threads/`) is locked shared while
//! a thread is opened, and exclusively while one is moved. A thread's folder is locked shared by every process that has
//! it open, and exclusively to repair, shorten or move it.

use super::disk::locked;
use super::{EVENTS, OWNER, OwnerLock, Store, StoreError, failed, folders, sync_folder};
use rawr_core::units::{ThreadId, Timestamp};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const STAMP: &str = "retention.stamp";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder of a thread, and whether it is archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadFolder {
    /// The thread, by the name of its folder.
    pub thread: ThreadId,
    pub folder: PathBuf,
    /// Whether it is in the archive.
    pub archived: bool,
}

/// The shared lock of an open thread. The operating system releases it with the process.
#[derive(Debug)]
pub(super) struct UseLock {
    _folder: File,
    /// The number of folders that were created for it.
    pub(super) created: usize,
}

/// Which threads may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// A thread that exists, archived or not.
    Stored,
    /// A thread that exists, archived or not, or a new one.
    StoredOrNew,
}

/// The result of trying to lock a thread exclusively.
#[derive(Debug)]
pub enum ExclusiveAccess {
    /// Locked by this process.
    Alone(ExclusiveThread),
    /// Another process has the thread open.
    Taken {
        /// The name of that process.
        by: String,
    },
}

/// An exclusive lock: no other process has the thread open or can open it until this is dropped.
#[derive(Debug)]
pub struct ExclusiveThread {
    _folder: File,
    _owner: Option<File>,
    _append: Option<File>,
}

/// What happened to a thread that was due for archiving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveOutcome {
    /// The thread was archived.
    Moved,
    /// The thread is open in some process or was used in the meantime.
    Left {
        /// The reason, for people.
        why: String,
    },
}

impl Store {
    fn archive_folder(&self) -> PathBuf {
        self.threads.with_file_name("archive")
    }

    pub(super) fn archived(&self, thread: &ThreadId) -> PathBuf {
        self.archive_folder().join(thread.as_str())
    }

    /// Every folder in the home that has the name of a thread, archived or not, complete or not.
    pub fn places(&self) -> Result<Vec<ThreadFolder>, StoreError> {
        let mut places = Vec::new();
        for (root, archived) in [(self.threads.clone(), false), (self.archive_folder(), true)] {
            let entries = match fs::read_dir(&root) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries.map_err(failed("list", &root))?,
            };
            for entry in entries {
                let folder = entry.map_err(failed("list", &root))?.path();
                let name = folder.file_name().and_then(|name| name.to_str());
                if let Some(name) = name.filter(|_| folder.is_dir()) {
                    places.push(ThreadFolder { thread: ThreadId::new(name), folder, archived });
                }
            }
        }
        places.sort_by(|one, other| {
            (&one.thread, one.archived).cmp(&(&other.thread, other.archived))
        });
        Ok(places)
    }

    /// The existing files that belong to no single thread: the folders above the threads, the stamp, and the logs of
    /// commands and sidecars.
    pub fn shared(&self) -> Vec<PathBuf> {
        let above = self.threads.ancestors().skip(1).take(2).map(Path::to_owned);
        let beside = [self.threads.clone(), self.archive_folder(), self.stamp()];
        above.chain(beside).filter(|path| path.exists()).chain(self.logs()).collect()
    }

    /// All files of the topmost folder. Errors of listing it are reported by the check of the folder.
    fn logs(&self) -> Vec<PathBuf> {
        let entries = self.threads.ancestors().nth(2).and_then(|top| fs::read_dir(top).ok());
        let files = entries.into_iter().flatten().flatten();
        files
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.path())
            .collect()
    }

    /// Files among the threads that cannot be threads.
    pub fn unexpected_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut unexpected_files = Vec::new();
        for root in [self.threads.clone(), self.archive_folder()] {
            let entries = match fs::read_dir(&root) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries.map_err(failed("list", &root))?,
            };
            for entry in entries {
                let path = entry.map_err(failed("list", &root))?.path();
                if !path.is_dir() || path.file_name().and_then(|name| name.to_str()).is_none() {
                    unexpected_files.push(path);
                }
            }
        }
        Ok(unexpected_files)
    }

    fn stamp(&self) -> PathBuf {
        self.threads.with_file_name(STAMP)
    }

    /// Locks the thread in its folder while the result lives. An archived thread is moved back. Does not wait for
    /// locks.
    pub(super) fn take_in_use(
        &self,
        thread: &ThreadId,
        wanted: OpenMode,
    ) -> Result<UseLock, StoreError> {
        let path = self.folder(thread);
        // The thread's own folder is created while the gate is locked, or else others would see an empty one.
        let above = match wanted {
            OpenMode::StoredOrNew => folders::create(&self.disk, &self.threads)?,
            OpenMode::Stored if !self.threads.is_dir() => return Err(no_thread(thread)),
            OpenMode::Stored => 0,
        };
        let _gate = self.lock_gate(thread)?;
        // Only while the gate is locked: otherwise a thread that is being moved may seem to be in neither folder.
        if wanted == OpenMode::Stored && !self.exists(thread) {
            return Err(no_thread(thread));
        }
        self.bring_back(thread)?;
        let created = above + folders::create(&self.disk, &path)?;
        let folder = open_folder(&path)?;
        locked(folder.try_lock_shared(), &path)?;
        Ok(UseLock { _folder: folder, created })
    }

    /// Prevents the thread from being moved while the result lives. The lock is exclusive if the thread must be moved
    /// back.
    fn lock_gate(&self, thread: &ThreadId) -> Result<File, StoreError> {
        let gate = open_folder(&self.threads)?;
        if !self.archived(thread).is_dir() {
            locked(gate.try_lock_shared(), &self.threads)?;
            // The thread may have been moved before the lock was taken.
            if !self.archived(thread).is_dir() {
                return Ok(gate);
            }
        }
        locked(gate.try_lock(), &self.threads)?;
        Ok(gate)
    }

    /// Called with the gate locked. If a thread of that name is in use, the archived one stays where it is.
    fn bring_back(&self, thread: &ThreadId) -> Result<(), StoreError> {
        let (from, to) = (self.archived(thread), self.folder(thread));
        if !from.is_dir() || to.join(EVENTS).is_file() {
            return Ok(());
        }
        // Processes that repair it in the archive lock it there, and are waited for.
        let folder = open_folder(&from)?;
        locked(folder.try_lock_shared(), &from)?;
        fs::rename(&from, &to).map_err(failed("bring back", &from))?;
        tracing::info!(%thread, "moved the thread back from the archive");
        sync_folder(&self.threads)?;
        sync_folder(&self.archive_folder())
    }

    /// Removes a thread's folder if it is empty. Returns whether it was. Never removes one while a thread is being
    /// opened.
    pub fn remove_empty(&self, place: &ThreadFolder) -> Result<bool, StoreError> {
        let gate = open_folder(&self.threads)?;
        Ok(try_alone(&gate, &self.threads)? && fs::remove_dir(&place.folder).is_ok())
    }

    /// Whether any process has the thread open. For callers that only read.
    pub fn is_in_use(&self, place: &ThreadFolder) -> Result<bool, StoreError> {
        let folder = open_folder(&place.folder)?;
        Ok(!try_alone(&folder, &place.folder)?)
    }

    /// Locks a thread exclusively, to change its files.
    pub fn alone(&self, place: &ThreadFolder) -> Result<ExclusiveAccess, StoreError> {
        let by =
            || OwnerLock::holder(&place.folder).unwrap_or_else(|| "another process".to_owned());
        let folder = open_folder(&place.folder)?;
        if !try_alone(&folder, &place.folder)? {
            return Ok(ExclusiveAccess::Taken { by: by() });
        }
        let mut locks = [None, None];
        for (lock, name) in locks.iter_mut().zip([OWNER, EVENTS]) {
            let path = place.folder.join(name);
            let file = match File::open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                file => file.map_err(failed("open", &path))?,
            };
            if !try_alone(&file, &path)? {
                return Ok(ExclusiveAccess::Taken { by: by() });
            }
            *lock = Some(file);
        }
        let [owner, append] = locks;
        Ok(ExclusiveAccess::Alone(ExclusiveThread {
            _folder: folder,
            _owner: owner,
            _append: append,
        }))
    }

    /// Archives every thread that was not used for `days` days, and returns what happened to each that was due. If
    /// `days` is not a valid number of days, none is due.
    pub fn retire(
        &self,
        now: SystemTime,
        days: u64,
        mut each: impl FnMut(&ThreadId, Result<ArchiveOutcome, StoreError>),
    ) -> Result<(), StoreError> {
        let length = Duration::from_secs(days.saturating_mul(DAY.as_secs()));
        let Some(untouched_since) = now.checked_sub(length).filter(|_| days > 0) else {
            return Ok(());
        };
        for place in self.places()?.iter().filter(|place| !place.archived) {
            match is_idle(place, untouched_since) {
                Ok(true) => each(&place.thread, self.archive(place, untouched_since)),
                Ok(false) => {}
                Err(error) => each(&place.thread, Err(error)),
            }
        }
        Ok(())
    }

    /// Archives idle threads, once a day, and logs what happened to each. Slow: call it when nothing waits for it.
    pub fn archive_idle(&self, days: u64, now: Timestamp) {
        let tell = |thread: &ThreadId, retired: Result<ArchiveOutcome, StoreError>| match retired {
            Ok(ArchiveOutcome::Moved) => tracing::info!(%thread, "archived"),
            Ok(ArchiveOutcome::Left { why }) => tracing::info!(%thread, why, "not archived"),
            Err(error) => tracing::warn!(%thread, %error, "not archived"),
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(now.0.max(0).unsigned_abs());
        let retired = self
            .is_new_day(now)
            .and_then(|is_new| if is_new { self.retire(now, days, tell) } else { Ok(()) });
        if let Err(error) = retired {
            tracing::warn!(%error, "failed to archive idle threads");
        }
    }

    fn archive(
        &self,
        place: &ThreadFolder,
        since: SystemTime,
    ) -> Result<ArchiveOutcome, StoreError> {
        self.archive_if_idle(place, since).or_else(|error| match place.folder.is_dir() {
            true => Err(error),
            false => Ok(ArchiveOutcome::Left { why: "another process has moved it".to_owned() }),
        })
    }

    fn archive_if_idle(
        &self,
        place: &ThreadFolder,
        since: SystemTime,
    ) -> Result<ArchiveOutcome, StoreError> {
        let left = |why: &str| Ok(ArchiveOutcome::Left { why: why.to_owned() });
        let gate = open_folder(&self.threads)?;
        if !try_alone(&gate, &self.threads)? {
            return left("another thread is being opened");
        }
        let _alone = match self.alone(place)? {
            ExclusiveAccess::Alone(alone) => alone,
            ExclusiveAccess::Taken { by } => return left(&format!("it is open in {by}")),
        };
        if !is_idle(place, since)? {
            return left("it was used just now");
        }
        let to = self.archived(&place.thread);
        if to.exists() {
            return left("a thread of that name is already archived");
        }
        folders::create(&self.disk, &self.archive_folder())?;
        fs::rename(&place.folder, &to).map_err(failed("archive", &place.folder))?;
        sync_folder(&self.archive_folder())?;
        sync_folder(&self.threads)?;
        Ok(ArchiveOutcome::Moved)
    }

    /// Whether a day has passed since this last returned true. Costs nothing in an empty home.
    pub fn is_new_day(&self, now: SystemTime) -> Result<bool, StoreError> {
        if !self.threads.is_dir() {
            return Ok(false);
        }
        let stamp = self.stamp();
        let last = match fs::metadata(&stamp) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            metadata => {
                Some(metadata.and_then(|it| it.modified()).map_err(failed("read", &stamp))?)
            }
        };
        // A stamp in the future is a clock error and must not block archiving forever.
        let apart =
            |last: SystemTime| now.duration_since(last).unwrap_or_else(|ahead| ahead.duration());
        if last.is_some_and(|last| apart(last) < DAY) {
            return Ok(false);
        }
        let file = self.disk.open_to_write(&stamp).map_err(failed("open", &stamp))?;
        file.set_modified(now).map_err(failed("write", &stamp))?;
        Ok(true)
    }
}

/// When a thread's log was last written. `None` if the folder has no log yet.
pub fn last_touched(place: &ThreadFolder) -> Result<Option<SystemTime>, StoreError> {
    let path = place.folder.join(EVENTS);
    match fs::metadata(&path).and_then(|metadata| metadata.modified()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        touched => touched.map(Some).map_err(failed("read", &path)),
    }
}

fn is_idle(place: &ThreadFolder, since: SystemTime) -> Result<bool, StoreError> {
    Ok(last_touched(place)?.is_some_and(|touched| touched < since))
}

fn no_thread(thread: &ThreadId) -> StoreError {
    StoreError::NoThread { thread: thread.clone() }
}

fn open_folder(path: &Path) -> Result<File, StoreError> {
    File::open(path).map_err(failed("open", path))
}

/// Retries briefly, because readers and openers hold the lock for a moment.
fn try_alone(file: &File, path: &Path) -> Result<bool, StoreError> {
    const LOOKS: u32 = 5;
    const ONE_LOOK: Duration = Duration::from_millis(2);
    for look in 0..=LOOKS {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if look < LOOKS => std::thread::sleep(ONE_LOOK),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(failed("lock", path)(error)),
        }
    }
    Ok(false)
}
