//! Recently counted texts: a conversation that has grown is counted from where it grew. Must never change a count, so
//! that it compares texts and not hashes.

use super::{TokenCounter, TokenEncoding, engine};
use std::collections::VecDeque;

/// Shorter texts are faster to count than to keep, and would evict long ones.
const WORTH_KEEPING: usize = 4 << 10;
/// A few conversations, or a single very long one.
const KEPT_TEXTS: usize = 4;
const KEPT_BYTES: usize = 8 << 20;

#[derive(Debug)]
struct CountedText {
    text: String,
    counter: TokenCounter,
}

/// Newest first.
#[derive(Debug, Default)]
pub struct CountMemory(VecDeque<CountedText>);

impl CountMemory {
    pub fn count(&mut self, encoding: TokenEncoding, text: String) -> u64 {
        if text.len() < WORTH_KEEPING {
            return engine::count(encoding, &text);
        }
        let (mut counter, from) = self.resume(encoding, &text);
        counter.push(&text[from..]);
        let tokens = counter.tokens();
        self.0.push_front(CountedText { text, counter });
        self.forget();
        tokens
    }

    /// The counter of the longest text that this one extends, and the end of that text.
    fn resume(&mut self, encoding: TokenEncoding, text: &str) -> (TokenCounter, usize) {
        let begins =
            |old: &CountedText| old.counter.encoding() == encoding && text.starts_with(&old.text);
        let known = self.0.iter().enumerate().filter(|(_, old)| begins(old));
        let longest = known.max_by_key(|(_, old)| old.text.len()).map(|(at, _)| at);
        match longest.and_then(|at| self.0.remove(at)) {
            Some(old) => (old.counter, old.text.len()),
            None => (TokenCounter::new(encoding), 0),
        }
    }

    fn forget(&mut self) {
        let mut bytes = 0;
        let mut kept = 0;
        for old in self.0.iter().take(KEPT_TEXTS) {
            bytes += old.text.len();
            if bytes > KEPT_BYTES {
                break;
            }
            kept += 1;
        }
        self.0.truncate(kept);
    }
}

#[cfg(test)]
mod tests;
