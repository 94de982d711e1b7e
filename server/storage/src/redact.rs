//! Removes keys, tokens and passwords from text before it reaches the disk or a model. Must not allocate for text
//! without secrets, and must leave ordinary code unchanged, because what it removes is missing in the agent's packet.
//! Takes linear time for any text.
//!
//! Redacting is idempotent. Four rules ensure that: no rule matches across `[redacted:`, every secret starts after a
//! byte that cannot be part of one, it starts where it was detected, without another secret in between, and no rule
//! looks back into replaced text.

mod assigned;
mod infix;
mod random;
mod rules;
mod shapes;
mod value;

use rawr_core::steps;
use shapes::TokenShape;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

const LABEL: &str = "[redacted:";

/// Whether the text contains a redacted secret.
pub fn is_redacted(text: &str) -> bool {
    text.contains(LABEL)
}

/// The text with every secret replaced by `[redacted:<kind>]`.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_counting(text).0
}

/// Like [`redact`], with the number of redacted secrets.
pub fn redact_counting(text: &str) -> (Cow<'_, str>, usize) {
    let mut secrets = secrets(text.as_bytes()).peekable();
    if secrets.peek().is_none() {
        return (Cow::Borrowed(text), 0);
    }
    let mut redacted = String::with_capacity(text.len());
    let (mut copied, mut count) = (0, 0);
    for secret in secrets {
        redacted.push_str(&text[copied..secret.range.start]);
        secret.write_label(&mut redacted);
        copied = secret.range.end;
        count += 1;
    }
    redacted.push_str(&text[copied..]);
    (Cow::Owned(redacted), count)
}

/// Redacts an argument list as one command line, because an option and its value are often two arguments. Returns the
/// number of secrets, too, or `None` if there are none.
pub fn redact_words(words: &[String]) -> Option<(Vec<String>, usize)> {
    let line = words.join(" ");
    let mut secrets = secrets(line.as_bytes()).peekable();
    secrets.peek()?;
    let (mut start, mut copied, mut count) = (0, 0, 0);
    let redacted = words.iter().map(|word| {
        let end = start + word.len();
        let mut redacted = String::with_capacity(word.len());
        // A secret may extend into the next argument.
        copied = copied.max(start);
        while let Some(secret) = secrets.next_if(|secret| secret.range.start < end) {
            redacted.push_str(line.get(copied..secret.range.start).unwrap_or_default());
            secret.write_label(&mut redacted);
            copied = secret.range.end;
            count += 1;
        }
        redacted.push_str(line.get(copied..end).unwrap_or_default());
        start = end + 1;
        redacted
    });
    let redacted = redacted.collect();
    Some((redacted, count))
}

/// Starts and ends at ASCII bytes, so that it can be cut out of a UTF-8 text.
struct SecretSpan {
    kind: &'static str,
    range: Range<usize>,
}

impl SecretSpan {
    fn write_label(&self, text: &mut String) {
        text.push_str(LABEL);
        text.push_str(self.kind);
        text.push(']');
    }
}

/// The input of the rules: the text, and the start of the part that was not redacted yet.
#[derive(Clone, Copy)]
struct RedactScan<'t> {
    text: &'t [u8],
    floor: usize,
}

