//! Exact counts of a growing text: the part that can no longer change is counted once. The result must equal the count
//! of the whole text, however it is split.

use super::{STACK, TokenEncoding, engine};
use std::{panic, thread};

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
            self.settled += count(self.encoding, &self.tail[..seam]);
            self.tail.drain(..seam);
        }
    }

    /// The tail is usually one word. It is long only if the text has no spaces or punctuation.
    pub fn tokens(&self) -> u64 {
        self.settled + engine::count(self.encoding, &self.tail)
    }
}

/// So many bytes are worth a thread, whose tokenizer fills a table of its own.
const WORTH_A_THREAD: usize = 64 << 10;

/// Counts a long text in parts, one for each core.
fn count(encoding: TokenEncoding, text: &str) -> u64 {
    let threads = || thread::available_parallelism().map_or(1, usize::from);
    let most = text.len() / WORTH_A_THREAD;
    in_parts(encoding, text, if most > 1 { most.min(threads()) } else { 1 })
}

pub(super) fn in_parts(encoding: TokenEncoding, text: &str, parts: usize) -> u64 {
    let Some(seam) = first_part(text, parts) else { return engine::count(encoding, text) };
    let (part, rest) = text.split_at(seam);
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        let counted = thread.spawn_scoped(scope, || engine::count(encoding, part));
        let others = in_parts(encoding, rest, parts - 1);
        others
            + match counted {
                Ok(counted) => counted.join().unwrap_or_else(|cause| panic::resume_unwind(cause)),
                Err(_) => engine::count(encoding, part),
            }
    })
}

/// Where the first of so many parts ends. `None` if there is only one.
fn first_part(text: &str, parts: usize) -> Option<usize> {
    let end = (0..=text.len() / parts).rev().find(|end| text.is_char_boundary(*end))?;
    if parts > 1 { last_seam(&text[..end], 0) } else { None }
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
