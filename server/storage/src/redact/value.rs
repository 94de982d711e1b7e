//! Finds the value in a place where a secret is expected, and decides whether it is one.

use super::random::is_wordy;
use super::{LABEL, RedactScan};
use rawr_core::steps;
use std::ops::Range;

/// The most blanks between name, sign and value. More of them are a table with other columns.
const MAX_BLANKS: usize = 8;
const MAX_QUOTED: usize = 512;
/// Counts and times have fewer digits.
const LONG_NUMBER: usize = 16;
/// From this length on, letters alone can be distinguished from words.
const LONG: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretOrigin {
    /// Chosen by people: words with a digit qualify.
    Password,
    /// Generated: must look random.
    Key,
}

impl SecretOrigin {
    const fn at_least(self) -> usize {
        match self {
            Self::Password => 6,
            Self::Key => 8,
        }
    }
}

/// The value that begins here, if it is a secret.
pub(super) fn value_at(
    scan: RedactScan<'_>,
    start: usize,
    named: SecretOrigin,
) -> Option<Range<usize>> {
    quoted(scan, start, named)
        .or_else(|| bare(scan, start, named))
        .or_else(|| generated(scan, start, named))
}

pub(super) fn skip_blanks(scan: RedactScan<'_>, from: usize) -> usize {
    (from..from + MAX_BLANKS)
        .find(|at| !matches!(scan.byte(*at), b' ' | b'\t'))
        .unwrap_or(from + MAX_BLANKS)
}

/// Also the quotes of JSON inside a JSON string, which are kept.
pub(super) fn quote_at(scan: RedactScan<'_>, start: usize) -> Option<(u8, usize)> {
    let at = start + usize::from(scan.byte(start) == b'\\');
    let quote = scan.byte(at);
    matches!(quote, b'"' | b'\'' | b'`').then_some((quote, at + 1))
}

