//! All changes that the store makes on disk go through here, so that tests can make any of them fail. Does not
//! interpret file contents.

use super::faults::{DiskFaults, DiskOperation, OperationOutcome};
use super::{StoreError, failed};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// The file system; in tests, with simulated faults.
#[derive(Debug, Clone)]
pub struct Disk {
    faults: Option<Arc<dyn DiskFaults>>,
}

/// The prefix of temporary files, which a crash may leave.
const UNFINISHED: &str = ".unfinished-";
/// A process that holds a lock for longer hangs, or is deadlocked with us.
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

impl Disk {
    /// A disk whose operations fail as `faults` decides.
    pub fn with_faults(faults: Arc<dyn DiskFaults>) -> Self {
        Self { faults: Some(faults) }
    }

    fn run(
        &self,
        operation: DiskOperation<'_>,
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
            OperationOutcome::Passes => act(bytes),
            OperationOutcome::Pretended => Ok(()),
            OperationOutcome::Fails { after, errno } => {
                part(after)?;
                Err(io::Error::from_raw_os_error(errno))
            }
            OperationOutcome::Kills { after } => {
                part(after)?;
                rustix::process::kill_process(
                    rustix::process::getpid(),
                    rustix::process::Signal::KILL,
                )?;
                Err(io::ErrorKind::Interrupted.into())
            }
        }
    }

    pub fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.run(DiskOperation::CreateFolder, path, |_| {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
        })
    }

    /// Opens a file to read and append.
    pub(super) fn open_to_append(&self, path: &Path) -> io::Result<File> {
        self.open(path, OpenOptions::new().append(true).create(true))
    }

    /// Opens a file to read and write from its start.
    pub(super) fn open_to_write(&self, path: &Path) -> io::Result<File> {
        self.open(path, OpenOptions::new().write(true).create(true))
    }

    /// Opens an existing file to overwrite parts of it.
    pub(super) fn open_to_rewrite(&self, path: &Path) -> io::Result<File> {
        self.open(path, OpenOptions::new().write(true))
    }

    fn open(&self, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        self.run(DiskOperation::Open, path, |_| Ok(()))?;
        options.read(true).mode(0o600).open(path)
    }

    pub(super) fn try_lock(&self, file: &File, path: &Path) -> Result<(), TryLockError> {
        self.run(DiskOperation::Lock, path, |_| Ok(())).map_err(TryLockError::Error)?;
        file.try_lock()
    }

    pub(super) fn unlock(&self, file: &File, path: &Path) -> io::Result<()> {
        self.run(DiskOperation::Unlock, path, |_| file.unlock())
    }

    pub(super) fn append(&self, mut file: &File, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.run(DiskOperation::Append(bytes), path, |bytes| file.write_all(bytes))
    }

    /// The file must not be open for appending, or else all writes go to its end.
    pub(super) fn rewrite(
        &self,
        file: &File,
        path: &Path,
        at: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.run(DiskOperation::Rewrite { at, bytes }, path, |bytes| file.write_all_at(bytes, at))
    }

    pub(super) fn set_length(&self, file: &File, path: &Path, length: u64) -> io::Result<()> {
        self.run(DiskOperation::SetLength(length), path, |_| file.set_len(length))
    }

    pub(super) fn sync(&self, file: &File, path: &Path) -> io::Result<()> {
        self.run(DiskOperation::Sync, path, |_| file.sync_data())
    }

    /// New entries of a folder survive a crash only after the folder is synced.
    pub(crate) fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.run(DiskOperation::SyncFolder, path, |_| File::open(path)?.sync_all())
    }

    /// Replaces the file atomically, also for concurrent readers. Not synced.
    pub(super) fn replace(&self, folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let file = self.prepare(folder, path, bytes)?;
        self.persist(file, path)
    }

    /// Like [`Self::replace`], and durable when this returns.
    pub fn replace_durably(&self, folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let file = self.prepare(folder, path, bytes)?;
        self.sync(file.as_file(), path)?;
        self.persist(file, path)?;
        self.sync_folder(folder)
    }

    fn prepare(&self, folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
        let mut file = unfinished(folder)?;
        self.run(DiskOperation::Prepare(bytes), path, |bytes| file.write_all(bytes))?;
        Ok(file)
    }

    fn persist(&self, file: NamedTempFile, path: &Path) -> io::Result<()> {
        let mut file = Some(file);
        self.run(DiskOperation::Rename, path, |_| match file.take() {
            Some(file) => file.persist(path).map(drop).map_err(|error| error.error),
            None => Ok(()),
        })
    }

    pub fn remove(&self, path: &Path) -> io::Result<()> {
        self.run(DiskOperation::Remove, path, |_| fs::remove_file(path))
    }
}

/// A temporary file that is renamed once it is complete.
pub fn unfinished(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)
}

pub fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(UNFINISHED))
}

/// How long to wait for a lock that another process holds, and how often to retry. Not forever, to resolve deadlocks.
#[derive(Debug)]
pub struct LockPatience {
    ends_at: Instant,
    pause: Duration,
}

impl Default for LockPatience {
    fn default() -> Self {
        Self { ends_at: Instant::now() + LOCK_PATIENCE, pause: SHORTEST_PAUSE }
    }
}

impl LockPatience {
    /// The pause before the next attempt, or `None` to give up.
    pub fn next_pause(&mut self) -> Option<Duration> {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        (Instant::now() < self.ends_at).then_some(pause)
    }
}

/// Retries by blocking. For callers with nothing else to do; open threads wait without blocking an OS thread.
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

/// Converts the result of a lock attempt to an error.
pub(super) fn locked(tried: Result<(), TryLockError>, path: &Path) -> Result<(), StoreError> {
    tried.map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::Locked { path: path.to_owned() },
        TryLockError::Error(error) => failed("lock", path)(error),
    })
}
