//! App-servers of sessions that were killed as a whole, with every process that would have ended them: the next session ends
//! them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::PREFIX;
use crate::commands::lease::{Abandoned, end_without_owner};

pub(super) async fn end_all(places: impl Iterator<Item = PathBuf>) {
    for folder in places.flat_map(|place| folders(&place)) {
        if let Some(_mine) = Abandoned::find(&folder) {
            end_without_owner(&folder).await;
        }
    }
}

/// Others may make folders by such a name in a place that all users share.
fn folders(place: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        let name = entry.file_name();
        // Of the entry itself, which may be a link.
        let owner = entry.metadata().ok().filter(|it| it.is_dir()).map(|it| it.uid());
        name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) && owner == Some(geteuid().as_raw())
    });
    ours.map(|entry| entry.path())
}
