//! `events.jsonl` is the truth and `state.json` a cache: truncated, damaged, newer and foreign files.

use super::{THREAD, get, lived_in, look, set_guard};
use rawr_core::event::FORMAT;
use rawr_core::thread::FOLD;
use rawr_protocol::methods::{LogMessage, ThreadOpen};
use rawr_protocol::{ErrorCode, Role};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;

/// The state with this `state.json` is the same as without one.
fn check_cache(home: &TestHome, expected: &Value, spoil: impl Fn(&Path)) {
    let path = home.thread(THREAD).join("state.json");
    drop(fs::remove_file(&path));
    spoil(&path);
    assert_eq!(look(home, THREAD), (expected.clone(), Vec::new()));
    if path.is_dir() {
        fs::remove_dir(path).unwrap();
    }
}

// rule: recovery.events-are-truth
#[test]
fn a_damaged_cache_changes_nothing() {
    let home = lived_in();
    let (expected, told) = look(&home, THREAD);
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(expected["guards"][0]["note"], "before the release");
    assert!(expected["lastCompaction"]["trigger"].is_object(), "{expected}");
    TestSidecar::start(&home)
        .call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Observer));

    check_cache(&home, &expected, |_| {});
    let written = |text: &'static str| move |path: &Path| fs::write(path, text).unwrap();
    check_cache(&home, &expected, written(""));
    check_cache(&home, &expected, written("{"));
    check_cache(&home, &expected, written("[1, 2, 3]"));
    check_cache(&home, &expected, written("{\"release\":\"0.0.0\",\"bytes\":5}"));
    check_cache(&home, &expected, |path| fs::write(path, b"\xff\x00\xff").unwrap());
    check_cache(&home, &expected, |path| fs::create_dir(path).unwrap());
}

/// A cache of a build whose fold differs under the same version.
// rule: recovery.events-are-truth
#[test]
fn a_cache_of_another_fold_or_format_is_discarded() {
    let home = lived_in();
    let mut sidecar = TestSidecar::start(&home);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Observer));
    sidecar.leave();
    let (expected, _) = look(&home, THREAD);
    let path = home.thread(THREAD).join("state.json");
    let mut cache: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    cache["thread"]["guards"] = json!([]);
    for (format, fold) in [(FORMAT, FOLD - 1), (FORMAT, FOLD + 1), (FORMAT - 1, FOLD)] {
        cache["folded_by"] = json!({ "format": format, "fold": fold });
        let cache = cache.to_string();
        check_cache(&home, &expected, |path| fs::write(path, &cache).unwrap());
    }
    cache.as_object_mut().unwrap().remove("folded_by");
    cache["release"] = json!(env!("CARGO_PKG_VERSION"));
    let of_a_version = cache.to_string();
    check_cache(&home, &expected, |path| fs::write(path, &of_a_version).unwrap());
}

#[test]
fn a_cache_of_another_log_is_discarded() {
    let (home, other) = (lived_in(), lived_in());
    let (expected, _) = look(&home, THREAD);
    // A normal exit writes a cache.
    let mut sidecar = TestSidecar::start(&other);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&other, Role::Owner));
    set_guard(&mut sidecar, "another one");
    sidecar.discard_and_leave();
    let cache = fs::read(other.thread(THREAD).join("state.json")).unwrap();
    check_cache(&home, &expected, |path| fs::write(path, &cache).unwrap());
}

#[test]
fn a_log_that_grew_is_replayed_from_its_cache() {
    let home = lived_in();
    let mut sidecar = TestSidecar::start(&home);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Observer));
    sidecar.leave();
    let cache = fs::read(home.thread(THREAD).join("state.json")).unwrap();
    let mut sidecar = TestSidecar::start(&home);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Observer));
    set_guard(&mut sidecar, "after the cache");
    sidecar.take_notes();
    sidecar.kill();
    let (expected, _) = look(&home, THREAD);
    assert_eq!(expected["guards"].as_array().map(Vec::len), Some(2));
    check_cache(&home, &expected, |path| fs::write(path, &cache).unwrap());
}

