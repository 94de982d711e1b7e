//! Stored files: as this release writes them, as it reads those of other releases, and the maintenance commands.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod archive;
mod check;
mod compact;
mod export;
mod format;
mod repair;
mod sample;
mod session;

use rawr_tests::{StandIn, TestHome, TestSidecar, rawr};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const THREAD: &str = "t";

/// A thread that was compacted once, without problems.
fn lived_in() -> TestHome {
    let home = TestHome::new();
    live_in(&home, THREAD);
    home
}

fn live_in(home: &TestHome, thread: &str) {
    let mut sidecar = TestSidecar::start(home);
    let mut host = StandIn::new(thread);
    assert!(host.open(home, &mut sidecar));
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    assert_eq!(host.count("handoff"), 1, "{}", sidecar.told());
    sidecar.say("rawr/thread/close", &json!({ "threadId": thread })).unwrap().unwrap();
    sidecar.take_notes();
    sidecar.leave();
}

fn run(home: &TestHome, arguments: &[&str]) -> Output {
    let mut command = Command::new(rawr());
    command.arg("state").args(arguments).env("RAWR_HOME", home.path()).env_remove("CODEX_HOME");
    command.current_dir(home.work()).output().unwrap()
}

/// The output and the exit code.
fn said(home: &TestHome, arguments: &[&str]) -> (String, i32) {
    let output = run(home, arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    (text + &String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
}

/// The machine-readable output and the exit code.
fn events(home: &TestHome, arguments: &[&str]) -> (Vec<Value>, i32) {
    let output = run(home, &[arguments, &["--json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (events, output.status.code().unwrap())
}

/// The findings of a check as severity, kind, file and line.
fn findings(home: &TestHome) -> Vec<String> {
    let (events, code) = events(home, &["check"]);
    let mut found = Vec::new();
    for event in &events {
        for finding in event["findings"].as_array().into_iter().flatten() {
            let word = |field: &str| finding[field].as_str().unwrap().to_owned();
            let file = word("file");
            let file = file.rsplit('/').next().unwrap();
            let line = finding["line"].as_u64().map(|line| format!(":{line}")).unwrap_or_default();
            found.push(format!("{} {} {file}{line}", word("weight"), word("kind")));
        }
    }
    let is_wrong = found.iter().any(|finding| finding.starts_with("wrong"));
    assert_eq!(code, i32::from(is_wrong), "{found:?}");
    found
}

/// Every file below a folder, with its mode and contents.
fn files(folder: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        if path.is_dir() {
            found.insert(path.display().to_string(), (mode, Vec::new()));
            found.extend(files(&path));
        } else {
            found.insert(path.display().to_string(), (mode, fs::read(&path).unwrap()));
        }
    }
    found
}

fn stored(home: &TestHome) -> BTreeMap<String, (u32, Vec<u8>)> {
    files(&home.path().join("rawr"))
}

/// The state that a new sidecar reads.
fn look(home: &TestHome, thread: &str) -> Value {
    let mut sidecar = TestSidecar::start(home);
    let opening = StandIn::new(thread).opening(home, rawr_protocol::Role::Observer);
    sidecar.call::<rawr_protocol::methods::ThreadOpen>(&opening);
    let seen = sidecar.say("rawr/thread/get", &json!({ "threadId": thread })).unwrap().unwrap();
    sidecar.take_notes();
    sidecar.kill();
    seen
}
