//! Stops the app-servers of sessions that were killed together with all processes that would have stopped them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::PREFIX;
use crate::commands::lease::{AbandonedFolder, end_without_owner};

pub(super) async fn end_all(places: impl Iterator<Item = PathBuf>) {
    for folder in places.flat_map(|place| folders(&place)) {
        if let Some(_mine) = AbandonedFolder::find(&folder) {
            end_without_owner(&folder).await;
        }
    }
}

/// Checks the owner, because other users can create such folders in a shared temporary folder.
fn folders(place: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        let name = entry.file_name();
        // The metadata of the entry itself, which may be a link.
        let owner = entry.metadata().ok().filter(|it| it.is_dir()).map(|it| it.uid());
        name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) && owner == Some(geteuid().as_raw())
    });
    ours.map(|entry| entry.path())
}
