//! Makes syncs block on demand, for tests of a hanging disk below a real process. Debug builds only.

use super::faults::{DiskFaults, DiskOperation, OperationOutcome};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Each sync of a file blocks while this file exists in the same folder.
#[derive(Debug)]
struct HoldSyncs {
    while_there: PathBuf,
}

pub(super) fn from_environment() -> Option<Arc<dyn DiskFaults>> {
    let while_there = std::env::var_os("RAWR_DEBUG_HOLD_SYNCS")?.into();
    Some(Arc::new(HoldSyncs { while_there }))
}

impl DiskFaults for HoldSyncs {
    fn meet(&self, operation: &DiskOperation<'_>, path: &Path) -> OperationOutcome {
        let is_beside = path.parent() == self.while_there.parent();
        while *operation == DiskOperation::Sync && is_beside && self.while_there.exists() {
            std::thread::sleep(LOOK_EVERY);
        }
        OperationOutcome::Passes
    }
}
