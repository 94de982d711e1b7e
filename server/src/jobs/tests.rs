//! Who is let go first, who waits, and who is forgotten: with work that does as its folder says.

use super::*;

fn do_as_told(job: Job) -> BoxFuture<'static, Done> {
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
                // What ran is told by its commit.
                let seen = since.map(|since| RepoObserved {
                    repo: Repo { head: Some(since), ..Repo::default() },
                    committed: None,
                });
                Done::Observed { thread, seen }
            }
            Job::Judge { thread, request, source, question, .. } => {
                obey(&question.context).await;
                Done::Judged { thread, request, source, answer: Err(JudgeError::Empty) }
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
            request: RequestId::new(request),
            source: JudgeSource::Chat,
            question: Question { instructions: String::new(), context: does.to_owned() },
            settings: JudgeSettings::default(),
        },
    }
}

fn shown(done: Done) -> String {
    match done {
        Done::Observed { thread, seen } => {
            format!("{thread} {}", seen.and_then(|seen| seen.repo.head).unwrap_or_default())
        }
        Done::Judged { thread, request, .. } => format!("{thread} ?{request}"),
    }
}

/// Jobs as `thread folder commit`, or `thread case ?request`, and what comes of them until nothing more does.
fn check(jobs: &[&str], expected: &[&str]) {
    let mut under_way = Jobs { work: do_as_told, ..Jobs::default() };
    under_way.start(jobs.iter().map(|told| job(told)).collect());
    let mut came = Vec::new();
    for _ in 0..10 {
        came.extend(under_way.next().now_or_never().map(shown));
    }
    assert_eq!(came, expected);
}

#[test]
fn nothing_comes_of_nothing() {
    check(&[], &[]);
}

#[test]
fn threads_do_not_wait_for_each_other() {
    check(&["a never 1", "b later 1", "c now 1"], &["c 1", "b 1"]);
}

#[test]
fn of_those_that_wait_only_the_newest_counts() {
    check(&["a later 1", "a now 2", "a now 3", "a now 4"], &["a 1", "a 4"]);
    check(&["a never 1", "a now 2"], &[]);
}

#[test]
fn a_newer_question_ends_the_older_one_of_its_thread() {
    check(&["a later ?1", "a now ?2"], &["a ?2"]);
    check(&["a later ?1", "b now ?1"], &["b ?1", "a ?1"]);
    check(&["a later ?1", "a now 1"], &["a 1", "a ?1"]);
    check(&["a panic ?1", "a now ?2", "a never ?3", "b now 1"], &["b 1"]);
}

#[test]
fn an_answered_question_ends_nothing() {
    let mut jobs = Jobs { work: do_as_told, ..Jobs::default() };
    for question in ["a now ?1", "a now ?2"] {
        jobs.start(vec![job(question)]);
        let told = jobs.next().now_or_never().map(shown).unwrap();
        assert_eq!(told, question.replace("now ", ""));
    }
}

#[test]
fn a_panic_ends_its_job_and_lets_the_next_one_go() {
    check(&["a panic 1", "b now 1"], &["b 1"]);
    check(&["a panic 1", "a now 2"], &["a 2"]);
}

#[test]
fn after_an_end_the_thread_is_free_again() {
    let mut jobs = Jobs { work: do_as_told, ..Jobs::default() };
    for commit in ["a now 1", "a now 2"] {
        jobs.start(vec![job(commit)]);
        assert_eq!(jobs.next().now_or_never().map(shown).unwrap(), commit.replace("now ", ""));
    }
    assert!(jobs.alone.is_empty());
}

/// Leaves word where it ends.
struct Last(PathBuf);

impl Drop for Last {
    fn drop(&mut self) {
        std::fs::write(&self.0, "ended").unwrap();
    }
}

#[test]
fn work_ends_with_whom_it_was_done_for() {
    fn go_on(job: Job) -> BoxFuture<'static, Done> {
        let Job::Observe { cwd, .. } = job else { panic!("{job:?}") };
        async move {
            let _last = Last(cwd);
            std::future::pending().await
        }
        .boxed()
    }
    let folder = tempfile::tempdir().unwrap();
    let word = folder.path().join("word");
    let mut jobs = Jobs { work: go_on, ..Jobs::default() };
    jobs.start(vec![job(&format!("a {} 1", word.display()))]);
    assert!(jobs.next().now_or_never().is_none());
    assert!(!word.exists());
    drop(jobs);
    assert!(word.exists());
}
