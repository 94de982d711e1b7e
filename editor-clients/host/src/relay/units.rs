//! Finds the ends of messages and control frames in a WebSocket client's byte stream. Pure and stateless.

/// What a buffer begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FoundUnit {
    /// A unit whose end has not arrived.
    NotYet,
    /// One message or one control frame.
    Unit {
        bytes: usize,
        /// The payload of a text message.
        text: Option<Vec<u8>>,
    },
    /// The start of a message that is too large to parse.
    Oversized,
    /// Not a known frame.
    Foreign,
}

/// The largest message that is parsed, in bytes, with all frames and the control frames between them.
pub(super) const LARGEST: usize = 16 * 1024 * 1024;

/// The largest HTTP head, in bytes.
const LONGEST_HEAD: usize = 64 * 1024;

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CONTROL: std::ops::RangeInclusive<u8> = 8..=10;

/// The handshake request or answer, up to its empty line.
pub(super) fn head(buffer: &[u8]) -> FoundUnit {
    const END: &[u8] = b"\r\n\r\n";
    match buffer.windows(END.len()).position(|window| window == END) {
        Some(at) => FoundUnit::Unit { bytes: at + END.len(), text: None },
        None if buffer.len() > LONGEST_HEAD => FoundUnit::Foreign,
        None => FoundUnit::NotYet,
    }
}

/// Whether the handshake agreed on plain frames: no compression, no extension.
pub(super) fn is_plain_welcome(head: &[u8]) -> bool {
    let Ok(head) = std::str::from_utf8(head) else { return false };
    let head = head.to_ascii_lowercase();
    let mut lines = head.lines();
    let is_welcome = lines.next().is_some_and(|first| first.starts_with("http/1.1 101"));
    let names = lines.filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    let mut others =
        names.filter(|name| name.contains("extension") || name.contains("compression"));
    is_welcome && others.next().is_none()
}

/// The first message with all of its frames, or the control frame that comes before one.
pub(super) fn first(buffer: &[u8], largest: usize) -> FoundUnit {
    let (mut at, mut text, mut kind, mut is_mixed) = (0, Vec::new(), None, false);
    loop {
        let frame = match frame(&buffer[at..]) {
            Ok(Some(frame)) => frame,
            Ok(None) => return FoundUnit::NotYet,
            Err(UnknownFrame) => return FoundUnit::Foreign,
        };
        if CONTROL.contains(&frame.opcode) {
            if kind.is_none() {
                return FoundUnit::Unit { bytes: frame.bytes, text: None };
            }
            if frame.bytes > largest - at {
                return FoundUnit::Oversized;
            }
            at += frame.bytes;
            is_mixed = true;
            continue;
        }
        match (kind, frame.opcode) {
            (None, TEXT | BINARY) => kind = Some(frame.opcode),
            (Some(_), CONTINUATION) => {}
            _ => return FoundUnit::Foreign,
        }
        if frame.bytes > largest - at {
            return FoundUnit::Oversized;
        }
        let Some(whole) = buffer.get(at..at + frame.bytes) else { return FoundUnit::NotYet };
        text.extend(frame.payload(whole));
        at += frame.bytes;
        if frame.is_last {
            // A control frame inside the message may be a ping, which must not wait. Such a message is never held.
            let text = (kind == Some(TEXT) && !is_mixed).then_some(text);
            return FoundUnit::Unit { bytes: at, text };
        }
    }
}

/// The progress of a message that is forwarded unparsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct OversizedMessage {
    has_begun: bool,
    /// Bytes left of the current frame.
    left: usize,
    is_last: bool,
}

/// Bytes that belong to the message, or to a control frame between its frames.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OversizedChunk {
    pub(super) bytes: usize,
    /// `None` where the message is over.
    pub(super) then: Option<OversizedMessage>,
}

impl OversizedMessage {
    /// What the buffer begins with. `None` if more bytes are needed.
    pub(super) fn step(self, buffer: &[u8]) -> Result<Option<OversizedChunk>, UnknownFrame> {
        if self.left > 0 {
            let bytes = self.left.min(buffer.len());
            return Ok((bytes > 0).then(|| self.stepped(bytes, self.left - bytes)));
        }
        let Some(frame) = frame(buffer)? else { return Ok(None) };
        match (self.has_begun, frame.opcode) {
            (true, opcode) if CONTROL.contains(&opcode) => {
                Ok(Some(OversizedChunk { bytes: frame.bytes, then: Some(self) }))
            }
            (true, CONTINUATION) | (false, TEXT | BINARY) => {
                let message = Self { has_begun: true, left: 0, is_last: frame.is_last };
                let payload = frame.bytes - frame.payload_at;
                Ok(Some(message.stepped(frame.payload_at, payload)))
            }
            _ => Err(UnknownFrame),
        }
    }

    fn stepped(self, bytes: usize, left: usize) -> OversizedChunk {
        let is_over = left == 0 && self.is_last;
        OversizedChunk { bytes, then: (!is_over).then_some(Self { left, ..self }) }
    }
}

/// The header of one frame. The payload of a data frame may not have arrived completely.
struct WebSocketFrame {
    opcode: u8,
    is_last: bool,
    mask: [u8; 4],
    /// The offset of its payload, and its whole length.
    payload_at: usize,
    bytes: usize,
}

/// The bytes are not a known frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownFrame;

impl WebSocketFrame {
    fn payload<'b>(&self, frame: &'b [u8]) -> impl Iterator<Item = u8> + 'b {
        let mask = self.mask;
        frame[self.payload_at..]
            .iter()
            .zip(mask.into_iter().cycle())
            .map(|(byte, mask)| byte ^ mask)
    }
}

/// Parses a frame header. `None` if more bytes are needed. A client's frames must be masked.
fn frame(bytes: &[u8]) -> Result<Option<WebSocketFrame>, UnknownFrame> {
    let Some((&[first, second], _)) = bytes.split_first_chunk::<2>() else {
        return Ok(None);
    };
    let (is_last, reserved, opcode) = (first & 0x80 != 0, first & 0x70, first & 0x0f);
    let (is_masked, short) = (second & 0x80 != 0, usize::from(second & 0x7f));
    let is_control = CONTROL.contains(&opcode);
    let is_known = is_control || opcode <= BINARY;
    if reserved != 0 || !is_known || !is_masked || is_control && (!is_last || short > 125) {
        return Err(UnknownFrame);
    }
    let after = &bytes[2..];
    let (length, size) = match short {
        126 => match after.first_chunk::<2>() {
            Some(length) => (u64::from(u16::from_be_bytes(*length)), 2),
            None => return Ok(None),
        },
        127 => match after.first_chunk::<8>() {
            Some(length) => (u64::from_be_bytes(*length), 8),
            None => return Ok(None),
        },
        _ => (short as u64, 0),
    };
    // The highest bit must be zero.
    let length = isize::try_from(length).ok().and_then(|length| usize::try_from(length).ok());
    let length = length.ok_or(UnknownFrame)?;
    let Some(mask) = after.get(size..).and_then(<[u8]>::first_chunk::<4>) else { return Ok(None) };
    let payload_at = 2 + size + mask.len();
    let frame =
        WebSocketFrame { opcode, is_last, mask: *mask, payload_at, bytes: payload_at + length };
    // A control frame is short and must be complete.
    Ok((!is_control || bytes.len() >= frame.bytes).then_some(frame))
}
