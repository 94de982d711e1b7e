//! A file line by line, without ever holding more of it than one line of bounded length. Knows nothing of what lines say.

use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// A line longer than this is an image, not something that was said.
const LONGEST: u64 = 8 << 20;
const BLOCK: usize = 256 << 10;

/// Why a file, or a part of it, was not searched.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it cannot be unpacked: {0}")]
    Packed(String),
    #[error("it is no regular file")]
    NoFile,
    #[error("it lies outside of the thread's folder")]
    Outside,
    #[error("{0} of its lines could not be read")]
    Lines(u64),
}

/// The lines of one file.
pub(super) struct Lines {
    reader: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    number: u64,
    /// Lines that were too long.
    pub skipped: u64,
}

impl Lines {
    /// `None` where there is no such file.
    pub(super) fn of(path: &Path) -> Result<Option<Self>, Problem> {
        // A pipe would never end, and opening one would wait.
        match path.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
            Ok(about) if !about.is_file() => return Err(Problem::NoFile),
            Ok(_) => {}
        }
        let file = File::open(path)?;
        let bytes: Box<dyn Read> = if is_packed(path) { unpacked(file)? } else { Box::new(file) };
        let reader = BufReader::with_capacity(BLOCK, bytes);
        Ok(Some(Self { reader, line: Vec::new(), number: 0, skipped: 0 }))
    }

    /// Whether the last one has no end yet: somebody may be at it.
    pub(super) fn is_torn(&self) -> bool {
        self.line.last() != Some(&b'\n')
    }

    /// The next one with its number, from 1, and without its end.
    pub(super) fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        loop {
            self.line.clear();
            if (&mut self.reader).take(LONGEST).read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let is_whole = self.line.last() == Some(&b'\n') || (self.line.len() as u64) < LONGEST;
            if is_whole {
                let end = self.line.trim_ascii_end().len();
                return Ok(Some((self.number, &self.line[..end])));
            }
            self.reader.skip_until(b'\n')?;
            self.skipped += 1;
        }
    }
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// As it is read: however much comes of it, no more than a window of it is held.
fn unpacked(file: File) -> Result<Box<dyn Read>, Problem> {
    let decoder = StreamingDecoder::new(BufReader::new(file));
    Ok(Box::new(decoder.map_err(|error| Problem::Packed(error.to_string()))?))
}
