//! Threads at rest: `archive/<thread>/` holds what `threads/<thread>/` held, moved whole and back. A thread is never moved
//! or changed behind the back of a process that has it open.
//!
//! Two locks see to that, both on folders, so that they leave no trace. The gate (`threads/`) is held shared while a
//! thread is being opened, and alone while one is moved. A thread's folder is held shared by every process that has it
//! open, and alone by who repairs, shortens or moves it.

use super::disk::locked;
use super::{EVENTS, OWNER, OwnerLock, Store, StoreError, failed, folders, sync_folder};
use rawr_core::units::{ThreadId, Timestamp};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const STAMP: &str = "retention.stamp";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Where a thread lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadFolder {
    pub thread: ThreadId,
    pub folder: PathBuf,
    pub archived: bool,
}

/// Somebody has the thread open. The system gives it back with the process.
#[derive(Debug)]
pub(super) struct InUse {
    _folder: File,
    /// How many folders had to be made for it.
    pub(super) created: usize,
}

/// What is to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A thread that has been recorded, archived or not.
    Stored,
    /// The same, or a new one.
    StoredOrNew,
}

/// What came of the wish to have a thread for oneself.
#[derive(Debug)]
pub enum Hold {
    Alone(Alone),
    Taken { by: String },
}

/// Nobody else has the thread open, and nobody can open it for as long as this lives.
#[derive(Debug)]
pub struct Alone {
    _folder: File,
    _owner: Option<File>,
    _append: Option<File>,
}

