//! Files and folders that only their owner can read, because rawr's files quote conversations.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Creates a folder and its missing parents. An existing folder is not changed.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Writes a whole file, replacing its content.
pub fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// A log is kept at this size, and one before it.
const LOG_BYTES: u64 = 1024 * 1024;

/// Opens a log to append to. A log that is too large is renamed first.
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
