//! One thread's trouble is its own: while another process holds a thread's locks, requests that concern other threads are
//! answered. Told by the order of the answers, not by time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use rawr_protocol::Role;
use rawr_protocol::methods::{ThreadGet, ThreadList, ThreadOpen, TurnStarted};
use rawr_protocol::{
    CancelParams, ErrorCode, ThreadGetParams, ThreadListParams, TurnOrigin, TurnStartedParams,
};
use rawr_tests::{Home, Sidecar, StandIn};
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;

/// Another process's, which is stopped in the middle of its work.
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

fn two_threads(home: &Home) -> Sidecar {
    let mut sidecar = Sidecar::start(home);
    for thread in ["a", "b"] {
        StandIn::new(thread).open(home, &mut sidecar);
    }
    sidecar
}

fn get(thread: &str) -> ThreadGetParams {
    ThreadGetParams { thread_id: thread.to_owned() }
}

/// The next answer must be the one to this request.
fn next_is(sidecar: &mut Sidecar, id: u64) -> Value {
    let answer = sidecar.next_answer();
    assert_eq!(answer["id"], json!(id), "{answer}\n{}", sidecar.told());
    answer
}

fn leave(mut sidecar: Sidecar) {
    sidecar.take_notes();
    sidecar.leave();
}

#[test]
fn a_log_that_another_process_has_locked_holds_up_no_other_thread() {
    let home = Home::new();
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
    leave(sidecar);
}

#[test]
fn what_waits_for_a_lock_can_be_cancelled_and_is_answered_once() {
    let home = Home::new();
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
    leave(sidecar);
}

#[test]
fn what_was_asked_before_the_end_of_input_is_stored_when_the_lock_is_free() {
    let home = Home::new();
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
fn a_thread_that_is_being_repaired_holds_up_no_other() {
    let home = Home::new();
    leave(two_threads(&home));
    let lock = held(&home.thread("a"));
    let mut sidecar = Sidecar::start(&home);
    let waits = sidecar.ask::<ThreadOpen>(&StandIn::new("a").opening(&home, Role::Owner));
    let listed = sidecar.ask::<ThreadList>(&ThreadListParams {});
    let answer = next_is(&mut sidecar, listed);
    assert_eq!(answer["result"]["threads"].as_array().unwrap().len(), 2, "{answer}");
    let opens = sidecar.ask::<ThreadOpen>(&StandIn::new("b").opening(&home, Role::Owner));
    next_is(&mut sidecar, opens);
    drop(lock);
    let answer = next_is(&mut sidecar, waits);
    assert_eq!(answer["result"]["owner"], true, "{answer}");
    leave(sidecar);
}

/// A second sidecar watches everything, and somebody has locked one of the logs.
#[test]
fn a_watch_goes_on_beside_a_thread_that_is_locked() {
    let home = Home::new();
    leave(two_threads(&home));
    let lock = held(&home.events("a"));
    let mut sidecar = Sidecar::start(&home);
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
    leave(sidecar);
}

#[test]
fn an_owner_that_is_refused_has_not_opened_the_thread() {
    let home = Home::new();
    let owner = two_threads(&home);
    let mut other = Sidecar::start(&home);
    let opening = StandIn::new("a").opening(&home, Role::Owner);
    assert_eq!(other.failure::<ThreadOpen>(&opening).code, ErrorCode::OwnedElsewhere);
    assert_eq!(other.failure::<ThreadGet>(&get("a")).code, ErrorCode::UnknownThread);
    leave(other);
    leave(owner);
}
