//! Exact counts of a growing text: the part that can no longer change is counted once. The result must equal the count
//! of the whole text, however it is split.

use super::{TokenEncoding, engine};

/// Counts the tokens of a growing text.
#[derive(Debug, Clone)]
pub struct TokenCounter {
    encoding: TokenEncoding,
    settled: u64,
    /// The text since the last seam. Its tokens depend on what follows.
    tail: String,
}

impl TokenCounter {
    /// Starts with an empty text.
    pub const fn new(encoding: TokenEncoding) -> Self {
        Self { encoding, settled: 0, tail: String::new() }
    }

    /// The encoding of the count.
    pub const fn encoding(&self) -> TokenEncoding {
        self.encoding
    }

    /// Appends to the text.
    pub fn push(&mut self, text: &str) {
        let old = self.tail.len();
        self.tail.push_str(text);
        if let Some(seam) = last_seam(&self.tail, old) {
            self.settled += engine::count(self.encoding, &self.tail[..seam]);
            self.tail.drain(..seam);
        }
    }

    /// The tail is usually one word. It is long only if the text has no spaces or punctuation.
    pub fn tokens(&self) -> u64 {
        self.settled + engine::count(self.encoding, &self.tail)
    }
}

/// The last position, from `old` on, where the text can be split without changing its tokens. All supported encodings
/// first split a text with a pattern, and no piece spans these two positions, whatever comes before or after:
///
/// - between an ASCII letter or digit and any other ASCII character except the apostrophe (of `it's`);
///
/// - between the end of a line and a character that is neither white space nor the slash that may follow `*\n`.
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
