//! Which process may act on a thread: the holder of its `owner.lock`. The operating system releases it when the process
//! dies.

use super::disk::Disk;
use super::{OWNER, StoreError, failed};
use rawr_core::units::ThreadId;
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Held while this process may act on the thread.
#[derive(Debug)]
pub struct OwnerLock {
    file: File,
}

impl Drop for OwnerLock {
    /// An empty file tells without being opened that no process holds it.
    fn drop(&mut self) {
        // If this fails, others open the file as after a crash.
        let _ = self.file.set_len(0);
    }
}

impl OwnerLock {
    /// Wakes the owner after another process appended. Does nothing without an owner.
    pub fn ring(folder: &Path) -> io::Result<()> {
        match File::options().append(true).open(folder.join(OWNER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            file => file?.set_modified(SystemTime::now()),
        }
    }

    pub(super) fn take(
        disk: &Disk,
        folder: &Path,
        thread: &ThreadId,
        holder: &str,
    ) -> Result<Self, StoreError> {
        let path = folder.join(OWNER);
        let mut file = disk.open_to_write(&path).map_err(failed("open", &path))?;
        match lock_patiently(disk, &file, &path) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = name_in(&mut file);
                return Err(StoreError::OwnedElsewhere { thread: thread.clone(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
        }
        let name = format!("{holder} (process {})", std::process::id());
        disk.set_length(&file, &path, 0)
            .and_then(|()| disk.append(&file, &path, name.as_bytes()))
            .map_err(failed("write", &path))?;
        Ok(Self { file })
    }

    /// The holder of a thread's lock, if there is one. Creates no file.
    pub fn holder(folder: &Path) -> Option<String> {
        let path = folder.join(OWNER);
        // Each opened file is an event to all who watch the folder, and lists ask for every thread.
        if std::fs::metadata(&path).ok()?.len() == 0 {
            return None;
        }
        let mut file = File::open(path).ok()?;
        // Shared, so that two readers do not take each other for the owner.
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| name_in(&mut file))
    }
}

/// Retries briefly, because readers hold the lock for a moment.
fn lock_patiently(disk: &Disk, file: &File, path: &Path) -> Result<(), TryLockError> {
    const LOOKS: u32 = 5;
    const ONE_LOOK: Duration = Duration::from_millis(1);
    for _ in 0..LOOKS {
        match disk.try_lock(file, path) {
            Err(TryLockError::WouldBlock) => std::thread::sleep(ONE_LOOK),
            locked => return locked,
        }
    }
    disk.try_lock(file, path)
}

/// Empty while the holder is about to write it.
fn name_in(file: &mut File) -> String {
    let mut holder = String::new();
    let _ = file.read_to_string(&mut holder);
    if holder.is_empty() { "another process".to_owned() } else { holder }
}
