//! `rawr state compact`: less disk space, and the same thread.

use super::{THREAD, events, lived_in, reread, said};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::json;
use std::fs;

/// A thread with several decisions.
fn decided() -> TestHome {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let mut host = StandIn::new(THREAD);
    assert!(host.open(&home, &mut sidecar));
    for _ in 0..4 {
        host.user_turn_with_boundaries();
        assert!(host.run(&mut sidecar));
    }
    sidecar.request("rawr/thread/close", &json!({ "threadId": THREAD })).unwrap().unwrap();
    sidecar.discard_and_leave();
    home
}

fn decisions(home: &TestHome) -> Vec<String> {
    let text = fs::read_to_string(home.thread(THREAD).join("decisions.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn only_old_decisions_are_removed() {
    let home = decided();
    let (before, log, all) = (reread(&home), home.lines(THREAD), decisions(&home));
    assert!(all.len() > 3, "{all:?}");
    let (events, code) = events(&home, &["compact", "--keep-decisions", "2"]);
    assert_eq!(code, 0);
    assert_eq!(events[0]["decisionsDropped"], all.len() - 2);
    assert_eq!(decisions(&home), all[all.len() - 2..]);
    assert_eq!((reread(&home), home.lines(THREAD)), (before, log));
    assert_eq!(super::findings(&home), Vec::<String>::new());
}

#[test]
fn the_newest_thousand_decisions_are_kept_by_default() {
    let home = decided();
    let all = decisions(&home);
    let (text, code) = said(&home, &["compact"]);
    let nothing = "1 thread seen to, 0 B saved, nothing archived.\n".to_owned();
    assert_eq!((text, code), (nothing, 0));
    assert_eq!(decisions(&home), all);
}

#[test]
fn a_thread_without_a_cache_gets_a_matching_one() {
    let home = lived_in();
    let cache = home.thread(THREAD).join("state.json");
    let written = fs::read(&cache).unwrap();
    fs::remove_file(&cache).unwrap();
    let (text, _) = said(&home, &["compact", THREAD]);
    assert!(text.contains("the next start is quick"), "{text}");
    assert_eq!(fs::read(&cache).unwrap(), written);
}

#[test]
fn damaged_threads_and_threads_in_use_are_skipped() {
    let home = decided();
    let before = super::stored(&home);
    let mut sidecar = TestSidecar::start(&home);
    let opening = StandIn::new(THREAD).opening(&home, rawr_protocol::Role::Observer);
    sidecar.call::<rawr_protocol::methods::ThreadOpen>(&opening);
    let (text, code) = said(&home, &["compact", "--keep-decisions", "1"]);
    assert!(text.contains("skipped: it is open (another process)"), "{text}");
    assert_eq!(code, 0);
    sidecar.take_notes();
    sidecar.kill();
    assert_eq!(super::stored(&home), before);
    super::append(&home, "events.jsonl", b"unreadable\n");
    let spoilt = super::stored(&home);
    let (text, code) = said(&home, &["compact", "--keep-decisions", "1"]);
    assert!(text.contains("skipped: `rawr state check` shows its problems"), "{text}");
    assert_eq!((code, super::stored(&home)), (1, spoilt));
}
