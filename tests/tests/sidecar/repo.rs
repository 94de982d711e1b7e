//! The repository state that a sidecar records, and that git never blocks requests.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use crate::fixture::{SECRET, THREAD};
use rawr_protocol::methods::{SignalReport, ThreadGet, ThreadOpen, TurnCompleted, TurnStarted};
use rawr_protocol::{
    CommandLine, Role, Signal, SignalReportParams, ThreadGetParams, TokenUsage,
    TurnCompletedParams, TurnOrigin, TurnStartedParams, TurnStatus,
};
use rawr_tests::stand_in::PRESSURE;
use rawr_tests::{LaunchOptions, Repository, StandIn, TestHome, TestSidecar, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn open(home: &TestHome, sidecar: &mut TestSidecar, cwd: &Path) {
    let mut opening = StandIn::new(THREAD).opening(home, Role::Owner);
    opening.cwd = cwd.display().to_string();
    sidecar.call::<ThreadOpen>(&opening);
}

/// A turn of the user with this usage.
fn turn(sidecar: &mut TestSidecar, turn: &str, context_tokens: u64) {
    let (thread_id, turn_id) = (THREAD.to_owned(), turn.to_owned());
    sidecar.call::<TurnStarted>(&TurnStartedParams {
        thread_id: thread_id.clone(),
        turn_id: turn_id.clone(),
        origin: TurnOrigin::User,
        action_id: None,
        text: Some("Go on".to_owned()),
    });
    sidecar.call::<TurnCompleted>(&TurnCompletedParams {
        thread_id,
        turn_id,
        status: TurnStatus::Completed,
        failure: None,
        last_agent_message: Some("I looked at two more files.".to_owned()),
        usage: Some(TokenUsage {
            context_tokens,
            input_tokens: None,
            cached_input_tokens: None,
            output_tokens: None,
            reasoning_tokens: None,
            cache_seconds: None,
        }),
        queued_inputs: None,
        review_mode: None,
    });
}

/// The recorded states of the repository, oldest first.
fn seen(home: &TestHome) -> Vec<Value> {
    let events = home.recorded(THREAD, "repo_observed");
    events.iter().filter_map(|event| event.get("repo").cloned()).collect()
}

fn wait_for(home: &TestHome, many: usize) -> Vec<Value> {
    wait_until("a look at the repository", || seen(home).len() >= many);
    seen(home)
}

#[test]
fn files_of_commits_and_dirty_files_are_recorded() {
    let (home, repository) = (TestHome::new(), Repository::new());
    let mut sidecar = TestSidecar::start(&home);
    open(&home, &mut sidecar, repository.path());
    let first = wait_for(&home, 1).pop().unwrap();
    assert_eq!((&first["branch"], &first["dirty"]), (&"main".into(), &0.into()), "{first}");

    fs::write(repository.path().join("parser"), "").unwrap();
    repository.git(&["add", "parser"]);
    repository.git(&["commit", "--quiet", "--message", "parser"]);
    fs::write(repository.path().join(SECRET), "").unwrap();
    turn(&mut sidecar, "t1", PRESSURE);
    let second = wait_for(&home, 2).pop().unwrap();
    assert_eq!(second["changed"], json!(["parser"]), "{second}");
    assert_eq!(second["files"], json!(["[redacted:github-token]"]), "{second}");
    assert_eq!(second["head"], repository.git(&["rev-parse", "HEAD"]).trim());
    sidecar.discard_and_leave();
}

#[test]
fn an_unchanged_state_is_not_recorded_again() {
    let (home, repository) = (TestHome::new(), Repository::new());
    let looks = home.work().join("looks");
    let script = format!(
        "PATH=${{PATH#*:}}; case \" $* \" in *' status '*) echo >> '{}' ;; esac; exec git \"$@\"",
        looks.display()
    );
    let mut sidecar = with_program(&home, "git", &script);
    open(&home, &mut sidecar, repository.path());
    wait_for(&home, 1);
    // Compared with the stored state, which is redacted.
    fs::write(repository.path().join(SECRET), "").unwrap();
    for (id, many) in [("t1", 2), ("t2", 3), ("t3", 4)] {
        turn(&mut sidecar, id, PRESSURE);
        // An inspection starts after the previous one was recorded.
        wait_until("another inspection", || {
            fs::read_to_string(&looks).unwrap().lines().count() >= many
        });
    }
    fs::write(repository.path().join("new"), "").unwrap();
    turn(&mut sidecar, "t4", PRESSURE);
    let seen = wait_for(&home, 3);
    let secret = "[redacted:github-token]";
    let files: Vec<_> = seen.iter().map(|seen| &seen["files"]).collect();
    assert_eq!(files[1..], [&json!([secret]), &json!([secret, "new"])]);
    sidecar.discard_and_leave();
}

#[test]
fn a_boundary_triggers_an_inspection() {
    let (home, repository) = (TestHome::new(), Repository::new());
    let mut sidecar = TestSidecar::start(&home);
    open(&home, &mut sidecar, repository.path());
    wait_for(&home, 1);
    fs::write(repository.path().join("first"), "").unwrap();
    let signal = Signal::Commit { hash: None, subject: None };
    let (thread_id, turn_id) = (THREAD.to_owned(), Some("t1".to_owned()));
    sidecar.call::<SignalReport>(&SignalReportParams {
        thread_id,
        turn_id,
        signal_id: None,
        signal,
    });
    turn(&mut sidecar, "t1", 100);
    assert_eq!(wait_for(&home, 2)[1]["dirty"], 1);
    sidecar.discard_and_leave();
}

/// Events of these kinds, oldest first.
fn told(home: &TestHome, kinds: &[&str]) -> Vec<Value> {
    let event = |line: &String| serde_json::from_str::<Value>(line).unwrap()["event"].take();
    let is_told = |event: &Value| kinds.iter().any(|kind| event.get(kind).is_some());
    home.lines(THREAD).iter().map(event).filter(is_told).collect()
}

/// The new commit.
fn commits(repository: &Repository, message: &str) -> String {
    repository.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    repository.git(&["rev-parse", "HEAD"]).trim().to_owned()
}

// rule: signal.unreported-commit
#[test]
fn an_unreported_commit_is_recorded_once_and_a_reported_one_not_again() {
    const KINDS: [&str; 2] = ["commit_made", "command_finished"];
    let (home, repository) = (TestHome::new(), Repository::new());
    let mut sidecar = TestSidecar::start(&home);
    open(&home, &mut sidecar, repository.path());
    wait_for(&home, 1);
    let head = commits(&repository, "by hand");
    turn(&mut sidecar, "t1", PRESSURE);
    wait_for(&home, 2);
    let made = json!({ "commit_made": { "hash": head, "subject": "by hand" } });
    assert_eq!(told(&home, &KINDS), [made]);

    commits(&repository, "by the agent");
    let command = CommandLine::Line("git commit --message 'by the agent'".to_owned());
    sidecar.call::<SignalReport>(&SignalReportParams {
        thread_id: THREAD.to_owned(),
        turn_id: Some("t2".to_owned()),
        signal_id: None,
        signal: Signal::CommandFinished { command, exit_code: 0, cwd: None },
    });
    turn(&mut sidecar, "t2", 100);
    wait_for(&home, 3);
    let told = told(&home, &KINDS);
    assert_eq!((told.len(), told[1].get("commit_made")), (2, None), "{told:#?}");
    sidecar.discard_and_leave();
}

// rule: signal.unreported-branch
#[test]
fn an_unreported_branch_is_recorded_and_is_no_commit() {
    let (home, repository) = (TestHome::new(), Repository::new());
    let mut sidecar = TestSidecar::start(&home);
    open(&home, &mut sidecar, repository.path());
    wait_for(&home, 1);
    repository.git(&["switch", "--quiet", "-c", "feature"]);
    turn(&mut sidecar, "t1", PRESSURE);
    wait_for(&home, 2);
    let changed =
        json!({ "branch_changed": { "branch": "feature", "boundaries": ["branch_changed"] } });
    assert_eq!(told(&home, &["branch_changed", "commit_made"]), [changed]);
    sidecar.discard_and_leave();
}

/// A sidecar with a program of the test first in `PATH`.
fn with_program(home: &TestHome, name: &str, script: &str) -> TestSidecar {
    let folder = home.path().join("bin");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = folder.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    TestSidecar::launch(
        home,
        &LaunchOptions { environment: vec![("PATH", path)], ..LaunchOptions::default() },
    )
}

#[test]
fn git_is_not_started_if_disabled_or_without_a_repository() {
    let off = "[rawr_auto_compaction.repo_observation]\nenabled = false\n";
    let (repository, plain) = (Repository::new(), TestHome::new());
    for (config, cwd) in [(off, repository.path()), ("", plain.work().as_path())] {
        let home = TestHome::new();
        home.configure(config);
        let mut sidecar =
            with_program(&home, "git", &format!("touch '{}'", home.work().join("ran").display()));
        open(&home, &mut sidecar, cwd);
        turn(&mut sidecar, "t1", PRESSURE);
        turn(&mut sidecar, "t2", PRESSURE);
        sidecar.discard_and_leave();
        assert!(!home.work().join("ran").exists(), "{config:?} {cwd:?}");
        assert!(seen(&home).is_empty());
    }
}

#[test]
fn graphite_is_run_only_if_enabled() {
    let repository = Repository::new();
    fs::write(repository.path().join(".git/.graphite_repo_config"), "{}").unwrap();
    for (wanted, stack) in [(true, Value::from("side\nmain")), (false, Value::Null)] {
        let home = TestHome::new();
        let toml = format!(
            "[rawr_auto_compaction.repo_observation]\ngraphite_enabled = {wanted}\ntimeout_seconds = 60\n"
        );
        home.configure(&toml);
        let mut sidecar = with_program(&home, "gt", "printf 'side\\nmain\\n'");
        open(&home, &mut sidecar, repository.path());
        assert_eq!(wait_for(&home, 1)[0]["stack"], stack, "wanted: {wanted}");
        sidecar.discard_and_leave();
    }
}

// rule: signal.best-effort-repository
#[test]
fn git_blocks_no_request_and_ends_with_the_sidecar() {
    let (home, repository) = (TestHome::new(), Repository::new());
    home.configure("[rawr_auto_compaction.repo_observation]\ntimeout_seconds = 60\n");
    let started = home.work().join("started");
    let script = format!("echo $$ >> '{}'; exec sleep 600", started.display());
    let mut sidecar = with_program(&home, "git", &script);
    open(&home, &mut sidecar, repository.path());
    let runs = || fs::read_to_string(&started).unwrap_or_default();
    wait_until("the start of git", || runs().ends_with('\n'));
    for id in ["t1", "t2", "t3"] {
        turn(&mut sidecar, id, PRESSURE);
    }
    sidecar.call::<ThreadGet>(&ThreadGetParams { thread_id: THREAD.to_owned() });
    assert_eq!(runs().lines().count(), 1, "one inspection at a time");
    sidecar.discard_and_leave();
    let process = format!("/proc/{}/stat", runs().trim());
    wait_until("the end of git", || {
        let stat = fs::read_to_string(&process).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with(['Z', 'X']))
    });
}
