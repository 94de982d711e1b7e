//! Reads files line by line, including incomplete ones. Knows no format.

use crate::store::{StoreError, failed};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

pub(super) struct LogLine {
    pub number: u64,
    /// Without the newline.
    pub bytes: Vec<u8>,
    /// False for a last line that lacks its newline.
    pub whole: bool,
}

pub(super) struct LogLines {
    path: PathBuf,
    reader: BufReader<File>,
    number: u64,
}

/// `None` if there is no such file.
pub(super) fn lines(path: &Path) -> Result<Option<LogLines>, StoreError> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => {
            let reader = BufReader::with_capacity(1 << 18, file.map_err(failed("open", path))?);
            Ok(Some(LogLines { path: path.to_owned(), reader, number: 0 }))
        }
    }
}

impl Iterator for LogLines {
    type Item = Result<LogLine, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = Vec::new();
        match self.reader.read_until(b'\n', &mut bytes) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(failed("read", &self.path)(error))),
        }
        let whole = bytes.pop_if(|last| *last == b'\n').is_some();
        self.number += 1;
        Some(Ok(LogLine { number: self.number, bytes, whole }))
    }
}

/// This folder and all files and folders below it. Links are not followed.
pub(super) fn everything_in(folder: &Path) -> Result<Vec<(PathBuf, fs::Metadata)>, StoreError> {
    let metadata = folder.symlink_metadata().map_err(failed("look at", folder))?;
    let is_folder = metadata.is_dir();
    let mut found = vec![(folder.to_owned(), metadata)];
    if is_folder {
        for entry in fs::read_dir(folder).map_err(failed("list", folder))? {
            let path = entry.map_err(failed("list", folder))?.path();
            match everything_in(&path) {
                // The entry was removed since it was listed, so a process is working here.
                Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                below => found.extend(below?),
            }
        }
    }
    Ok(found)
}

pub(super) fn bytes_in(folder: &Path) -> Result<u64, StoreError> {
    let files = everything_in(folder)?;
    Ok(files.iter().filter(|(_, it)| it.is_file()).map(|(_, it)| it.len()).sum())
}
