//! The folders above a thread. A crash must not lose the path to acknowledged records.

use super::disk::Disk;
use super::{StoreError, failed};
use std::path::Path;

/// A thread's folder, `threads`, `auto_compaction`, `rawr` and home: an earlier process may have created any of them
/// and died before it synced them.
const OURS: usize = 5;

/// Returns the number of folders that were created.
pub(super) fn create(disk: &Disk, folder: &Path) -> Result<usize, StoreError> {
    let missing = folder.ancestors().take_while(|folder| !folder.exists()).count();
    if missing > 0 {
        disk.create_folder(folder).map_err(failed("create", folder))?;
    }
    Ok(missing)
}

/// Syncs each of the folders, so that the path to the thread's files survives a crash.
pub(super) fn sync_way_to(disk: &Disk, folder: &Path, created: usize) -> Result<(), StoreError> {
    let way = folder.ancestors().filter(|folder| !folder.as_os_str().is_empty());
    for folder in way.take(OURS.max(created + 1)) {
        disk.sync_folder(folder).map_err(failed("sync", folder))?;
    }
    Ok(())
}
