//! Waiting for what another process does.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Only a hang takes this long.
const LIMIT: Duration = Duration::from_secs(60);

/// Looks until it is so. `what` names it where it never comes.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let give_up = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < give_up, "timed out waiting for {what}");
        sleep(Duration::from_millis(10));
    }
}
