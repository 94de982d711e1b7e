//! The order in which jobs run, wait and are dropped. The work is simulated: a job's folder name says what it does.

use super::*;

fn simulate(job: Job) -> BoxFuture<'static, JobResult> {
    async fn obey(told: &str) {
        match told {
            "panic" => panic!("on purpose"),
            "never" => std::future::pending().await,
            "later" => tokio::task::yield_now().await,
            _ => {}
        }
    }
    async move {
        match job {
            Job::Observe { thread, cwd, since, .. } => {
                obey(cwd.to_str().unwrap()).await;
                // The job that ran is identified by its commit.
                let seen = since.map(|since| RepoObserved {
                    repo: Repo { head: Some(since), ..Repo::default() },
                    committed: None,
                });
                JobResult::Observed { thread, seen }
            }
            Job::Judge { thread, request, source, question, .. } => {
                obey(&question.context).await;
                JobResult::Judged { thread, request, source, answer: Err(JudgeError::Empty) }
            }
        }
    }
    .boxed()
}

fn job(told: &str) -> Job {
    let [thread, does, name] = told.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let thread = ThreadId::new(thread);
    match name.strip_prefix('?') {
        None => Job::Observe {
            thread,
            cwd: does.into(),
            since: Some(name.to_owned()),
            last: None,
            settings: RepoObservation::default(),
        },
        Some(request) => Job::Judge {
            thread,
            request: JudgeRequestId::new(request),
            source: JudgmentSource::Chat,
            question: JudgeQuestion { instructions: String::new(), context: does.to_owned() },
            settings: JudgeSettings::default(),
        },
    }
}

fn shown(done: JobResult) -> String {
    match done {
        JobResult::Observed { thread, seen } => {
            format!("{thread} {}", seen.and_then(|seen| seen.repo.head).unwrap_or_default())
        }
        JobResult::NoRepository { thread } => format!("{thread} no repository"),
        JobResult::Judged { thread, request, .. } => format!("{thread} ?{request}"),
    }
}

/// Starts jobs given as `thread folder commit`, or `thread case ?request`, and collects results until there are no
/// more.
fn check(jobs: &[&str], expected: &[&str]) {
    let mut under_way = Jobs { work: simulate, ..Jobs::default() };
    under_way.start(jobs.iter().map(|told| job(told)).collect());
    let mut came = Vec::new();
    for _ in 0..10 {
        came.extend(under_way.next().now_or_never().map(shown));
    }
    assert_eq!(came, expected);
}

#[test]
fn without_jobs_there_is_no_result() {
    check(&[], &[]);
}

#[test]
fn threads_do_not_wait_for_each_other() {
    check(&["a never 1", "b later 1", "c now 1"], &["c 1", "b 1"]);
}

#[test]
fn of_waiting_jobs_only_the_newest_runs() {
    check(&["a later 1", "a now 2", "a now 3", "a now 4"], &["a 1", "a 4"]);
    check(&["a never 1", "a now 2"], &[]);
}

#[test]
fn a_newer_judgment_cancels_the_older_one_of_its_thread() {
    check(&["a later ?1", "a now ?2"], &["a ?2"]);
    check(&["a later ?1", "b now ?1"], &["b ?1", "a ?1"]);
    check(&["a later ?1", "a now 1"], &["a 1", "a ?1"]);
    check(&["a panic ?1", "a now ?2", "a never ?3", "b now 1"], &["b 1"]);
}

#[test]
fn an_answered_judgment_cancels_nothing() {
    let mut jobs = Jobs { work: simulate, ..Jobs::default() };
    for question in ["a now ?1", "a now ?2"] {
        jobs.start(vec![job(question)]);
        let told = jobs.next().now_or_never().map(shown).unwrap();
        assert_eq!(told, question.replace("now ", ""));
    }
}

#[test]
fn a_panic_ends_its_job_and_starts_the_next() {
    check(&["a panic 1", "b now 1"], &["b 1"]);
    check(&["a panic 1", "a now 2"], &["a 2"]);
}

#[test]
fn a_thread_can_start_a_job_after_one_ends() {
    let mut jobs = Jobs { work: simulate, ..Jobs::default() };
    for commit in ["a now 1", "a now 2"] {
        jobs.start(vec![job(commit)]);
        assert_eq!(jobs.next().now_or_never().map(shown).unwrap(), commit.replace("now ", ""));
    }
    assert!(jobs.alone.is_empty());
}

/// Writes a file when it is dropped.
struct Last(PathBuf);

impl Drop for Last {
    fn drop(&mut self) {
        std::fs::write(&self.0, "ended").unwrap();
    }
}

#[test]
fn dropping_jobs_ends_their_work() {
    fn run_forever(job: Job) -> BoxFuture<'static, JobResult> {
        let Job::Observe { cwd, .. } = job else { panic!("{job:?}") };
        async move {
            let _last = Last(cwd);
            std::future::pending().await
        }
        .boxed()
    }
    let folder = tempfile::tempdir().unwrap();
    let word = folder.path().join("word");
    let mut jobs = Jobs { work: run_forever, ..Jobs::default() };
    jobs.start(vec![job(&format!("a {} 1", word.display()))]);
    assert!(jobs.next().now_or_never().is_none());
    assert!(!word.exists());
    drop(jobs);
    assert!(word.exists());
}
