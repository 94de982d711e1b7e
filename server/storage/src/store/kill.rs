//! Crashes on demand, for tests that stop a real process between any two recorded events. Debug builds only.

use super::EVENTS;
use super::faults::{DiskFaults, DiskOperation, OperationOutcome};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The process dies right after so many events were written.
#[derive(Debug)]
struct KillAfterEvents {
    limit: u64,
}

/// Events of this process, in all threads.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

pub(super) fn from_environment() -> Option<Arc<dyn DiskFaults>> {
    let limit = std::env::var("RAWR_DEBUG_KILL_AFTER_EVENTS").ok()?.parse().ok()?;
    Some(Arc::new(KillAfterEvents { limit }))
}

impl DiskFaults for KillAfterEvents {
    fn meet(&self, operation: &DiskOperation<'_>, path: &Path) -> OperationOutcome {
        let DiskOperation::Append(bytes) = operation else { return OperationOutcome::Passes };
        if !path.ends_with(EVENTS) {
            return OperationOutcome::Passes;
        }
        let ends = memchr::memchr_iter(b'\n', bytes);
        for end in ends {
            if WRITTEN.fetch_add(1, Ordering::Relaxed) + 1 == self.limit {
                return OperationOutcome::Kills { after: end + 1 };
            }
        }
        OperationOutcome::Passes
    }
}
