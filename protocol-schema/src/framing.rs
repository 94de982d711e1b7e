//! The `Content-Length` framing of the LSP base protocol, as a tokio codec. Bodies are not parsed.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use std::io;
use tokio_util::codec::{Decoder, Encoder};

/// The longest header, all its lines together.
pub const HEADER_LIMIT: usize = 4 * 1024;
/// The longest body, unless another limit is given.
pub const BODY_LIMIT: u64 = 64 * 1024 * 1024;
/// How much memory is reserved for a body before its bytes arrive.
const RESERVE_STEP: usize = 1024 * 1024;
const PLAIN_START: &[u8] = b"Content-Length: ";
const PLAIN_END: &[u8] = b"\r\n\r\n";

/// What arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A body.
    Message(Bytes),
    /// A body over the limit. It is skipped, and reading continues after it.
    TooLarge {
        /// The body's length in bytes.
        length: u64,
    },
}

/// Why nothing more can be read. A clean end of input is none of these.
#[derive(Debug, thiserror::Error)]
pub enum FramingError {
    /// The pipe failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Something other than a header where a message should begin.
    #[error("expected a header such as `Content-Length: 42`, found `{found}`")]
    NotAHeader {
        /// The beginning of what was found.
        found: String,
    },
    /// The length is not a number.
    #[error("the value of Content-Length is not a number of bytes: `{found}`")]
    BadLength {
        /// The beginning of the value.
        found: String,
    },
    /// Two lengths contradict each other.
    #[error("the header gives two lengths, {first} and {second}")]
    TwoLengths {
        /// The one that came first.
        first: u64,
        /// The other.
        second: u64,
    },
    /// The header ended without a length.
    #[error("the header has no Content-Length")]
    NoLength,
    /// The header does not end.
    #[error("the header is longer than {HEADER_LIMIT} bytes")]
    HeaderTooLong,
    /// The input ended inside a header.
    #[error("the input ended inside a header")]
    TruncatedHeader,
    /// The input ended inside a body.
    #[error("the input ended {missing} bytes before the end of a message")]
    TruncatedBody {
        /// How many bytes are missing.
        missing: u64,
    },
}

/// The codec, for both directions. After an error it cannot be used again, because the start of the next message is
/// unknown.
#[derive(Debug, Clone)]
pub struct Framing {
    body_limit: u64,
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    Header(Header),
    Body { length: usize },
    Skip { left: u64 },
}

/// A header as far as it was read. Lines leave the buffer as they are understood.
#[derive(Debug, Clone, Default)]
struct Header {
    length: Option<u64>,
    begun: bool,
    taken: usize,
    /// Bytes at the buffer's start that hold no line end, so that a slow header is not searched again and again.
    searched: usize,
}

impl Framing {
    /// With [`BODY_LIMIT`].
    pub fn new() -> Self {
        Self::with_body_limit(BODY_LIMIT)
    }

    /// With another limit, in bytes. It holds for what is read only.
    pub fn with_body_limit(body_limit: u64) -> Self {
        Self { body_limit, state: State::Header(Header::default()) }
    }
}

impl Default for Framing {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder for Framing {
    type Item = Frame;
    type Error = FramingError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FramingError> {
        loop {
            match &mut self.state {
                State::Header(header) => {
                    let Some(length) = header.read(src)? else { return Ok(None) };
                    match usize::try_from(length) {
                        Ok(fits) if length <= self.body_limit => {
                            self.state = State::Body { length: fits }
                        }
                        _ => {
                            self.state = State::Skip { left: length };
                            return Ok(Some(Frame::TooLarge { length }));
                        }
                    }
                }
                State::Body { length } => {
                    let missing = length.saturating_sub(src.len());
                    if missing > 0 {
                        src.reserve(missing.min(RESERVE_STEP));
                        return Ok(None);
                    }
                    let body = src.split_to(*length).freeze();
                    self.state = State::Header(Header::default());
                    return Ok(Some(Frame::Message(body)));
                }
                State::Skip { left } => {
                    let here = usize::try_from(*left).map_or(src.len(), |left| left.min(src.len()));
                    src.advance(here);
                    *left -= here as u64;
                    if *left > 0 {
                        return Ok(None);
                    }
                    self.state = State::Header(Header::default());
                }
            }
        }
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FramingError> {
        if let Some(frame) = self.decode(src)? {
            return Ok(Some(frame));
        }
        match &self.state {
            State::Header(header) if !header.begun && src.is_empty() => Ok(None),
            State::Header(_) => Err(FramingError::TruncatedHeader),
            State::Body { length } => Err(FramingError::TruncatedBody {
                missing: length.saturating_sub(src.len()) as u64,
            }),
            State::Skip { left } => Err(FramingError::TruncatedBody { missing: *left }),
        }
    }
}

impl<Body: AsRef<[u8]>> Encoder<Body> for Framing {
    type Error = FramingError;

