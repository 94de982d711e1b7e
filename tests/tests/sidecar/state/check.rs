//! `rawr state check`: its findings for all kinds of damage, and that it changes nothing.

use super::{
    SECRET, THREAD, append, events, findings, live_in, lived_in, numbered, run, said, stored,
};
use rawr_core::thread::FOLD;
use rawr_protocol::methods::InputSubmit;
use rawr_protocol::{Disposition, InputKind, InputSubmitParams};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::Duration;

/// Replaces one line.
pub fn replace_line(home: &TestHome, file: &str, number: usize, text: &str) {
    let path = home.thread(THREAD).join(file);
    let lines = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = lines.lines().collect();
    lines[number - 1] = text;
    fs::write(&path, lines.join("\n") + "\n").unwrap();
}

/// The findings for a damaged thread; the check must not change it.
fn check(spoil: impl Fn(&TestHome), expected: &[&str]) {
    let home = lived_in();
    spoil(&home);
    let before = stored(&home);
    assert_eq!(findings(&home), expected);
    assert_eq!(stored(&home), before);
}

#[test]
fn a_normal_session_leaves_nothing_wrong() {
    check(|_| {}, &[]);
    let home = lived_in();
    assert_eq!(said(&home, &["check"]), ("1 thread read, nothing wrong.\n".to_owned(), 0));
    let (text, _) = said(&home, &["check", "last"]);
    assert!(text.starts_with("✓ t "), "{text}");
    assert!(text.contains(" events, 1 decisions, "), "{text}");
}

#[test]
fn an_empty_home_is_checked_too_and_stays_empty() {
    let home = TestHome::empty();
    assert_eq!(said(&home, &["check"]), ("0 threads read, nothing wrong.\n".to_owned(), 0));
    assert!(said(&home, &["check", "x"]).0.contains("there are no threads in"));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn incomplete_and_unreadable_lines_are_reported_by_number() {
    let last = lived_in().lines(THREAD).len();
    let torn = format!("wrong torn_tail events.jsonl:{}", last + 1);
    check(|home| append(home, "events.jsonl", b"{\"v\":1,\"at\""), &[&torn]);
    check(
        |home| replace_line(home, "events.jsonl", last, "\u{fffd}"),
        &[&format!("wrong unreadable_line events.jsonl:{last}"), "wrong cache_unfit state.json"],
    );
    check(
        |home| {
            let text = fs::read(home.events(THREAD)).unwrap();
            fs::write(home.events(THREAD), &text[..text.len() - 1]).unwrap();
        },
        &[&format!("wrong torn_tail events.jsonl:{last}"), "wrong cache_unfit state.json"],
    );
    check(
        |home| append(home, "decisions.jsonl", b"{\"v\":1"),
        &["wrong torn_tail decisions.jsonl:2"],
    );
    check(
        |home| append(home, "decisions.jsonl", b"{}\n"),
        &["wrong unreadable_line decisions.jsonl:2"],
    );
}

#[test]
fn a_cache_must_match_the_log() {
    let cache = |home: &TestHome| home.thread(THREAD).join("state.json");
    check(|home| fs::remove_file(cache(home)).unwrap(), &[]);
    check(|home| fs::write(cache(home), "{").unwrap(), &["wrong cache_unfit state.json"]);
    let change = |home: &TestHome, from: &str, to: &str| {
        let text = fs::read_to_string(cache(home)).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(cache(home), text.replacen(from, to, 1)).unwrap();
    };
    let fold = format!("\"fold\":{FOLD}");
    check(|home| change(home, &fold, "\"fold\":0"), &["note cache_old state.json"]);
    check(|home| change(home, "\"folded_by\"", "\"release\""), &["note cache_old state.json"]);
    check(
        |home| change(home, "\"sequences\":1", "\"sequences\":7"),
        &["wrong cache_unfit state.json"],
    );
}

#[test]
fn wrong_permissions_and_unknown_files_are_reported() {
    let mode = |path: &std::path::Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    check(|home| mode(&home.events(THREAD), 0o640), &["wrong permissions events.jsonl"]);
    check(|home| mode(&home.thread(THREAD), 0o755), &["wrong permissions t"]);
    check(
        |home| mode(home.thread(THREAD).parent().unwrap(), 0o755),
        &["wrong permissions threads"],
    );
    // The log of `rawr codex` and the previous one.
    for log in ["codex.log", "codex.log.old"] {
        let write = |home: &TestHome, its_mode| {
            fs::write(home.path().join("rawr").join(log), "{}\n").unwrap();
            mode(&home.path().join("rawr").join(log), its_mode);
        };
        check(|home| write(home, 0o644), &[&format!("wrong permissions {log}")]);
        check(|home| write(home, 0o600), &[]);
    }
    check(
        |home| symlink("/etc/passwd", home.thread(THREAD).join("link")).unwrap(),
        &["note odd_file link"],
    );
    check(
        |home| {
            let left = home.thread(THREAD).join(".unfinished-AbC123");
            fs::write(&left, "half").unwrap();
            mode(&left, 0o600);
        },
        &["note leftover .unfinished-AbC123"],
    );
    check(
        |home| {
            fs::create_dir(home.thread("empty")).unwrap();
            mode(&home.thread("empty"), 0o700);
        },
        &["note no_events events.jsonl"],
    );
    check(
        |home| fs::write(home.thread("notes.txt"), "mine").unwrap(),
        &["note odd_file notes.txt"],
    );
}

#[test]
fn duplicate_ids_are_reported() {
    for kind in ["sequence_started", "action_issued", "assessed"] {
        let home = lived_in();
        let lines = home.lines(THREAD);
        let line = lines.iter().find(|line| line.contains(&format!("\"{kind}\""))).unwrap();
        append(&home, "events.jsonl", format!("{line}\n").as_bytes());
        assert_eq!(findings(&home), ["note line_twice events.jsonl"], "{kind}");
        append(&home, "events.jsonl", &numbered(line, lines.len() + 2));
        let found = findings(&home);
        assert!(found.contains(&"wrong id_twice events.jsonl".to_owned()), "{kind}: {found:?}");
    }
    let decisions = |home: &TestHome| {
        let text = fs::read(home.thread(THREAD).join("decisions.jsonl")).unwrap();
        append(home, "decisions.jsonl", &text);
    };
    check(decisions, &["note line_twice decisions.jsonl:2"]);
}

#[test]
fn pending_actions_and_the_owner_are_notes() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let mut host = StandIn::new(THREAD);
    host.open(&home, &mut sidecar);
    host.user_turn_with_boundaries();
    let mut said_so = false;
    host.run_and(&mut sidecar, |note| {
        if !said_so && note.method == "rawr/action/perform" {
            said_so = true;
            let found = findings(&home);
            assert_eq!(found, ["note owned t", "note pending events.jsonl"]);
        }
    });
    assert!(said_so);
    let process = sidecar.process_id();
    let (text, code) = said(&home, &["check"]);
    assert!(text.contains(&format!("owned by test for stand-in (process {process})")), "{text}");
    assert_eq!(code, 0);
    sidecar.take_notes();
}

