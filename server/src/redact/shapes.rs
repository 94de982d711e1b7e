//! Secrets that can be told by their shape alone: tokens with a known prefix, private key blocks, passwords in URLs.

use super::{Scan, Secret, is_word};

/// A token with a prefix of its own.
struct Shape {
    kind: &'static str,
    /// `?` stands for one small letter.
    prefix: &'static [u8],
    /// Where in the prefix the byte stands that led here.
    pivot: usize,
    /// How much of the prefix stays, because it says what was there and is no secret.
    kept: usize,
    alphabet: fn(u8) -> bool,
    at_least: usize,
    /// Words and names of packages have none, tokens nearly always do.
    needs_digit: bool,
}

const fn shape(
    kind: &'static str,
    prefix: &'static [u8],
    pivot: usize,
    alphabet: fn(u8) -> bool,
    at_least: usize,
) -> Shape {
    Shape { kind, prefix, pivot, kept: 0, alphabet, at_least, needs_digit: false }
}

const fn with_digit(shape: Shape) -> Shape {
    Shape { needs_digit: true, ..shape }
}

/// The longer prefix first where one begins with another.
const BEFORE_DASH: [Shape; 4] = [
    with_digit(shape("anthropic-key", b"sk-ant-", 2, is_word, 16)),
    with_digit(shape("api-key", b"sk-", 2, is_word, 20)),
    shape("gitlab-token", b"glpat-", 5, is_word, 18),
    with_digit(shape("slack-token", b"xapp-", 4, is_word, 10)),
];
const SLACK: [Shape; 1] = [with_digit(shape("slack-token", b"xox?-", 2, is_word, 10))];
const GITHUB: [Shape; 1] = [shape("github-token", b"gh?_", 1, is_letter_or_digit, 30)];
const BEFORE_UNDERSCORE: [Shape; 3] = [
    shape("github-token", b"github_pat_", 6, is_word, 22),
    shape("npm-token", b"npm_", 3, is_letter_or_digit, 30),
    shape("hugging-face-token", b"hf_", 2, is_letter_or_digit, 30),
];
const AWS: [Shape; 2] = [
    shape("aws-key-id", b"AKIA", 2, is_upper_or_digit, 16),
    shape("aws-key-id", b"ASIA", 2, is_upper_or_digit, 16),
];
const GOOGLE: [Shape; 1] = [shape("google-key", b"AIza", 2, is_word, 30)];
const BEARER: [Shape; 1] =
    [Shape { kept: 7, ..with_digit(shape("bearer-token", b"Bearer ", 1, is_bearer, 16)) }];

pub(super) fn before_dash(scan: Scan<'_>, at: usize) -> Option<Secret> {
    shaped(scan, at, &BEFORE_DASH)
}

pub(super) fn slack(scan: Scan<'_>, at: usize) -> Option<Secret> {
    shaped(scan, at, &SLACK)
}

pub(super) fn github(scan: Scan<'_>, at: usize) -> Option<Secret> {
    shaped(scan, at, &GITHUB)
}

pub(super) fn before_underscore(scan: Scan<'_>, at: usize) -> Option<Secret> {
    shaped(scan, at, &BEFORE_UNDERSCORE)
}

pub(super) fn aws(scan: Scan<'_>, at: usize) -> Option<Secret> {
    shaped(scan, at, &AWS)
}

pub(super) fn google(scan: Scan<'_>, at: usize) -> Option<Secret> {
    shaped(scan, at, &GOOGLE)
}

pub(super) fn bearer(scan: Scan<'_>, at: usize) -> Option<Secret> {
    shaped(scan, at, &BEARER)
}

const fn is_letter_or_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

const fn is_upper_or_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

const fn is_bearer(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=')
}

fn shaped(scan: Scan<'_>, at: usize, shapes: &[Shape]) -> Option<Secret> {
    shapes.iter().find_map(|shape| one_shape(scan, at, shape))
}

fn one_shape(scan: Scan<'_>, at: usize, shape: &Shape) -> Option<Secret> {
    let start = at.checked_sub(shape.pivot).filter(|start| *start >= scan.floor)?;
    let prefix = scan.text.get(start..start + shape.prefix.len())?;
    let same = |(found, wanted): (&u8, &u8)| {
        found == wanted || (*wanted == b'?' && found.is_ascii_lowercase())
    };
    if !prefix.iter().zip(shape.prefix).all(same) || !scan.at_word_start(start) {
        return None;
    }
    let tail = scan.run(start + shape.prefix.len(), shape.alphabet);
    let digit = || scan.text[tail.clone()].iter().any(u8::is_ascii_digit);
    let range = start + shape.kept..tail.end;
    (tail.len() >= shape.at_least && (!shape.needs_digit || digit()))
        .then_some(Secret { kind: shape.kind, range })
}

