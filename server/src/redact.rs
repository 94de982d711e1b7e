//! Takes keys, tokens and passwords out of text before it touches disk or a model. It must not allocate for text
//! that holds none, and it must leave ordinary code alone: what it takes is lost to the agent's packet.
//!
//! Redacting twice is the same as once. Four rules keep that so: no rule matches over `[redacted:`, every secret
//! begins after a byte that cannot be part of one, it begins where it was noticed, with no other secret in between,
//! and nothing looks back into what was replaced.

mod assigned;
mod shapes;

use std::borrow::Cow;
use std::ops::Range;

/// The text with every secret replaced by `[redacted:<kind>]`.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_counting(text).0
}

/// The same, with the number of secrets taken out.
pub fn redact_counting(text: &str) -> (Cow<'_, str>, usize) {
    let Some(first) = next_secret(text.as_bytes(), 0) else { return (Cow::Borrowed(text), 0) };
    let mut redacted = String::with_capacity(text.len());
    let (mut copied, mut count, mut next) = (0, 0, Some(first));
    while let Some(secret) = next {
        redacted.push_str(&text[copied..secret.range.start]);
        redacted.push_str("[redacted:");
        redacted.push_str(secret.kind);
        redacted.push(']');
        copied = secret.range.end;
        count += 1;
        next = next_secret(text.as_bytes(), copied);
    }
    redacted.push_str(&text[copied..]);
    (Cow::Owned(redacted), count)
}

/// Begins and ends at ASCII bytes, so that it can be cut out of a text.
struct Secret {
    kind: &'static str,
    range: Range<usize>,
}

/// What the rules look at: the text, and where the part begins that has not been redacted yet.
#[derive(Clone, Copy)]
struct Scan<'t> {
    text: &'t [u8],
    floor: usize,
}

impl Scan<'_> {
    fn byte(self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    /// Looking back ends at the floor: behind it stands a `]` by now.
    fn byte_before(self, at: usize) -> u8 {
        if at > self.floor { self.text[at - 1] } else { b']' }
    }

    fn run(self, from: usize, alphabet: fn(u8) -> bool) -> Range<usize> {
        let rest = self.text.get(from..).unwrap_or_default();
        from..from + rest.iter().take_while(|byte| alphabet(**byte)).count()
    }

    /// A secret begins where no word does. A newline that JSON wrote as `\n` ends a word, too.
    fn at_word_start(self, at: usize) -> bool {
        let before = self.byte_before(at);
        !is_word(before)
            || (matches!(before, b'n' | b'r' | b't') && self.byte_before(at - 1) == b'\\')
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Two bytes side by side that are rare in ordinary text, and what is looked for around them.
struct Pair {
    first: &'static [u8],
    second: &'static [u8],
    /// Gets the place of the second.
    look: fn(Scan<'_>, usize) -> Option<Secret>,
}

const fn pair(
    first: &'static [u8],
    second: &'static [u8],
    look: fn(Scan<'_>, usize) -> Option<Secret>,
) -> Pair {
    Pair { first, second, look }
}

const PAIRS: [Pair; 13] = [
    pair(b"ktp", b"-", shapes::before_dash),
    pair(b"o", b"x", shapes::slack),
    pair(b"g", b"h", shapes::github),
    pair(b"mfb", b"_", shapes::before_underscore),
    pair(b"KS", b"I", shapes::aws),
    pair(b"I", b"z", shapes::google),
    pair(b"B", b"e", shapes::bearer),
    pair(b"y", b"J", shapes::json_web_token),
    pair(b"-", b"B", shapes::private_key),
    pair(b":", b"/", shapes::url_credentials),
    pair(b"sS", b"wW", assigned::password),
    pair(b"oOcC", b"kKrR", assigned::token_or_secret),
    pair(b"eE", b"yY", assigned::key),
];

/// One bit a pair: set in the first table for its first bytes, in the second for its second ones. Where both have
/// it, somebody has to look. That is all that ordinary text costs, and the scan runs on everything reported.
const BITS: [[u16; 256]; 2] = {
    let mut bits = [[0; 256]; 2];
    let mut at = 0;
    while at < PAIRS.len() {
        let sides = [PAIRS[at].first, PAIRS[at].second];
        let mut side = 0;
        while side < 2 {
            let mut byte = 0;
            while byte < sides[side].len() {
                bits[side][sides[side][byte] as usize] |= 1 << at;
                byte += 1;
            }
            side += 1;
        }
        at += 1;
    }
    bits
};
static FIRST: [u16; 256] = BITS[0];
static SECOND: [u16; 256] = BITS[1];

fn next_secret(text: &[u8], floor: usize) -> Option<Secret> {
    let scan = Scan { text, floor };
    let mut before = 0;
    for (at, byte) in text.iter().enumerate().skip(floor) {
        let bits = before & SECOND[usize::from(*byte)];
        before = FIRST[usize::from(*byte)];
        if bits != 0 {
            let found = look(scan, at, bits);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

fn look(scan: Scan<'_>, at: usize, mut bits: u16) -> Option<Secret> {
    while bits != 0 {
        let found = (PAIRS[bits.trailing_zeros() as usize].look)(scan, at);
        if found.is_some() {
            return found;
        }
        bits &= bits - 1;
    }
    None
}

#[cfg(test)]
mod tests;
