//! Makes what is stored smaller and quicker to read, and changes nothing that a replay comes to. The events stay whole:
//! they are the truth of a thread, and a snapshot in their place would make every change of the state's form a change of
//! the format. What grows without being needed are the decisions, and what takes time is a replay without a cache.

use super::StoredThreads;
use super::finding::Kind;
use super::lines::{bytes_in, lines};
use crate::store::archive::{Hold, ThreadFolder};
use crate::store::{DECISIONS, Disk, EVENTS, StoreError, cache, failed, sync_folder, unfinished};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// More than anybody looks back at.
pub const KEPT_DECISIONS: u64 = 1000;

/// What became of one thread.
#[derive(Debug)]
pub enum Compacted {
    Done {
        bytes_before: u64,
        bytes_after: u64,
        decisions_dropped: u64,
        cached: bool,
    },
    Taken {
        by: String,
    },
    /// To be repaired, or read by a newer release, first.
    Damaged,
}

impl StoredThreads {
    pub fn compact(
        &self,
        place: &ThreadFolder,
        kept_decisions: u64,
    ) -> Result<Compacted, StoreError> {
        let _alone = match self.store.alone(place)? {
            Hold::Alone(alone) => alone,
            Hold::Taken { by } => return Ok(Compacted::Taken { by }),
        };
        let checked = self.check_alone(place);
        let is_damaged = checked.findings.iter().any(|finding| finding.kind.is_damage());
        let bytes_before = checked.bytes;
        // A folder in which nothing is recorded yet, or never was.
        if checked.findings.iter().any(|finding| finding.kind == Kind::NoEvents) && !is_damaged {
            return Ok(Compacted::Done {
                bytes_before,
                bytes_after: bytes_before,
                decisions_dropped: 0,
                cached: false,
            });
        }
        let Some(thread) = checked.thread.as_ref().filter(|_| !is_damaged) else {
            return Ok(Compacted::Damaged);
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
        Ok(Compacted::Done { bytes_before, bytes_after, decisions_dropped, cached })
    }
}

/// The oldest decisions go. How many went.
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
    let mut new = unfinished(folder).map_err(failed("write beside", &path))?;
    for line in lines(&path)?.into_iter().flatten() {
        let line = line?;
        if line.number > dropped {
            let end: &[u8] = if line.whole { b"\n" } else { b"" };
            new.write_all(&line.bytes)
                .and_then(|()| new.write_all(end))
                .map_err(failed("write beside", &path))?;
        }
    }
    new.as_file().sync_all().map_err(failed("sync beside", &path))?;
    new.persist(&path).map_err(|error| failed("replace", &path)(error.error))?;
    sync_folder(folder)?;
    Ok(dropped)
}
