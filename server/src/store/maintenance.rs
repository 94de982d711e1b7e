//! A home's threads at rest: looked through, put right, shortened, exported. What a thread's events mean is the core's
//! business, and no thread is changed here that anybody has open.

mod check;
mod compact;
mod export;
mod finding;
mod lines;
mod repair;

pub use check::Checked;
pub use compact::{Compacted, KEPT_DECISIONS};
pub use finding::{Finding, Kind, Weight};
pub use repair::{Done, Repaired};

use super::archive::{Retired, ThreadFolder, last_touched};
use super::{Store, StoreError};
use rawr_core::units::ThreadId;
use std::path::Path;
use std::time::SystemTime;

/// Everything that is stored of the threads of one home.
#[derive(Debug)]
pub struct StoredThreads {
    store: Store,
}

/// A thread as a list shows it.
#[derive(Debug, Clone)]
pub struct Resting {
    pub place: ThreadFolder,
    pub bytes: u64,
    /// `None` where there is no log.
    pub touched: Option<SystemTime>,
}

impl StoredThreads {
    pub fn new(home: &Path) -> Self {
        Self { store: Store::new(home) }
    }

    pub fn places(&self) -> Result<Vec<ThreadFolder>, StoreError> {
        self.store.places()
    }

    pub fn resting(&self, place: ThreadFolder) -> Result<Resting, StoreError> {
        let bytes = lines::bytes_in(&place.folder)?;
        let touched = last_touched(&place)?;
        Ok(Resting { place, bytes, touched })
    }

    /// Archives the threads that have rested for this many days, and reports each.
    pub fn retire(
        &self,
        now: SystemTime,
        retention_days: u64,
        each: impl FnMut(&ThreadId, Result<Retired, StoreError>),
    ) -> Result<(), StoreError> {
        self.store.retire(now, retention_days, each)
    }
}
