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

use crate::config::{Config, Home};
use crate::prompts::PacketFrontMatter;
use crate::store::archive::{Place, Retired, last_touched};
use crate::store::{Store, StoreError};
use rawr_core::units::ThreadId;
use std::time::SystemTime;

/// Everything that is stored of the threads of one home.
#[derive(Debug)]
pub struct State {
    home: Home,
    store: Store,
}

/// A thread as a list shows it.
#[derive(Debug, Clone)]
pub struct Resting {
    pub place: Place,
    pub bytes: u64,
    /// `None` where there is no log.
    pub touched: Option<SystemTime>,
}

impl State {
    pub fn of(home: Home) -> Self {
        let store = Store::new(&home.dir);
        Self { home, store }
    }

    pub fn places(&self) -> Result<Vec<Place>, StoreError> {
        self.store.places()
    }

    pub fn resting(&self, place: Place) -> Result<Resting, StoreError> {
        let bytes = lines::bytes_in(&place.folder)?;
        let touched = last_touched(&place)?;
        Ok(Resting { place, bytes, touched })
    }

    /// Archives the threads that have rested for as long as the configuration says, and tells of each.
    pub fn retire(
        &self,
        now: SystemTime,
        each: impl FnMut(&ThreadId, Result<Retired, StoreError>),
    ) -> Result<(), StoreError> {
        let (config, _) = Config::load(&self.home, None, None, &PacketFrontMatter::default());
        self.store.retire(now, config.retention_days, each)
    }
}
