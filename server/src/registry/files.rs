//! Work on a thread's files that may wait for the disk or for another process's lock. It runs on the blocking threads of
//! the runtime, and uses none of them while it waits for a lock, so that one thread's files never block another thread.

use rawr_core::machine::Machine;
use rawr_core::units::{EventId, ThreadId, Timestamp};
use rawr_core::{Record, Thread};
use rawr_storage::capsule::{CapsuleStore, StoredCapsule};
use rawr_storage::store::archive::OpenMode;
use rawr_storage::store::{Disk, LockPatience, RecordReader, Replay, Store, StoreError, ThreadLog};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A thread that was read from disk.
#[derive(Debug)]
pub(super) struct ReadThread<State> {
    pub(super) log: Box<ThreadLog>,
    pub(super) state: State,
    /// What the replay found.
    pub(super) replay: Replay,
}

/// The state of a thread at some time, and the records since then.
#[derive(Debug)]
pub(super) struct FollowedThread {
    /// The state at that time.
    pub(super) before: Machine,
    /// The records since then.
    pub(super) news: Vec<Record>,
    /// That time.
    pub(super) since: Timestamp,
}

impl RecordReader for FollowedThread {
    fn resume(&mut self, cached: Thread) -> bool {
        let known = cached.updated_at < self.since;
        if known {
            self.before = Machine::new(cached);
        }
        known
    }

    fn record(&mut self, record: Record) {
        // The clock may have been set back: records after a new one are new, too.
        if record.at < self.since && self.news.is_empty() {
            self.before.apply(&record);
        } else {
            self.news.push(record);
        }
    }
}

/// Opens the log, or creates it if allowed, and replays it.
pub(super) async fn read_thread(
    store: Store,
    id: ThreadId,
    wanted: OpenMode,
) -> Result<ReadThread<Thread>, StoreError> {
    patiently(move || {
        let mut state = Thread::new(id.clone());
        let (log, replay) = store.try_open_into(&id, wanted, &mut state)?;
        state.skip_to(EventId(log.lines));
        Ok(ReadThread { log: Box::new(log), state, replay })
    })
    .await
}

/// Like [`read_thread`], for a stored thread that is only watched: keeps the records since that time separately.
pub(super) async fn read_followed(
    store: Store,
    id: ThreadId,
    since: Timestamp,
) -> Result<ReadThread<FollowedThread>, StoreError> {
    patiently(move || {
        let before = Machine::new(Thread::new(id.clone()));
        let mut state = FollowedThread { before, news: Vec::new(), since };
        let (log, replay) = store.try_open_into(&id, OpenMode::Stored, &mut state)?;
        Ok(ReadThread { log: Box::new(log), state, replay })
    })
    .await
}

async fn patiently<T: Send + 'static>(
    mut read: impl FnMut() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let ((), read) = on_files((), true, move |()| read()).await;
    read
}

/// Runs `work` and returns the files with its result. Where another process holds a lock, it is repeated: for as long as
/// is worth waiting, or not at all.
pub(super) async fn on_files<Files: Send + 'static, T: Send + 'static>(
    mut files: Files,
    waits_for_locks: bool,
    mut work: impl FnMut(&mut Files) -> Result<T, StoreError> + Send + 'static,
) -> (Files, Result<T, StoreError>) {
    let mut patience = LockPatience::default();
    loop {
        let attempt = move || {
            let done = unless_it_panics(|| work(&mut files));
            (files, work, done)
        };
        let Ok((back, again, done)) = tokio::task::spawn_blocking(attempt).await else {
            // The runtime is shutting down.
            return std::future::pending().await;
        };
        (files, work) = (back, again);
        match done {
            Err(StoreError::Locked { path }) => {
                match patience.next_pause().filter(|_| waits_for_locks) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return (files, Err(StoreError::Locked { path })),
                }
            }
            done => return (files, done),
        }
    }
}

/// Writes the batch, and syncs it if it contains durable events. Capsules are written first, so that the log never
/// contains a compaction without its capsule.
pub(super) fn commit(
    log: &mut ThreadLog,
    thread: &ThreadId,
    capsules: &[StoredCapsule],
    cache: Option<&Thread>,
) -> Result<(), StoreError> {
    keep_capsules(thread, log, capsules);
    log.commit()?;
    if let Some(state) = cache {
        save_cache(log, state);
    }
    Ok(())
}

/// Failures are only logged.
fn keep_capsules(thread: &ThreadId, log: &ThreadLog, kept: &[StoredCapsule]) {
    let capsules = CapsuleStore::on(Disk::clone(log.disk()), log.folder());
    for capsule in kept {
        if let Err(error) = capsules.write(capsule) {
            tracing::error!(%thread, %error, "failed to write the capsule of this compaction");
        } else if let Err(error) = capsules.prune(&capsule.id) {
            tracing::warn!(%thread, %error, "failed to remove old capsules");
        }
    }
}

pub(super) fn save_cache(log: &mut ThreadLog, state: &Thread) {
    if let Err(error) = log.save_cache(state) {
        tracing::warn!(%error, "failed to cache the state; the next start replays the log");
    }
}

fn unless_it_panics<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let source = io::Error::other("reading or writing panicked; this is a bug in rawr");
        Err(StoreError::Io { verb: "use", path: "the thread's files".into(), source })
    })
}
