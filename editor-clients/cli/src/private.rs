//! Folders for their owner alone: what rawr keeps quotes conversations.

use std::io;
use std::path::Path;

/// Makes a folder and those above it that are missing. One that is there stays as it is.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
