//! Detects secrets by the name that they are assigned to: `password = …`, `"api_key": "…"`, `TOKEN=…`, `Authorization:
//! …`, `?sig=…`.

mod options;

use super::random::is_wordy;
use super::value::{
    SecretOrigin, bare, is_bare, is_mixed, is_secret, phrase_at, quote_at, skip_blanks, value_at,
};
use super::{Detector, RedactScan, SecretSpan};
use options::{password_option, user_option, value_of_option};
use rawr_core::steps;

/// Two bytes of a name, in any case, and the detector of names that contain them.
pub(super) const LOOKS: [(&str, &str, Detector); 14] = [
    ("sS", "wWpP", named),
    ("wW", "dD", named),
    ("_-", "pP", named),
    ("oO", "kK", named),
    ("cC", "rR", named),
    ("eE", "yY", named),
    ("aA", "uU", authorization),
    ("kK", "iI", cookie),
    ("?&;", "s", parameter),
    ("?&;", "k", parameter),
    ("-", "S", signature),
    ("-", "u", user_option),
    ("-", "p", password_option),
    ("-", "a", password_option),
];

/// What must precede a name.
#[derive(Clone, Copy)]
enum NamePrefix {
    Anything,
    /// The word is too common to be a name on its own.
    Joined,
    NoLetter,
    /// One of these, joined or not: `key = …` alone is an ordinary map entry.
    One(&'static [&'static [u8]]),
}

struct SecretName {
    name: &'static [u8],
    /// The index of the second byte of the detected pair in the name.
    place: usize,
    named: SecretOrigin,
    before: NamePrefix,
}

const fn name(
    name: &'static [u8],
    place: usize,
    named: SecretOrigin,
    before: NamePrefix,
) -> SecretName {
    SecretName { name, place, named, before }
}

/// Products whose keys are called `key`.
const KEEPERS: &[&[u8]] = &[
    b"api",
    b"access",
    b"secret",
    b"private",
    b"account",
    b"encryption",
    b"signing",
    b"session",
    b"master",
    b"shared",
    b"client",
    b"license",
];

const NAMES: [SecretName; 13] = [
    name(b"password", 4, SecretOrigin::Password, NamePrefix::Anything),
    name(b"passwd", 4, SecretOrigin::Password, NamePrefix::Anything),
    name(b"passphrase", 4, SecretOrigin::Password, NamePrefix::Anything),
    name(b"pwd", 2, SecretOrigin::Password, NamePrefix::NoLetter),
    name(b"pass", 0, SecretOrigin::Password, NamePrefix::Joined),
    name(b"token", 2, SecretOrigin::Key, NamePrefix::Anything),
    name(b"secret", 3, SecretOrigin::Key, NamePrefix::Anything),
    name(b"credential", 1, SecretOrigin::Key, NamePrefix::Anything),
    name(b"credentials", 1, SecretOrigin::Key, NamePrefix::Anything),
    name(b"key", 2, SecretOrigin::Key, NamePrefix::One(KEEPERS)),
    name(b"api key", 6, SecretOrigin::Key, NamePrefix::NoLetter),
    name(b"access key", 9, SecretOrigin::Key, NamePrefix::NoLetter),
    name(b"secret key", 9, SecretOrigin::Key, NamePrefix::NoLetter),
];

/// Suffixes of a name.
const ENDINGS: [&[u8]; 6] = [b"_base", b"-data", b"_data", b"_value", b"_prod", b"_dev"];

fn named(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    let there = scan.byte(at).to_ascii_lowercase();
    NAMES.iter().filter(|name| name.name[name.place] == there).find_map(|name| {
        let end = name_end(scan, at, name.name, name.place)?;
        let start = end - name.name.len();
        if !name.before.allows(scan, start) {
            return None;
        }
        let ending = ENDINGS.iter().find(|ending| is_at(scan, end, ending));
        let end = end + ending.map_or(0, |ending| ending.len());
        assigned(scan, start, end, name.named)
    })
}

impl NamePrefix {
    fn allows(self, scan: RedactScan<'_>, start: usize) -> bool {
        let before = scan.byte_before(start);
        let joined = usize::from(matches!(before, b'_' | b'-'));
        match self {
            Self::Anything => true,
            Self::Joined => joined == 1,
            Self::NoLetter => scan.begins_after(start, |before| !before.is_ascii_alphabetic()),
            Self::One(words) => words.iter().any(|word| {
                let from = (start - joined).checked_sub(word.len());
                from.is_some_and(|from| from >= scan.floor && is_at(scan, from, word))
            }),
        }
    }
}

