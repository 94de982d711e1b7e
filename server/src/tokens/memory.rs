//! The texts that were counted lately: a conversation that grew is counted from where it grew. It must never change a
//! count, so it compares texts, not hashes of them.

use super::{Counter, Encoding, engine};
use std::collections::VecDeque;

/// Shorter texts are counted faster than they are kept, and would push the long ones out.
const WORTH_KEEPING: usize = 4 << 10;
/// A few conversations, or one that is very long.
const KEPT_TEXTS: usize = 4;
const KEPT_BYTES: usize = 8 << 20;

#[derive(Debug)]
struct Counted {
    text: String,
    counter: Counter,
}

/// The newest first.
#[derive(Debug, Default)]
pub struct Memory(VecDeque<Counted>);

impl Memory {
    pub fn count(&mut self, encoding: Encoding, text: String) -> u64 {
        if text.len() < WORTH_KEEPING {
            return engine::count(encoding, &text);
        }
        let (mut counter, from) = self.resume(encoding, &text);
        counter.push(&text[from..]);
        let tokens = counter.tokens();
        self.0.push_front(Counted { text, counter });
        self.forget();
        tokens
    }

    /// The counter of the longest text that this one begins with, and where that ends.
    fn resume(&mut self, encoding: Encoding, text: &str) -> (Counter, usize) {
        let begins =
            |old: &Counted| old.counter.encoding() == encoding && text.starts_with(&old.text);
        let known = self.0.iter().enumerate().filter(|(_, old)| begins(old));
        let longest = known.max_by_key(|(_, old)| old.text.len()).map(|(at, _)| at);
        match longest.and_then(|at| self.0.remove(at)) {
            Some(old) => (old.counter, old.text.len()),
            None => (Counter::new(encoding), 0),
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
