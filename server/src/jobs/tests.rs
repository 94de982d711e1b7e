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
            Job::Observe { cwd, since, .. } => {
                obey(cwd.to_str().unwrap()).await;
                // The job that ran is identified by its commit.
                let seen = since.map(|since| RepoObserved {
                    repo: Repo { head: Some(since), ..Repo::default() },
                    committed: None,
                });
                JobResult::Observed(seen)
            }
            Job::Judge { request, source, question, .. } => {
                obey(&question.context).await;
                JobResult::Judged { request, source, answer: Err(JudgeError::Empty) }
            }
        }
    }
    .boxed()
}

fn job(told: &str) -> Job {
    let [does, name] = told.split(' ').collect::<Vec<_>>().try_into().unwrap();
    match name.strip_prefix('?') {
        None => Job::Observe {
            cwd: does.into(),
            since: Some(name.to_owned()),
            last: None,
            settings: RepoObservation::default(),
        },
        Some(request) => Job::Judge {
            request: JudgeRequestId::new(request),
            source: JudgmentSource::Chat,
            question: JudgeQuestion { instructions: String::new(), context: does.to_owned() },
            settings: JudgeSettings::default(),
        },
    }
}

fn shown(result: JobResult) -> String {
    match result {
        JobResult::Observed(seen) => seen.and_then(|seen| seen.repo.head).unwrap_or_default(),
        JobResult::NoRepository => "no repository".to_owned(),
        JobResult::Judged { request, .. } => format!("?{request}"),
    }
}

/// Starts jobs given as `folder commit`, or `case ?request`, and collects results until there are no more.
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
fn of_waiting_jobs_only_the_newest_runs() {
    check(&["later 1", "now 2", "now 3", "now 4"], &["1", "4"]);
    check(&["never 1", "now 2"], &[]);
}

#[test]
fn a_newer_judgment_cancels_the_older_one() {
    check(&["later ?1", "now ?2"], &["?2"]);
    check(&["later ?1", "now 1"], &["1", "?1"]);
    check(&["panic ?1", "now ?2", "never ?3", "now 1"], &["1"]);
}

#[test]
fn an_answered_judgment_cancels_nothing() {
    let mut jobs = Jobs { work: simulate, ..Jobs::default() };
    for question in ["now ?1", "now ?2"] {
        jobs.start(vec![job(question)]);
        let told = jobs.next().now_or_never().map(shown).unwrap();
        assert_eq!(told, question.replace("now ", ""));
    }
}

#[test]
fn a_panic_ends_its_job_and_starts_the_next() {
    check(&["panic 1", "now ?1"], &["?1"]);
    check(&["panic 1", "now 2"], &["2"]);
}

#[test]
fn a_job_can_start_after_one_ends() {
    let mut jobs = Jobs { work: simulate, ..Jobs::default() };
    for commit in ["now 1", "now 2"] {
        jobs.start(vec![job(commit)]);
        assert_eq!(jobs.next().now_or_never().map(shown).unwrap(), commit.replace("now ", ""));
    }
    assert!(!jobs.is_taken && jobs.next_alone.is_none());
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
    jobs.start(vec![job(&format!("{} 1", word.display()))]);
    assert!(jobs.next().now_or_never().is_none());
    assert!(!word.exists());
    drop(jobs);
    assert!(word.exists());
}