/// Header, payload and signature, joined by full stops; the header is a JSON object and so begins with `eyJ`.
pub(super) fn json_web_token(scan: Scan<'_>, at: usize) -> Option<Secret> {
    const AT_LEAST: usize = 8;
    let start = at.checked_sub(2).filter(|start| *start >= scan.floor)?;
    if !scan.text[start..].starts_with(b"eyJ") || !scan.at_word_start(start) {
        return None;
    }
    let mut end = start;
    for part in 0..3 {
        if part > 0 && scan.byte(end) != b'.' {
            return None;
        }
        let run = scan.run(end + usize::from(part > 0), is_word);
        if run.len() < AT_LEAST {
            return None;
        }
        end = run.end;
    }
    Some(Secret { kind: "json-web-token", range: start..end })
}

/// A PEM block, also one that was cut off or stands in a string with `\n` for its newlines.
pub(super) fn private_key(scan: Scan<'_>, at: usize) -> Option<Secret> {
    const MARK: &[u8] = b"-----";
    const KEY_MATERIAL: usize = 24;
    let at = at.checked_sub(MARK.len()).filter(|at| *at >= scan.floor)?;
    let label = scan.run(at + MARK.len(), |byte| byte.is_ascii_uppercase() || byte == b' ');
    let body = label.end + MARK.len();
    let header = scan.text.get(at..body)?;
    let is_key = header.windows(11).any(|part| part == b"PRIVATE KEY");
    if !is_key || !header.starts_with(b"-----BEGIN ") || !header.ends_with(MARK) {
        return None;
    }
    let mut end = body;
    let (mut run, mut longest) = (0_usize, 0_usize);
    while is_key_block(scan.byte(end)) && !scan.text[end..].starts_with(MARK) {
        run = if is_base64(scan.byte(end)) { run + 1 } else { 0 };
        longest = longest.max(run);
        end += 1;
    }
    if scan.text[end..].starts_with(b"-----END ") {
        let label = scan.run(end + MARK.len(), |byte| byte.is_ascii_uppercase() || byte == b' ');
        if scan.text[label.end..].starts_with(MARK) {
            end = label.end + MARK.len();
        }
    } else if !scan.text[end..].starts_with(MARK) {
        // Behind a block that was cut off another secret may stand, whose beginning looks like base64.
        end = scan.run(end, is_glued).end;
    }
    (longest >= KEY_MATERIAL).then_some(Secret { kind: "private-key", range: at..end })
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Base64, its headers (`Proc-Type: 4,ENCRYPTED`), line ends in any notation. A quote ends a string of code.
const fn is_key_block(byte: u8) -> bool {
    is_base64(byte) || matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'\\' | b':' | b',' | b'-')
}

/// What goes on with a word that a block ran into: neither a quote nor a bracket, which end it.
const fn is_glued(byte: u8) -> bool {
    is_user_info(byte) && !matches!(byte, b'(' | b')' | b';') || matches!(byte, b'@' | b'/')
}

/// `scheme://user:password@host`. The user goes as well: often it is the token, and nothing between the place that
/// led here and the secret may be left unlooked at.
pub(super) fn url_credentials(scan: Scan<'_>, at: usize) -> Option<Secret> {
    let at = at - 1;
    if !scan.text[at..].starts_with(b"://") || !scan.byte_before(at).is_ascii_alphanumeric() {
        return None;
    }
    let user = scan.run(at + 3, |byte| is_user_info(byte) && byte != b':');
    let password = scan.run(user.end + 1, is_user_info);
    let whole = scan.byte(user.end) == b':' && scan.byte(password.end) == b'@';
    // `$PASSWORD` stands for one and is none.
    (whole && !password.is_empty() && scan.byte(password.start) != b'$')
        .then_some(Secret { kind: "url-credentials", range: user.start..password.end })
}

const fn is_user_info(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'@' | b'/' | b'\\' | b'"' | b'\'' | b'`' | b'[' | b']' | b'<' | b'>' | b'{' | b'}'
        )
}
