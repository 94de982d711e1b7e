//! Secrets that can be told by the name that they are given to: `password = …`, `"api_key": "…"`, `TOKEN=…`,
//! `Authorization: …`, `--token …`, `curl -u user:…`.

use super::random::is_wordy;
use super::{Look, Scan, Secret, is_word};
use rawr_core::steps;
use std::ops::Range;

/// Blanks between name, sign and value. More than that is a table, where the next column is something else.
const MAX_BLANKS: usize = 8;
const MAX_QUOTED: usize = 512;
/// As long as this, letters alone can be told from words.
const LONG: usize = 20;
/// How far back a line is read for the command or the option that a value belongs to.
const LOOK_BACK: usize = 200;

/// Two bytes that are in a name, in any case, and what looks for the names that have them.
pub(super) const LOOKS: [(&str, &str, Look); 13] = [
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
    ("-", "u", user_option),
    ("-", "p", password_option),
    ("-", "a", password_option),
];

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

/// What must stand before a name.
#[derive(Clone, Copy)]
enum Before {
    Anything,
    /// The word is too ordinary to be a name on its own.
    Joined,
    NoLetter,
    /// One of these, joined or not: `key = …` alone is a map's.
    One(&'static [&'static [u8]]),
}

struct Name {
    name: &'static [u8],
    /// The place of the second byte of the pair that leads here.
    place: usize,
    named: Named,
    before: Before,
}

const fn name(name: &'static [u8], place: usize, named: Named, before: Before) -> Name {
    Name { name, place, named, before }
}

/// Those who ask for a key.
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

const NAMES: [Name; 13] = [
    name(b"password", 4, Named::Password, Before::Anything),
    name(b"passwd", 4, Named::Password, Before::Anything),
    name(b"passphrase", 4, Named::Password, Before::Anything),
    name(b"pwd", 2, Named::Password, Before::NoLetter),
    name(b"pass", 0, Named::Password, Before::Joined),
    name(b"token", 2, Named::Key, Before::Anything),
    name(b"secret", 3, Named::Key, Before::Anything),
    name(b"credential", 1, Named::Key, Before::Anything),
    name(b"credentials", 1, Named::Key, Before::Anything),
    name(b"key", 2, Named::Key, Before::One(KEEPERS)),
    name(b"api key", 6, Named::Key, Before::NoLetter),
    name(b"access key", 9, Named::Key, Before::NoLetter),
    name(b"secret key", 9, Named::Key, Before::NoLetter),
];

/// What may follow a name and leave it one.
const ENDINGS: [&[u8]; 6] = [b"_base", b"-data", b"_data", b"_value", b"_prod", b"_dev"];