    fn encode(&mut self, body: Body, dst: &mut BytesMut) -> Result<(), FramingError> {
        let body = body.as_ref();
        let (digits, first) = decimal(body.len());
        let digits = &digits[first..];
        dst.reserve(PLAIN_START.len() + digits.len() + PLAIN_END.len() + body.len());
        dst.put_slice(PLAIN_START);
        dst.put_slice(digits);
        dst.put_slice(PLAIN_END);
        dst.put_slice(body);
        Ok(())
    }
}

impl Header {
    /// The body's length, once the header is whole.
    fn read(&mut self, src: &mut BytesMut) -> Result<Option<u64>, FramingError> {
        if !self.begun
            && self.searched == 0
            && let Some((end, length)) = plain(src)
        {
            src.advance(end);
            return Ok(Some(length));
        }
        while let Some(at) = memchr::memchr(b'\n', &src[self.searched..]) {
            let end = self.searched + at + 1;
            self.searched = 0;
            self.taken += end;
            if self.taken > HEADER_LIMIT {
                return Err(FramingError::HeaderTooLong);
            }
            let line = src.split_to(end);
            let line = line.strip_suffix(b"\r\n").unwrap_or(&line[..end - 1]);
            match (line.is_empty(), self.begun, self.length) {
                (false, ..) => self.read_line(line)?,
                (true, true, Some(length)) => return Ok(Some(length)),
                (true, true, None) => return Err(FramingError::NoLength),
                // Blank lines between messages are what people leave who type or paste them.
                (true, false, _) => {}
            }
        }
        self.searched = src.len();
        if self.taken + src.len() > HEADER_LIMIT {
            return Err(FramingError::HeaderTooLong);
        }
        // Reported at once: a peer that sends bare JSON waits for an answer and will never end the header.
        match src.first() {
            Some(first) if !is_name(*first) && *first != b'\r' => Err(not_a_header(src)),
            _ => Ok(None),
        }
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), FramingError> {
        self.begun = true;
        let colon = memchr::memchr(b':', line).ok_or_else(|| not_a_header(line))?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.is_empty() || !name.iter().copied().all(is_name) {
            return Err(not_a_header(line));
        }
        if !name.eq_ignore_ascii_case(b"content-length") {
            return Ok(());
        }
        let bad = || FramingError::BadLength { found: beginning(value) };
        let digits = value.iter().all(u8::is_ascii_digit).then_some(value).ok_or_else(bad)?;
        let second =
            str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or_else(bad)?;
        match self.length.replace(second) {
            Some(first) if first != second => Err(FramingError::TwoLengths { first, second }),
            _ => Ok(()),
        }
    }
}

/// The header that nearly every peer writes, read in one go: where the body begins, and its length.
fn plain(src: &[u8]) -> Option<(usize, u64)> {
    let rest = src.strip_prefix(PLAIN_START)?;
    let mut length = 0;
    let mut at = 0;
    // Eighteen digits cannot overflow; a longer number is left to the careful reader.
    while let Some(digit @ b'0'..=b'9') = rest.get(at)
        && at < 18
    {
        length = length * 10 + u64::from(digit - b'0');
        at += 1;
    }
    (at > 0 && rest[at..].starts_with(PLAIN_END))
        .then_some((PLAIN_START.len() + at + PLAIN_END.len(), length))
}

/// A number's digits, at the end of the array from the index given.
fn decimal(mut number: usize) -> ([u8; 20], usize) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return (digits, first);
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn not_a_header(found: &[u8]) -> FramingError {
    FramingError::NotAHeader { found: beginning(found) }
}

fn beginning(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
    let end = if bytes.len() > SHOWN { "…" } else { "" };
    format!("{}{end}", text.trim_end().escape_debug())
}

#[cfg(test)]
mod tests;
