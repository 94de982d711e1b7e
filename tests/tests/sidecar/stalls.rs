//! A blocked thread does not block others: while another process holds a thread's locks, requests for other threads are
//! answered. Tested by the order of the answers, not by time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use rawr_protocol::Role;
use rawr_protocol::methods::{
    Shutdown, SignalReport, ThreadGet, ThreadList, ThreadOpen, TurnStarted,
};
use rawr_protocol::{
    CancelParams, Empty, ErrorCode, Signal, SignalReportParams, ThreadGetParams, ThreadListParams,
    TurnOrigin, TurnStartedParams,
};
use rawr_tests::{LaunchOptions, StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A lock of another process that is stopped.
fn held(path: &Path) -> File {
    let file = File::options().read(true).open(path).unwrap();
    file.lock().unwrap();
    file
}

fn started(thread: &str, turn: &str) -> TurnStartedParams {
    TurnStartedParams {
        thread_id: thread.to_owned(),
        turn_id: turn.to_owned(),
        origin: TurnOrigin::User,
        action_id: None,
        text: None,
    }
}

/// Durable before it is answered.
fn directive(thread: &str, text: &str) -> SignalReportParams {
    SignalReportParams {
        thread_id: thread.to_owned(),
        turn_id: None,
        signal_id: None,
        signal: Signal::Directive { text: text.to_owned(), pinned: true },
    }
}

fn two_threads(home: &TestHome) -> TestSidecar {
    let mut sidecar = TestSidecar::start(home);
    for thread in ["a", "b"] {
        StandIn::new(thread).open(home, &mut sidecar);
    }
    sidecar
}

fn get(thread: &str) -> ThreadGetParams {
    ThreadGetParams { thread_id: thread.to_owned() }
}

/// The next answer must be the one to this request.
fn next_is(sidecar: &mut TestSidecar, id: u64) -> Value {
    let answer = sidecar.next_answer();
    assert_eq!(answer["id"], json!(id), "{answer}\n{}", sidecar.told());
    answer
}

#[test]
fn a_locked_log_does_not_block_other_threads() {
    let home = TestHome::new();
    let mut sidecar = two_threads(&home);
    let lock = held(&home.events("a"));
    let waits =
        [sidecar.ask::<TurnStarted>(&started("a", "t1")), sidecar.ask::<ThreadGet>(&get("a"))];
    for turn in ["t1", "t2", "t3"] {
        let id = sidecar.ask::<TurnStarted>(&started("b", turn));
        next_is(&mut sidecar, id);
    }
    let id = sidecar.ask::<ThreadList>(&ThreadListParams {});
    next_is(&mut sidecar, id);
    drop(lock);
    for id in waits {
        let answer = next_is(&mut sidecar, id);
        assert_eq!(answer.get("error"), None, "{answer}");
    }
    sidecar.discard_and_leave();
}

/// More than the sidecar has workers.
#[test]
fn many_locked_logs_do_not_block_other_threads() {
    const LOCKED: usize = 40;
    let home = TestHome::new();
    let mut sidecar = two_threads(&home);
    let names: Vec<_> = (0..LOCKED).map(|number| format!("locked-{number}")).collect();
    for name in &names {
        StandIn::new(name).open(&home, &mut sidecar);
    }
    let locks: Vec<_> = names.iter().map(|name| held(&home.events(name))).collect();
    let waits: Vec<_> =
        names.iter().map(|name| sidecar.ask::<TurnStarted>(&started(name, "t1"))).collect();
    // Stored by a worker before it is answered.
    for text in ["one", "two", "three"] {
        let id = sidecar.ask::<SignalReport>(&directive("b", text));
        next_is(&mut sidecar, id);
    }
    drop(locks);
    for id in waits {
        let answer = sidecar.answer_to(&json!(id));
        assert_eq!(answer.get("error"), None, "{answer}");
    }
    sidecar.discard_and_leave();
}

/// Syncs block while the file exists.
fn held_syncs(home: &TestHome, thread: &str) -> (LaunchOptions, PathBuf) {
    let hold = home.thread(thread).join("hold");
    let launch = LaunchOptions {
        environment: vec![("RAWR_DEBUG_HOLD_SYNCS", hold.clone().into())],
        ..LaunchOptions::default()
    };
    (launch, hold)
}

/// A sidecar with the open threads `a` and `b`, and the file that blocks the syncs of `a` while it exists.
fn beside_held_syncs(home: &TestHome) -> (TestSidecar, PathBuf) {
    two_threads(home).discard_and_leave();
    let (launch, hold) = held_syncs(home, "a");
    let mut sidecar = TestSidecar::launch(home, &launch);
    for thread in ["a", "b"] {
        StandIn::new(thread).open(home, &mut sidecar);
    }
    std::fs::write(&hold, "").unwrap();
    (sidecar, hold)
}

#[test]
fn a_hanging_sync_does_not_block_other_threads() {
    let home = TestHome::new();
    let (mut sidecar, hold) = beside_held_syncs(&home);
    let waits = sidecar.ask::<SignalReport>(&directive("a", "keep the API"));
    let behind = sidecar.ask::<ThreadGet>(&get("a"));
    for text in ["one", "two"] {
        let id = sidecar.ask::<SignalReport>(&directive("b", text));
        next_is(&mut sidecar, id);
    }
    std::fs::remove_file(&hold).unwrap();
    next_is(&mut sidecar, waits);
    next_is(&mut sidecar, behind);
    sidecar.discard_and_leave();
}

/// Sent at once, so that they form one batch, whose last request has to wait for the disk.
#[test]
fn requests_that_read_a_batch_are_answered_with_it() {
    let home = TestHome::new();
    let (mut sidecar, hold) = beside_held_syncs(&home);
    let request = |id: u32, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let signal = json!({ "kind": "directive", "text": "keep the API", "pinned": true });
    sidecar.send_at_once(&[
        request(
            91,
            "rawr/turn/started",
            json!({ "threadId": "a", "turnId": "t", "origin": "user" }),
        ),
        request(92, "rawr/thread/get", json!({ "threadId": "a" })),
        request(93, "rawr/thread/get", json!({ "threadId": "b" })),
        request(94, "rawr/signal/report", json!({ "threadId": "a", "signal": signal })),
    ]);
    next_is(&mut sidecar, 93);
    std::fs::remove_file(&hold).unwrap();
    for id in [91, 92, 94] {
        next_is(&mut sidecar, id);
    }
    sidecar.discard_and_leave();
}

#[test]
fn a_hanging_sync_does_not_keep_the_sidecar_running() {
    for shuts_down in [false, true] {
        let home = TestHome::new();
        two_threads(&home).discard_and_leave();
        let (launch, hold) = held_syncs(&home, "a");
        let mut sidecar = TestSidecar::launch(&home, &launch);
        for thread in ["a", "b"] {
            StandIn::new(thread).open(&home, &mut sidecar);
        }
        std::fs::write(&hold, "").unwrap();
        let mut waits = vec![
            sidecar.ask::<SignalReport>(&directive("a", "keep the API")),
            sidecar.ask::<TurnStarted>(&started("a", "t1")),
        ];
        let stored = sidecar.ask::<SignalReport>(&directive("b", "keep the CLI"));
        next_is(&mut sidecar, stored);
        if shuts_down {
            waits.push(sidecar.ask::<Shutdown>(&Empty {}));
        } else {
            sidecar.end_input();
        }
        for id in waits {
            let answer = next_is(&mut sidecar, id);
            assert_eq!(answer["error"]["code"], ErrorCode::StoreFailed.code(), "{answer}");
        }
        assert_eq!(sidecar.wait().code(), Some(1));
        assert!(sidecar.log().contains("the disk does not answer"), "{}", sidecar.log());
        let log = std::fs::read_to_string(home.events("b")).unwrap();
        assert!(log.contains("keep the CLI"), "what was acknowledged is stored: {log}");
        sidecar.take_notes();
    }
}

#[test]
fn a_request_that_waits_for_a_lock_can_be_cancelled() {
    let home = TestHome::new();
    let mut sidecar = two_threads(&home);
    let lock = held(&home.events("a"));
    let cancelled = sidecar.ask::<TurnStarted>(&started("a", "t1"));
    let kept = sidecar.ask::<TurnStarted>(&started("a", "t2"));
    let id = rawr_protocol::RequestId::Number(i64::try_from(cancelled).unwrap());
    sidecar.notify::<rawr_protocol::methods::CancelRequest>(&CancelParams { id });
    let answer = next_is(&mut sidecar, cancelled);
    assert_eq!(answer["error"]["code"], ErrorCode::RequestCancelled.code());
    drop(lock);
    next_is(&mut sidecar, kept);
    let log = std::fs::read_to_string(home.events("a")).unwrap();
    assert!(log.contains("t2") && !log.contains("t1"), "{log}");
    sidecar.discard_and_leave();
}

#[test]
fn requests_before_the_end_of_input_are_stored_when_the_lock_is_free() {
    let home = TestHome::new();
    let mut sidecar = two_threads(&home);
    let lock = held(&home.events("a"));
    let waits = sidecar.ask::<TurnStarted>(&started("a", "t1"));
    let id = sidecar.ask::<ThreadGet>(&get("b"));
    next_is(&mut sidecar, id);
    sidecar.end_input();
    drop(lock);
    next_is(&mut sidecar, waits);
    assert_eq!(sidecar.wait().code(), Some(0));
    assert!(std::fs::read_to_string(home.events("a")).unwrap().contains("t1"));
    sidecar.take_notes();
}

#[test]
fn a_thread_under_repair_does_not_block_other_threads() {
    let home = TestHome::new();
    two_threads(&home).discard_and_leave();
    let lock = held(&home.thread("a"));
    let mut sidecar = TestSidecar::start(&home);
    let waits = sidecar.ask::<ThreadOpen>(&StandIn::new("a").opening(&home, Role::Owner));
    let listed = sidecar.ask::<ThreadList>(&ThreadListParams {});
    let answer = next_is(&mut sidecar, listed);
    assert_eq!(answer["result"]["threads"].as_array().unwrap().len(), 2, "{answer}");
    let opens = sidecar.ask::<ThreadOpen>(&StandIn::new("b").opening(&home, Role::Owner));
    next_is(&mut sidecar, opens);
    drop(lock);
    let answer = next_is(&mut sidecar, waits);
    assert_eq!(answer["result"]["owner"], true, "{answer}");
    sidecar.discard_and_leave();
}

/// A second sidecar watches everything, and another process has locked one of the logs.
#[test]
fn a_locked_thread_does_not_block_a_watch() {
    let home = TestHome::new();
    two_threads(&home).discard_and_leave();
    let lock = held(&home.events("a"));
    let mut sidecar = TestSidecar::start(&home);
    let watch =
        sidecar.ask::<rawr_protocol::methods::ThreadWatch>(&rawr_protocol::ThreadWatchParams {
            thread_id: None,
            workspace_folder: None,
        });
    let opens = sidecar.ask::<ThreadOpen>(&StandIn::new("c").opening(&home, Role::Owner));
    next_is(&mut sidecar, opens);
    drop(lock);
    let answer = next_is(&mut sidecar, watch);
    assert!(answer["result"]["threads"].as_array().unwrap().len() >= 2, "{answer}");
    sidecar.discard_and_leave();
}

#[test]
fn a_refused_owner_has_not_opened_the_thread() {
    let home = TestHome::new();
    let owner = two_threads(&home);
    let mut other = TestSidecar::start(&home);
    let opening = StandIn::new("a").opening(&home, Role::Owner);
    assert_eq!(other.failure::<ThreadOpen>(&opening).code, ErrorCode::OwnedElsewhere);
    assert_eq!(other.failure::<ThreadGet>(&get("a")).code, ErrorCode::UnknownThread);
    other.discard_and_leave();
    owner.discard_and_leave();
}