/// Case-insensitive.
fn is_at(scan: RedactScan<'_>, start: usize, word: &[u8]) -> bool {
    let there = scan.text.get(start..start + word.len());
    there.is_some_and(|there| there.eq_ignore_ascii_case(word))
}

/// The end of the name whose byte with index `place` is at `at`. Any prefix belongs to the name.
fn name_end(scan: RedactScan<'_>, at: usize, name: &[u8], place: usize) -> Option<usize> {
    let start = at.checked_sub(place).filter(|start| *start >= scan.floor)?;
    is_at(scan, start, name).then_some(start + name.len())
}

fn assigned(
    scan: RedactScan<'_>,
    name_start: usize,
    name_end: usize,
    named: SecretOrigin,
) -> Option<SecretSpan> {
    let said = is_said(scan, name_end).filter(|_| named == SecretOrigin::Password);
    let range = match (sign_end(scan, name_end), said) {
        (Some(end), _) => {
            let start = value_start(scan, end);
            value_at(scan, start, named).or_else(|| phrase_at(scan, start, named))?
        }
        (None, Some(start)) => said_value(scan, start)?,
        (None, None) => value_at(scan, value_of_option(scan, name_start, name_end)?, named)?,
    };
    let kind = if named == SecretOrigin::Password { "password" } else { "secret" };
    Some(SecretSpan { kind, range })
}

/// `the password is …`: the position after these words.
fn is_said(scan: RedactScan<'_>, name_end: usize) -> Option<usize> {
    let start = skip_blanks(scan, name_end);
    let word = scan.starts_with(start, b"is ") && start > name_end;
    word.then(|| skip_blanks(scan, start + 3))
}

/// In prose, words follow much more often than a secret does.
fn said_value(scan: RedactScan<'_>, start: usize) -> Option<std::ops::Range<usize>> {
    const AT_LEAST: usize = 8;
    let range = bare(scan, start, SecretOrigin::Password)?;
    let value = scan.text.get(range.clone())?;
    let has_letter = value.iter().any(u8::is_ascii_alphabetic);
    (range.len() >= AT_LEAST && has_letter && (!is_wordy(value) || is_mixed(value)))
        .then_some(range)
}

/// The position after the sign that assigns a value to a name.
fn sign_end(scan: RedactScan<'_>, name_end: usize) -> Option<usize> {
    let closed = quote_at(scan, name_end).map_or(name_end, |(_, quote_end)| quote_end);
    let sign = skip_blanks(scan, skip_bold(scan, closed));
    let quote_follows = |from| quote_at(scan, skip_blanks(scan, from)).is_some();
    // Comparisons, paths and arrows of code are no assignments; `:=`, the arrow of a map and an XML element are.
    match (scan.byte(sign), scan.byte(sign + 1)) {
        (b':', b'=') => Some(sign + 2),
        (b'=', b'>') if quote_follows(sign + 2) => Some(sign + 2),
        (b'>', _) if sign == name_end && is_element(scan, sign + 1) => Some(sign + 1),
        (b':', b':' | b'/') | (b'=', b'=' | b'>' | b'~') => None,
        (b':' | b'=', _) => Some(sign + 1),
        _ => None,
    }
}

/// `<password>…</password>`, starting after the opening tag.
fn is_element(scan: RedactScan<'_>, start: usize) -> bool {
    let text = scan.run(start, |byte| is_bare(byte) || byte == b'=');
    scan.starts_with(text.end, b"</")
}

/// Skips Markdown bold, as in `**Token:** …`.
fn skip_bold(scan: RedactScan<'_>, at: usize) -> usize {
    if scan.starts_with(at, b"**") { at + 2 } else { at }
}

/// The value may be the next item of a list, as in `"X-Api-Key:", "…"`, or be on the next line.
fn value_start(scan: RedactScan<'_>, sign_end: usize) -> usize {
    let start = skip_blanks(scan, skip_bold(scan, sign_end));
    next_item(scan, start).or_else(|| next_line(scan, start)).unwrap_or(start)
}

/// The first text of the next line, if it is indented. In YAML, `|` or `>-` may precede it.
fn next_line(scan: RedactScan<'_>, line_end: usize) -> Option<usize> {
    const INDENT: usize = 64;
    let announced = scan.run(line_end, |byte| matches!(byte, b'|' | b'>' | b'-' | b'+'));
    let end = if announced.len() <= 2 { announced.end } else { return None };
    let end = end + usize::from(scan.byte(end) == b'\r');
    if scan.byte(end) != b'\n' {
        return None;
    }
    let rest = scan.text.get(end + 1..)?;
    let indent = rest.iter().take(INDENT).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    steps::add(indent);
    (indent > 0).then_some(end + 1 + indent)
}

