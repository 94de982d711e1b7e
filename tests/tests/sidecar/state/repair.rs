//! `rawr state repair`: it fixes the findings of a check, loses no readable line, and does not change threads that a
//! process has open.

use super::check::{replace_line, with_message};
use super::{THREAD, append, events, findings, lived_in, numbered, reread, said, stored};
use rawr_protocol::Role;
use rawr_protocol::methods::ThreadOpen;
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The backup files of the thread.
fn kept(home: &TestHome) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.thread(THREAD)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "bak")).collect()
}

/// Applies all kinds of damage at once.
fn spoil(home: &TestHome) -> Vec<String> {
    let mut lines = home.lines(THREAD);
    let turn = lines.iter().position(|line| line.contains("\"directive_given\"")).unwrap_or(4);
    replace_line(home, "events.jsonl", turn + 1, "{\"v\":1,\"at\":5,\"event\":{\"guard_");
    lines.remove(turn);
    append(home, "events.jsonl", b"\n\xff\xfe\n");
    append(home, "events.jsonl", format!("{}\n", lines[0]).as_bytes());
    lines.push(lines[0].clone());
    append(home, "events.jsonl", b"{\"v\":1,\"at\":6,\"eve");
    append(home, "decisions.jsonl", b"half a deci\n{\"v\":1,\"dec");
    fs::write(home.thread(THREAD).join("state.json"), "{").unwrap();
    fs::write(home.thread(THREAD).join(".unfinished-AbC123"), "half").unwrap();
    let log = home.path().join("rawr/codex.log");
    fs::write(&log, "{}\n").unwrap();
    for path in [home.events(THREAD), home.thread(THREAD), home.path().join("rawr"), log] {
        fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    }
    lines
}

#[test]
fn everything_is_fixed_and_no_readable_line_is_lost() {
    let home = lived_in();
    let decisions = fs::read(home.thread(THREAD).join("decisions.jsonl")).unwrap();
    let readable = spoil(&home);
    let spoilt = fs::read(home.events(THREAD)).unwrap();
    let (text, code) = said(&home, &["repair"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("removed 3 unreadable lines"), "{text}");
    assert_eq!(home.lines(THREAD), readable);
    assert_eq!(fs::read(home.thread(THREAD).join("decisions.jsonl")).unwrap(), decisions);
    let mut kept: Vec<_> = kept(&home);
    kept.sort();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_eq!(fs::read(&kept[1]).unwrap(), spoilt, "the backup is complete");
    let aside = fs::read_to_string(home.thread(THREAD).join("quarantine.jsonl")).unwrap();
    let aside: Vec<Value> = aside.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(aside.len(), 3, "{aside:?}");
    let wrong: Vec<_> = findings(&home).into_iter().filter(|it| it.starts_with("wrong")).collect();
    assert_eq!(wrong, Vec::<String>::new());
    for (path, (mode, _)) in stored(&home) {
        let right = if PathBuf::from(&path).is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, right, "{path}");
    }
}

#[test]
fn a_repaired_thread_has_its_old_state() {
    let (home, twin) = (lived_in(), lived_in());
    let readable = spoil(&home);
    fs::write(twin.events(THREAD), readable.join("\n") + "\n").unwrap();
    fs::remove_file(twin.thread(THREAD).join("state.json")).unwrap();
    let before = reread(&twin);
    said(&home, &["repair"]);
    let mut after = reread(&home);
    // The twin's lines are from this home, except for its working folder.
    after["thread"]["cwd"] = before["thread"]["cwd"].clone();
    assert_eq!(after, before);
    let mut sidecar = TestSidecar::start(&home);
    assert!(StandIn::new(THREAD).open(&home, &mut sidecar));
    sidecar.discard_and_leave();
}

