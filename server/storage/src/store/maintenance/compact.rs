//! Shrinks stored threads and speeds up reading them, without changing what a replay yields. The events are kept whole:
//! they are the truth of a thread, and a snapshot in their place would make every change of the state a change of the
//! format. It drops old decisions and writes missing caches.

use super::StoredThreads;
use super::finding::FindingKind;
use super::lines::{bytes_in, lines};
use crate::store::archive::{ExclusiveAccess, ThreadFolder};
use crate::store::{DECISIONS, Disk, EVENTS, StoreError, cache, failed, sync_folder, unfinished};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// More decisions than people read.
pub const KEPT_DECISIONS: u64 = 1000;

/// The result for one thread.
#[derive(Debug)]
pub enum CompactOutcome {
    /// The thread was compacted.
    Done {
        /// The size before, in bytes.
        bytes_before: u64,
        /// The size after, in bytes.
        bytes_after: u64,
        /// The number of decisions that were dropped.
        decisions_dropped: u64,
        /// Whether the cache was written.
        cached: bool,
    },
    /// Another process has it open.
    Taken {
        /// The name of that process.
        by: String,
    },
    /// The thread must be repaired, or read by a newer release, first.
    Damaged,
}

impl StoredThreads {
    /// Drops all but the newest `kept` decisions of a thread, and writes its cache.
    pub fn compact(
        &self,
        place: &ThreadFolder,
        kept_decisions: u64,
    ) -> Result<CompactOutcome, StoreError> {
        let _alone = match self.store.alone(place)? {
            ExclusiveAccess::Alone(alone) => alone,
            ExclusiveAccess::Taken { by } => return Ok(CompactOutcome::Taken { by }),
        };
        let checked = self.check_alone(place);
        let is_damaged = checked.findings.iter().any(|finding| finding.kind.is_damage());
        let bytes_before = checked.bytes;
        // An empty folder, or one in which nothing is recorded yet.
        if checked.findings.iter().any(|finding| finding.kind == FindingKind::NoEvents)
            && !is_damaged
        {
            return Ok(CompactOutcome::Done {
                bytes_before,
                bytes_after: bytes_before,
                decisions_dropped: 0,
                cached: false,
            });
        }
        let Some(thread) = checked.thread.as_ref().filter(|_| !is_damaged) else {
            return Ok(CompactOutcome::Damaged);
        };
        let decisions_dropped = shorten(&place.folder, kept_decisions)?;
        let path = place.folder.join(EVENTS);
        let mut log = File::open(&path).map_err(failed("open", &path))?;
        let cached = cache::load(&place.folder, &mut log)
            .is_none_or(|cache| cache.lines != checked.events || cache.thread != *thread);
        if cached {
            let bytes = log.metadata().map_err(failed("read", &path))?.len();
            cache::save(&Disk::default(), &place.folder, &mut log, bytes, checked.events, thread)?;
        }
        let bytes_after = bytes_in(&place.folder)?;
        Ok(CompactOutcome::Done { bytes_before, bytes_after, decisions_dropped, cached })
    }
}

/// Drops the oldest decisions. Returns how many.
fn shorten(folder: &Path, kept: u64) -> Result<u64, StoreError> {
    let path = folder.join(DECISIONS);
    let mut count = 0;
    for line in lines(&path)?.into_iter().flatten() {
        line?;
        count += 1;
    }
    let dropped = u64::saturating_sub(count, kept);
    if dropped == 0 {
        return Ok(0);
    }
    let mut new = unfinished(folder).map_err(failed("write next to", &path))?;
    for line in lines(&path)?.into_iter().flatten() {
        let line = line?;
        if line.number > dropped {
            let end: &[u8] = if line.whole { b"\n" } else { b"" };
            new.write_all(&line.bytes)
                .and_then(|()| new.write_all(end))
                .map_err(failed("write next to", &path))?;
        }
    }
    new.as_file().sync_all().map_err(failed("sync next to", &path))?;
    new.persist(&path).map_err(|error| failed("replace", &path)(error.error))?;
    sync_folder(folder)?;
    Ok(dropped)
}
