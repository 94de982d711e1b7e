//! `rawr watch` without a terminal.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use rawr_tests::TestHome;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{RunningHost, THREAD, watch};

fn start(home: &TestHome, arguments: &[&str]) -> (Child, impl Iterator<Item = Value> + use<>) {
    let mut command = watch(home, arguments);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()))
}

#[test]
fn without_a_terminal_the_output_is_a_list_and_a_line_per_event() {
    let home = TestHome::new();
    let mut running = RunningHost::on(&home, THREAD);
    let (mut child, mut events) = start(&home, &[]);
    let snapshot = events.next().unwrap();
    assert_eq!(snapshot["event"], "snapshot");
    assert_eq!(snapshot["threads"][0]["threadId"], THREAD);
    running.turn_with_boundaries();
    let is_over = |event: &Value| {
        event["event"] == "thread_changed"
            && event["phase"] == "idle"
            && event.get("lastCompaction").is_some()
    };
    let has = |seen: &[Value], name: &str| seen.iter().any(|event| event["event"] == name);
    let mut seen: Vec<Value> = Vec::new();
    // Decisions are in a file of their own, so the verdict may come last.
    let names = ["verdict", "heads_up", "compaction", "thread_changed"];
    while !(seen.iter().any(is_over) && names.iter().all(|name| has(&seen, name))) {
        seen.push(events.next().unwrap());
    }
    assert!(seen.iter().all(|event| event["threadId"] == THREAD), "{seen:?}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    running.leave();
}

#[test]
fn a_closed_output_ends_an_idle_watch() {
    let home = TestHome::new();
    let running = RunningHost::on(&home, THREAD);
    let (mut child, mut events) = start(&home, &["--json"]);
    assert_eq!(events.next().unwrap()["event"], "snapshot");
    drop(events);
    assert!(child.wait().unwrap().success());
    running.leave();
}

#[test]
fn only_the_threads_of_a_folder_are_watched() {
    let home = TestHome::new();
    let running = RunningHost::on(&home, THREAD);
    let elsewhere = tempfile::tempdir().unwrap();
    for (folder, count) in [(home.work(), 1), (elsewhere.path().to_owned(), 0)] {
        let (mut child, mut events) = start(&home, &["--folder", folder.to_str().unwrap()]);
        let snapshot = events.next().unwrap();
        assert_eq!(snapshot["threads"].as_array().unwrap().len(), count);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(143));
    }
    running.leave();
}

#[test]
fn a_missing_thread_is_an_error() {
    let home = TestHome::new();
    let running = RunningHost::on(&home, THREAD);
    let mut child = watch(&home, &["nowhere"]).stderr(Stdio::piped()).spawn().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert!(error.contains("there is no thread `nowhere`; `rawr status` lists them"), "{error}");
    running.leave();
}
