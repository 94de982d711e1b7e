//! What may wait for the disk or for another process's lock. It is done on threads of its own, so that one thread's
//! trouble holds up no other; what came of it goes back to the registry. Nothing is decided here.

use crate::capsule::{Capsule, Capsules};
use crate::store::archive::Wanted;
use crate::store::{Disk, LockPatience, Reader, Replay, Store, StoreError, ThreadLog};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use rawr_core::machine::Machine;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Record, Thread};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Work on one thread's files. They are not in the registry until it is done.
#[derive(Debug)]
pub struct Work {
    pub thread: ThreadId,
    pub task: Task,
}

#[derive(Debug)]
pub enum Task {
    /// Open the log, or create it where that is wanted, and replay it.
    Open(Store, Wanted),
    /// The same for a stored thread that is only watched: what was recorded since then is kept apart.
    Follow(Store, Timestamp),
    /// Wait for the append lock, which another process holds.
    Lock(Box<ThreadLog>),
    /// Write the batch, and sync it where it asks for that.
    Commit {
        log: Box<ThreadLog>,
        /// Written before it, so that no order to compact stands in the log without its capsule.
        capsules: Vec<Capsule>,
        /// The state behind it, where it is worth caching.
        cache: Option<Box<Thread>>,
    },
    /// Read the log again.
    Reread(Box<ThreadLog>),
    /// The same, and try whether the disk takes what is written.
    Recover(Box<ThreadLog>),
}

/// What came of it, with the files.
#[derive(Debug)]
pub struct Worked {
    pub thread: ThreadId,
    pub outcome: Outcome,
}

#[derive(Debug)]
pub enum Outcome {
    Opened(Result<Opened<Thread>, StoreError>),
    Followed(Result<Opened<Followed>, StoreError>),
    Locked(Box<ThreadLog>, Result<(), StoreError>),
    Committed(Box<ThreadLog>, Result<(), StoreError>),
    Reread(Box<ThreadLog>, Result<(Thread, Replay), StoreError>),
    Recovered(Box<ThreadLog>, Result<(Thread, Replay), StoreError>),
}

#[derive(Debug)]
pub struct Opened<State> {
    pub log: Box<ThreadLog>,
    pub state: State,
    pub replay: Replay,
}

/// A thread as it was at some time, and what was recorded since.
#[derive(Debug)]
pub struct Followed {
    pub before: Machine,
    pub news: Vec<Record>,
    pub since: Timestamp,
}

impl Reader for Followed {
    fn resume(&mut self, cached: Thread) -> bool {
        let known = cached.updated_at < self.since;
        if known {
            self.before = Machine::new(cached);
        }
        known
    }

    fn record(&mut self, record: Record) {
        // Clocks may jump back; what follows news is news.
        if record.at < self.since && self.news.is_empty() {
            self.before.apply(&record);
        } else {
            self.news.push(record);
        }
    }
}

/// One try at a task: what came of it, or the task once more and the error, where another process holds a lock.
type Attempt = Result<Outcome, (Task, StoreError)>;

impl Task {
    /// Waits for the disk, and for no lock.
    fn attempt(self, thread: &ThreadId) -> Attempt {
        match self {
            Self::Open(store, wanted) => {
                let opened = unless_it_panics(|| {
                    let mut state = Thread::new(thread.clone());
                    let (log, replay) = store.try_open_into(thread, wanted, &mut state)?;
                    Ok(Opened { log: Box::new(log), state, replay })
                });
                let outcome = |_, opened| Outcome::Opened(opened);
                unless_locked(store, opened, outcome, |store| Self::Open(store, wanted))
            }
            Self::Follow(store, since) => {
                let followed = unless_it_panics(|| {
                    let before = Machine::new(Thread::new(thread.clone()));
                    let mut state = Followed { before, news: Vec::new(), since };
                    let (log, replay) = store.try_open_into(thread, Wanted::Stored, &mut state)?;
                    Ok(Opened { log: Box::new(log), state, replay })
                });
                let outcome = |_, followed| Outcome::Followed(followed);
                unless_locked(store, followed, outcome, |store| Self::Follow(store, since))
            }
            Self::Lock(mut log) => {
                let locked = unless_it_panics(|| log.take_lock());
                unless_locked(log, locked, Outcome::Locked, Self::Lock)
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
                Ok(Outcome::Committed(log, committed))
            }
            Self::Reread(mut log) => {
                let read = unless_it_panics(|| {
                    log.take_lock()?;
                    log.reread(thread)
                });
                unless_locked(log, read, Outcome::Reread, Self::Reread)
            }
            Self::Recover(mut log) => {
                let read = unless_it_panics(|| {
                    log.take_lock()?;
                    log.recover(thread)
                });
                unless_locked(log, read, Outcome::Recovered, Self::Recover)
            }
        }
    }

