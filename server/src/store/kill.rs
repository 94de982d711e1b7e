//! A crash on demand, for tests that walk every point between two recorded events of a real process. Debug builds only.

use super::EVENTS;
use super::disk::{Fate, Faults, Operation};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The process dies right after so many events have reached their files.
#[derive(Debug)]
struct KillAfterEvents {
    limit: u64,
}

/// Of this process, whatever threads they belong to.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

pub(super) fn from_environment() -> Option<Arc<dyn Faults>> {
    let limit = std::env::var("RAWR_DEBUG_KILL_AFTER_EVENTS").ok()?.parse().ok()?;
    Some(Arc::new(KillAfterEvents { limit }))
}

impl Faults for KillAfterEvents {
    fn meet(&self, operation: &Operation<'_>, path: &Path) -> Fate {
        let Operation::Append(bytes) = operation else { return Fate::Passes };
        if !path.ends_with(EVENTS) {
            return Fate::Passes;
        }
        let ends = memchr::memchr_iter(b'\n', bytes);
        for end in ends {
            if WRITTEN.fetch_add(1, Ordering::Relaxed) + 1 == self.limit {
                return Fate::Kills { after: end + 1 };
            }
        }
        Fate::Passes
    }
}
