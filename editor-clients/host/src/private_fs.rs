//! Files and folders that only their owner can read, because rawr's files quote conversations.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Creates a folder and its missing parents. An existing folder is not changed.
///
/// # Errors
///
/// Fails like [`std::fs::create_dir_all`].
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Writes a whole file, replacing its content. Not atomic.
///
/// # Errors
///
/// Fails like [`std::fs::write`].
pub fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// A log larger than this is rotated; one older log is kept.
const LOG_BYTES: u64 = 1024 * 1024;

/// Opens a log for appending. A log over 1 MiB is renamed to `.log.old` first.
///
/// # Errors
///
/// Fails if its folder cannot be created or the file cannot be opened.
pub fn open_log(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    if path.metadata().is_ok_and(|about| about.len() > LOG_BYTES) {
        std::fs::rename(path, path.with_extension("log.old"))?;
    }
    let mut options = File::options();
    options.append(true).create(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
