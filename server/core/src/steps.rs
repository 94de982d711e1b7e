//! How much work something has cost, counted per thread, for tests that hold that twice the text costs twice the work,
//! or that a request costs the same beside many threads. A clock would make such a test depend on the machine. Counted
//! only where debug assertions are.

use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// So many bytes, pieces or threads were looked at.
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