#[test]
fn a_truncated_last_line_is_all_that_is_lost_and_is_reported() {
    let lived = lived_in();
    let log = fs::read(lived.events(THREAD)).unwrap();
    let last = log[..log.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let lines = log.iter().filter(|byte| **byte == b'\n').count();
    let home = TestHome::new();
    let thread = |bytes: usize| format!("cut{bytes}");
    for bytes in last..=log.len() {
        fs::create_dir_all(home.thread(&thread(bytes))).unwrap();
        fs::write(home.events(&thread(bytes)), &log[..bytes]).unwrap();
    }
    let mut sidecar = TestSidecar::start(&home);
    let mut state = |bytes: usize| {
        let id = thread(bytes);
        sidecar.call::<ThreadOpen>(&StandIn::new(&id).opening(&home, Role::Observer));
        let told: Vec<_> =
            sidecar.take::<LogMessage>().into_iter().map(|line| line.message).collect();
        let mut seen = get(&mut sidecar, &id);
        seen["thread"]["threadId"] = json!("any");
        (seen, told)
    };
    let (without, told) = state(last);
    assert_eq!(told, Vec::<String>::new());
    let (whole, told) = state(log.len());
    assert_eq!(told, Vec::<String>::new());
    assert_ne!(without, whole);
    // A line that lacks only its newline is complete.
    assert_eq!(state(log.len() - 1), (whole, Vec::new()));
    for bytes in last + 1..log.len() - 1 {
        let (seen, told) = state(bytes);
        assert_eq!(seen, without, "cut at byte {bytes}");
        let cut = bytes - last;
        let expected = format!(
            "thread cut{bytes}: line {lines} of events.jsonl was incomplete; {cut} bytes were cut off"
        );
        assert_eq!(told, [expected]);
        assert_eq!(fs::read(home.events(&thread(bytes))).unwrap(), log[..last]);
    }
    sidecar.kill();
}

#[test]
fn records_after_a_truncated_line_start_on_a_new_line() {
    let home = lived_in();
    let log = fs::read(home.events(THREAD)).unwrap();
    fs::write(home.events(THREAD), &log[..log.len() - 20]).unwrap();
    let mut sidecar = TestSidecar::start(&home);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Owner));
    set_guard(&mut sidecar, "again");
    sidecar.take_notes();
    sidecar.kill();
    for line in home.lines(THREAD) {
        serde_json::from_str::<Value>(&line).unwrap();
    }
    let (seen, told) = look(&home, THREAD);
    assert_eq!((seen["guards"][0]["note"].as_str(), told), (Some("again"), Vec::new()));
}

/// The log with one line replaced.
fn with_line(home: &TestHome, number: usize, text: &[u8]) {
    let log = fs::read(home.events(THREAD)).unwrap();
    let mut lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    let line = [text, b"\n"].concat();
    lines[number - 1] = &line;
    fs::write(home.events(THREAD), lines.concat()).unwrap();
    drop(fs::remove_file(home.thread(THREAD).join("state.json")));
}

#[test]
fn an_unreadable_line_is_reported_quarantined_and_kept() {
    for broken in [
        &b"{\"v\":1,\"at\":5,\"event\":{\"guard_"[..],
        b"not json at all",
        b"",
        b"\xff\xfe\x00\x01",
        b"{\"v\":1,\"at\":5,\"event\":{\"no_such_event\":{}}}",
        b"{\"v\":1,\"at\":5,\"event\":{\"guard_set\":{\"guard\":7}}}",
    ] {
        let home = lived_in();
        let lines = home.lines(THREAD);
        let number = lines.iter().position(|line| line.contains("directive_given")).unwrap() + 1;
        with_line(&home, number, broken);
        let spoilt = fs::read(home.events(THREAD)).unwrap();
        let (seen, told) = look(&home, THREAD);
        let start = format!("thread t: line {number} of events.jsonl is unreadable (");
        let [told] = &told[..] else { panic!("told {told:?}") };
        assert!(told.starts_with(&start), "{told}");
        assert!(told.ends_with("); it is kept in quarantine.jsonl"), "{told}");
        assert_eq!(seen["directives"], json!([]));
        let notes: Vec<_> =
            seen["guards"].as_array().unwrap().iter().map(|it| &it["note"]).collect();
        let lost = "lines of the log cannot be read, and may have set a guard";
        assert_eq!(notes, [lost, "before the release"]);
        let aside = fs::read_to_string(home.thread(THREAD).join("quarantine.jsonl")).unwrap();
        let aside: Value = serde_json::from_str(&aside).unwrap();
        assert_eq!(aside["line"], number);
        assert_eq!(aside["text"], String::from_utf8_lossy(broken).as_ref());
        assert_eq!(fs::read(home.events(THREAD)).unwrap(), spoilt, "the log is unchanged");
    }
}