fn next_item(scan: RedactScan<'_>, closing_quote: usize) -> Option<usize> {
    let (quote, closed) = quote_at(scan, closing_quote)?;
    let open = skip_blanks(scan, closed + 1);
    let is_next = scan.byte(closed) == b','
        && quote_at(scan, open).is_some_and(|(opening, _)| opening == quote);
    is_next.then_some(open)
}

/// `Authorization: <scheme> …`, `_auth=…` of an `.npmrc`, `"auth": "…"` of Docker.
fn authorization(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const SCHEMES: [&[u8]; 6] = [b"basic", b"bearer", b"token", b"apikey", b"digest", b"key"];
    const AT_LEAST: usize = 12;
    let end = name_end(scan, at, b"auth", 1)?;
    let is_header = is_at(scan, end, b"orization");
    let is_quoted = || quote_at(scan, end).is_some();
    if !is_header && !is_quoted() && !NamePrefix::Joined.allows(scan, end - 4) {
        return None;
    }
    let end = if is_header { end + b"orization".len() } else { end };
    let start = value_start(scan, sign_end(scan, end)?);
    let open = quote_at(scan, start).map_or(start, |(_, open)| open);
    let scheme = SCHEMES.iter().find(|scheme| {
        is_at(scan, open, scheme) && matches!(scan.byte(open + scheme.len()), b' ' | b'\t')
    });
    let start = scheme.map_or(start, |scheme| skip_blanks(scan, open + scheme.len()));
    let range = bare(scan, start, SecretOrigin::Key).filter(|range| range.len() >= AT_LEAST)?;
    let kind = match scheme {
        Some(scheme) if scheme.eq_ignore_ascii_case(b"bearer") => "bearer-token",
        _ => "secret",
    };
    Some(SecretSpan { kind, range })
}

/// The whole line of a `Cookie:` or `Set-Cookie:` header that contains a random value, because there may be other
/// secrets before it.
fn cookie(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const AT_LEAST: usize = 16;
    /// A line may repeat the name many times.
    const FIRST_PART: usize = 1024;
    let end = name_end(scan, at, b"cookie", 4)?;
    if scan.byte(end) != b':' {
        return None;
    }
    let start = skip_blanks(scan, end + 1);
    let line = scan.text.get(start..)?;
    let line = line.get(..FIRST_PART).unwrap_or(line);
    let line = line.split(|byte| !is_cookie(*byte)).next().unwrap_or_default();
    steps::add(line.len());
    // A value that continues after a redacted part is incomplete.
    let is_cut = scan.byte(start + line.len()) == b'[';
    let whole = if is_cut { memchr::memrchr(b';', line).unwrap_or(0) } else { line.len() };
    let is_random = |pair: &[u8]| {
        let sign = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let value = pair.get(sign + 1..).unwrap_or_default();
        value.len() >= AT_LEAST && !value.contains(&b' ') && is_secret(value, SecretOrigin::Key)
    };
    line[..whole]
        .split(|byte| *byte == b';')
        .any(is_random)
        .then(|| SecretSpan { kind: "cookie", range: scan.run(start, is_cookie) })
}

const fn is_cookie(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\'' | b'\\' | b'[')
}

/// `X-Amz-Signature=…`: the URL alone grants access.
fn signature(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const NAME: &[u8] = b"-Signature=";
    const VENDORS: [&[u8]; 2] = [b"X-Amz", b"X-Goog"];
    const AT_LEAST: usize = 32;
    let name = at - 1;
    let is_of =
        |vendor: &[u8]| name.checked_sub(vendor.len()).is_some_and(|at| is_at(scan, at, vendor));
    if !scan.starts_with(name, NAME) || !VENDORS.iter().any(|vendor| is_of(vendor)) {
        return None;
    }
    let range = scan.run(name + NAME.len(), |byte| byte.is_ascii_hexdigit());
    (range.len() >= AT_LEAST).then_some(SecretSpan { kind: "secret", range })
}

/// `?sig=…` and `?key=…`: the URL alone grants access.
fn parameter(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const NAMES: [&[u8]; 2] = [b"sig=", b"key="];
    let name = NAMES.iter().find(|name| scan.starts_with(at, name))?;
    let range = bare(scan, at + name.len(), SecretOrigin::Key)?;
    Some(SecretSpan { kind: "secret", range })
}