fn quoted(scan: RedactScan<'_>, start: usize, named: SecretOrigin) -> Option<Range<usize>> {
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

/// A passphrase of several words in quotes, and no label of a form: such sentences have small words and name what they ask
/// for.
pub(super) fn phrase_at(
    scan: RedactScan<'_>,
    start: usize,
    named: SecretOrigin,
) -> Option<Range<usize>> {
    const WORDS: usize = 4;
    const NOT_IN_A_PHRASE: [&str; 40] = [
        "a",
        "an",
        "and",
        "are",
        "at",
        "be",
        "can",
        "do",
        "does",
        "enter",
        "for",
        "forgot",
        "from",
        "has",
        "if",
        "in",
        "is",
        "it",
        "must",
        "new",
        "no",
        "not",
        "of",
        "on",
        "or",
        "passphrase",
        "password",
        "please",
        "repeat",
        "reset",
        "should",
        "the",
        "this",
        "to",
        "too",
        "was",
        "will",
        "with",
        "you",
        "your",
    ];
    let (quote, open) = quote_at(scan, start).filter(|_| named == SecretOrigin::Password)?;
    let rest = scan.text.get(open..)?;
    let length = rest.iter().take(MAX_QUOTED).position(|byte| *byte == quote)?;
    steps::add(length);
    let phrase = std::str::from_utf8(&rest[..length]).ok()?;
    let is_word = |word: &str| {
        let is_small = |small: &&str| word.eq_ignore_ascii_case(small);
        word.len() >= 2
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !NOT_IN_A_PHRASE.iter().any(is_small)
    };
    let whole = phrase.split(' ').count() >= WORDS && phrase.split(' ').all(is_word);
    whole.then_some(open..open + length)
}

/// Without quotes, where it could be code; or in quotes that contain more or are unclosed.
pub(super) fn bare(
    scan: RedactScan<'_>,
    start: usize,
    named: SecretOrigin,
) -> Option<Range<usize>> {
    let start = quote_at(scan, start).map_or(start, |(_, open)| open);
    let run = scan.run(start, is_bare);
    let padding = scan.run(run.end, |byte| byte == b'=').len();
    let value = run.start..run.end + padding;
    let bytes = scan.text.get(value.clone())?;
    let begins = match bytes.first() {
        // Base64 contains these, but so does much other short text.
        Some(b'+' | b'/' | b'-' | b'_') => bytes.len() >= LONG,
        first => first.is_some_and(u8::is_ascii_alphanumeric),
    };
    let ends = ends_a_value(scan.byte(value.end)) || scan.starts_with(value.end, b"</");
    // An identifier with a digit is much more common than such a password.
    let is_name = is_wordy(bytes) && (named == SecretOrigin::Key || bytes.contains(&b'_'));
    (value.len() >= named.at_least() && begins && ends && !is_name && is_secret(bytes, named))
        .then_some(value)
}

/// A generated password with punctuation: cases, digits and punctuation alternate.
fn generated(scan: RedactScan<'_>, start: usize, named: SecretOrigin) -> Option<Range<usize>> {
    const AT_LEAST: usize = 10;
    const AT_MOST: usize = 128;
    let is_part = |byte: &u8| is_bare(*byte) || matches!(byte, b'(' | b')' | b'=' | b'?' | b':');
    if named == SecretOrigin::Key {
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
    let is_mixed = has(CharClass::Upper) && has(CharClass::Lower) && has(CharClass::Digit);
    (whole && is_mixed && changes * 2 >= length && is_secret(bytes, named)).then_some(value)
}

/// Cases and digits change more often than in a name.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    const CHANGES: usize = 6;
    let changes = value.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    changes >= CHANGES && value.iter().any(u8::is_ascii_digit)
}

#[derive(PartialEq, Eq)]
enum CharClass {
    Upper,
    Lower,
    Digit,
    Mark,
}

const fn class(byte: u8) -> CharClass {
    match byte {
        b'A'..=b'Z' => CharClass::Upper,
        b'a'..=b'z' => CharClass::Lower,
        b'0'..=b'9' => CharClass::Digit,
        _ => CharClass::Mark,
    }
}

/// Zero is the end of the text.
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

pub(super) fn is_secret(value: &[u8], named: SecretOrigin) -> bool {
    /// The minimum length of a password without a digit.
    const NO_DIGIT: usize = 8;
    let any = |test: fn(&u8) -> bool| value.iter().any(test);
    let holds = |part: &[u8]| value.windows(part.len()).any(|window| window == part);
    let is_redacted = holds(LABEL.as_bytes());
    let stands_for_one = value.starts_with(b"$")
        || value.starts_with(b"<")
        || value.starts_with(b"{")
        || [&b"${"[..], b"{{", b"...", b"***", b"://"].iter().any(|part| holds(part));
    if is_redacted || stands_for_one || is_path(value) || is_version(value) {
        return false;
    }
    if value.len() >= LONG_NUMBER && value.iter().all(u8::is_ascii_digit) {
        return true;
    }
    match named {
        SecretOrigin::Password => {
            let is_odd = value.len() >= NO_DIGIT && !is_wordy(without_marks(value));
            any(u8::is_ascii_digit) || value.is_ascii() && is_odd
        }
        SecretOrigin::Key => {
            let drawn = any(u8::is_ascii_digit) || value.len() >= LONG;
            value.is_ascii() && any(u8::is_ascii_alphabetic) && drawn && !is_wordy(value)
        }
    }
}

/// `/run/secrets/db_password1`. Base64 may start with a slash, but rarely has a second one soon.
fn is_path(value: &[u8]) -> bool {
    const SHORT: usize = 8;
    let Some(rest) = value.strip_prefix(b"/") else {
        return value.starts_with(b"./") || value.starts_with(b"~/") || value.starts_with(b"../");
    };
    let folder = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
    folder.len() <= SHORT || is_wordy(folder)
}

/// `"@inquirer/password": "^4.0.23"`: a package may have such a name. Without a sign it could as well be a date.
fn is_version(value: &[u8]) -> bool {
    const LABELS: [&[u8]; 4] = [b"alpha", b"beta", b"next", b"rc"];
    let is_number =
        |part: &[u8]| matches!(part.len(), 1..=4) && part.iter().all(u8::is_ascii_digit);
    let Some(version) = [&b"^"[..], b"~", b">="].iter().find_map(|sign| value.strip_prefix(*sign))
    else {
        return false;
    };
    let end = version.iter().position(|byte| *byte == b'-').unwrap_or(version.len());
    let (numbers, label) = version.split_at(end);
    let is_dot = |byte: &u8| *byte == b'.';
    numbers.split(is_dot).count() == 3
        && numbers.split(is_dot).all(is_number)
        && label.strip_prefix(b"-").is_none_or(|label| {
            label.split(is_dot).all(|part| is_number(part) || LABELS.contains(&part))
        })
}

/// `Password:` and `password?` are labels of a form.
fn without_marks(value: &[u8]) -> &[u8] {
    let end = value.iter().rposition(u8::is_ascii_alphanumeric).map_or(0, |last| last + 1);
    &value[..end]
}
