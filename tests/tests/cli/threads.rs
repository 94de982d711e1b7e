//! Commands about threads that run or have been left: their output, their records, their errors.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod respond;
mod restore;
mod show;

use std::process::{Command, Output};

use rawr_tests::{TestHome, err, out, rawr};
use serde_json::Value;

use crate::fixture::RunningHost;

fn run(home: &TestHome, arguments: &[&str]) -> Output {
    let mut command = Command::new(rawr());
    command.args(arguments).env("RAWR_HOME", home.path()).env_remove("CODEX_HOME");
    command.current_dir(home.work()).output().unwrap()
}

/// Checks that the text output contains these words in this order, without colors.
fn check(home: &TestHome, arguments: &[&str], words: &[&str]) -> String {
    let output = run(home, arguments);
    let text = out(&output);
    assert!(output.status.success(), "{arguments:?}: {}", err(&output));
    assert!(!text.contains('\u{1b}'), "{text}");
    let mut rest = text.as_str();
    for word in words {
        let at = rest.find(word).unwrap_or_else(|| panic!("{arguments:?}: {word:?} in\n{text}"));
        rest = &rest[at + word.len()..];
    }
    text
}

/// The JSON output.
fn events(home: &TestHome, arguments: &[&str]) -> Vec<Value> {
    let output = run(home, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", err(&output));
    out(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn event(home: &TestHome, arguments: &[&str]) -> Value {
    let mut events = events(home, arguments);
    assert_eq!(events.len(), 1, "{events:?}");
    events.remove(0)
}

/// Checks an error with an empty stdout.
fn refused(home: &TestHome, arguments: &[&str], code: i32, words: &[&str]) {
    let output = run(home, arguments);
    let error = err(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}{}", out(&output));
    assert_eq!(out(&output), "", "{arguments:?}");
    for word in words {
        assert!(error.contains(word), "{arguments:?}: {word:?} in\n{error}");
    }
}

/// A home with one thread that was compacted and then left.
fn compacted(home: &TestHome, thread: &str) {
    let mut running = RunningHost::on(home, thread);
    running.turn_with_boundaries();
    assert_eq!(running.host.performed, ["packet_request", "compact", "handoff"]);
    running.leave();
}

/// A home with one thread that is under pressure and has not been compacted.
fn pressed(home: &TestHome, thread: &str) {
    let mut running = RunningHost::on(home, thread);
    running.turn();
    running.leave();
}

const NOT_RUNNING: &str = "Takes effect when the thread next runs.";
