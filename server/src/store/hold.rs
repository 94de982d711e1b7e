//! Syncs that do not return, on demand, for tests of a disk that hangs below a real process. Debug builds only.

use super::disk::{Fate, Faults, Operation};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Every sync of a file beside this one waits for as long as this one is there.
#[derive(Debug)]
struct HoldSyncs {
    while_there: PathBuf,
}

pub(super) fn from_environment() -> Option<Arc<dyn Faults>> {
    let while_there = std::env::var_os("RAWR_DEBUG_HOLD_SYNCS")?.into();
    Some(Arc::new(HoldSyncs { while_there }))
}

impl Faults for HoldSyncs {
    fn meet(&self, operation: &Operation<'_>, path: &Path) -> Fate {
        let is_beside = path.parent() == self.while_there.parent();
        while *operation == Operation::Sync && is_beside && self.while_there.exists() {
            std::thread::sleep(LOOK_EVERY);
        }
        Fate::Passes
    }
}
