//! Kills the sidecar after its first, second, third … event of a sequence: the log never contains a compaction without
//! its capsule, and the next sidecar uses the same one.

use std::fs;

use rawr_protocol::methods::{CapsuleAttach, ThreadOpen};
use rawr_protocol::{CapsuleAttachParams, Role};
use rawr_tests::{LaunchOptions, StandIn, TestHome, TestSidecar};
use serde_json::Value;

use super::{get, list};

const THREAD: &str = "walked";
const MOST_EVENTS: u64 = 100;

// rule: capsule.saved-first
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds can be killed on demand")]
fn a_capsule_exists_before_its_compaction_after_any_crash() {
    let mut with_capsule = 0;
    for events in 1..MOST_EVENTS {
        let home = TestHome::new();
        match dies_after(events, &home) {
            DeathPoint::Not => {
                assert!(with_capsule > 2, "it never died with a capsule on the disk");
                return;
            }
            DeathPoint::WithCapsule => with_capsule += 1,
            DeathPoint::Without => {}
        }
    }
    panic!("it never reached the end of the session");
}

enum DeathPoint {
    Not,
    Without,
    WithCapsule,
}

fn dies_after(events: u64, home: &TestHome) -> DeathPoint {
    let limit = ("RAWR_DEBUG_KILL_AFTER_EVENTS", events.to_string().into());
    let mut sidecar = TestSidecar::launch(
        home,
        &LaunchOptions { environment: vec![limit], ..LaunchOptions::default() },
    );
    let mut host = StandIn::new(THREAD);
    host.user_turn_with_boundaries();
    if host.open(home, &mut sidecar) && host.run(&mut sidecar) {
        sidecar.take_notes();
        return DeathPoint::Not;
    }
    sidecar.wait();
    sidecar.take_notes();

    let ordered = home.lines(THREAD).iter().any(|line| line.contains("\"compact\":{"));
    let file = home.thread(THREAD).join("capsules");
    let before = file.read_dir().ok().and_then(|mut files| files.next()).map(|file| {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    });
    assert!(before.is_some() || !ordered, "killed after event {events}: no capsule");

    let mut sidecar = TestSidecar::start(home);
    assert!(host.open(home, &mut sidecar) && host.run(&mut sidecar));
    assert_eq!(host.performed, ["packet_request", "compact", "handoff"], "{events}");
    let listed = list(&mut sidecar, THREAD).capsules;
    assert_eq!(listed.len(), 1, "killed after event {events}: {listed:?}");
    let capsule = get(&mut sidecar, THREAD, &listed[0].capsule_id).capsule;
    assert!(capsule.packet.is_some() && capsule.last_turn_id.is_some(), "{events}: {capsule:?}");
    sidecar.take_notes();
    let Some(before) = before else { return DeathPoint::Without };
    assert_eq!(before["id"], listed[0].capsule_id.as_str(), "{events}");
    assert_eq!(before["packet"]["text"], capsule.packet.unwrap().text.as_str(), "{events}");
    assert_eq!(before["last_turn"], capsule.last_turn_id.unwrap().as_str(), "{events}");
    DeathPoint::WithCapsule
}

#[test]
fn incomplete_files_of_a_crash_are_removed() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = (TestSidecar::start(&home), StandIn::new(THREAD));
    sidecar.call::<ThreadOpen>(&host.opening(&home, Role::Owner));
    let folder = home.thread(THREAD).join("capsules");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(".unfinished-a1b2c3"), "{\"v\":").unwrap();
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    let capsule_id = list(&mut sidecar, THREAD).capsules.remove(0).capsule_id;
    let thread_id = THREAD.to_owned();
    let params = CapsuleAttachParams { thread_id, capsule_id, history: Vec::new() };
    sidecar.call::<CapsuleAttach>(&params);
    assert_eq!(folder.read_dir().unwrap().count(), 2);
    sidecar.take_notes();
}
