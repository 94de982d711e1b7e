//! Work that may wait for the disk or for another process's lock. Runs on separate threads, so that one thread's files
//! cannot block the others. The registry gets the results.

use crate::capsule::{CapsuleStore, StoredCapsule};
use crate::store::archive::OpenMode;
use crate::store::{Disk, LockPatience, RecordReader, Replay, Store, StoreError, ThreadLog};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use rawr_core::machine::Machine;
use rawr_core::units::{EventId, ThreadId, Timestamp};
use rawr_core::{Record, Thread};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Work on one thread's files, which are not in the registry until it is done.
#[derive(Debug)]
pub struct ThreadWork {
    /// The thread.
    pub thread: ThreadId,
    /// What to do.
    pub task: WorkerTask,
}

/// What a worker does.
#[derive(Debug)]
pub enum WorkerTask {
    /// Open the log, or create it if allowed, and replay it.
    Open(Store, OpenMode),
    /// Like `Open`, for a stored thread that is only watched: keeps the records since that time separately.
    Follow(Store, Timestamp),
    /// Wait for the append lock, which another process holds.
    Lock(Box<ThreadLog>),
    /// Write the batch, and sync it if it contains durable events.
    Commit {
        /// The log with the batch.
        log: Box<ThreadLog>,
        /// Written first, so that the log never contains a compaction without its capsule.
        capsules: Vec<StoredCapsule>,
        /// The state after the batch, if it is worth caching.
        cache: Option<Box<Thread>>,
    },
    /// Read the log again.
    Reread(Box<ThreadLog>),
    /// Read the log again after testing that the disk accepts writes.
    Recover(Box<ThreadLog>),
}

/// The result, with the thread's files.
#[derive(Debug)]
pub struct FinishedWork {
    /// The thread.
    pub thread: ThreadId,
    /// The result.
    pub outcome: WorkOutcome,
}

/// The result of a [`WorkerTask`].
#[derive(Debug)]
pub enum WorkOutcome {
    /// The result of `Open`.
    Opened(Result<OpenedThread<Thread>, StoreError>),
    /// The result of `Follow`.
    Followed(Result<OpenedThread<FollowedThread>, StoreError>),
    /// The result of `Lock`.
    Locked(Box<ThreadLog>, Result<(), StoreError>),
    /// The result of `Commit`.
    Committed(Box<ThreadLog>, Result<(), StoreError>),
    /// The result of `Reread`.
    Reread(Box<ThreadLog>, Result<(Thread, Replay), StoreError>),
    /// The result of `Recover`.
    Recovered(Box<ThreadLog>, Result<(Thread, Replay), StoreError>),
}

/// A thread that was read from disk.
#[derive(Debug)]
pub struct OpenedThread<State> {
    /// The thread's log.
    pub log: Box<ThreadLog>,
    /// The thread's state.
    pub state: State,
    /// What the replay found.
    pub replay: Replay,
}

/// The state of a thread at some time, and the records since then.
#[derive(Debug)]
pub struct FollowedThread {
    /// The state at that time.
    pub before: Machine,
    /// The records since then.
    pub news: Vec<Record>,
    /// That time.
    pub since: Timestamp,
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

/// One attempt: the outcome, or the task and the error if another process holds a lock.
type TaskAttempt = Result<WorkOutcome, (WorkerTask, StoreError)>;

impl WorkerTask {
    /// Blocks on the disk, but not on locks.
    fn attempt(self, thread: &ThreadId) -> TaskAttempt {
        match self {
            Self::Open(store, wanted) => {
                let opened = unless_it_panics(|| {
                    let mut state = Thread::new(thread.clone());
                    let (log, replay) = store.try_open_into(thread, wanted, &mut state)?;
                    state.skip_to(EventId(log.lines));
                    Ok(OpenedThread { log: Box::new(log), state, replay })
                });
                let outcome = |_, opened| WorkOutcome::Opened(opened);
                unless_locked(store, opened, outcome, |store| Self::Open(store, wanted))
            }
            Self::Follow(store, since) => {
                let followed = unless_it_panics(|| {
                    let before = Machine::new(Thread::new(thread.clone()));
                    let mut state = FollowedThread { before, news: Vec::new(), since };
                    let (log, replay) =
                        store.try_open_into(thread, OpenMode::Stored, &mut state)?;
                    Ok(OpenedThread { log: Box::new(log), state, replay })
                });
                let outcome = |_, followed| WorkOutcome::Followed(followed);
                unless_locked(store, followed, outcome, |store| Self::Follow(store, since))
            }
            Self::Lock(mut log) => {
                let locked = unless_it_panics(|| log.take_lock());
                unless_locked(log, locked, WorkOutcome::Locked, Self::Lock)
            }
            Self::Commit { mut log, capsules, cache } => {
                let committed = unless_it_panics(|| {
                    keep(thread, &log, &capsules);
                    log.commit()?;
                    if let Some(state) = &cache {
                        save(&mut log, state);
                    }
                    Ok(())
                });
                Ok(WorkOutcome::Committed(log, committed))
            }
            Self::Reread(mut log) => {
                let read = unless_it_panics(|| {
                    log.take_lock()?;
                    log.reread(thread)
                });
                unless_locked(log, read, WorkOutcome::Reread, Self::Reread)
            }
            Self::Recover(mut log) => {
                let read = unless_it_panics(|| {
                    log.take_lock()?;
                    log.recover(thread)
                });
                unless_locked(log, read, WorkOutcome::Recovered, Self::Recover)
            }
        }
    }

