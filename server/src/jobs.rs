//! Slow work that runs while other requests are served: the judge's endpoint and the repository. The registry says what
//! to run and gets the result. Jobs end with the process.

use crate::config::{JudgeSettings, RepoObservation};
use crate::judge::{self, EndpointJudgment, JudgeError, JudgeQuestion};
use crate::repo;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use rawr_core::event::{JudgmentSource, Repo, RepoObserved};
use rawr_core::units::{JudgeRequestId, ThreadId};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Job {
    /// Inspect the repository that a thread works in.
    Observe {
        thread: ThreadId,
        cwd: PathBuf,
        /// The commit since which changes are reported.
        since: Option<String>,
        /// The result of the last inspection.
        last: Option<Repo>,
        settings: RepoObservation,
    },
    /// Ask an endpoint whether to compact.
    Judge {
        thread: ThreadId,
        request: JudgeRequestId,
        source: JudgmentSource,
        question: JudgeQuestion,
        settings: JudgeSettings,
    },
}

/// The result of a job.
#[derive(Debug)]
pub enum JobResult {
    /// `None` if there is no repository, or if it could not be inspected in time.
    Observed {
        thread: ThreadId,
        seen: Option<RepoObserved>,
    },
    NoRepository {
        thread: ThreadId,
    },
    Judged {
        thread: ThreadId,
        request: JudgeRequestId,
        source: JudgmentSource,
        answer: Result<EndpointJudgment, JudgeError>,
    },
}

impl Job {
    const fn name(&self) -> &'static str {
        match self {
            Self::Observe { .. } => "observe",
            Self::Judge { .. } => "judge",
        }
    }

    /// The thread in which only one job of this kind may run. Of the jobs that wait, only the newest is kept.
    fn alone_in(&self) -> Option<&ThreadId> {
        match self {
            Self::Observe { thread, .. } => Some(thread),
            Self::Judge { .. } => None,
        }
    }

    /// The thread in which this job cancels an older one of its kind, because its result is no longer needed.
    fn newest_in(&self) -> Option<&ThreadId> {
        match self {
            Self::Observe { .. } => None,
            Self::Judge { thread, .. } => Some(thread),
        }
    }
}

fn work(job: Job) -> BoxFuture<'static, JobResult> {
    match job {
        Job::Observe { thread, cwd, since, last, settings } => async move {
            if !repo::is_work_tree(&cwd) {
                return JobResult::NoRepository { thread };
            }
            let seen = repo::observe(&cwd, &settings, since.as_deref(), last.as_ref()).await;
            JobResult::Observed { thread, seen }
        }
        .boxed(),
        Job::Judge { thread, request, source, question, settings } => async move {
            let answer = judge::judge(&settings, &question).await;
            JobResult::Judged { thread, request, source, answer }
        }
        .boxed(),
    }
}

struct EndedJob {
    alone_in: Option<ThreadId>,
    /// `None` if it panicked or a newer job cancelled it.
    done: Option<JobResult>,
}

pub struct Jobs {
    work: fn(Job) -> BoxFuture<'static, JobResult>,
    running: FuturesUnordered<BoxFuture<'static, EndedJob>>,
    /// Threads with an exclusive job, and the job that follows it.
    alone: HashMap<ThreadId, Option<Job>>,
    /// The newest judgment of each thread. It may have ended.
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
                    tracing::error!(job = name, "a job panicked; this is a bug in rawr");
                }
                EndedJob { alone_in, done: done.ok().and_then(Result::ok) }
            }
            .boxed(),
        );
    }

    /// The next result. Pending forever while no job runs. Cancel safe.
    pub async fn next(&mut self) -> JobResult {
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