#[test]
fn the_text_of_a_message_is_removed_unless_it_is_held() {
    let (home, file) = with_message();
    let left = file.with_file_name("0123456789abcdef.json");
    fs::copy(&file, &left).unwrap();
    let (text, code) = said(&home, &["repair"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!((file.exists(), left.exists()), (true, false), "{text}");
}

#[test]
fn a_second_repair_does_nothing() {
    let home = lived_in();
    spoil(&home);
    said(&home, &["repair"]);
    let before = stored(&home);
    let told = ("1 thread seen to, nothing repaired, nothing still wrong.\n".to_owned(), 0);
    assert_eq!(said(&home, &["repair"]), told);
    assert_eq!(stored(&home), before);
}

#[test]
fn a_complete_last_line_is_kept() {
    let home = lived_in();
    let text = fs::read(home.events(THREAD)).unwrap();
    fs::write(home.events(THREAD), &text[..text.len() - 1]).unwrap();
    assert_eq!(said(&home, &["repair"]).1, 0);
    assert_eq!(fs::read(home.events(THREAD)).unwrap(), text);
    assert_eq!(kept(&home), Vec::<PathBuf>::new());
}

#[test]
fn only_the_permissions_of_an_open_thread_are_fixed() {
    for role in [Role::Owner, Role::Observer] {
        let home = lived_in();
        let mut sidecar = TestSidecar::start(&home);
        sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, role));
        spoil(&home);
        let before = stored(&home);
        let (events, code) = events(&home, &["repair"]);
        let repaired = events.iter().find(|event| event["event"] == "thread_repaired").unwrap();
        let process = sidecar.process_id();
        let expected = match role {
            Role::Owner => format!("test for stand-in (process {process})"),
            Role::Observer => "another process".to_owned(),
        };
        assert_eq!((code, &repaired["takenBy"]), (1, &json!(expected)), "{repaired}");
        for ((path, (_, was)), (_, (mode, is))) in before.iter().zip(&stored(&home)) {
            assert_eq!(was, is, "{path}");
            assert_eq!(mode & 0o077, 0, "{path}");
        }
        sidecar.take_notes();
        sidecar.kill();
        assert_eq!(said(&home, &["repair"]).1, 0);
    }
}

#[test]
fn a_thread_cannot_be_opened_while_it_is_repaired() {
    let home = lived_in();
    let folder = fs::File::open(home.thread(THREAD)).unwrap();
    folder.lock().unwrap();
    let mut sidecar = TestSidecar::start(&home);
    let opening = StandIn::new(THREAD).opening(&home, Role::Owner);
    let asked = sidecar.ask::<ThreadOpen>(&opening);
    append(&home, "events.jsonl", b"torn");
    replace_line(&home, "events.jsonl", 1, "");
    // As a repair leaves it.
    let lines = home.lines(THREAD);
    fs::write(home.events(THREAD), lines[1..lines.len() - 1].join("\n") + "\n").unwrap();
    folder.unlock().unwrap();
    sidecar.answer::<ThreadOpen>(asked).unwrap();
    sidecar.discard_and_leave();
    let aside = home.thread(THREAD).join("quarantine.jsonl");
    assert!(!aside.exists(), "it read the old file");
}

#[test]
fn findings_that_cannot_be_fixed_are_reported() {
    let home = lived_in();
    let lines = home.lines(THREAD);
    let line = lines.iter().find(|line| line.contains("\"action_issued\"")).unwrap();
    append(&home, "events.jsonl", &numbered(line, lines.len() + 1));
    let before = fs::read(home.events(THREAD)).unwrap();
    let (text, code) = said(&home, &["repair"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("duplicate"), "{text}");
    assert!(text.contains("`rawr state export` writes a report for a bug report"), "{text}");
    assert_eq!(fs::read(home.events(THREAD)).unwrap(), before);
}

#[test]
fn an_empty_folder_is_removed() {
    let home = lived_in();
    fs::create_dir(home.thread("empty")).unwrap();
    let (text, code) = said(&home, &["repair"]);
    assert_eq!(code, 0, "{text}");
    assert!(!home.thread("empty").exists());
}
