//! Tokens that are known by a part in their middle or at their end. How far back their beginning is looked for is limited.

use super::shapes::is_drawn;
use super::{RedactScan, SecretSpan, is_word};

/// What may follow the first letter of a token.
pub(super) const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

impl RedactScan<'_> {
    /// Where the bytes of this alphabet begin that end before `end`, at most `most` of them.
    fn back(self, end: usize, most: usize, alphabet: fn(u8) -> bool) -> usize {
        let fits = |back: &usize| end > self.floor + back && alphabet(self.byte(end - 1 - back));
        end - (0..most).take_while(fits).count()
    }
}

/// A bot's number in base64, six characters of time, and a signature, separated by dots.
pub(super) fn discord(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    let start = at - 1;
    if !scan.at_word_start(start) {
        return None;
    }
    let number = scan.run(start, is_word);
    if !matches!(number.len(), 23..=28) || scan.byte(number.end) != b'.' {
        return None;
    }
    let time = scan.run(number.end + 1, is_word);
    let signature = scan.run(time.end + 1, is_word);
    let whole = time.len() == 6 && scan.byte(time.end) == b'.' && signature.len() >= 27;
    let range = start..signature.end;
    (whole && is_drawn(scan.text.get(range.clone())?))
        .then_some(SecretSpan { kind: "discord-token", range })
}

/// Three characters, a digit, `Q~`, and a random text.
pub(super) fn azure(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    let is_part = |byte| is_word(byte) || matches!(byte, b'~' | b'.');
    let middle = at - 1;
    let start = scan.back(middle, 5, is_part);
    let rest = scan.run(at + 1, is_part);
    let whole = middle - start == 4 && matches!(rest.len(), 31..=34);
    (whole && scan.byte(middle - 1).is_ascii_digit())
        .then_some(SecretSpan { kind: "azure-secret", range: start..rest.end })
}

/// Fourteen characters, `.atlasv1.`, and a random text.
pub(super) fn terraform(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const MIDDLE: &[u8] = b".atlasv1.";
    let middle = at - 1;
    if !scan.starts_with(middle, MIDDLE) {
        return None;
    }
    let start = scan.back(middle, 15, |byte| byte.is_ascii_alphanumeric());
    let rest = scan.run(middle + MIDDLE.len(), |byte| is_word(byte) || byte == b'=');
    (middle - start == 14 && rest.len() >= 60)
        .then_some(SecretSpan { kind: "terraform-token", range: start..rest.end })
}

/// `/webhooks/<number>/<token>` of Discord: the URL alone lets anyone write.
pub(super) fn web_hook(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const PATH: &[u8] = b"/webhooks/";
    let start = at.checked_sub(4).filter(|start| *start >= scan.floor)?;
    if !scan.starts_with(start, PATH) {
        return None;
    }
    let number = scan.run(start + PATH.len(), |byte| byte.is_ascii_digit());
    let token = scan.run(number.end + 1, is_word);
    (number.len() >= 15 && scan.byte(number.end) == b'/' && token.len() >= 40)
        .then_some(SecretSpan { kind: "web-hook", range: token })
}

/// A key of Firebase Cloud Messaging: a name, and a key that begins with `APA91b`.
pub(super) fn cloud_messaging(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    let key = scan.run(at, is_word);
    let start = scan.back(at - 1, 32, is_word);
    (scan.starts_with(at, b"APA91b") && key.len() >= 100)
        .then_some(SecretSpan { kind: "firebase-token", range: start..key.end })
}

/// Six characters, 29 more, `_mmk`.
pub(super) fn maxmind(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const END: &[u8] = b"_mmk";
    let end = at - 1;
    let whole = scan.starts_with(end, END) && !is_word(scan.byte(end + END.len()));
    let start = scan.back(end, 37, is_word);
    (whole && end - start == 36 && scan.byte(start + 6) == b'_')
        .then_some(SecretSpan { kind: "maxmind-key", range: start..end + END.len() })
}

/// The number of an app, a bar, and a random text.
pub(super) fn facebook(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    let start = scan.back(at, 17, |byte| byte.is_ascii_digit());
    let key = scan.run(at + 1, is_word);
    let whole = matches!(at - start, 15 | 16) && matches!(key.len(), 27..=40);
    (whole && is_drawn(scan.text.get(key.clone())?))
        .then_some(SecretSpan { kind: "facebook-token", range: start..key.end })
}
