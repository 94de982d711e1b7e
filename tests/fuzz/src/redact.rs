//! The redactor: once is enough, what is counted was taken out, and a secret planted anywhere between two lines goes.

use super::linear;
use rawr_storage::redact::{redact, redact_counting};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Prefixes of tokens, and how long what follows is. What follows is drawn.
const PLANTED: [(&str, usize); 10] = [
    ("ghp_", 36),
    ("sk-", 48),
    ("sk-ant-api03-", 80),
    ("glpat-", 36),
    ("xoxb-9876543210-", 36),
    ("sk_live_", 40),
    ("Authorization: Bearer ", 64),
    ("npm_", 36),
    ("API_KEY=", 64),
    ("client_secret: ", 64),
];

/// Equal texts always get equal draws, so that what a fuzzer finds can be run again.
fn drawn(length: usize, seed: &mut u64) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut letter = || {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        char::from(ALPHABET[(*seed >> 16) as usize % ALPHABET.len()])
    };
    (0..length).map(|_| letter()).collect()
}

/// Longer pieces are tried too rarely to be worth their time.
const LONGEST_PIECE: usize = 32;

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (once, count) = redact_counting(text);
    assert_eq!(matches!(once, Cow::Borrowed(_)), count == 0);
    let marks = |text: &str| text.matches("[redacted:").count();
    assert!(marks(&once) >= count, "{count} taken out of {text:?}: {once:?}");
    let (twice, more) = redact_counting(&once);
    assert_eq!((twice.as_ref(), more), (once.as_ref(), 0), "redacted twice");
    no_shape_is_left(&once);
    if text.len() <= LONGEST_PIECE {
        linear::check(text, |text| drop(redact(text)));
    }
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    let mut seed = hasher.finish() | 1;
    let breaks = text.match_indices('\n').map(|(at, _)| at).chain([text.len()]);
    for (at, (prefix, length)) in breaks.take(32).zip(PLANTED.iter().cycle()) {
        let secret = drawn(*length, &mut seed);
        let planted = format!("{}\n{prefix}{secret}\n{}", &text[..at], &text[at..]);
        let left = redact(&planted);
        assert!(!left.contains(&secret), "{prefix}… is left in {left:?}");
    }
}

/// Told apart from the redactor's own rules: words that begin as tokens do.
fn no_shape_is_left(text: &str) {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    for word in text.split(|c| !part_of_word(c)) {
        for (prefix, least) in
            [("ghp_", 36), ("gho_", 36), ("github_pat_", 30), ("glpat-", 20), ("npm_", 36)]
        {
            let tail = word.strip_prefix(prefix).unwrap_or_default();
            let run = tail.chars().take_while(char::is_ascii_alphanumeric).count();
            assert!(run < least, "{word:?} is left");
        }
    }
}
