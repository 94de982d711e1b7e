//! The sidecar is killed after its first, second, third … event of a whole sequence, and another one continues the
//! thread: with the same driver, or with a new one that only knows the host's transcript. After a crash at any event,
//! the host has done everything once and the thread is idle.

use rawr_protocol::methods::{InputSubmit, ThreadGet, ThreadOpen};
use rawr_protocol::{Phase, Request, Role, ThreadGetParams};
use rawr_tests::{LaunchOptions, StandIn, TestHome, TestSidecar};

const THREAD: &str = "walked";
/// More events than any sequence here records.
const MOST_EVENTS: u64 = 100;

// rule: recovery.repeats-unreported
// rule: recovery.nothing-twice
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds can be killed on demand")]
fn a_sequence_with_the_agents_packet_survives_a_crash_at_any_event() {
    walk("", Killed::Sidecar, &["packet_request", "compact", "handoff"]);
}

// rule: recovery.nothing-twice
// rule: client.action-once
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds can be killed on demand")]
fn a_host_repeats_nothing_when_driver_and_sidecar_die_at_any_event() {
    walk("", Killed::Both, &["packet_request", "compact", "handoff"]);
}

// rule: delivery.once-in-order-unchanged
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds can be killed on demand")]
fn a_held_message_is_delivered_once_when_driver_and_sidecar_die_at_any_event() {
    walk("", Killed::BothWithAMessage, &["packet_request", "compact", "handoff", "input"]);
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds can be killed on demand")]
fn a_sequence_with_rawrs_packet_and_scratch_survives_a_crash_at_any_event() {
    let config =
        "[rawr_auto_compaction]\npacket_author = \"watcher\"\nscratch_write_enabled = true\n";
    walk(config, Killed::Sidecar, &["heads_up", "scratch_write", "compact", "handoff"]);
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds can be killed on demand")]
fn a_host_writes_no_scratch_twice_when_driver_and_sidecar_die_at_any_event() {
    let config =
        "[rawr_auto_compaction]\npacket_author = \"watcher\"\nscratch_write_enabled = true\n";
    walk(config, Killed::Both, &["heads_up", "scratch_write", "compact", "handoff"]);
}

/// What is killed, once in each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    Sidecar,
    /// The sidecar with its driver.
    Both,
    /// Both, while a message is held.
    BothWithAMessage,
}

/// Repeats with one more event until the sidecar survives the whole sequence.
fn walk(config: &str, dies: Killed, expected: &[&str]) {
    for events in 1..MOST_EVENTS {
        let home = TestHome::new();
        home.configure(config);
        if !crashes_after(events, &home, dies, expected) {
            assert!(events > 20, "the whole story has more events than {events}");
            return;
        }
    }
    panic!("it never reached the end of the session");
}

fn crashes_after(events: u64, home: &TestHome, dies: Killed, expected: &[&str]) -> bool {
    let limit = ("RAWR_DEBUG_KILL_AFTER_EVENTS", events.to_string().into());
    let mut sidecar = TestSidecar::launch(
        home,
        &LaunchOptions { environment: vec![limit], ..LaunchOptions::default() },
    );
    let mut host = StandIn::new(THREAD);
    host.user_turn_with_boundaries();
    if dies == Killed::BothWithAMessage {
        host.writes_during = Some("packet_request");
    }
    let mut crashes = 0;
    if !host.open(home, &mut sidecar) {
        crashes += 1;
        restart(home, &mut sidecar, &mut host, dies);
    }
    while !host.run(&mut sidecar) {
        crashes += 1;
        restart(home, &mut sidecar, &mut host, dies);
    }
    // Unsent reports of a killed driver are lost, so that more work is needed.
    if host.count("compact") == 0 {
        host.user_turn_with_boundaries();
        assert!(host.run(&mut sidecar), "it ended without a kill");
    }
    let died = format!("killed after event {events}");
    // A message that was not accepted is lost with the driver.
    let taken = host.acknowledged.iter().any(|(method, _)| *method == InputSubmit::METHOD);
    let waits = |what: &&&str| **what != "input" || taken || host.count("input") > 0;
    let expected: Vec<_> = expected.iter().filter(waits).copied().collect();
    assert_eq!(host.performed, expected, "{died}\n{}", home.lines(THREAD).join("\n"));
    assert_at_rest(&mut sidecar, &died);

    host.user_turn();
    assert!(host.run(&mut sidecar) || crashes == 0, "{died}: it ended again");
    if !host.run(&mut sidecar) {
        crashes += 1;
        restart(home, &mut sidecar, &mut host, dies);
        assert!(host.run(&mut sidecar));
    }
    assert_eq!(host.performed, expected, "{died}: the same pressure started something");
    let last = host.verdicts.last().unwrap_or_else(|| panic!("{died}: no verdict"));
    assert_eq!(last["outcome"], "nothing", "{died}: {last}");
    assert_at_rest(&mut sidecar, &died);
    // An observer reads the same state from disk.
    let mut observer = TestSidecar::start(home);
    let seen = observer.call::<ThreadOpen>(&host.opening(home, Role::Observer));
    assert_eq!((seen.phase, seen.pending_actions), (Phase::Idle, Vec::new()), "{died}");
    observer.take_notes();
    sidecar.take_notes();
    crashes > 0
}

fn restart(home: &TestHome, sidecar: &mut TestSidecar, host: &mut StandIn, dies: Killed) {
    if dies != Killed::Sidecar {
        host.driver_dies();
    }
    sidecar.wait();
    sidecar.take_notes();
    *sidecar = TestSidecar::start(home);
    assert!(host.open(home, sidecar), "it ended without a kill\n{}", sidecar.told());
}

fn assert_at_rest(sidecar: &mut TestSidecar, died: &str) {
    let thread = sidecar.call::<ThreadGet>(&ThreadGetParams { thread_id: THREAD.to_owned() });
    assert_eq!(thread.thread.phase, Phase::Idle, "{died}");
    assert_eq!(thread.pending_actions, Vec::new(), "{died}");
    assert!(thread.last_compaction.is_some_and(|last| last.sequence_id.is_some()), "{died}");
}
