//! Reads a file that a person wrote, and detects changes. Anything but a small text file is a reported problem, never a
//! fatal error.

use super::FileProblem;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

/// More than people write by hand.
pub const MAX_BYTES: usize = 256 * 1024;

/// The text, or `None` if the file does not exist.
pub fn read_text(path: &Path) -> Result<Option<String>, FileProblem> {
    let problem = |code, message: String| FileProblem::error(code, message).in_file(Some(path));
    let unreadable = |error: std::io::Error| problem("unreadable-file", error.to_string());
    // Opening a pipe or a device in a project's folder would block, so check the type first.
    let length = match std::fs::metadata(path) {
        Ok(found) if found.is_file() => found.len(),
        Ok(_) => return Err(problem("unreadable-file", "not a file".to_owned())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let limit = MAX_BYTES as u64 + 1;
    // One byte more than the length, so that the end is found without another read.
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(limit)).unwrap_or(0) + 1);
    File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() > MAX_BYTES {
        let message = format!("larger than {} KiB", MAX_BYTES / 1024);
        return Err(problem("file-too-large", message));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        problem("not-utf-8", "not UTF-8 text".to_owned()).at(at..at + 1)
    })
}

/// Enough metadata to notice that a file was written or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    length: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

impl FileStamp {
    /// `None` if the file does not exist.
    pub fn of(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok()?;
        Some(Self { length: found.len(), modified: found.modified().ok(), inode: inode(&found) })
    }

    /// In bytes.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Whether the file ends with a newline. A file that is being written seldom does.
    pub fn ends_in_a_line(path: &Path) -> bool {
        // Opening a pipe would block.
        let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
        let last = || {
            let mut byte = [0];
            let mut file = File::open(path)?;
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut byte).map(|()| byte)
        };
        is_file && last().is_ok_and(|byte| byte == *b"\n")
    }
}

fn inode(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: Result<&str, (&str, Option<usize>)>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        std::fs::write(&path, bytes).unwrap();
        let found = read_text(&path);
        let found = match &found {
            Ok(text) => Ok(text.as_deref().unwrap()),
            Err(problem) => Err((problem.code, problem.span.as_ref().map(|span| span.start))),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn text_of_a_normal_size_is_read() {
        check("é\r\n".as_bytes(), Ok("é\r\n"));
        check(b"", Ok(""));
    }

    #[test]
    fn other_bytes_and_sizes_are_problems() {
        check(b"ab\xff", Err(("not-utf-8", Some(2))));
        check(&vec![b'a'; MAX_BYTES + 1], Err(("file-too-large", None)));
    }

    #[test]
    fn a_missing_file_is_fine_and_a_folder_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_text(&folder.path().join("absent")), Ok(None));
        assert_eq!(read_text(&folder.path().join("absent/deeper")), Ok(None));
        assert_eq!(read_text(folder.path()).unwrap_err().code, "unreadable-file");
    }
}
