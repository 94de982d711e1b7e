//! Work that takes its time outside of the registry, while others are served: what is under way, and what came of it. What
//! to do comes from the registry and what came of it goes back there; nothing is decided here, and nothing outlives it.

use crate::config::{JudgeSettings, RepoObservation};
use crate::judge::{self, Answer, JudgeError, Question};
use crate::repo;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use rawr_core::event::{JudgeSource, Repo, RepoObserved};
use rawr_core::units::{RequestId, ThreadId};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Job {
    /// Look at the repository that a thread works in.
    Observe {
        thread: ThreadId,
        cwd: PathBuf,
        /// The commit since which changes are told.
        since: Option<String>,
        /// What the last look saw.
        last: Option<Repo>,
        settings: RepoObservation,
    },
    /// Ask an endpoint what it thinks of a compaction.
    Judge {
        thread: ThreadId,
        request: RequestId,
        source: JudgeSource,
        question: Question,
        settings: JudgeSettings,
    },
}

/// What came of a job.
#[derive(Debug)]
pub enum Done {
    /// `None`: there is no repository, or it could not be looked at in time.
    Observed { thread: ThreadId, seen: Option<RepoObserved> },
    Judged {
        thread: ThreadId,
        request: RequestId,
        source: JudgeSource,
        answer: Result<Answer, JudgeError>,
    },
}

impl Job {
    const fn name(&self) -> &'static str {
        match self {
            Self::Observe { .. } => "observe",
            Self::Judge { .. } => "judge",
        }
    }

    /// The thread for which only one job of this kind may be under way, and of those that wait only the newest counts.
    fn alone_in(&self) -> Option<&ThreadId> {
        match self {
            Self::Observe { thread, .. } => Some(thread),
            Self::Judge { .. } => None,
        }
    }

    /// The thread in which it ends an older job of this kind: nobody waits for that one's result any more.
    fn newest_in(&self) -> Option<&ThreadId> {
        match self {
            Self::Observe { .. } => None,
            Self::Judge { thread, .. } => Some(thread),
        }
    }
}

fn work(job: Job) -> BoxFuture<'static, Done> {
    match job {
        Job::Observe { thread, cwd, since, last, settings } => async move {
            let seen = repo::observe(&cwd, &settings, since.as_deref(), last.as_ref()).await;
            Done::Observed { thread, seen }
        }
        .boxed(),
        Job::Judge { thread, request, source, question, settings } => async move {
            let answer = judge::judge(&settings, &question).await;
            Done::Judged { thread, request, source, answer }
        }
        .boxed(),
    }
}

struct Ended {
    alone_in: Option<ThreadId>,
    /// `None`: it panicked, or a newer one ended it.
    done: Option<Done>,
}

pub struct Jobs {
    work: fn(Job) -> BoxFuture<'static, Done>,
    running: FuturesUnordered<BoxFuture<'static, Ended>>,
    /// Threads with a job that must be alone, and the one that comes after it.
    alone: HashMap<ThreadId, Option<Job>>,
    /// The newest question of each thread, which may be answered already.
    newest: HashMap<ThreadId, AbortHandle>,
}

impl Default for Jobs {
    fn default() -> Self {
        let (alone, newest) = Default::default();
        Self { work, running: FuturesUnordered::new(), alone, newest }
    }
}

impl Jobs {
    pub fn start(&mut self, jobs: Vec<Job>) {
        for job in jobs {
            match job.alone_in().and_then(|thread| self.alone.get_mut(thread)) {
                Some(next) => *next = Some(job),
                None => self.run(job),
            }
        }
    }

    fn run(&mut self, job: Job) {
        let (name, alone_in, work) = (job.name(), job.alone_in().cloned(), self.work);
        if let Some(thread) = &alone_in {
            self.alone.insert(thread.clone(), None);
        }
        let (handle, registration) = AbortHandle::new_pair();
        if let Some(thread) = job.newest_in()
            && let Some(older) = self.newest.insert(thread.clone(), handle)
        {
            older.abort();
        }
        self.running.push(
            async move {
                let work = AssertUnwindSafe(async move { work(job).await }).catch_unwind();
                let done = Abortable::new(work, registration).await;
                if matches!(done, Ok(Err(_))) {
                    tracing::error!(
                        job = name,
                        "a job failed inside the sidecar; this is a defect"
                    );
                }
                Ended { alone_in, done: done.ok().and_then(Result::ok) }
            }
            .boxed(),
        );
    }

    /// The next result; for ever in coming while nothing is under way. May be dropped while it waits.
    pub async fn next(&mut self) -> Done {
        loop {
            let Some(ended) = self.running.next().await else {
                return std::future::pending().await;
            };
            let next = ended.alone_in.and_then(|thread| self.alone.remove(&thread)).flatten();
            if let Some(job) = next {
                self.run(job);
            }
            if let Some(done) = ended.done {
                return done;
            }
        }
    }
}

#[cfg(test)]
mod tests;
