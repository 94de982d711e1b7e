//! The folders that lead to a thread. A crash of the machine must not take away the way to what was acknowledged.

use super::disk::Disk;
use super::{StoreError, failed};
use std::path::Path;

/// A thread's folder, `threads`, `auto_compaction`, `rawr` and home: an earlier process may have made any of them and
/// not have lived to sync it.
const OURS: usize = 5;

/// Returns how many folders had to be made.
pub(super) fn create(disk: &Disk, folder: &Path) -> Result<usize, StoreError> {
    let missing = folder.ancestors().take_while(|folder| !folder.exists()).count();
    if missing > 0 {
        disk.create_folder(folder).map_err(failed("create", folder))?;
    }
    Ok(missing)
}

/// Every folder knows the next one, and the last one its files.
pub(super) fn sync_way_to(disk: &Disk, folder: &Path, created: usize) -> Result<(), StoreError> {
    let way = folder.ancestors().filter(|folder| !folder.as_os_str().is_empty());
    for folder in way.take(OURS.max(created + 1)) {
        disk.sync_folder(folder).map_err(failed("sync", folder))?;
    }
    Ok(())
}
