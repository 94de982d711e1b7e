//! Once a day, on the way out: threads that have rested for long are archived. Never in the way of a start.

use super::Desk;
use crate::store::StoreError;
use crate::store::archive::Retired;
use rawr_core::units::{ThreadId, Timestamp};
use std::time::{Duration, SystemTime};

impl Desk {
    pub fn retire_threads(&mut self, now: Timestamp) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(now.0.max(0).unsigned_abs());
        // The user's own: threads of every project lie in one home.
        let days = self.base.0.retention_days;
        let retired = self
            .store
            .is_new_day(now)
            .and_then(|is_new| if is_new { self.store.retire(now, days, tell) } else { Ok(()) });
        if let Err(error) = retired {
            tracing::warn!(%error, "threads that rest could not be archived");
        }
    }
}

fn tell(thread: &ThreadId, retired: Result<Retired, StoreError>) {
    match retired {
        Ok(Retired::Moved) => tracing::info!(%thread, "archived"),
        Ok(Retired::Left { why }) => tracing::info!(%thread, why, "not archived"),
        Err(error) => tracing::warn!(%thread, %error, "not archived"),
    }
}