fn named(scan: Scan<'_>, at: usize) -> Option<Secret> {
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

impl Before {
    fn allows(self, scan: Scan<'_>, start: usize) -> bool {
        let before = scan.byte_before(start);
        let joined = usize::from(matches!(before, b'_' | b'-'));
        match self {
            Self::Anything => true,
            Self::Joined => joined == 1,
            Self::NoLetter => !before.is_ascii_alphabetic(),
            Self::One(words) => words.iter().any(|word| {
                let from = (start - joined).checked_sub(word.len());
                from.is_some_and(|from| from >= scan.floor && is_at(scan, from, word))
            }),
        }
    }
}

/// In any case.
fn is_at(scan: Scan<'_>, start: usize, word: &[u8]) -> bool {
    let there = scan.text.get(start..start + word.len());
    there.is_some_and(|there| there.eq_ignore_ascii_case(word))
}

/// The end of the name that has the byte at `at` in this place. Whatever stands before it belongs to it.
fn name_end(scan: Scan<'_>, at: usize, name: &[u8], place: usize) -> Option<usize> {
    let start = at.checked_sub(place).filter(|start| *start >= scan.floor)?;
    is_at(scan, start, name).then_some(start + name.len())
}

fn assigned(scan: Scan<'_>, name_start: usize, name_end: usize, named: Named) -> Option<Secret> {
    let start = match sign_end(scan, name_end) {
        Some(end) => value_start(scan, end),
        None => value_of_option(scan, name_start, name_end)?,
    };
    let range = quoted(scan, start, named)
        .or_else(|| bare(scan, start, named))
        .or_else(|| generated(scan, start, named))?;
    let kind = if named == Named::Password { "password" } else { "secret" };
    Some(Secret { kind, range })
}

/// Behind the sign that gives a name its value.
fn sign_end(scan: Scan<'_>, name_end: usize) -> Option<usize> {
    let closed = quote_at(scan, name_end).map_or(name_end, |(_, quote_end)| quote_end);
    let sign = skip_blanks(scan, skip_bold(scan, closed));
    let quote_follows = |from| quote_at(scan, skip_blanks(scan, from)).is_some();
    // Comparisons, paths and arrows of code assign nothing; `:=`, the arrow of a map and an element of XML do.
    match (scan.byte(sign), scan.byte(sign + 1)) {
        (b':', b'=') => Some(sign + 2),
        (b'=', b'>') if quote_follows(sign + 2) => Some(sign + 2),
        (b'>', _) if sign == name_end && is_element(scan, sign + 1) => Some(sign + 1),
        (b':', b':' | b'/') | (b'=', b'=' | b'>' | b'~') => None,
        (b':' | b'=', _) => Some(sign + 1),
        _ => None,
    }
}

/// `<password>…</password>`, from behind the first tag.
fn is_element(scan: Scan<'_>, start: usize) -> bool {
    let text = scan.run(start, |byte| is_bare(byte) || byte == b'=');
    scan.starts_with(text.end, b"</")
}

/// Markdown's, as in `**Token:** …`.
fn skip_bold(scan: Scan<'_>, at: usize) -> usize {
    if scan.starts_with(at, b"**") { at + 2 } else { at }
}

/// The value may be the next item of a list: `"X-Api-Key:", "…"`. It may stand on the next line.
fn value_start(scan: Scan<'_>, sign_end: usize) -> usize {
    let start = skip_blanks(scan, skip_bold(scan, sign_end));
    next_item(scan, start).or_else(|| next_line(scan, start)).unwrap_or(start)
}

/// The first text of the next line, if that is indented. YAML may announce it by `|` or `>-`.
fn next_line(scan: Scan<'_>, line_end: usize) -> Option<usize> {
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

fn next_item(scan: Scan<'_>, closing_quote: usize) -> Option<usize> {
    let (quote, closed) = quote_at(scan, closing_quote)?;
    let open = skip_blanks(scan, closed + 1);
    let is_next = scan.byte(closed) == b','
        && quote_at(scan, open).is_some_and(|(opening, _)| opening == quote);
    is_next.then_some(open)
}

/// `--token …` and `"--token", "…"`; also `login … password …` of a `.netrc`, and `ENV TOKEN …` of a Dockerfile.
fn value_of_option(scan: Scan<'_>, name_start: usize, name_end: usize) -> Option<usize> {
    let start = skip_blanks(scan, name_end);
    let value = if start > name_end { start } else { next_item(scan, name_end)? };
    let before = line_before(scan, name_start);
    let word = before.rsplit(|byte| !is_word(*byte)).next().unwrap_or_default();
    let of_netrc = || {
        let mut words = before.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        word.is_empty() && words.nth(1) == Some(b"login")
    };
    let is_variable = || {
        let command = before[..before.len() - word.len()].trim_ascii();
        [&b"ENV"[..], b"setenv", b"setx"].contains(&command)
    };
    (word.starts_with(b"--") || of_netrc() || is_variable()).then_some(value)
}

/// The end of the line before a place, from behind what was replaced in it: there stands a `]`, now and next time.
fn line_before<'t>(scan: Scan<'t>, at: usize) -> &'t [u8] {
    let from = at.saturating_sub(LOOK_BACK).max(scan.floor);
    let before = scan.text.get(from..at).unwrap_or_default();
    steps::add(before.len());
    before.rsplit(|byte| matches!(byte, b'\n' | b']')).next().unwrap_or_default()
}

/// `Authorization: <scheme> …`, `_auth=…` of an `.npmrc`, `"auth": "…"` of Docker.
fn authorization(scan: Scan<'_>, at: usize) -> Option<Secret> {
    const SCHEMES: [&[u8]; 6] = [b"basic", b"bearer", b"token", b"apikey", b"digest", b"key"];
    const AT_LEAST: usize = 12;
    let end = name_end(scan, at, b"auth", 1)?;
    let is_header = is_at(scan, end, b"orization");
    let is_quoted = || quote_at(scan, end).is_some();
    if !is_header && !is_quoted() && !Before::Joined.allows(scan, end - 4) {
        return None;
    }
    let end = if is_header { end + b"orization".len() } else { end };
    let start = value_start(scan, sign_end(scan, end)?);
    let open = quote_at(scan, start).map_or(start, |(_, open)| open);
    let scheme = SCHEMES.iter().find(|scheme| {
        is_at(scan, open, scheme) && matches!(scan.byte(open + scheme.len()), b' ' | b'\t')
    });
    let start = scheme.map_or(start, |scheme| skip_blanks(scan, open + scheme.len()));
    let range = bare(scan, start, Named::Key).filter(|range| range.len() >= AT_LEAST)?;
    let kind = match scheme {
        Some(scheme) if scheme.eq_ignore_ascii_case(b"bearer") => "bearer-token",
        _ => "secret",
    };
    Some(Secret { kind, range })
}

