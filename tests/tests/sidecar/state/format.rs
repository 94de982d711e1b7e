//! Lines of future releases, in `tests/samples/future/`, behind a thread of the current format: added fields are
//! ignored, newer formats are refused, and no line is cut off, rewritten or quarantined because of them.

use super::sample::{home_with, samples};
use super::{THREAD, append, events, files, reread, run, said, stored};
use rawr_core::event::FORMAT;
use rawr_protocol::methods::{LogMessage, ThreadOpen};
use rawr_protocol::{ErrorCode, Role};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::fs::{self};

const NEWER: [&str; 3] = ["newer-known-kind", "newer-unknown-kind", "newer-without-its-end"];

fn present() -> TestHome {
    home_with(&samples().join(format!("format-{FORMAT}")))
}

fn future(name: &str) -> Vec<u8> {
    fs::read(samples().join("future").join(format!("{name}.jsonl"))).unwrap()
}

/// A home with these lines at the end of its log, and the number of the first newer line.
fn with(name: &str) -> (TestHome, usize) {
    let home = present();
    run(&home, &["repair"]);
    append(&home, "events.jsonl", &future(name));
    let newer = home.lines(THREAD).iter().position(|line| line.contains("\"v\":65535"));
    (home, newer.map_or(0, |at| at + 1))
}

#[test]
fn unknown_fields_are_ignored() {
    let (home, _) = with("unknown-fields");
    let log = fs::read(home.events(THREAD)).unwrap();
    let seen = reread(&home);
    let directives = seen["directives"].as_array().unwrap();
    assert_eq!(directives.last().unwrap()["text"], "Keep it short.");
    assert_eq!(seen["thread"]["percentRemaining"], 89);
    assert_eq!(fs::read(home.events(THREAD)).unwrap(), log);
    assert!(!home.thread(THREAD).join("quarantine.jsonl").exists());
}

#[test]
fn a_newer_format_is_refused_with_file_and_line_and_nothing_changes() {
    for name in NEWER {
        let (home, line) = with(name);
        let before = stored(&home);
        let mut sidecar = TestSidecar::start(&home);
        for role in [Role::Owner, Role::Observer] {
            let failure = sidecar.failure::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, role));
            let path = home.events(THREAD).display().to_string();
            assert_eq!(failure.code, ErrorCode::StoreFailed, "{name}");
            assert_eq!(
                failure.message,
                format!(
                    "line {line} of {path} has format 65535, this release reads up to {FORMAT}"
                )
            );
            assert_eq!(failure.data.file, Some(path));
            assert_eq!(
                failure.data.hint,
                "this thread was written by a newer rawr: update this one"
            );
        }
        sidecar.kill();
        assert_eq!(stored(&home), before, "{name}");
    }
}

#[test]
fn the_commands_do_not_change_a_newer_format() {
    for name in NEWER {
        let (home, line) = with(name);
        let before = files(&home.thread(THREAD));
        let (checked, code) = events(&home, &["check"]);
        let found = &checked[0]["findings"];
        let newer = found.as_array().unwrap().iter().find(|it| it["kind"] == "newer_format");
        let newer = newer.unwrap_or_else(|| panic!("{name}: {found}"));
        assert_eq!((code, &newer["line"]), (1, &json!(line)), "{name}");
        assert!(newer["todo"].as_str().unwrap().contains("update this one"), "{newer}");
        assert_eq!(said(&home, &["repair"]).1, 1, "{name}");
        assert_eq!(said(&home, &["compact"]).1, 1, "{name}");
        assert_eq!(files(&home.thread(THREAD)), before, "{name}");
    }
}

#[test]
fn a_newer_release_that_appends_stops_only_this_one() {
    for name in NEWER {
        let home = present();
        let mut sidecar = TestSidecar::start(&home);
        let mut host = StandIn::new(THREAD);
        host.open(&home, &mut sidecar);
        sidecar.take_notes();
        append(&home, "events.jsonl", &future(name));
        let log = fs::read(home.events(THREAD)).unwrap();
        let guard = json!({ "threadId": THREAD, "until": { "kind": "released" } });
        for _ in 0..2 {
            let failure = sidecar.request("rawr/guard/set", &guard).unwrap().unwrap_err();
            assert_eq!(failure.code, ErrorCode::StoreFailed, "{name}");
            assert!(failure.message.contains("has format 65535"), "{failure:?}");
        }
        let seen =
            sidecar.request("rawr/thread/get", &json!({ "threadId": THREAD })).unwrap().unwrap();
        let directives = seen["directives"].to_string();
        assert!(!directives.contains("Keep it short."), "half of it was folded: {directives}");
        // The newer release can continue, because its lock is free.
        fs::File::open(home.events(THREAD)).unwrap().try_lock().unwrap();
        sidecar.take_notes();
        sidecar.kill();
        assert_eq!(fs::read(home.events(THREAD)).unwrap(), log, "{name}");
    }
}

/// A new kind requires a new format. If a release breaks this rule, nothing is lost either.
#[test]
fn an_unknown_kind_in_a_known_format_is_reported_and_kept() {
    let (home, _) = with("unknown-kind");
    let log = fs::read(home.events(THREAD)).unwrap();
    let mut sidecar = TestSidecar::start(&home);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Observer));
    let told = sidecar.take::<LogMessage>();
    assert!(told[0].message.contains("unknown variant `moon_risen`"), "{told:?}");
    sidecar.kill();
    assert_eq!(fs::read(home.events(THREAD)).unwrap(), log);
    let seen = reread(&home);
    let directives = seen["directives"].as_array().unwrap();
    assert_eq!(directives.last().unwrap()["text"], "Keep it short.");
}

#[test]
fn a_newer_decision_is_skipped_and_logged() {
    let home = present();
    run(&home, &["repair"]);
    append(&home, "decisions.jsonl", &future("newer-decision"));
    let before = files(&home.thread(THREAD));
    let mut sidecar = TestSidecar::start(&home);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Observer));
    let listed =
        sidecar.request("rawr/decision/list", &json!({ "threadId": THREAD })).unwrap().unwrap();
    let lines = fs::read_to_string(home.thread(THREAD).join("decisions.jsonl")).unwrap();
    assert_eq!(listed["decisions"].as_array().unwrap().len(), lines.lines().count() - 1);
    let log = sidecar.log();
    assert!(log.contains("it has format 65535, this release reads up to 1: update rawr"), "{log}");
    sidecar.kill();
    assert_eq!(said(&home, &["repair"]).1, 1);
    assert_eq!(files(&home.thread(THREAD)), before);
}

#[test]
fn every_line_of_every_log_has_its_format() {
    let home = present();
    append(&home, "events.jsonl", b"not a line of any format\n");
    reread(&home);
    let mut lists = Vec::new();
    for (path, (_, bytes)) in files(&home.thread(THREAD)) {
        if path.ends_with(".jsonl") {
            let text = String::from_utf8(bytes).unwrap();
            for line in text.lines().filter(|line| !line.starts_with("not")) {
                let line: Value = serde_json::from_str(line).unwrap();
                assert!(line["v"].is_u64(), "{path}: {line}");
            }
            lists.push(path.rsplit('/').next().unwrap().to_owned());
        }
    }
    assert_eq!(lists, ["decisions.jsonl", "events.jsonl", "quarantine.jsonl"]);
}
