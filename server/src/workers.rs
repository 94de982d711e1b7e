//! What may wait for the disk or for another process's lock. It is done on threads of its own, so that one thread's
//! trouble holds up no other; what came of it goes back to the desk. Nothing is decided here.

use crate::capsule::{Capsule, Capsules};
use crate::store::{Disk, Reader, Replay, Store, StoreError, ThreadLog};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use rawr_core::machine::Machine;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Record, Thread};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Work on one thread's files. They are out of the desk's hands until it is done.
#[derive(Debug)]
pub struct Work {
    pub thread: ThreadId,
    pub task: Task,
}

#[derive(Debug)]
pub enum Task {
    /// Open or create the log, and replay it.
    Open(Store),
    /// The same for a thread that is only watched: what was recorded since then is kept apart.
    Follow(Store, Timestamp),
    /// Wait for the append lock, which another process holds.
    Lock(Box<ThreadLog>),
    /// Write the batch, and sync it where it asks for that. Before it the capsules, so that no order to compact stands in
    /// the log without its capsule.
    Commit(Box<ThreadLog>, Vec<Capsule>),
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

impl Work {
    pub fn run(self) -> Worked {
        let Self { thread, task } = self;
        let outcome = match task {
            Task::Open(store) => Outcome::Opened(unless_it_panics(|| {
                let (log, (state, replay)) = store.open(&thread)?;
                Ok(Opened { log: Box::new(log), state, replay })
            })),
            Task::Follow(store, since) => Outcome::Followed(unless_it_panics(|| {
                let before = Machine::new(Thread::new(thread.clone()));
                let mut state = Followed { before, news: Vec::new(), since };
                let (log, replay) = store.open_into(&thread, &mut state)?;
                Ok(Opened { log: Box::new(log), state, replay })
            })),
            Task::Lock(mut log) => {
                let locked = unless_it_panics(|| log.lock());
                Outcome::Locked(log, locked)
            }
            Task::Commit(mut log, capsules) => {
                let committed = unless_it_panics(|| {
                    keep(&thread, &log, &capsules);
                    log.commit()
                });
                Outcome::Committed(log, committed)
            }
            Task::Reread(mut log) => {
                let read = unless_it_panics(|| log.reread(&thread));
                Outcome::Reread(log, read)
            }
            Task::Recover(mut log) => {
                let read = unless_it_panics(|| log.recover(&thread));
                Outcome::Recovered(log, read)
            }
        };
        Worked { thread, outcome }
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
        for work in works {
            let running = tokio::task::spawn_blocking(|| Box::new(work.run()));
            self.running.push(running.map(Result::ok).boxed());
        }
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
