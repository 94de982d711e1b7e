//! Slow work of one thread that runs while its requests are served: the judge's endpoint and the repository. The thread
//! says what to run and gets the result. Jobs end with the thread.

use crate::judge::{self, EndpointJudgment, JudgeError, JudgeQuestion};
use crate::repo;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use rawr_core::event::{JudgmentSource, Repo, RepoObserved};
use rawr_core::units::JudgeRequestId;
use rawr_settings::config::{JudgeSettings, RepoObservation};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Job {
    /// Inspect the repository that a thread works in.
    Observe {
        cwd: PathBuf,
        /// The commit since which changes are reported.
        since: Option<String>,
        /// The result of the last inspection.
        last: Option<Repo>,
        settings: RepoObservation,
    },
    /// Ask an endpoint whether to compact.
    Judge {
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
    Observed(Option<RepoObserved>),
    NoRepository,
    Judged {
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

    /// Whether only one job of this kind may run. Of the jobs that wait, only the newest is kept.
    const fn runs_alone(&self) -> bool {
        matches!(self, Self::Observe { .. })
    }

    /// Whether this job cancels an older one of its kind, because its result is no longer needed.
    const fn replaces_older(&self) -> bool {
        matches!(self, Self::Judge { .. })
    }
}

fn work(job: Job) -> BoxFuture<'static, JobResult> {
    match job {
        Job::Observe { cwd, since, last, settings } => async move {
            if !repo::is_work_tree(&cwd) {
                return JobResult::NoRepository;
            }
            let seen = repo::observe(&cwd, &settings, since.as_deref(), last.as_ref()).await;
            JobResult::Observed(seen)
        }
        .boxed(),
        Job::Judge { request, source, question, settings } => async move {
            let answer = judge::judge(&settings, &question).await;
            JobResult::Judged { request, source, answer }
        }
        .boxed(),
    }
}

struct EndedJob {
    ran_alone: bool,
    /// `None` if it panicked or a newer job cancelled it.
    result: Option<JobResult>,
}

/// The jobs of one thread.
pub struct Jobs {
    work: fn(Job) -> BoxFuture<'static, JobResult>,
    running: FuturesUnordered<BoxFuture<'static, EndedJob>>,
    /// A job that runs alone is running.
    is_taken: bool,
    /// The job that runs alone after it.
    next_alone: Option<Job>,
    /// The newest judgment. It may have ended.
    newest: Option<AbortHandle>,
}

impl Default for Jobs {
    fn default() -> Self {
        let (is_taken, next_alone, newest) = Default::default();
        Self { work, running: FuturesUnordered::new(), is_taken, next_alone, newest }
    }
}

impl Jobs {
    pub fn start(&mut self, jobs: Vec<Job>) {
        for job in jobs {
            if job.runs_alone() && self.is_taken {
                self.next_alone = Some(job);
            } else {
                self.run(job);
            }
        }
    }

    fn run(&mut self, job: Job) {
        let (name, ran_alone, work) = (job.name(), job.runs_alone(), self.work);
        self.is_taken |= ran_alone;
        let (handle, registration) = AbortHandle::new_pair();
        if job.replaces_older()
            && let Some(older) = self.newest.replace(handle)
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
                EndedJob { ran_alone, result: done.ok().and_then(Result::ok) }
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
            if ended.ran_alone {
                self.is_taken = false;
                if let Some(job) = self.next_alone.take() {
                    self.run(job);
                }
            }
            if let Some(result) = ended.result {
                return result;
            }
        }
    }
}

#[cfg(test)]
mod tests;
