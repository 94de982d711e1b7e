//! Frames of the LSP base protocol: cutting a stream of them, and requests that are built once and patched per send.
//! It must not parse a body: only the verification pass reads replies.

use std::{fmt, ops::Range};

use serde_json::Value;

/// Ids and counters have a fixed number of digits, so that a frame keeps its length when they change.
const FIRST_ID: u64 = 10_000_000;
const FIRST_TOKENS: u64 = 10_000;
const TOKENS_SPAN: u64 = 90_000;
const NOTIFICATION: &[u8] = br#"{"jsonrpc":"2.0","method""#;

/// The place of the first frame's body in `stream`, or `None` while the frame is incomplete. The frame ends with its
/// body.
pub fn split(stream: &[u8]) -> Result<Option<Range<usize>>, Malformed> {
    let mut length = None;
    let mut line_start = 0;
    for (at, byte) in stream.iter().enumerate() {
        if *byte != b'\n' {
            continue;
        }
        let line = stream[line_start..at].trim_ascii();
        line_start = at + 1;
        if line.is_empty() {
            let body = line_start..line_start + length.ok_or(Malformed)?;
            return Ok((body.end <= stream.len()).then_some(body));
        }
        length = content_length(line)?.or(length);
    }
    Ok(None)
}

/// Appends one frame around `body`.
pub fn write(body: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"Content-Length: ");
    out.extend_from_slice(body.len().to_string().as_bytes());
    out.extend_from_slice(b"\r\n\r\n");
    out.extend_from_slice(body);
}

/// Whether a body is a notification of the server, told by how it begins.
pub fn is_notification(body: &[u8]) -> bool {
    body.starts_with(NOTIFICATION)
}

fn content_length(line: &[u8]) -> Result<Option<usize>, Malformed> {
    let colon = line.iter().position(|byte| *byte == b':').ok_or(Malformed)?;
    if !line[..colon].eq_ignore_ascii_case(b"content-length") {
        return Ok(None);
    }
    let digits = line[colon + 1..].trim_ascii();
    let digits = std::str::from_utf8(digits).map_err(|_| Malformed)?;
    digits.parse().map(Some).map_err(|_| Malformed)
}

/// The stream does not follow the base protocol.
#[derive(Debug)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a frame header without a valid Content-Length")
    }
}

impl std::error::Error for Malformed {}

/// One request as bytes, of which only the id and (where the params have it) `contextTokens` change from send to send.
pub struct RequestFrame {
    bytes: Vec<u8>,
    id_at: usize,
    tokens_at: Option<usize>,
    pub params: Value,
}

impl RequestFrame {
    /// The params may hold `contextTokens`; its value is replaced at each send.
    pub fn new(method: &str, mut params: Value) -> Self {
        if let Some(tokens) = params.pointer_mut("/usage/contextTokens") {
            *tokens = FIRST_TOKENS.into();
        }
        let head = r#"{"jsonrpc":"2.0","id":"#;
        let body = format!(r#"{head}{FIRST_ID},"method":"{method}","params":{params}}}"#);
        let mut bytes = Vec::new();
        write(body.as_bytes(), &mut bytes);
        let body_at = bytes.len() - body.len();
        let key = r#""contextTokens":"#;
        let tokens_at = body.find(key).map(|at| body_at + at + key.len());
        Self { bytes, id_at: body_at + head.len(), tokens_at, params }
    }

    /// Appends the frame of the `n`th request of a session.
    pub fn append(&mut self, n: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(self.patch(n));
    }

    /// The frame of the `n`th request of a session.
    pub fn patch(&mut self, n: u64) -> &[u8] {
        patch_digits(&mut self.bytes[self.id_at..], FIRST_ID + n, FIRST_ID);
        if let Some(at) = self.tokens_at {
            patch_digits(&mut self.bytes[at..], tokens(n), FIRST_TOKENS);
        }
        &self.bytes
    }

    /// The params of the `n`th request, as a server that echoes them must return them.
    pub fn params_of(&self, n: u64) -> Value {
        let mut params = self.params.clone();
        if let Some(value) = params.pointer_mut("/usage/contextTokens") {
            *value = tokens(n).into();
        }
        params
    }

    /// Bytes on the wire.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Which request of the session an answer's id belongs to.
    pub fn number_of(id: u64) -> Option<u64> {
        id.checked_sub(FIRST_ID)
    }
}

fn tokens(n: u64) -> u64 {
    FIRST_TOKENS + n % TOKENS_SPAN
}

fn patch_digits(place: &mut [u8], mut value: u64, scale: u64) {
    let digits = scale.ilog10() as usize + 1;
    for byte in place[..digits].iter_mut().rev() {
        *byte = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

/// A frame around one message that is sent once.
pub fn message(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value.to_string().as_bytes(), &mut out);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(stream: &str, expected: Result<Option<&str>, ()>) {
        let found = split(stream.as_bytes()).map_err(|_| ());
        let found = found.map(|body| body.map(|body| &stream[body]));
        assert_eq!(found, expected, "{stream:?}");
    }

    #[test]
    fn a_frame_is_cut_where_its_length_says() {
        check("Content-Length: 2\r\n\r\n{}Content", Ok(Some("{}")));
        check("content-length:2\r\nContent-Type: x\r\n\r\n{}", Ok(Some("{}")));
        check("Content-Length: 3\r\n\r\n{}", Ok(None));
        check("Content-Length: 2\r\n", Ok(None));
        check("Content-Type: x\r\n\r\n{}", Err(()));
        check("Content-Length: two\r\n\r\n{}", Err(()));
    }

    #[test]
    fn a_patched_request_differs_in_id_and_tokens_only() {
        let mut request = RequestFrame::new("m", json!({"usage": {"contextTokens": 0}, "z": 1}));
        let size = request.size();
        for n in [0, 7, 89_999, 90_000, 1_234_567] {
            let frame = request.patch(n).to_vec();
            assert_eq!(frame.len(), size);
            let body = split(&frame).unwrap().unwrap();
            let sent: Value = serde_json::from_slice(&frame[body]).unwrap();
            assert_eq!(RequestFrame::number_of(sent["id"].as_u64().unwrap()), Some(n));
            assert_eq!(sent["params"], request.params_of(n));
        }
    }
}
