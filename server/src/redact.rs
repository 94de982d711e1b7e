//! Takes keys, tokens and passwords out of text before it touches disk or a model. It must not allocate for text
//! that holds none, and it must leave ordinary code alone: what it takes is lost to the agent's packet. Its work grows
//! with the text's length and not faster, whatever the text is.
//!
//! Redacting twice is the same as once. Four rules keep that so: no rule matches over `[redacted:`, every secret
//! begins after a byte that cannot be part of one, it begins where it was noticed, with no other secret in between,
//! and nothing looks back into what was replaced.

mod assigned;
mod random;
mod rules;
mod shapes;
mod value;

use rawr_core::steps;
use shapes::Shape;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

const LABEL: &str = "[redacted:";

/// Whether something was taken out of the text, or it says so.
pub fn is_redacted(text: &str) -> bool {
    text.contains(LABEL)
}

/// The text with every secret replaced by `[redacted:<kind>]`.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_counting(text).0
}

/// The same, with the number of secrets taken out.
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

/// An argument list, redacted as the line that it makes: a name and its value are often two words. With the number of
/// secrets, or `None` where there are none.
pub fn redact_words(words: &[String]) -> Option<(Vec<String>, usize)> {
    let line = words.join(" ");
    let mut secrets = secrets(line.as_bytes()).peekable();
    secrets.peek()?;
    let (mut start, mut copied, mut count) = (0, 0, 0);
    let redacted = words.iter().map(|word| {
        let end = start + word.len();
        let mut redacted = String::with_capacity(word.len());
        // A secret may go on into the next word.
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

/// Begins and ends at ASCII bytes, so that it can be cut out of a text.
struct Secret {
    kind: &'static str,
    range: Range<usize>,
}

impl Secret {
    fn write_label(&self, text: &mut String) {
        text.push_str(LABEL);
        text.push_str(self.kind);
        text.push(']');
    }
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

    /// A newline that JSON wrote as `\n` ends a word, too.
    fn begins_after(self, at: usize, ends: impl Fn(u8) -> bool) -> bool {
        let before = self.byte_before(at);
        ends(before) || (matches!(before, b'n' | b'r' | b't') && self.byte_before(at - 1) == b'\\')
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Looks around a place for a secret. Gets the place of the second byte of a pair.
type Detector = fn(Scan<'_>, usize) -> Option<Secret>;

/// For every two bytes side by side, what is looked for around them. For nearly all pairs of ordinary text that is
/// nothing; finding out is all that such text costs, and the scan runs on everything reported.
struct Pairs {
    /// By the first byte times 256 plus the second: an index into `looks`, zero for nothing.
    group: Box<[u8; 1 << 16]>,
    looks: Vec<Group>,
}

#[derive(Default)]
struct Group {
    functions: Vec<Detector>,
    shapes: Vec<&'static Shape>,
}

static PAIRS: LazyLock<Pairs> = LazyLock::new(Pairs::new);

impl Pairs {
    fn new() -> Self {
        let mut pairs = Self { group: Box::new([0; 1 << 16]), looks: vec![Group::default()] };
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

    fn group(&mut self, first: u8, second: u8) -> &mut Group {
        let at = index(first, second);
        if self.group[at] == 0 {
            // More pairs than a byte can count share the last group: each look tells what it looks at.
            self.group[at] = u8::try_from(self.looks.len()).unwrap_or(u8::MAX);
            if self.looks.len() <= usize::from(u8::MAX) {
                self.looks.push(Group::default());
            }
        }
        &mut self.looks[usize::from(self.group[at])]
    }
}

const fn index(first: u8, second: u8) -> usize {
    (first as usize) << 8 | second as usize
}

fn secrets(text: &[u8]) -> impl Iterator<Item = Secret> {
    let mut floor = 0;
    std::iter::from_fn(move || {
        let secret = next_secret(text, floor)?;
        floor = secret.range.end;
        Some(secret)
    })
}

fn next_secret(text: &[u8], floor: usize) -> Option<Secret> {
    let pairs = &*PAIRS;
    let scan = Scan { text, floor };
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
fn look(scan: Scan<'_>, at: usize, group: &Group) -> Option<Secret> {
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