    /// No request waits for a recovery: the registry tries one every second.
    const fn waits_for_locks(&self) -> bool {
        !matches!(self, Self::Recover(_))
    }

    fn refused(self, error: StoreError) -> Outcome {
        match self {
            Self::Open(..) => Outcome::Opened(Err(error)),
            Self::Follow(..) => Outcome::Followed(Err(error)),
            Self::Lock(log) => Outcome::Locked(log, Err(error)),
            Self::Commit { log, .. } => Outcome::Committed(log, Err(error)),
            Self::Reread(log) => Outcome::Reread(log, Err(error)),
            Self::Recover(log) => Outcome::Recovered(log, Err(error)),
        }
    }
}

fn unless_locked<Files, T>(
    files: Files,
    result: Result<T, StoreError>,
    outcome: impl FnOnce(Files, Result<T, StoreError>) -> Outcome,
    again: impl FnOnce(Files) -> Task,
) -> Attempt {
    match result {
        Err(error @ StoreError::Locked { .. }) => Err((again(files), error)),
        result => Ok(outcome(files, result)),
    }
}

impl Work {
    /// Here and now, for whoever has nothing else to do meanwhile.
    pub fn run(self) -> Worked {
        let Self { thread, mut task } = self;
        let mut patience = LockPatience::default();
        loop {
            let (again, error) = match task.attempt(&thread) {
                Ok(outcome) => return Worked { thread, outcome },
                Err(locked) => locked,
            };
            match patience.next_pause().filter(|_| again.waits_for_locks()) {
                Some(pause) => std::thread::sleep(pause),
                None => return Worked { thread, outcome: again.refused(error) },
            }
            task = again;
        }
    }

    /// The same on the system's threads, of which it holds none while it waits for a lock: however many threads are locked
    /// elsewhere, the disk is free for the others. `None` where the runtime is on its way down.
    async fn finish(self) -> Option<Box<Worked>> {
        let Self { thread, mut task } = self;
        let mut patience = LockPatience::default();
        loop {
            let of = thread.clone();
            let attempt = tokio::task::spawn_blocking(move || task.attempt(&of)).await.ok()?;
            let (again, error) = match attempt {
                Ok(outcome) => return Some(Box::new(Worked { thread, outcome })),
                Err(locked) => locked,
            };
            match patience.next_pause().filter(|_| again.waits_for_locks()) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Some(Box::new(Worked { thread, outcome: again.refused(error) })),
            }
            task = again;
        }
    }
}

/// That something cannot be kept stops nothing.
fn keep(thread: &ThreadId, log: &ThreadLog, kept: &[Capsule]) {
    let capsules = Capsules::on(Disk::clone(log.disk()), log.folder());
    for capsule in kept {
        if let Err(error) = capsules.write(capsule) {
            tracing::error!(%thread, %error, "what there is before this compaction could not be kept");
        } else if let Err(error) = capsules.prune(&capsule.id) {
            tracing::warn!(%thread, %error, "old capsules could not be removed");
        }
    }
}

fn save(log: &mut ThreadLog, state: &Thread) {
    if let Err(error) = log.save_cache(state) {
        tracing::warn!(%error, "the state could not be cached; the next start replays the log");
    }
}

fn unless_it_panics<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let source = io::Error::other("the work failed inside the sidecar; this is a defect");
        Err(StoreError::Io { verb: "use", path: "the thread's files".into(), source })
    })
}

/// What is under way. The system's threads are spawned on first need, and end when they have had nothing to do for a while.
#[derive(Default)]
pub struct Workers {
    running: FuturesUnordered<BoxFuture<'static, Option<Box<Worked>>>>,
}

impl Workers {
    pub fn start(&mut self, works: Vec<Work>) {
        self.running.extend(works.into_iter().map(|work| work.finish().boxed()));
    }

    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// The next result; for ever in coming while nothing is under way. May be dropped while it waits.
    pub async fn next(&mut self) -> Box<Worked> {
        loop {
            match self.running.next().await {
                Some(Some(worked)) => return worked,
                // The runtime is on its way down.
                Some(None) => {}
                None => std::future::pending().await,
            }
        }
    }
}