impl RedactScan<'_> {
    fn byte(self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    /// Lookbehind ends at the floor, where the replaced text has a `]` now.
    fn byte_before(self, at: usize) -> u8 {
        if at > self.floor { self.text[at - 1] } else { b']' }
    }

    fn run(self, from: usize, alphabet: fn(u8) -> bool) -> Range<usize> {
        let rest = self.text.get(from..).unwrap_or_default();
        let run = rest.iter().take_while(|byte| alphabet(**byte)).count();
        steps::add(run + 1);
        from..from + run
    }

    fn starts_with(self, at: usize, start: &[u8]) -> bool {
        self.text.get(at..).is_some_and(|rest| rest.starts_with(start))
    }

    fn at_word_start(self, at: usize) -> bool {
        self.begins_after(at, |before| !is_word(before))
    }

    /// A newline that JSON escaped as `\n`, a color of the terminal and a byte that a URL escaped end a word, too.
    fn begins_after(self, at: usize, ends: impl Fn(u8) -> bool) -> bool {
        let before = self.byte_before(at);
        ends(before)
            || match before {
                b'n' | b'r' | b't' if self.byte_before(at - 1) == b'\\' => true,
                b'm' | b'K' => self.is_after_color(at),
                b'0'..=b'9' | b'A'..=b'F' | b'a'..=b'f' => {
                    at >= self.floor + 3
                        && self.text[at - 3] == b'%'
                        && self.text[at - 2].is_ascii_hexdigit()
                }
                _ => false,
            }
    }

    /// After `ESC [ … m`, with ESC as a byte or as JSON and shells escape it.
    fn is_after_color(self, at: usize) -> bool {
        const LONGEST: usize = 20;
        let from = self.floor.max(at.saturating_sub(LONGEST));
        let sequence = &self.text[from..at - 1];
        let Some(bracket) = sequence.iter().rposition(|byte| *byte == b'[') else { return false };
        let numbers = &sequence[bracket + 1..];
        let before = &sequence[..bracket];
        numbers.iter().all(|byte| byte.is_ascii_digit() || *byte == b';')
            && [&b"\x1b"[..], b"u001b", b"u001B", b"x1b", b"x1B", b"033", b"\\e"]
                .iter()
                .any(|escape| before.ends_with(escape))
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A token with a known prefix.
struct TokenRule {
    kind: &'static str,
    /// The possible prefixes.
    prefixes: &'static [&'static str],
    /// An ASCII regular expression for the whole token, prefix included.
    pattern: &'static str,
}

/// Looks for a secret around a position, which is that of the second byte of a pair.
type Detector = fn(RedactScan<'_>, usize) -> Option<SecretSpan>;

/// The detectors for each pair of adjacent bytes. Nearly all pairs of ordinary text have none, so that such text costs
/// only this lookup. The scan runs on everything that is reported.
struct PairTable {
    /// Maps the first byte times 256 plus the second to an index into `looks`. Zero is none.
    group: Box<[u16; 1 << 16]>,
    looks: Vec<DetectorGroup>,
}

#[derive(Default)]
struct DetectorGroup {
    functions: Vec<Detector>,
    shapes: Vec<&'static TokenShape>,
}

static PAIRS: LazyLock<PairTable> = LazyLock::new(PairTable::new);

impl PairTable {
    fn new() -> Self {
        let mut pairs =
            Self { group: Box::new([0; 1 << 16]), looks: vec![DetectorGroup::default()] };
        for (first, second, look) in shapes::LOOKS.iter().chain(&assigned::LOOKS) {
            for first in first.bytes() {
                for second in second.bytes() {
                    pairs.group(first, second).functions.push(*look);
                }
            }
        }
        for shape in shapes::ALL.iter() {
            for (first, second) in shape.first_pairs() {
                pairs.group(first, second).shapes.push(shape);
            }
        }
        pairs
    }

    fn group(&mut self, first: u8, second: u8) -> &mut DetectorGroup {
        let at = index(first, second);
        if self.group[at] == 0 {
            // Indexes that do not fit share the last group: each detector checks its pair itself.
            self.group[at] = u16::try_from(self.looks.len()).unwrap_or(u16::MAX);
            if self.looks.len() <= usize::from(u16::MAX) {
                self.looks.push(DetectorGroup::default());
            }
        }
        &mut self.looks[usize::from(self.group[at])]
    }
}

const fn index(first: u8, second: u8) -> usize {
    (first as usize) << 8 | second as usize
}

fn secrets(text: &[u8]) -> impl Iterator<Item = SecretSpan> {
    let mut floor = 0;
    std::iter::from_fn(move || {
        let secret = next_secret(text, floor)?;
        floor = secret.range.end;
        Some(secret)
    })
}

fn next_secret(text: &[u8], floor: usize) -> Option<SecretSpan> {
    let pairs = &*PAIRS;
    let scan = RedactScan { text, floor };
    let mut before = 0;
    for (at, byte) in text.iter().enumerate().skip(floor) {
        let group = pairs.group[index(before, *byte)];
        before = *byte;
        if group != 0 && at > floor {
            let found = look(scan, at, &pairs.looks[usize::from(group)]);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

#[inline(never)]
fn look(scan: RedactScan<'_>, at: usize, group: &DetectorGroup) -> Option<SecretSpan> {
    steps::add(1);
    let by_function = group.functions.iter().find_map(|look| look(scan, at));
    by_function.or_else(|| {
        // Every shape begins with its pair.
        let start = at - 1;
        let may_begin = !group.shapes.is_empty() && scan.at_word_start(start);
        may_begin.then(|| group.shapes.iter().find_map(|shape| shape.find(scan, start)))?
    })
}

#[cfg(test)]
mod tests;
