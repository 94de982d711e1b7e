//! Counts work per OS thread, so that tests can assert that twice the text costs twice the work, without a clock.
//! Counts only with debug assertions.

use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// Adds a number of bytes, pieces or threads that were processed.
#[inline]
pub fn add(steps: usize) {
    if cfg!(debug_assertions) {
        TAKEN.set(TAKEN.get().saturating_add(steps));
    }
}

/// The steps since the last call, on this thread.
pub fn take() -> usize {
    TAKEN.take()
}
