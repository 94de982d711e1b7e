//! A thread's state for a list. Read without a lock and without a repair, possibly while another process writes.

use super::cache::{self, StateCache};
use super::disk::Disk;
use super::log::CACHE_EVERY;
use super::{EVENTS, StoreError, failed, replay};
use rawr_core::Thread;
use rawr_core::units::ThreadId;
use std::fs::File;
use std::path::Path;

pub(super) fn glance(disk: &Disk, folder: &Path, thread: &ThreadId) -> Result<Thread, StoreError> {
    // A copied folder holds the state of another thread.
    let cached = StateCache::read(folder).filter(|cache| cache.thread.id == *thread);
    let cached = match cached {
        Some(cache) if cache.is_newest(folder) => return Ok(cache.thread),
        cached => cached,
    };
    let path = folder.join(EVENTS);
    let mut log = File::open(&path).map_err(failed("open", &path))?;
    let (start, lines, mut state) = match cached.and_then(|cache| cache.fits(&mut log)) {
        Some(cache) => (cache.bytes, cache.lines, cache.thread),
        None => (0, 0, Thread::new(thread.clone())),
    };
    let replay = replay(&mut log, &path, start, lines + 1, |record| state.apply(&record))?;
    if replay.records >= CACHE_EVERY {
        let lines = lines + replay.lines();
        if let Err(error) = cache::save(disk, folder, &mut log, replay.bytes, lines, &state) {
            tracing::warn!(%thread, %error, "failed to cache the state; the next list replays the log");
        }
    }
    Ok(state)
}
