//! Maintenance of a home's threads: check, repair, shorten, export. The core interprets events, and no thread that a
//! process has open is changed here.

mod check;
mod compact;
mod export;
mod finding;
mod lines;
mod repair;

pub use check::CheckedThread;
pub use compact::{CompactOutcome, KEPT_DECISIONS};
pub use finding::{Finding, FindingKind, FindingSeverity};
pub use repair::{RepairAction, RepairReport};

use super::archive::{ArchiveOutcome, ThreadFolder, last_touched};
use super::{Store, StoreError};
use rawr_core::units::ThreadId;
use std::path::Path;
use std::time::SystemTime;

/// All stored threads of one home.
#[derive(Debug)]
pub struct StoredThreads {
    store: Store,
}

/// A thread as a list shows it.
#[derive(Debug, Clone)]
pub struct StoredThreadInfo {
    /// The thread and its folder.
    pub place: ThreadFolder,
    /// The size of all files, in bytes.
    pub bytes: u64,
    /// `None` if there is no log.
    pub touched: Option<SystemTime>,
}

impl StoredThreads {
    /// The threads of this home.
    pub fn new(home: &Path) -> Self {
        Self { store: Store::new(home) }
    }

    /// All threads, archived or not, by name.
    pub fn places(&self) -> Result<Vec<ThreadFolder>, StoreError> {
        self.store.places()
    }

    /// The size and the age of a thread.
    pub fn resting(&self, place: ThreadFolder) -> Result<StoredThreadInfo, StoreError> {
        let bytes = lines::bytes_in(&place.folder)?;
        let touched = last_touched(&place)?;
        Ok(StoredThreadInfo { place, bytes, touched })
    }

    /// Archives the threads that were idle for this many days, and reports each.
    pub fn retire(
        &self,
        now: SystemTime,
        retention_days: u64,
        each: impl FnMut(&ThreadId, Result<ArchiveOutcome, StoreError>),
    ) -> Result<(), StoreError> {
        self.store.retire(now, retention_days, each)
    }
}
