//! Reads the lines of a file from its end, so that the newest cost the same however long the file is.

use rawr_core::steps;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const BLOCK: u64 = 64 << 10;

/// Whole lines without their newlines, last one first. Bytes after the last newline are left out.
#[derive(Debug)]
pub(super) struct ReverseLines {
    file: File,
    /// Everything from this byte on has been read.
    from: u64,
    /// Bytes that were read and not returned yet. Ends with a newline as soon as one was read.
    pending: Vec<u8>,
}

impl ReverseLines {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let from = file.metadata()?.len();
        let mut lines = Self { file, from, pending: Vec::new() };
        // Skip a line that is still being written.
        while lines.fill()? {
            if let Some(last) = memchr::memrchr(b'\n', &lines.pending) {
                lines.pending.truncate(last + 1);
                break;
            }
            lines.pending.clear();
        }
        Ok(lines)
    }

    /// Reads one more block in front. Returns false at the start of the file.
    fn fill(&mut self) -> io::Result<bool> {
        if self.from == 0 {
            return Ok(false);
        }
        let more = self.from.min(BLOCK);
        let mut block = vec![0; usize::try_from(more).unwrap_or_default()];
        steps::add(block.len());
        self.file.read_exact_at(&mut block, self.from - more)?;
        self.from -= more;
        block.append(&mut self.pending);
        self.pending = block;
        Ok(true)
    }

    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let Some(whole) = self.pending.len().checked_sub(1) else {
                if self.fill()? {
                    continue;
                }
                return Ok(None);
            };
            // The last byte is this line's own newline.
            if let Some(before) = memchr::memrchr(b'\n', &self.pending[..whole]) {
                let line = self.pending[before + 1..whole].to_vec();
                self.pending.truncate(before + 1);
                return Ok(Some(line));
            }
            if !self.fill()? {
                let line = self.pending[..whole].to_vec();
                self.pending.clear();
                return Ok(Some(line));
            }
        }
    }
}

impl Iterator for ReverseLines {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backwards(text: &str) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let lines = ReverseLines::new(file.reopen().unwrap()).unwrap();
        lines.map(|line| String::from_utf8(line.unwrap()).unwrap()).collect()
    }

    #[test]
    fn whole_lines_come_last_to_first() {
        assert_eq!(backwards(""), [""; 0]);
        assert_eq!(backwards("torn"), [""; 0]);
        assert_eq!(backwards("1\n"), ["1"]);
        assert_eq!(backwards("1\n\n22\n333\ntorn"), ["333", "22", "", "1"]);
    }

    #[test]
    fn lines_are_whole_across_blocks() {
        let block = usize::try_from(BLOCK).unwrap();
        for length in [block - 1, block, block + 1, 3 * block] {
            let (one, other) = ("a".repeat(length), "b".repeat(length));
            let text = format!("{one}\n{other}\n{}", "c".repeat(length));
            assert_eq!(backwards(&text), [other, one], "lines of {length} bytes");
        }
    }
}
