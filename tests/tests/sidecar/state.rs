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

use crate::fixture::{SECRET, THREAD, command, look, mode};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Output;

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
    sidecar.request("rawr/thread/close", &json!({ "threadId": thread })).unwrap().unwrap();
    sidecar.discard_and_leave();
}

/// A run of `rawr state`.
fn run(home: &TestHome, arguments: &[&str]) -> Output {
    let mut command = command(&home.path(), &["state"]);
    command.args(arguments).current_dir(home.work()).output().unwrap()
}

/// Appends to a file of the thread.
fn append(home: &TestHome, file: &str, bytes: &[u8]) {
    let path = home.thread(THREAD).join(file);
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

/// The line as that of another event.
fn numbered(line: &str, number: usize) -> Vec<u8> {
    let mut line: Value = serde_json::from_str(line).unwrap();
    line["id"] = number.into();
    format!("{line}\n").into_bytes()
}

/// The thread as a new sidecar reads it.
fn reread(home: &TestHome) -> Value {
    look(home, THREAD).0
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
        let mode = mode(&path);
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
