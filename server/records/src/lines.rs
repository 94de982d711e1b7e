//! Reads a file line by line, with one line of bounded length in memory. Does not interpret lines.

use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Longer lines are no messages, even with pictures.
const LONGEST: u64 = 32 << 20;
const BLOCK: usize = 256 << 10;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is not what its name says.
    #[error("failed to decompress: {0}")]
    Packed(String),
    /// Opening it might block.
    #[error("not a regular file")]
    NoFile,
}

/// The lines of one file, or of another source of bytes.
pub struct FileLines {
    reader: BufReader<Box<dyn Read>>,
    /// A line that does not lie in the reader's buffer as a whole.
    long: Vec<u8>,
    /// How much of the reader's buffer the last line takes.
    taken: usize,
    number: u64,
    is_torn: bool,
    /// The number of lines that were too long.
    pub skipped: u64,
}

/// Where a line lies.
enum LineEnd {
    InBuffer(usize),
    InLong,
    TooLong,
}

impl FileLines {
    /// `None` if there is no such file.
    pub fn of(path: &Path) -> Result<Option<Self>, ReadError> {
        let Some(file) = open(path)? else { return Ok(None) };
        let bytes: Box<dyn Read> = if is_packed(path) { unpacked(file)? } else { Box::new(file) };
        Ok(Some(Self::new(bytes)))
    }

    /// The lines that begin in the last `length` bytes of a file, which is not packed. `None` if there is no such file.
    pub fn at_end(path: &Path, length: u64) -> Result<Option<Self>, ReadError> {
        let Some(mut file) = open(path)? else { return Ok(None) };
        let size = file.metadata()?.len();
        let Some(start) = size.checked_sub(length).filter(|start| *start > 0) else {
            return Ok(Some(Self::new(Box::new(file))));
        };
        file.seek(SeekFrom::Start(start - 1))?;
        let mut lines = Self::new(Box::new(file.take(length + 1)));
        lines.reader.skip_until(b'\n')?;
        Ok(Some(lines))
    }

    /// The lines of a stream.
    pub fn new(bytes: Box<dyn Read>) -> Self {
        let reader = BufReader::with_capacity(BLOCK, bytes);
        Self { reader, long: Vec::new(), taken: 0, number: 0, is_torn: true, skipped: 0 }
    }

    /// Whether the last line is incomplete and may be being written.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// The next line with its number, from 1, and without its newline.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        loop {
            self.reader.consume(std::mem::take(&mut self.taken));
            let Some(end) = self.find_end()? else {
                self.is_torn = true;
                return Ok(None);
            };
            self.number += 1;
            let line = match end {
                // Most lines are read where they lie.
                LineEnd::InBuffer(length) => {
                    (self.taken, self.is_torn) = (length, false);
                    &self.reader.buffer()[..length]
                }
                LineEnd::InLong => {
                    self.is_torn = self.long.last() != Some(&b'\n');
                    self.long.as_slice()
                }
                LineEnd::TooLong => {
                    self.reader.skip_until(b'\n')?;
                    self.skipped += 1;
                    continue;
                }
            };
            return Ok(Some((self.number, line.trim_ascii_end())));
        }
    }

    /// `None` after the last line.
    fn find_end(&mut self) -> io::Result<Option<LineEnd>> {
        if let Some(at) = memchr::memchr(b'\n', self.reader.fill_buf()?) {
            return Ok(Some(LineEnd::InBuffer(at + 1)));
        }
        self.long.clear();
        if (&mut self.reader).take(LONGEST).read_until(b'\n', &mut self.long)? == 0 {
            return Ok(None);
        }
        let is_whole = self.long.last() == Some(&b'\n') || (self.long.len() as u64) < LONGEST;
        Ok(Some(if is_whole { LineEnd::InLong } else { LineEnd::TooLong }))
    }
}

fn open(path: &Path) -> Result<Option<File>, ReadError> {
    // Opening a pipe would block, and reading one would never end.
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
        Ok(about) if !about.is_file() => Err(ReadError::NoFile),
        Ok(_) => Ok(Some(File::open(path)?)),
    }
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// Decompresses while reading, in a bounded window.
fn unpacked(file: File) -> Result<Box<dyn Read>, ReadError> {
    let decoder = StreamingDecoder::new(BufReader::new(file));
    Ok(Box::new(decoder.map_err(|error| ReadError::Packed(error.to_string()))?))
}
