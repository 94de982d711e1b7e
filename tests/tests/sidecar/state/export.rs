//! `rawr state export`: everything of a thread, readable and redacted.

use super::sample::{home_with, samples};
use super::{SECRET, THREAD, lived_in, run, said, stored};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn exported(home: &rawr_tests::TestHome) -> Value {
    let output = run(home, &["export", THREAD]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_export_contains_everything_of_a_thread() {
    let home = home_with(&samples().join("format-1"));
    let before = stored(&home);
    let document = exported(&home);
    let lines = |file: &str| {
        let text = fs::read_to_string(home.thread(THREAD).join(file)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    assert_eq!(document["format"], 1);
    assert_eq!(document["rawr"], env!("CARGO_PKG_VERSION"));
    assert_eq!(document["threadId"], THREAD);
    assert_eq!(document["events"], json!(lines("events.jsonl")));
    assert_eq!(document["decisions"], json!(lines("decisions.jsonl")));
    assert_eq!(document["packets"].as_array().unwrap().len(), 1);
    assert_eq!(document["packets"][0]["packet"]["author"], "agent");
    let state = fs::read_to_string(samples().join("format-1/expected.json")).unwrap();
    assert!(document["state"] == serde_json::from_str::<Value>(&state).unwrap());
    assert_eq!(stored(&home), before);
}

#[test]
fn a_secret_in_a_held_message_is_not_exported() {
    let home = lived_in();
    let held = json!({ "input_held": { "input": "i1", "text": format!("use {SECRET}") } });
    let line = json!({ "v": 1, "at": 5, "event": held });
    super::append(&home, "events.jsonl", format!("{line}\n").as_bytes());
    assert!(fs::read_to_string(home.events(THREAD)).unwrap().contains(SECRET));
    let document = exported(&home).to_string();
    assert!(!document.contains(SECRET));
    assert!(document.contains("[redacted:"), "{document}");
}

#[test]
fn a_secret_in_the_file_of_a_held_message_is_not_exported() {
    let (home, file) = super::check::with_message();
    assert!(fs::read_to_string(file).unwrap().contains(SECRET));
    let document = exported(&home).to_string();
    assert!(document.contains("held/"), "{document}");
    assert!(!document.contains(SECRET));
}

#[test]
fn unreadable_lines_are_exported_as_text() {
    let home = lived_in();
    let newer = r#"{"v":65535,"at":5,"event":{"moon_risen":{"token":"x"}}}"#;
    super::append(&home, "events.jsonl", format!("no line\n{newer}\n").as_bytes());
    let document = exported(&home);
    let events = document["events"].as_array().unwrap();
    let [.., unreadable, last] = &events[..] else { panic!("{document}") };
    assert_eq!(unreadable["text"], "no line");
    assert_eq!(unreadable["line"], events.len() - 1);
    assert_eq!(last["event"]["moon_risen"]["token"], "x");
    assert_eq!(document["state"], Value::Null);
    assert_eq!(document["findings"][0]["kind"], "newer_format");
}

#[test]
fn other_files_of_the_folder_are_exported() {
    let home = lived_in();
    let folder = home.thread(THREAD).join("capsules");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("s1.json"), format!("{{\"notes\":\"{SECRET}\"}}")).unwrap();
    fs::write(folder.join("words"), "no JSON").unwrap();
    let document = exported(&home);
    let other = document["other"].as_array().unwrap();
    let content = |name: &str| &other.iter().find(|it| it["name"] == name).unwrap()["content"];
    assert_eq!(content("capsules/words"), "no JSON");
    assert!(content("capsules/s1.json")["notes"].as_str().unwrap().starts_with("[redacted:"));
}

/// A thread that takes long to export.
fn long(lines: usize) -> rawr_tests::TestHome {
    let home = lived_in();
    let line =
        json!({ "v": 1, "at": 5, "event": { "branch_changed": { "branch": "x".repeat(1000) } } });
    super::append(&home, "events.jsonl", format!("{line}\n").repeat(lines).as_bytes());
    home
}

#[test]
fn ctrl_c_leaves_no_incomplete_file() {
    let home = long(20_000);
    let mut command = std::process::Command::new(rawr_tests::rawr());
    command.args(["state", "export", "last", "-o", "report.json"]).current_dir(home.work());
    let mut export = command.env("RAWR_HOME", home.path()).spawn().unwrap();
    let in_work = || fs::read_dir(home.work()).unwrap().count();
    while in_work() == 0 {
        assert!(export.try_wait().unwrap().is_none(), "it is done already");
        std::thread::yield_now();
    }
    let process = rustix::process::Pid::from_child(&export);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    assert_eq!(export.wait().unwrap().code(), Some(130));
    assert_eq!(in_work(), 0);
}

#[test]
fn the_export_file_is_complete_private_and_never_overwrites() {
    let home = lived_in();
    let (text, code) = said(&home, &["export", "last", "--output", "report.json"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("report.json was written ("), "{text}");
    let file = home.work().join("report.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let written: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(written, exported(&home));
    let (text, code) = said(&home, &["export", "last", "-o", "report.json"]);
    assert_eq!((text.as_str(), code), ("rawr: report.json already exists; pass another file\n", 1));
    let (_, code) = said(&home, &["export", "last", "-o", "no/such/folder/report.json"]);
    assert_eq!(code, 1);
    assert_eq!(fs::read_dir(home.work()).unwrap().count(), 1);
}