/// All of a `Cookie:` or `Set-Cookie:` line that holds a random value: other secrets may stand before that.
fn cookie(scan: Scan<'_>, at: usize) -> Option<Secret> {
    const AT_LEAST: usize = 16;
    /// A line may hold the name again and again.
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
    // A value that goes on behind what was replaced in it is not known whole.
    let is_cut = scan.byte(start + line.len()) == b'[';
    let whole = if is_cut { memchr::memrchr(b';', line).unwrap_or(0) } else { line.len() };
    let is_random = |pair: &[u8]| {
        let sign = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let value = pair.get(sign + 1..).unwrap_or_default();
        value.len() >= AT_LEAST && !value.contains(&b' ') && is_secret(value, Named::Key)
    };
    line[..whole]
        .split(|byte| *byte == b';')
        .any(is_random)
        .then(|| Secret { kind: "cookie", range: scan.run(start, is_cookie) })
}

const fn is_cookie(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\'' | b'\\' | b'[')
}

/// `?sig=…` and `?key=…`: the address alone gives access.
fn parameter(scan: Scan<'_>, at: usize) -> Option<Secret> {
    const NAMES: [&[u8]; 2] = [b"sig=", b"key="];
    let name = NAMES.iter().find(|name| scan.starts_with(at, name))?;
    let range = bare(scan, at + name.len(), Named::Key)?;
    Some(Secret { kind: "secret", range })
}

/// `curl -u user:password`; a user and a group, as of containers, are numbers or words.
fn user_option(scan: Scan<'_>, at: usize) -> Option<Secret> {
    let start = skip_blanks(scan, at + 1);
    if start == at + 1 || !matches!(scan.byte_before(at - 1), b' ' | b'\t') {
        return None;
    }
    let start = quote_at(scan, start).map_or(start, |(_, open)| open);
    let user = scan.run(start, |byte| is_bare(byte) && byte != b'/');
    let password = scan.run(user.end + 1, |byte| is_bare(byte) && byte != b'/');
    let value = scan.text.get(password.clone())?;
    let is_number = value.iter().all(u8::is_ascii_digit);
    let whole = scan.byte(user.end) == b':' && !user.is_empty() && value.len() >= 6;
    (whole && !is_number && is_secret(value, Named::Password))
        .then_some(Secret { kind: "password", range: user.start..password.end })
}

/// An option of one letter whose value is a password.
struct PasswordOption {
    letter: u8,
    programs: &'static [&'static [u8]],
    /// Of several commands, the one that takes it.
    command: Option<&'static [u8]>,
    /// `-p …`, as well as `-p…`.
    may_be_apart: bool,
}

const PASSWORD_OPTIONS: [PasswordOption; 4] = [
    PasswordOption {
        letter: b'p',
        programs: &[b"mysql", b"mysqldump", b"mysqladmin", b"mariadb"],
        command: None,
        may_be_apart: false,
    },
    PasswordOption { letter: b'p', programs: &[b"sshpass"], command: None, may_be_apart: true },
    PasswordOption {
        letter: b'p',
        programs: &[b"docker", b"podman", b"buildah", b"skopeo", b"helm", b"oc"],
        command: Some(b"login"),
        may_be_apart: true,
    },
    PasswordOption { letter: b'a', programs: &[b"redis-cli"], command: None, may_be_apart: true },
];

/// `mysql -p…`, `sshpass -p …`, `redis-cli -a …`.
fn password_option(scan: Scan<'_>, at: usize) -> Option<Secret> {
    if !matches!(scan.byte_before(at - 1), b' ' | b'\t') {
        return None;
    }
    let apart = skip_blanks(scan, at + 1);
    let start = quote_at(scan, apart).map_or(apart, |(_, open)| open);
    let range = scan.run(start, |byte| is_bare(byte) && byte != b'/');
    let is_value = range.len() >= 3 && !matches!(scan.byte(range.start), b'$' | b'-');
    let is_apart = apart > at + 1;
    let takes_it = |option: &PasswordOption| {
        option.letter == scan.byte(at)
            && (option.may_be_apart || !is_apart)
            && runs(scan, at, option.programs)
            && option.command.is_none_or(|command| runs(scan, at, &[command]))
    };
    (is_value && PASSWORD_OPTIONS.iter().any(takes_it))
        .then_some(Secret { kind: "password", range })
}

/// Whether one of these is a word of the command so far.
fn runs(scan: Scan<'_>, at: usize, programs: &[&[u8]]) -> bool {
    let line = line_before(scan, at);
    let command = line.rsplit(|byte| matches!(byte, b';' | b'|' | b'&')).next().unwrap_or_default();
    command.split(|byte| !is_word(*byte)).any(|word| programs.contains(&word))
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
    /// A password without one is no shorter than this.
    const NO_DIGIT: usize = 8;
    let any = |test: fn(&u8) -> bool| value.iter().any(test);
    let holds = |part: &[u8]| value.windows(part.len()).any(|window| window == part);
    let is_redacted = holds(b"[redacted:");
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
