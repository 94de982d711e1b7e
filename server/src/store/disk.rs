//! Whatever the store changes on the disk, it changes through here, so that a test can let any of it fail. What is in
//! the files is nobody's business here.

use super::{StoreError, failed};
use std::fmt::Debug;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// The disk as it is; in tests, with faults.
#[derive(Debug, Clone)]
pub struct Disk {
    faults: Option<Arc<dyn Faults>>,
}

/// What is about to be done to a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation<'o> {
    CreateFolder,
    Open,
    Lock,
    Unlock,
    /// At the end of the file.
    Append(&'o [u8]),
    /// Bytes in their old place.
    Rewrite {
        at: u64,
        bytes: &'o [u8],
    },
    SetLength(u64),
    Sync,
    SyncFolder,
    /// A whole file, under another name first.
    Prepare(&'o [u8]),
    /// What was prepared takes the file's place.
    Rename,
    Remove,
}

/// What becomes of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Passes,
    /// It counts as done, and the disk has not been asked.
    Pretended,
    /// So many bytes get down, then the system's error of this number comes.
    Fails {
        after: usize,
        errno: i32,
    },
    /// So many bytes get down, then the process is no more.
    Kills {
        after: usize,
    },
}

/// Decides what becomes of every operation. It may also take its time.
pub trait Faults: Debug + Send + Sync {
    fn meet(&self, operation: &Operation<'_>, path: &Path) -> Fate;
}

/// How the name of a file begins that is not complete yet, or that a crash left so.
const UNFINISHED: &str = ".unfinished-";
/// A process that holds a lock for longer hangs, or waits for one that we hold.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
/// A lock is usually held for one sync.
const SHORTEST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(25);

impl Default for Disk {
    fn default() -> Self {
        #[cfg(debug_assertions)]
        let faults = super::kill::from_environment().or_else(super::hold::from_environment);
        #[cfg(not(debug_assertions))]
        let faults = None;
        Self { faults }
    }
}

impl Operation<'_> {
    pub const fn bytes(&self) -> &[u8] {
        match self {
            Self::Append(bytes) | Self::Rewrite { bytes, .. } | Self::Prepare(bytes) => bytes,
            _ => &[],
        }
    }
}

impl Disk {
    pub fn with_faults(faults: Arc<dyn Faults>) -> Self {
        Self { faults: Some(faults) }
    }

    fn run(
        &self,
        operation: Operation<'_>,
        path: &Path,
        mut act: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(faults) = &self.faults else { return act(operation.bytes()) };
        let bytes = operation.bytes();
        let mut part = |after: usize| match &bytes[..after.min(bytes.len())] {
            [] => Ok(()),
            part => act(part),
        };
        match faults.meet(&operation, path) {
            Fate::Passes => act(bytes),
            Fate::Pretended => Ok(()),
            Fate::Fails { after, errno } => {
                part(after)?;
                Err(io::Error::from_raw_os_error(errno))
            }
            Fate::Kills { after } => {
                part(after)?;
                rustix::process::kill_process(
                    rustix::process::getpid(),
                    rustix::process::Signal::KILL,
                )?;
                Err(io::ErrorKind::Interrupted.into())
            }
        }
    }

