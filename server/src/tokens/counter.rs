//! An exact count of a text that grows: what cannot change any more is counted once. It must come out as if the whole
//! text had been counted at once, however it is split.

use super::{Encoding, engine};

#[derive(Debug, Clone)]
pub struct Counter {
    encoding: Encoding,
    settled: u64,
    /// The end of the text since the last seam: its tokens depend on what follows.
    tail: String,
}

impl Counter {
    pub const fn new(encoding: Encoding) -> Self {
        Self { encoding, settled: 0, tail: String::new() }
    }

    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub fn push(&mut self, text: &str) {
        let old = self.tail.len();
        self.tail.push_str(text);
        if let Some(seam) = last_seam(&self.tail, old) {
            self.settled += engine::count(self.encoding, &self.tail[..seam]);
            self.tail.drain(..seam);
        }
    }

    /// The tail is mostly one word; it is long where a text has neither spaces nor signs between its letters.
    pub fn tokens(&self) -> u64 {
        self.settled + engine::count(self.encoding, &self.tail)
    }
}

/// The last place, from `old` on, where the text may be cut without changing its tokens. All encodings here first split
/// a text by a pattern, and no piece of it goes on past these two places, whatever comes before or after:
/// - an ASCII letter or digit and then any other ASCII character but the apostrophe (of `it's`);
/// - the end of a line and then a character that is neither white space nor the slash that may follow `*\n`.
fn last_seam(text: &str, old: usize) -> Option<usize> {
    let mut after: Option<char> = None;
    for (at, letter) in text.char_indices().rev() {
        let next = at + letter.len_utf8();
        if next < old {
            return None;
        }
        if after.is_some_and(|after| is_seam(letter, after)) {
            return Some(next);
        }
        after = Some(letter);
    }
    None
}

fn is_seam(before: char, after: char) -> bool {
    match before {
        '\n' => !after.is_whitespace() && !after.is_control() && after != '/',
        _ if before.is_ascii_alphanumeric() => {
            after.is_ascii() && !after.is_ascii_alphanumeric() && after != '\''
        }
        _ => false,
    }
}
