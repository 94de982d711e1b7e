//! Shortens long texts in a line before it is parsed. Most of a record is the output of tools, of which little is read.

use memchr::memmem::Finder;
use std::str;

/// In a shorter line, nothing is worth looking for.
const LONG: usize = 1024;

/// The line, in which the texts under this key are only as much of them as `kept` returns. The shortened line is made in
/// `short`. The key stands with quotes and colon and the quote that begins a text, as in `"key":"`: a JSON text cannot
/// contain that, because its own quotes are escaped. A text that is no valid one is left for the parser to find.
pub(super) fn shorten<'l>(
    line: &'l [u8],
    key: &Finder<'_>,
    kept: fn(&[u8]) -> &[u8],
    short: &'l mut Vec<u8>,
) -> &'l [u8] {
    short.clear();
    let mut rest = line;
    while rest.len() > LONG
        && let Some(at) = key.find(rest)
    {
        let (before, text) = rest.split_at(at + key.needle().len());
        let Some(length) = text_length(text) else { break };
        let (text, after) = text.split_at(length);
        short.extend_from_slice(before);
        short.extend_from_slice(kept(text));
        rest = after;
    }
    if short.is_empty() {
        return line;
    }
    short.extend_from_slice(rest);
    short
}

/// The length of a JSON text, whose first quote is not part of `text`, up to its last quote.
fn text_length(text: &[u8]) -> Option<usize> {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        let at = memchr::memchr2(b'"', b'\\', rest)?;
        length += at;
        if rest[at] == b'"' {
            break;
        }
        length += match rest.get(at + 1)? {
            b'n' | b'"' | b'\\' | b'/' | b'b' | b'f' | b'r' | b't' => 2,
            b'u' if rest.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return None,
        };
    }
    let text = &text[..length];
    let has_controls = text.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < b' ';
    let is_valid = !has_controls && (text.is_ascii() || str::from_utf8(text).is_ok());
    is_valid.then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    fn first(text: &[u8]) -> &[u8] {
        &text[..text.len().min(1)]
    }

    #[test]
    fn texts_under_the_key_are_shortened_in_a_long_line() {
        let long = "x\\n\\u00e9\\\"é".repeat(200);
        let check = |line: &str, expected: &str| {
            let mut short = Vec::new();
            let shortened = shorten(line.as_bytes(), &Finder::new("\"out\":\""), first, &mut short);
            assert_eq!(str::from_utf8(shortened).unwrap(), expected);
        };
        let two = format!(r#"{{"out":"{long}","in":"{long}","a":[{{"out":"{long}"}}]}}"#);
        check(&two, &format!(r#"{{"out":"x","in":"{long}","a":[{{"out":"x"}}]}}"#));
        let quoted = format!(r#"{{"in":"\"out\":\"{long}","out":1}}"#);
        check(&quoted, &quoted);
        check(r#"{"out":"xx"}"#, r#"{"out":"xx"}"#);
    }

    #[test]
    fn a_text_is_taken_for_valid_exactly_if_it_is() {
        let parts: [&[u8]; 13] = [
            b"a", b"\\", b"n", b"u", b"00e9", b"\"", b"\n", b"\x7f", b"\x1f", b"/", b"\xc3",
            b"\xa9", b"d800",
        ];
        for nth in 0..parts.len().pow(4) {
            let part = |at: u32| parts[nth / parts.len().pow(at) % parts.len()];
            let text = [part(0), part(1), part(2), part(3), b"\""].concat();
            let length = text_length(&text);
            let end = length.unwrap_or(text.len() - 1);
            let quoted = [b"\"", &text[..=end]].concat();
            let is_valid = serde_json::from_slice::<&RawValue>(&quoted).is_ok();
            assert_eq!(length.is_some(), is_valid, "{}", text.escape_ascii());
        }
    }
}