    /// Recoveries do not wait, because the registry retries every second.
    const fn waits_for_locks(&self) -> bool {
        !matches!(self, Self::Recover(_))
    }

    fn refused(self, error: StoreError) -> WorkOutcome {
        match self {
            Self::Open(..) => WorkOutcome::Opened(Err(error)),
            Self::Follow(..) => WorkOutcome::Followed(Err(error)),
            Self::Lock(log) => WorkOutcome::Locked(log, Err(error)),
            Self::Commit { log, .. } => WorkOutcome::Committed(log, Err(error)),
            Self::Reread(log) => WorkOutcome::Reread(log, Err(error)),
            Self::Recover(log) => WorkOutcome::Recovered(log, Err(error)),
        }
    }
}

fn unless_locked<Files, T>(
    files: Files,
    result: Result<T, StoreError>,
    outcome: impl FnOnce(Files, Result<T, StoreError>) -> WorkOutcome,
    again: impl FnOnce(Files) -> WorkerTask,
) -> TaskAttempt {
    match result {
        Err(error @ StoreError::Locked { .. }) => Err((again(files), error)),
        result => Ok(outcome(files, result)),
    }
}

impl ThreadWork {
    /// Runs synchronously, for callers with nothing else to do.
    pub fn run(self) -> FinishedWork {
        let Self { thread, mut task } = self;
        let mut patience = LockPatience::default();
        loop {
            let (again, error) = match task.attempt(&thread) {
                Ok(outcome) => return FinishedWork { thread, outcome },
                Err(locked) => locked,
            };
            match patience.next_pause().filter(|_| again.waits_for_locks()) {
                Some(pause) => std::thread::sleep(pause),
                None => return FinishedWork { thread, outcome: again.refused(error) },
            }
            task = again;
        }
    }

    /// Runs on the blocking threads of the runtime, and uses none of them while it waits for a lock, so that locked
    /// threads do not block the others. `None` if the runtime is shutting down.
    async fn finish(self) -> Option<Box<FinishedWork>> {
        let Self { thread, mut task } = self;
        let mut patience = LockPatience::default();
        loop {
            let of = thread.clone();
            let attempt = tokio::task::spawn_blocking(move || task.attempt(&of)).await.ok()?;
            let (again, error) = match attempt {
                Ok(outcome) => return Some(Box::new(FinishedWork { thread, outcome })),
                Err(locked) => locked,
            };
            match patience.next_pause().filter(|_| again.waits_for_locks()) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => {
                    return Some(Box::new(FinishedWork { thread, outcome: again.refused(error) }));
                }
            }
            task = again;
        }
    }
}

/// Failures are only logged.
fn keep(thread: &ThreadId, log: &ThreadLog, kept: &[StoredCapsule]) {
    let capsules = CapsuleStore::on(Disk::clone(log.disk()), log.folder());
    for capsule in kept {
        if let Err(error) = capsules.write(capsule) {
            tracing::error!(%thread, %error, "failed to write the capsule of this compaction");
        } else if let Err(error) = capsules.prune(&capsule.id) {
            tracing::warn!(%thread, %error, "failed to remove old capsules");
        }
    }
}

fn save(log: &mut ThreadLog, state: &Thread) {
    if let Err(error) = log.save_cache(state) {
        tracing::warn!(%error, "failed to cache the state; the next start replays the log");
    }
}

fn unless_it_panics<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let source = io::Error::other("a worker panicked; this is a bug in rawr");
        Err(StoreError::Io { verb: "use", path: "the thread's files".into(), source })
    })
}

/// Running work. Blocking threads are started when they are needed and end after some idle time.
#[derive(Default)]
pub struct Workers {
    running: FuturesUnordered<BoxFuture<'static, Option<Box<FinishedWork>>>>,
}

impl Workers {
    /// Starts this work.
    pub fn start(&mut self, works: Vec<ThreadWork>) {
        self.running.extend(works.into_iter().map(|work| work.finish().boxed()));
    }

    /// Whether nothing is running.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// The next result. Pending forever while nothing is running. Cancel safe.
    pub async fn next(&mut self) -> Box<FinishedWork> {
        loop {
            match self.running.next().await {
                Some(Some(worked)) => return worked,
                // The runtime is shutting down.
                Some(None) => {}
                None => std::future::pending().await,
            }
        }
    }
}