/// A held message with a secret, and the file with its text.
pub fn with_message() -> (TestHome, PathBuf) {
    let home = TestHome::new();
    let (mut sidecar, _host) = StandIn::asked(THREAD, &home);
    let submitted = sidecar.call::<InputSubmit>(&InputSubmitParams {
        thread_id: THREAD.to_owned(),
        input_id: "i1".to_owned(),
        text: format!("use {SECRET}"),
        kind: InputKind::Message,
    });
    assert_eq!(submitted.disposition, Disposition::Held);
    sidecar.take_notes();
    sidecar.kill();
    let folder = home.thread(THREAD).join("held");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let file = file.clone();
    (home, file)
}

#[test]
fn the_text_of_a_message_exists_exactly_while_it_is_held() {
    let (home, file) = with_message();
    assert_eq!(findings(&home), ["note waiting events.jsonl"]);
    let other = file.with_file_name("0123456789abcdef.json");
    fs::rename(&file, &other).unwrap();
    let mut found = findings(&home);
    found.sort();
    let name = file.file_name().unwrap().display();
    let gone = format!("note waiting {name}");
    let mut expected =
        ["note leftover 0123456789abcdef.json", "note waiting events.jsonl", gone.as_str()];
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn the_check_waits_for_a_line_that_is_being_written() {
    let home = lived_in();
    let line = "{\"v\":1,\"at\":5,\"event\":{\"tool_finished\":{\"call\":\"c1\"}}}\n";
    let log = fs::File::open(home.events(THREAD)).unwrap();
    log.lock().unwrap();
    append(&home, "events.jsonl", &line.as_bytes()[..20]);
    let told = std::thread::scope(|scope| {
        let told = scope.spawn(|| said(&home, &["check"]));
        // A process that does not wait would be done by then.
        std::thread::sleep(Duration::from_millis(500));
        append(&home, "events.jsonl", &line.as_bytes()[20..]);
        log.unlock().unwrap();
        told.join().unwrap()
    });
    assert_eq!(told, ("1 thread read, nothing wrong.\n".to_owned(), 0));
}

#[test]
fn a_stuck_lock_is_reported() {
    let home = lived_in();
    append(&home, "events.jsonl", b"torn");
    let log = fs::File::open(home.events(THREAD)).unwrap();
    log.lock().unwrap();
    assert_eq!(findings(&home), ["wrong lock_stuck events.jsonl"]);
}

#[test]
fn a_thread_that_is_being_written_is_never_reported_as_damaged() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let mut host = StandIn::new(THREAD);
    host.open(&home, &mut sidecar);
    let checks = std::thread::scope(|scope| {
        let checks = scope.spawn(|| (0..8).map(|_| said(&home, &["check"])).collect::<Vec<_>>());
        let mut number = 0;
        while !checks.is_finished() {
            number += 1;
            let signal = json!({ "kind": "tool_started", "callId": format!("c{number}"),
                "name": "x".repeat(200) });
            let params = json!({ "threadId": THREAD, "signal": signal });
            sidecar.request("rawr/signal/report", &params).unwrap().unwrap();
        }
        checks.join().unwrap()
    });
    for (text, code) in checks {
        assert_eq!(code, 0, "{text}");
    }
    sidecar.take_notes();
}

#[test]
fn each_thread_is_checked_on_its_own_and_programs_get_an_object_each() {
    let home = lived_in();
    live_in(&home, "other");
    append(&home, "events.jsonl", b"torn");
    let (all, code) = events(&home, &["check"]);
    let told: Vec<_> = all.iter().map(|event| (&event["event"], &event["threadId"])).collect();
    assert_eq!(
        json!(told),
        json!([["thread_checked", "other"], ["thread_checked", "t"], ["checked", null]])
    );
    assert_eq!((code, &all[2]["wrong"]), (1, &json!(1)));
    assert_eq!(said(&home, &["check", "other"]).1, 0);
    assert_eq!(run(&home, &["check", "nothing"]).status.code(), Some(1));
}
