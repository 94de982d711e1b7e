//! Reads how compaction went from the logs of stored threads. Takes no lock and changes nothing, while sidecars may
//! write.

mod fold;
mod packet;
mod resume;
mod thread;
mod totals;

pub use fold::StatsFold;
pub use packet::{FactCounts, PacketFacts};
pub use thread::{
    AnswerCounts, CommandCounts, CompactionRun, CompactionStart, CompactionTokens, JudgeCounts,
    PhaseTime, ProposalCounts, RunEnding, ThreadStats,
};
pub use totals::{
    EndingCount, PacketTotals, PhaseTimes, Samples, StatsTotals, TokenTotals, WorkTotals,
};

use rawr_core::event::FORMAT;
use rawr_core::units::Timestamp;
use rawr_records::lines::{FileLines, ReadError};
use rawr_records::read::LineCounts;
use rawr_storage::parallel::{ProgressListener, on_each};
use rawr_storage::store::archive::{ThreadFolder, last_touched};
use rawr_storage::store::{EVENTS, LineError, StoreError, parse};
use serde::de::IgnoredAny;
use serde::{Serialize, Serializer};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// What to read.
#[derive(Debug)]
pub struct StatsRequest {
    /// The threads.
    pub places: Vec<ThreadFolder>,
    /// Only what happened since.
    pub since: Option<SystemTime>,
}

/// What was read.
#[derive(Debug, Default)]
pub struct StatsResult {
    /// By name. Threads in which nothing happened since the time of the request are left out.
    pub threads: Vec<ThreadStats>,
    /// Threads that could not be read. They are in no figure.
    pub unread: Vec<UnreadThread>,
    /// The sums over the threads.
    pub totals: StatsTotals,
    /// Whether reading was stopped before the end.
    pub is_stopped: bool,
}

/// A thread that could not be read.
#[derive(Debug, Serialize)]
pub struct UnreadThread {
    /// The thread's folder.
    #[serde(rename = "folder", serialize_with = "folder_name")]
    pub place: ThreadFolder,
    /// Why.
    pub error: String,
}

/// Paths need not be valid text.
fn folder_name<S: Serializer>(place: &ThreadFolder, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&place.folder.display())
}

/// Reads the threads.
pub fn stats(
    request: &StatsRequest,
    stop: &AtomicBool,
    progress: ProgressListener<'_>,
) -> StatsResult {
    let unread = |place: &ThreadFolder, error: String| UnreadThread { place: place.clone(), error };
    let read = |place: &ThreadFolder| {
        let thread = thread(place, request.since, stop);
        thread.map_err(|error| unread(place, error.to_string()))
    };
    let defect = "the log brought a defect to light; please report this";
    let instead = |place: &ThreadFolder| Err(unread(place, defect.to_owned()));
    let mut result = StatsResult::default();
    for read in on_each(&request.places, stop, progress, read, instead) {
        match read {
            Ok(thread) => result.threads.extend(thread),
            Err(unread) => result.unread.push(unread),
        }
    }
    result.threads.sort_by(|a, b| a.thread.cmp(&b.thread));
    result.unread.sort_by(|a, b| a.place.folder.cmp(&b.place.folder));
    // Damaged lines of a thread in which nothing happened still count.
    result.totals = StatsTotals::of(&result.threads);
    result.threads.retain(|thread| thread.spans.is_some());
    result.is_stopped = stop.load(Ordering::Relaxed);
    result
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
enum StatsError {
    #[error("failed to read {EVENTS}: {0}")]
    Read(#[from] ReadError),
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}: update rawr")]
    Newer(StoreError),
}

impl From<io::Error> for StatsError {
    fn from(error: io::Error) -> Self {
        ReadError::from(error).into()
    }
}

/// `None` if there is no log, as in a folder that was moved to or from the archive since it was listed, if nothing was
/// recorded since, and if it was stopped before the end.
fn thread(
    place: &ThreadFolder,
    since: Option<SystemTime>,
    stop: &AtomicBool,
) -> Result<Option<ThreadStats>, StatsError> {
    if since.is_some() && last_touched(place)? < since {
        return Ok(None);
    }
    let path = place.folder.join(EVENTS);
    let Some(mut lines) = FileLines::of(&path)? else { return Ok(None) };
    let mut fold = StatsFold::new(place.thread.clone(), since.map_or(Timestamp(i64::MIN), unix));
    let counts = read(&mut lines, &path, stop, &mut fold)?;
    Ok((!stop.load(Ordering::Relaxed)).then(|| fold.finish(counts)))
}

fn unix(time: SystemTime) -> Timestamp {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A thread of a newer format is left alone as a whole, as everywhere in the store.
fn read(
    lines: &mut FileLines,
    path: &Path,
    stop: &AtomicBool,
    fold: &mut StatsFold,
) -> Result<LineCounts, StatsError> {
    let mut counts = LineCounts::default();
    while !stop.load(Ordering::Relaxed)
        && let Some((number, line)) = lines.next_line()?
    {
        let parsed = parse(line);
        let is_json = parsed.is_ok() || serde_json::from_slice::<IgnoredAny>(line).is_ok();
        // The line is being written, or a crash cut it off.
        if lines.is_torn() {
            break;
        }
        counts.lines += 1;
        match parsed {
            Ok(record) => fold.record(&record),
            Err(LineError::Newer(found)) => {
                let path = path.to_owned();
                let newer = StoreError::NewerFormat { path, line: number, found, known: FORMAT };
                return Err(StatsError::Newer(newer));
            }
            Err(LineError::Broken(_)) if is_json => counts.unknown += 1,
            Err(LineError::Broken(_)) => counts.malformed += 1,
        }
    }
    counts.oversized = lines.skipped;
    Ok(counts)
}