#[test]
fn a_newer_format_is_refused_with_its_line_and_not_changed() {
    let newer = |event: &str| format!("{{\"v\":999,\"at\":5,\"event\":{event}}}");
    for event in
        [r#"{"guard_cleared":{"guard":"g1"}}"#, r#"{"from_the_future":{"x":[1,2]}}"#, "null"]
    {
        let home = lived_in();
        with_line(&home, 3, newer(event).as_bytes());
        let before = fs::read(home.events(THREAD)).unwrap();
        let mut sidecar = TestSidecar::start(&home);
        for role in [Role::Owner, Role::Observer] {
            let failure = sidecar.failure::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, role));
            let path = home.events(THREAD).display().to_string();
            assert_eq!(failure.code, ErrorCode::StoreFailed);
            assert_eq!(
                failure.message,
                format!("line 3 of {path} has format 999, this release reads up to {FORMAT}")
            );
            assert_eq!(failure.data.file, Some(path));
            assert_eq!(
                failure.data.hint,
                "this thread was written by a newer rawr: update this one"
            );
        }
        sidecar.leave();
        assert_eq!(fs::read(home.events(THREAD)).unwrap(), before);
    }
}

#[test]
fn an_incomplete_newer_line_is_not_parsed_as_an_old_one() {
    let home = lived_in();
    let mut log = fs::read(home.events(THREAD)).unwrap();
    log.extend(br#"{"v":999,"at":5,"event":{"guard_cleared":{"guard":"g1"}}}"#);
    fs::write(home.events(THREAD), &log).unwrap();
    let mut sidecar = TestSidecar::start(&home);
    let opening = StandIn::new(THREAD).opening(&home, Role::Observer);
    let failure = sidecar.failure::<ThreadOpen>(&opening);
    let line = home.lines(THREAD).len();
    assert!(failure.message.starts_with(&format!("line {line} of")), "{failure:?}");
    sidecar.leave();
    assert_eq!(fs::read(home.events(THREAD)).unwrap(), log);
}

#[test]
fn an_incomplete_line_of_a_dead_process_is_reported_to_other_clients() {
    let home = lived_in();
    let mut sidecar = TestSidecar::start(&home);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Owner));
    let lines = home.lines(THREAD).len();
    let mut log = fs::OpenOptions::new().append(true).open(home.events(THREAD)).unwrap();
    log.write_all(b"half a line\n{\"v\":1,\"at\":5,\"event\":{\"guard_").unwrap();
    set_guard(&mut sidecar, "after it");
    let told: Vec<_> = sidecar.take::<LogMessage>().into_iter().map(|line| line.message).collect();
    let [unreadable, torn] = &told[..] else { panic!("told {told:?}") };
    let start = format!("thread t: line {} of events.jsonl is unreadable (", lines + 1);
    assert!(unreadable.starts_with(&start), "{unreadable}");
    let start = format!("thread t: line {} of events.jsonl was incomplete;", lines + 2);
    assert!(torn.starts_with(&start), "{torn}");
    sidecar.discard_and_leave();
    assert_eq!(home.lines(THREAD).len(), lines + 2);
    // A full replay finds the same line, which is quarantined only once.
    fs::remove_file(home.thread(THREAD).join("state.json")).unwrap();
    let (seen, _) = look(&home, THREAD);
    // One guard more stands for what the line may have set.
    assert_eq!(seen["guards"].as_array().map(Vec::len), Some(3));
    let aside = fs::read_to_string(home.thread(THREAD).join("quarantine.jsonl")).unwrap();
    assert_eq!(aside.lines().count(), 1, "{aside}");
}