    pub(crate) fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.run(Operation::CreateFolder, path, |_| {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
        })
    }

    /// For reading, and for adding at the end.
    pub(super) fn open_to_append(&self, path: &Path) -> io::Result<File> {
        self.open(path, OpenOptions::new().append(true).create(true))
    }

    /// For reading, and for writing from its beginning.
    pub(super) fn open_to_write(&self, path: &Path) -> io::Result<File> {
        self.open(path, OpenOptions::new().write(true).create(true))
    }

    /// For writing in place what is there.
    pub(super) fn open_to_rewrite(&self, path: &Path) -> io::Result<File> {
        self.open(path, OpenOptions::new().write(true))
    }

    fn open(&self, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        self.run(Operation::Open, path, |_| Ok(()))?;
        options.read(true).mode(0o600).open(path)
    }

    pub(super) fn try_lock(&self, file: &File, path: &Path) -> Result<(), TryLockError> {
        self.run(Operation::Lock, path, |_| Ok(())).map_err(TryLockError::Error)?;
        file.try_lock()
    }

    pub(super) fn unlock(&self, file: &File, path: &Path) -> io::Result<()> {
        self.run(Operation::Unlock, path, |_| file.unlock())
    }

    pub(super) fn append(&self, mut file: &File, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.run(Operation::Append(bytes), path, |bytes| file.write_all(bytes))
    }

    /// The file must not be open for appending: then everything goes to its end.
    pub(super) fn rewrite(
        &self,
        file: &File,
        path: &Path,
        at: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.run(Operation::Rewrite { at, bytes }, path, |bytes| file.write_all_at(bytes, at))
    }

    pub(super) fn set_length(&self, file: &File, path: &Path, length: u64) -> io::Result<()> {
        self.run(Operation::SetLength(length), path, |_| file.set_len(length))
    }

    pub(super) fn sync(&self, file: &File, path: &Path) -> io::Result<()> {
        self.run(Operation::Sync, path, |_| file.sync_data())
    }

    /// What is new in a folder is only safe once the folder knows it.
    pub(crate) fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.run(Operation::SyncFolder, path, |_| File::open(path)?.sync_all())
    }

    /// The file is the old one or the new one, also for whoever reads it meanwhile. It is not synced.
    pub(super) fn replace(&self, folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let file = self.prepare(folder, path, bytes)?;
        self.put_in_place(file, path)
    }

    /// The same, and it is on the disk itself when this returns.
    pub(crate) fn replace_durably(
        &self,
        folder: &Path,
        path: &Path,
        bytes: &[u8],
    ) -> io::Result<()> {
        let file = self.prepare(folder, path, bytes)?;
        self.sync(file.as_file(), path)?;
        self.put_in_place(file, path)?;
        self.sync_folder(folder)
    }

    fn prepare(&self, folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
        let mut file = unfinished(folder)?;
        self.run(Operation::Prepare(bytes), path, |bytes| file.write_all(bytes))?;
        Ok(file)
    }

    fn put_in_place(&self, file: NamedTempFile, path: &Path) -> io::Result<()> {
        let mut file = Some(file);
        self.run(Operation::Rename, path, |_| match file.take() {
            Some(file) => file.persist(path).map(drop).map_err(|error| error.error),
            None => Ok(()),
        })
    }

    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        self.run(Operation::Remove, path, |_| fs::remove_file(path))
    }
}

/// A file that gets its name once it is complete.
pub(crate) fn unfinished(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)
}

pub(crate) fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(UNFINISHED))
}

/// How long a lock that another process holds is waited for, and in which steps: not forever, because two processes that
/// wait for each other must get out again.
#[derive(Debug)]
pub(crate) struct LockPatience {
    ends_at: Instant,
    pause: Duration,
}

impl Default for LockPatience {
    fn default() -> Self {
        Self { ends_at: Instant::now() + LOCK_PATIENCE, pause: SHORTEST_PAUSE }
    }
}

impl LockPatience {
    /// Before the next try; `None` when there shall be none.
    pub(crate) fn next_pause(&mut self) -> Option<Duration> {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        (Instant::now() < self.ends_at).then_some(pause)
    }
}

/// For callers with nothing else to do. The sidecar's workers pause without holding a thread of the system.
pub(super) fn patiently<T>(
    mut attempt: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut patience = LockPatience::default();
    loop {
        match attempt() {
            Err(error @ StoreError::Locked { .. }) => match patience.next_pause() {
                Some(pause) => std::thread::sleep(pause),
                None => return Err(error),
            },
            result => return result,
        }
    }
}

/// The outcome of a try to lock, where another holder is an error like any other.
pub(super) fn locked(tried: Result<(), TryLockError>, path: &Path) -> Result<(), StoreError> {
    tried.map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::Locked { path: path.to_owned() },
        TryLockError::Error(error) => failed("lock", path)(error),
    })
}
