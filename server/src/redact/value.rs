//! What may stand where a secret is expected, and whether it is one.

use super::random::is_wordy;
use super::{LABEL, Scan};
use rawr_core::steps;
use std::ops::Range;

/// Blanks between name, sign and value. More than that is a table, where the next column is something else.
const MAX_BLANKS: usize = 8;
const MAX_QUOTED: usize = 512;
/// As long as this, letters alone can be told from words.
const LONG: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// Chosen by people: words with a digit will do.
    Password,
    /// Made by machines: these look random.
    Key,
}

impl Named {
    const fn at_least(self) -> usize {
        match self {
            Self::Password => 6,
            Self::Key => 8,
        }
    }
}

/// The value that begins here, if it is a secret.
pub(super) fn value_at(scan: Scan<'_>, start: usize, named: Named) -> Option<Range<usize>> {
    quoted(scan, start, named)
        .or_else(|| bare(scan, start, named))
        .or_else(|| generated(scan, start, named))
}

pub(super) fn skip_blanks(scan: Scan<'_>, from: usize) -> usize {
    (from..from + MAX_BLANKS)
        .find(|at| !matches!(scan.byte(*at), b' ' | b'\t'))
        .unwrap_or(from + MAX_BLANKS)
}

/// Also the quotes of JSON inside a JSON string. They stay.
pub(super) fn quote_at(scan: Scan<'_>, start: usize) -> Option<(u8, usize)> {
    let at = start + usize::from(scan.byte(start) == b'\\');
    let quote = scan.byte(at);
    matches!(quote, b'"' | b'\'' | b'`').then_some((quote, at + 1))
}

fn quoted(scan: Scan<'_>, start: usize, named: Named) -> Option<Range<usize>> {
    let (quote, open) = quote_at(scan, start)?;
    let length = scan.text[open..]
        .iter()
        .take(MAX_QUOTED)
        .position(|byte| *byte == quote || byte.is_ascii_control() || *byte == b' ')?;
    let escaped = usize::from(open > start + 1);
    let value = open..(open + length).checked_sub(escaped).filter(|end| *end >= open)?;
    let closed = scan.byte(open + length) == quote;
    (closed && value.len() >= named.at_least() && is_secret(&scan.text[value.clone()], named))
        .then_some(value)
}

/// Without quotes, where code would stand just as well; or in quotes that hold more than it, or were cut off.
pub(super) fn bare(scan: Scan<'_>, start: usize, named: Named) -> Option<Range<usize>> {
    let start = quote_at(scan, start).map_or(start, |(_, open)| open);
    let run = scan.run(start, is_bare);
    let padding = scan.run(run.end, |byte| byte == b'=').len();
    let value = run.start..run.end + padding;
    let bytes = scan.text.get(value.clone())?;
    let begins = match bytes.first() {
        // Base64 does, and so does much else that is short.
        Some(b'+' | b'/' | b'-' | b'_') => bytes.len() >= LONG,
        first => first.is_some_and(u8::is_ascii_alphanumeric),
    };
    let ends = ends_a_value(scan.byte(value.end)) || scan.starts_with(value.end, b"</");
    // A name of code with a digit in it is far more frequent than such a password.
    let is_name = is_wordy(bytes) && (named == Named::Key || bytes.contains(&b'_'));
    (value.len() >= named.at_least() && begins && ends && !is_name && is_secret(bytes, named))
        .then_some(value)
}

/// A password that a program made, with marks that would be code elsewhere: cases, digits and marks change all the time.
fn generated(scan: Scan<'_>, start: usize, named: Named) -> Option<Range<usize>> {
    const AT_LEAST: usize = 10;
    const AT_MOST: usize = 128;
    let is_part = |byte: &u8| is_bare(*byte) || matches!(byte, b'(' | b')' | b'=' | b'?' | b':');
    if named == Named::Key {
        return None;
    }
    let start = quote_at(scan, start).map_or(start, |(_, open)| open);
    let rest = scan.text.get(start..)?;
    let length = rest.iter().take(AT_MOST).take_while(|byte| is_part(byte)).count();
    steps::add(length);
    let (value, bytes) = (start..start + length, &rest[..length]);
    let whole = length >= AT_LEAST && ends_a_value(scan.byte(value.end));
    let changes = bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    let has = |wanted| bytes.iter().any(|byte| class(*byte) == wanted);
    let is_mixed = has(Class::Upper) && has(Class::Lower) && has(Class::Digit);
    (whole && is_mixed && changes * 2 >= length && is_secret(bytes, named)).then_some(value)
}

#[derive(PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Mark,
}

const fn class(byte: u8) -> Class {
    match byte {
        b'A'..=b'Z' => Class::Upper,
        b'a'..=b'z' => Class::Lower,
        b'0'..=b'9' => Class::Digit,
        _ => Class::Mark,
    }
}

/// The end of the text counts as zero.
const fn ends_a_value(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(
            byte,
            0 | b',' | b';' | b'&' | b'"' | b'\'' | b'`' | b'\\' | b')' | b'}' | b']' | b'|'
        )
}

pub(super) const fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'+' | b'/'
                | b'_'
                | b'.'
                | b'~'
                | b'!'
                | b'@'
                | b'#'
                | b'%'
                | b'^'
                | b'*'
                | b'-'
                | b'$'
        )
}

pub(super) fn is_secret(value: &[u8], named: Named) -> bool {
    /// A password without one is no shorter than this.
    const NO_DIGIT: usize = 8;
    let any = |test: fn(&u8) -> bool| value.iter().any(test);
    let holds = |part: &[u8]| value.windows(part.len()).any(|window| window == part);
    let is_redacted = holds(LABEL.as_bytes());
    let stands_for_one = value.starts_with(b"$")
        || value.starts_with(b"<")
        || value.starts_with(b"{")
        || [&b"${"[..], b"{{", b"...", b"***", b"://"].iter().any(|part| holds(part));
    if is_redacted || stands_for_one || is_path(value) {
        return false;
    }
    match named {
        Named::Password => {
            let is_odd = value.len() >= NO_DIGIT && !is_wordy(without_marks(value));
            any(u8::is_ascii_digit) || value.is_ascii() && is_odd
        }
        Named::Key => {
            let drawn = any(u8::is_ascii_digit) || value.len() >= LONG;
            value.is_ascii() && any(u8::is_ascii_alphabetic) && drawn && !is_wordy(value)
        }
    }
}

/// `/run/secrets/db_password1`. Base64 may begin with a slash, but seldom has another one soon.
fn is_path(value: &[u8]) -> bool {
    const SHORT: usize = 8;
    let Some(rest) = value.strip_prefix(b"/") else {
        return value.starts_with(b"./") || value.starts_with(b"~/") || value.starts_with(b"../");
    };
    let folder = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
    folder.len() <= SHORT || is_wordy(folder)
}

/// `Password:` and `password?` are words of a form.
fn without_marks(value: &[u8]) -> &[u8] {
    let end = value.iter().rposition(u8::is_ascii_alphanumeric).map_or(0, |last| last + 1);
    &value[..end]
}