/// What became of a thread that was to be archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retired {
    Moved,
    /// Somebody has it open, or has used it in between.
    Left {
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

    /// Everything that lies in the home as a thread, archived or not, whole or not, by name.
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

    /// What belongs to no single thread, where it is there: the folders above the threads, the stamp, and the logs of
    /// commands and sidecars (`codex.log` and its like).
    pub fn shared(&self) -> Vec<PathBuf> {
        let above = self.threads.ancestors().skip(1).take(2).map(Path::to_owned);
        let beside = [self.threads.clone(), self.archive_folder(), self.stamp()];
        above.chain(beside).filter(|path| path.exists()).chain(self.logs()).collect()
    }

    /// All files of the topmost folder. One that cannot be listed is reported where the folder itself is looked at.
    fn logs(&self) -> Vec<PathBuf> {
        let entries = self.threads.ancestors().nth(2).and_then(|top| fs::read_dir(top).ok());
        let files = entries.into_iter().flatten().flatten();
        files
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.path())
            .collect()
    }

    /// What lies among the threads and can be none.
    pub fn strangers(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut strangers = Vec::new();
        for root in [self.threads.clone(), self.archive_folder()] {
            let entries = match fs::read_dir(&root) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries.map_err(failed("list", &root))?,
            };
            for entry in entries {
                let path = entry.map_err(failed("list", &root))?.path();
                if !path.is_dir() || path.file_name().and_then(|name| name.to_str()).is_none() {
                    strangers.push(path);
                }
            }
        }
        Ok(strangers)
    }

    fn stamp(&self) -> PathBuf {
        self.threads.with_file_name(STAMP)
    }

    /// The thread is where it can be worked on, and stays there while the result lives. An archived one comes back. No lock
    /// is waited for.
    pub(super) fn take_in_use(
        &self,
        thread: &ThreadId,
        wanted: Wanted,
    ) -> Result<InUse, StoreError> {
        let path = self.folder(thread);
        // The thread's own folder is made behind the gate: before it, others would find an empty one.
        let above = match wanted {
            Wanted::StoredOrNew => folders::create(&self.disk, &self.threads)?,
            Wanted::Stored if !self.threads.is_dir() => return Err(no_thread(thread)),
            Wanted::Stored => 0,
        };
        let _gate = self.pass_gate(thread)?;
        // Only behind the gate: a thread that is moved between a look at one place and a look at the other seems to be in neither.
        if wanted == Wanted::Stored && !self.exists(thread) {
            return Err(no_thread(thread));
        }
        self.bring_back(thread)?;
        let created = above + folders::create(&self.disk, &path)?;
        let folder = open_folder(&path)?;
        locked(folder.try_lock_shared(), &path)?;
        Ok(InUse { _folder: folder, created })
    }

    /// Nobody moves this thread while the result lives. Held alone where it must be brought back.
    fn pass_gate(&self, thread: &ThreadId) -> Result<File, StoreError> {
        let gate = open_folder(&self.threads)?;
        if !self.archived(thread).is_dir() {
            locked(gate.try_lock_shared(), &self.threads)?;
            // It may have been moved between the look and the lock.
            if !self.archived(thread).is_dir() {
                return Ok(gate);
            }
        }
        locked(gate.try_lock(), &self.threads)?;
        Ok(gate)
    }

    /// The gate is closed. Where a thread of that name lives, the archived one stays where it is.
    fn bring_back(&self, thread: &ThreadId) -> Result<(), StoreError> {
        let (from, to) = (self.archived(thread), self.folder(thread));
        if !from.is_dir() || to.join(EVENTS).is_file() {
            return Ok(());
        }
        // Who works on it in the archive knows it by that name, and is waited for.
        let folder = open_folder(&from)?;
        locked(folder.try_lock_shared(), &from)?;
        fs::rename(&from, &to).map_err(failed("bring back", &from))?;
        tracing::info!(%thread, "the thread was brought back from the archive");
        sync_folder(&self.threads)?;
        sync_folder(&self.archive_folder())
    }

    /// Removes a thread's folder where it is empty; whether it was. Nothing is removed while somebody opens a thread.
    pub fn remove_empty(&self, place: &ThreadFolder) -> Result<bool, StoreError> {
        let gate = open_folder(&self.threads)?;
        Ok(try_alone(&gate, &self.threads)? && fs::remove_dir(&place.folder).is_ok())
    }

    /// Whether anybody has the thread open, without a wish to change it.
    pub fn is_in_use(&self, place: &ThreadFolder) -> Result<bool, StoreError> {
        let folder = open_folder(&place.folder)?;
        Ok(!try_alone(&folder, &place.folder)?)
    }

    /// To change what lies on the disk.
    pub fn alone(&self, place: &ThreadFolder) -> Result<Hold, StoreError> {
        let by =
            || OwnerLock::holder(&place.folder).unwrap_or_else(|| "another process".to_owned());
        let folder = open_folder(&place.folder)?;
        if !try_alone(&folder, &place.folder)? {
            return Ok(Hold::Taken { by: by() });
        }
        let mut locks = [None, None];
        for (lock, name) in locks.iter_mut().zip([OWNER, EVENTS]) {
            let path = place.folder.join(name);
            let file = match File::open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                file => file.map_err(failed("open", &path))?,
            };
            if !try_alone(&file, &path)? {
                return Ok(Hold::Taken { by: by() });
            }
            *lock = Some(file);
        }
        let [owner, append] = locks;
        Ok(Hold::Alone(Alone { _folder: folder, _owner: owner, _append: append }))
    }

    /// Archives every thread that nobody has touched for so many days, and tells what became of each that was due.
    /// Where it is no number of days, none ever is.
    pub fn retire(
        &self,
        now: SystemTime,
        days: u64,
        mut each: impl FnMut(&ThreadId, Result<Retired, StoreError>),
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

    /// Once a day: archives every thread that was not used for so many days. What becomes of each is logged. Slow; call it
    /// when nothing waits for it.
    pub fn archive_idle(&self, days: u64, now: Timestamp) {
        let tell = |thread: &ThreadId, retired: Result<Retired, StoreError>| match retired {
            Ok(Retired::Moved) => tracing::info!(%thread, "archived"),
            Ok(Retired::Left { why }) => tracing::info!(%thread, why, "not archived"),
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

    fn archive(&self, place: &ThreadFolder, since: SystemTime) -> Result<Retired, StoreError> {
        let left = |why: &str| Ok(Retired::Left { why: why.to_owned() });
        let gate = open_folder(&self.threads)?;
        if !try_alone(&gate, &self.threads)? {
            return left("another thread is being opened");
        }
        let _alone = match self.alone(place)? {
            Hold::Alone(alone) => alone,
            Hold::Taken { by } => return left(&format!("{by} has it open")),
        };
        if !is_idle(place, since)? {
            return left("it was used just now");
        }
        let to = self.archived(&place.thread);
        if to.exists() {
            return left("a thread of that name is archived already");
        }
        folders::create(&self.disk, &self.archive_folder())?;
        fs::rename(&place.folder, &to).map_err(failed("archive", &place.folder))?;
        sync_folder(&self.archive_folder())?;
        sync_folder(&self.threads)?;
        Ok(Retired::Moved)
    }

    /// Whether a day has passed since this last said yes. It costs nothing where no thread was ever opened.
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
        // A stamp from the future is a clock's error, and must not hold everything up.
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

/// When something was last written to a thread's log. A folder without a log is no thread yet.
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

/// Whoever only looks, or opens something, holds a lock for a moment.
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
