//! Secrets that can be told by the name that they are given to: `password = …`, `"api_key": "…"`, `TOKEN=…`.

use super::{Scan, Secret};
use std::ops::Range;

/// Blanks between name, sign and value. More than that is a table, where the next column is something else.
const MAX_BLANKS: usize = 8;
const MAX_QUOTED: usize = 512;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
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

pub(super) fn password(scan: Scan<'_>, at: usize) -> Option<Secret> {
    let name = [(&b"password"[..], 4), (b"passwd", 4)];
    assigned(scan, name_end(scan, at, &name)?, Named::Password)
}

pub(super) fn token_or_secret(scan: Scan<'_>, at: usize) -> Option<Secret> {
    let name = [(&b"token"[..], 2), (b"secret", 3)];
    assigned(scan, name_end(scan, at, &name)?, Named::Key)
}

/// Only the keys of something that asks for one: `key = …` alone is a map's.
pub(super) fn key(scan: Scan<'_>, at: usize) -> Option<Secret> {
    let end = name_end(scan, at, &[(b"key", 2)])?;
    let owner = end - b"key".len();
    let owner = owner - usize::from(matches!(scan.byte_before(owner), b'_' | b'-'));
    let is_owner = |word: &[u8]| {
        let start = owner.checked_sub(word.len()).filter(|start| *start >= scan.floor);
        start.is_some_and(|start| scan.text[start..owner].eq_ignore_ascii_case(word))
    };
    let asks =
        [&b"api"[..], b"access", b"secret", b"private", b"account"].into_iter().any(is_owner);
    assigned(scan, end, Named::Key).filter(|_| asks)
}

/// The end of the name that has the byte at `at` where the list says. Whatever stands before it belongs to it.
fn name_end(scan: Scan<'_>, at: usize, names: &[(&[u8], usize)]) -> Option<usize> {
    names.iter().find_map(|(name, place)| {
        let start = at.checked_sub(*place).filter(|start| *start >= scan.floor)?;
        let end = start + name.len();
        scan.text.get(start..end)?.eq_ignore_ascii_case(name).then_some(end)
    })
}

fn assigned(scan: Scan<'_>, name_end: usize, named: Named) -> Option<Secret> {
    let closed = quote_at(scan, name_end).map_or(name_end, |(_, quote_end)| quote_end);
    let sign = skip_blanks(scan, closed);
    // Comparisons, paths and arrows assign nothing; `:=` does.
    let sign_end = match (scan.byte(sign), scan.byte(sign + 1)) {
        (b':', b'=') => sign + 2,
        (b':', b':' | b'/') | (b'=', b'=' | b'>' | b'~') => return None,
        (b':' | b'=', _) => sign + 1,
        _ => return None,
    };
    let start = skip_blanks(scan, sign_end);
    let range = quoted(scan, start, named).or_else(|| bare(scan, start, named))?;
    let kind = if named == Named::Password { "password" } else { "secret" };
    Some(Secret { kind, range })
}

fn skip_blanks(scan: Scan<'_>, from: usize) -> usize {
    (from..from + MAX_BLANKS)
        .find(|at| !matches!(scan.byte(*at), b' ' | b'\t'))
        .unwrap_or(from + MAX_BLANKS)
}

/// Also the quotes of JSON inside a JSON string. They stay.
fn quote_at(scan: Scan<'_>, start: usize) -> Option<(u8, usize)> {
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
fn bare(scan: Scan<'_>, start: usize, named: Named) -> Option<Range<usize>> {
    let start = quote_at(scan, start).map_or(start, |(_, open)| open);
    let run = scan.run(start, is_bare);
    let padding = scan.run(run.end, |byte| byte == b'=').len();
    let value = run.start..run.end + padding;
    let bytes = &scan.text[value.clone()];
    let begins = bytes.first().is_some_and(u8::is_ascii_alphanumeric);
    let ends = ends_a_value(scan.byte(value.end)) || scan.text[value.end..].starts_with(b"</");
    // A name of code with a digit in it is far more frequent than such a password.
    let is_name = is_wordy(bytes) && (named == Named::Key || bytes.contains(&b'_'));
    (value.len() >= named.at_least() && begins && ends && !is_name && is_secret(bytes, named))
        .then_some(value)
}

/// The end of the text counts as zero.
const fn ends_a_value(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(
            byte,
            0 | b',' | b';' | b'&' | b'"' | b'\'' | b'`' | b'\\' | b')' | b'}' | b']' | b'|'
        )
}

const fn is_bare(byte: u8) -> bool {
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

fn is_secret(value: &[u8], named: Named) -> bool {
    let any = |test: fn(&u8) -> bool| value.iter().any(test);
    let holds = |part: &[u8]| value.windows(part.len()).any(|window| window == part);
    let is_redacted = holds(b"[redacted:");
    let stands_for_one = value.starts_with(b"$")
        || value.starts_with(b"<")
        || value.starts_with(b"{")
        || [&b"${"[..], b"{{", b"...", b"***", b"://"].iter().any(|part| holds(part));
    let is_path = value.starts_with(b"/") || value.starts_with(b"./") || value.starts_with(b"~/");
    if is_redacted || stands_for_one || is_path || !value.is_ascii() {
        return false;
    }
    match named {
        Named::Password => any(u8::is_ascii_digit) || !is_wordy(without_marks(value)),
        Named::Key => any(u8::is_ascii_alphabetic) && any(u8::is_ascii_digit) && !is_wordy(value),
    }
}

/// `Password:` and `password?` are words of a form.
fn without_marks(value: &[u8]) -> &[u8] {
    let end = value.iter().rposition(u8::is_ascii_alphanumeric).map_or(0, |last| last + 1);
    &value[..end]
}

/// Reads like a name that a person gave: `next_token_v2`, `Sha256Hash`, `my-secret-name`. Random text changes
/// between cases and digits far more often.
fn is_wordy(value: &[u8]) -> bool {
    const LONGEST_WORD: usize = 22;
    let (mut words, mut letters, mut digits, mut length) = (0, 0, 0, 0);
    let mut before = b'_';
    for &byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {
                letters += 1;
                let goes_on = before.is_ascii_alphabetic()
                    && (byte.is_ascii_lowercase() || before.is_ascii_uppercase());
                (words, length) = if goes_on { (words, length + 1) } else { (words + 1, 1) };
                if length > LONGEST_WORD {
                    return false;
                }
            }
            b'0'..=b'9' if before.is_ascii_alphanumeric() => digits += 1,
            b'_' | b'-' | b'.' => {}
            _ => return false,
        }
        before = byte;
    }
    words * 3 <= letters + digits && digits * 2 <= letters
}
