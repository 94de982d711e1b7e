//! A crash on demand, for tests that walk every point between two recorded events. Debug builds only.

use std::sync::atomic::{AtomicU64, Ordering};

static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// How many events this process may write before it is killed.
pub fn kill_after() -> Option<u64> {
    std::env::var("RAWR_DEBUG_KILL_AFTER_EVENTS").ok()?.parse().ok()
}

/// Called after every single event that reached the file.
pub fn count_event(limit: u64) {
    if WRITTEN.fetch_add(1, Ordering::Relaxed) + 1 == limit {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}
