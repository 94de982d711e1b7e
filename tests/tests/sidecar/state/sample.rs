//! Threads as each format was first written, in `tests/samples/format-<n>/`: this release reads them all, to the same
//! state. `UPDATE=1` writes a missing sample of the current format, and the states.

use super::session::everything;
use super::{THREAD, TestHome};
use rawr_core::event::{FORMAT, Record};
use rawr_core::thread::FOLD;
use rawr_core::units::{ThreadId, stable_hash};
use rawr_core::{Event, Thread};
use rawr_storage::store::{Store, read_decision};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

pub fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Every released format, by its folder.
fn formats() -> Vec<PathBuf> {
    (1..=FORMAT).map(|format| samples().join(format!("format-{format}"))).collect()
}

/// A home that contains this sample.
pub fn home_with(sample: &Path) -> TestHome {
    let home = TestHome::new();
    fs::create_dir_all(home.thread(THREAD)).unwrap();
    for file in ["events.jsonl", "decisions.jsonl"] {
        fs::copy(sample.join(file), home.thread(THREAD).join(file)).unwrap();
    }
    home
}

/// The state that a sample folds to.
fn folded(sample: &Path) -> Thread {
    let home = home_with(sample);
    let (_, (thread, replay)) = Store::new(&home.path()).open(&ThreadId::new(THREAD)).unwrap();
    assert_eq!(replay.damage, Vec::new());
    thread
}

/// The stored names of all kinds of events, which only the deserializer knows.
fn kinds() -> BTreeSet<String> {
    let unknown = json!({ "no_such_kind": {} });
    let error = serde_json::from_value::<Event>(unknown).unwrap_err().to_string();
    let (_, listed) = error.split_once("expected one of ").unwrap();
    listed.split(", ").map(|kind| kind.trim_matches('`').to_owned()).collect()
}

fn kinds_in(events: &str) -> BTreeSet<String> {
    let kind = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["event"].as_object().unwrap().keys().next().unwrap().clone()
    };
    events.lines().map(kind).collect()
}

/// Removes what identifies this machine.
fn anonymous(text: &str, home: &TestHome, repository: &Path) -> String {
    let home = home.path().parent().unwrap().display().to_string();
    let text = text.replace(&repository.display().to_string(), "/code/parser");
    text.replace(&home, "/home/somebody")
}

#[test]
fn a_session_stores_every_kind_of_event() {
    let (home, repository) = everything();
    let events = fs::read_to_string(home.events(THREAD)).unwrap();
    let missing: Vec<_> = kinds().difference(&kinds_in(&events)).cloned().collect();
    assert_eq!(missing, Vec::<String>::new(), "extend the session with something that records it");
    let sample = samples().join(format!("format-{FORMAT}"));
    if is_update() && !sample.exists() {
        fs::create_dir_all(&sample).unwrap();
        for file in ["events.jsonl", "decisions.jsonl"] {
            let text = fs::read_to_string(home.thread(THREAD).join(file)).unwrap();
            fs::write(sample.join(file), anonymous(&text, &home, repository.path())).unwrap();
        }
    }
}

#[test]
fn every_format_has_a_sample_with_every_kind_of_event() {
    for (format, sample) in (1..).zip(formats()) {
        let events = fs::read_to_string(sample.join("events.jsonl")).unwrap_or_else(|error| {
            panic!(
                "{}: {error}: UPDATE=1 cargo test -p rawr-tests --test sidecar state",
                sample.display()
            )
        });
        if format == FORMAT {
            let missing: Vec<_> = kinds().difference(&kinds_in(&events)).cloned().collect();
            assert_eq!(missing, Vec::<String>::new(), "a new kind of event is a new format");
        }
        for file in ["events.jsonl", "decisions.jsonl"] {
            for line in fs::read_to_string(sample.join(file)).unwrap().lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                assert!(line["v"].as_u64().unwrap() <= u64::from(format), "{line}");
            }
        }
    }
}

#[test]
fn every_sample_replays_to_its_state() {
    for sample in formats() {
        let thread = folded(&sample);
        let state = serde_json::to_string_pretty(&thread).unwrap() + "\n";
        let expected = sample.join("expected.json");
        if is_update() {
            fs::write(&expected, &state).unwrap();
        }
        let expected = fs::read_to_string(expected).unwrap();
        let mut differs = state.lines().zip(expected.lines()).filter(|(is, was)| is != was);
        let hint = "UPDATE=1 writes it, where only `Thread` has changed and not what lines mean";
        assert_eq!(differs.next(), None, "{}: {hint}", sample.display());
        assert_eq!(state.lines().count(), expected.lines().count());
        // As a release of that time would have restored it from its cache.
        assert_eq!(serde_json::from_str::<Thread>(&expected).unwrap(), thread);
    }
}

/// Only `FOLD` tells whether a cache is valid.
// rule: recovery.events-are-truth
#[test]
fn a_changed_fold_has_another_number() {
    let states: Vec<_> = formats().iter().map(|sample| folded(sample)).collect();
    let states = stable_hash(&serde_json::to_string(&states).unwrap());
    let is = json!({ "fold": FOLD, "states": format!("{states:016x}") });
    let path = samples().join("fold.json");
    let was: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    if is["fold"] == was["fold"] {
        let hint = "the fold changed: raise FOLD in server/core/src/thread/apply.rs";
        assert_eq!(is, was, "{hint}, then UPDATE=1 cargo test -p rawr-tests --test sidecar state");
    }
    if is_update() {
        fs::write(&path, format!("{is:#}\n")).unwrap();
    } else {
        assert_eq!(is, was, "UPDATE=1 cargo test -p rawr-tests --test sidecar state writes it");
    }
}

#[test]
fn every_decision_of_every_sample_is_read() {
    for sample in formats() {
        let text = fs::read_to_string(sample.join("decisions.jsonl")).unwrap();
        assert!(text.lines().count() > 0);
        for line in text.lines() {
            read_decision(line.as_bytes()).unwrap();
        }
    }
}

/// Reading a line and writing it again yields the same line: no field was ignored.
#[test]
fn every_field_of_the_current_format_is_read() {
    let sample = samples().join(format!("format-{FORMAT}"));
    for line in fs::read_to_string(sample.join("events.jsonl")).unwrap().lines() {
        let record: Record = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), line);
    }
}

#[test]
fn the_check_finds_nothing_in_a_sample() {
    for sample in formats() {
        let home = home_with(&sample);
        super::run(&home, &["repair"]);
        let wrong: Vec<_> =
            super::findings(&home).into_iter().filter(|it| it.starts_with("wrong")).collect();
        assert_eq!(wrong, Vec::<String>::new());
    }
}
