//! Messages of agent and user: no text panics, a directive is a part of its message, and long text costs linear work.

use super::linear;
use rawr_core::policy::Phrases;
use rawr_core::signal::message::{directives, signals};

/// Longer pieces are tried too rarely to be worth their time.
const LONGEST_PIECE: usize = 32;

pub fn run(data: &[u8]) {
    let Ok(message) = std::str::from_utf8(data) else { return };
    let phrases = Phrases::default();
    signals(message, &phrases);
    for directive in directives(message, &phrases) {
        assert!(message.contains(&directive), "{directive:?} is not of {message:?}");
    }
    if message.len() <= LONGEST_PIECE {
        linear::check(message, |message| {
            signals(message, &phrases);
            directives(message, &phrases);
        });
    }
}
