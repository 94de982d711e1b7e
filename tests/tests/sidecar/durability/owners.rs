//! Several sidecars on one thread: one owner, any number of observers, and answers from any of them.

use super::{THREAD, get, set_guard};
use rawr_protocol::methods::{
    GuardSet, PacketChanged, SequenceRespond, ThreadChanged, ThreadClose, ThreadGet, ThreadOpen,
    ThreadUnwatch, ThreadWatch, TurnCompleted,
};
use rawr_protocol::{
    Choice, ErrorCode, PacketAuthor, PacketChange, Phase, Request, Role, SequenceRespondParams,
    ThreadGetParams, ThreadWatchParams, TurnCompletedParams, TurnStatus,
};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::json;

fn respond(sidecar: &mut TestSidecar, choice: Choice) -> Phase {
    let params = SequenceRespondParams {
        thread_id: THREAD.to_owned(),
        choice,
        sequence_id: None,
        turns: None,
        minutes: None,
        packet: None,
    };
    sidecar.call::<SequenceRespond>(&params).phase
}

/// A host that owns the thread, and an editor that observes it.
fn two(home: &TestHome) -> (TestSidecar, StandIn, TestSidecar) {
    let (mut owner, mut host) = (TestSidecar::start(home), StandIn::new(THREAD));
    host.open(home, &mut owner);
    let mut observer = TestSidecar::start(home);
    let opened = observer.call::<ThreadOpen>(&host.opening(home, Role::Observer));
    assert!(!opened.owner);
    (owner, host, observer)
}

#[test]
fn every_client_is_notified_of_a_packet() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let (mut owner, mut host, mut observer) = two(&home);
    observer.call::<ThreadWatch>(&ThreadWatchParams::default());
    host.user_turn_with_boundaries();
    assert!(host.run(&mut owner));
    let edit = SequenceRespondParams {
        thread_id: THREAD.to_owned(),
        choice: Choice::EditPacket,
        sequence_id: None,
        turns: None,
        minutes: None,
        packet: Some("# State\nmine".to_owned()),
    };
    observer.call::<SequenceRespond>(&edit);
    let edited = (PacketChange::Edited, PacketAuthor::Person, Some("test".to_owned()));
    get(&mut observer, THREAD);
    let told = observer.take::<PacketChanged>();
    let told: Vec<_> = told.into_iter().map(|told| (told.change, told.author, told.by)).collect();
    assert_eq!(told, std::slice::from_ref(&edited));
    // The edit approves.
    observer.allow_news_of_others();
    owner.allow_news_of_others();
    // Records of another process are reported after a notification by the operating system.
    let told = owner.wait_for::<PacketChanged>();
    assert_eq!((told.change, told.author, told.by), edited);
    quiet(observer);
    quiet(owner);
}

fn quiet(sidecar: TestSidecar) {
    sidecar.discard_and_leave();
}

// rule: client.one-owner
#[test]
fn a_second_owner_is_refused_with_the_name_of_the_first() {
    let home = TestHome::new();
    let (owner, host, mut observer) = two(&home);
    let failure = observer.failure::<ThreadOpen>(&host.opening(&home, Role::Owner));
    assert_eq!(failure.code, ErrorCode::OwnedElsewhere);
    let holder = format!("test for stand-in (process {})", owner.process_id());
    assert_eq!(failure.message, format!("thread t is owned by {holder}"));
    assert_eq!(failure.data.thread_id.as_deref(), Some(THREAD));
    assert_eq!(failure.data.hint, "stop the other host, or open the thread with role `observer`");
    assert_eq!(get(&mut observer, THREAD)["thread"]["phase"], "idle");
    quiet(observer);
    quiet(owner);
}

#[test]
fn killing_an_owner_frees_the_thread() {
    let home = TestHome::new();
    let (mut owner, mut host, mut observer) = two(&home);
    owner.take_notes();
    owner.kill();
    assert!(host.open(&home, &mut observer), "{}", observer.told());
    quiet(observer);
}

#[test]
fn closing_a_thread_frees_it() {
    let home = TestHome::new();
    let (mut owner, mut host, mut observer) = two(&home);
    owner.request("rawr/thread/close", &json!({ "threadId": THREAD })).unwrap().unwrap();
    assert!(host.open(&home, &mut observer), "{}", observer.told());
    quiet(owner);
    quiet(observer);
}

/// Without waiting for an answer in between.
#[test]
fn a_thread_that_is_opened_right_after_its_close_stays_open() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = (TestSidecar::start(&home), StandIn::new(THREAD));
    host.open(&home, &mut sidecar);
    let opening = host.opening(&home, Role::Owner);
    let requests = [
        json!({ "jsonrpc": "2.0", "id": 1001, "method": ThreadClose::METHOD, "params": { "threadId": THREAD } }),
        json!({ "jsonrpc": "2.0", "id": 1002, "method": ThreadOpen::METHOD, "params": opening }),
    ];
    sidecar.send_at_once(&requests);
    assert_eq!(sidecar.answer_to(&json!(1001))["result"], json!({}));
    assert_eq!(sidecar.answer_to(&json!(1002))["result"]["owner"], true);
    sidecar.call::<ThreadGet>(&ThreadGetParams { thread_id: THREAD.to_owned() });
    quiet(sidecar);
}

/// The watch ends before the request's records are stored.
#[test]
fn a_watchers_request_is_stored_although_its_watch_ends() {
    let home = TestHome::new();
    let (mut owner, mut host) = (TestSidecar::start(&home), StandIn::new(THREAD));
    host.open(&home, &mut owner);
    let mut watcher = TestSidecar::start(&home);
    watcher.call::<ThreadWatch>(&ThreadWatchParams::default());
    let until = json!({ "kind": "turns", "turns": 3 });
    let guard = json!({ "threadId": THREAD, "until": until });
    let requests = [
        json!({ "jsonrpc": "2.0", "id": 1001, "method": GuardSet::METHOD, "params": guard }),
        json!({ "jsonrpc": "2.0", "id": 1002, "method": ThreadUnwatch::METHOD, "params": {} }),
    ];
    watcher.send_at_once(&requests);
    assert_eq!(watcher.answer_to(&json!(1001))["result"]["guardId"], "g1");
    watcher.answer_to(&json!(1002));
    let log = std::fs::read_to_string(home.events(THREAD)).unwrap();
    assert!(log.contains("guard_set"), "{log}");
    watcher.allow::<ThreadChanged>();
    owner.allow::<ThreadChanged>();
    quiet(watcher);
    quiet(owner);
}

#[test]
fn only_the_host_may_report_turns() {
    let home = TestHome::new();
    let (owner, _, mut observer) = two(&home);
    let params = TurnCompletedParams {
        thread_id: THREAD.to_owned(),
        turn_id: "t1".to_owned(),
        status: TurnStatus::Completed,
        failure: None,
        last_agent_message: None,
        usage: None,
        queued_inputs: None,
        review_mode: None,
    };
    let failure = observer.failure::<TurnCompleted>(&params);
    assert_eq!(
        (failure.code, failure.data.thread_id.as_deref()),
        (ErrorCode::NotOwner, Some(THREAD))
    );
    quiet(observer);
    quiet(owner);
}

#[test]
fn observing_a_missing_thread_is_refused() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let failure =
        sidecar.failure::<ThreadOpen>(&StandIn::new("none").opening(&home, Role::Observer));
    assert_eq!(failure.code, ErrorCode::UnknownThread);
    assert!(!home.thread("none").exists(), "observing creates no files");
    quiet(sidecar);
}

// rule: client.observers
#[test]
fn an_observers_guard_applies_to_the_owners_next_input() {
    let home = TestHome::new();
    let (mut owner, mut host, mut observer) = two(&home);
    let guard = set_guard(&mut observer, "not before lunch");
    host.user_turn_with_boundaries();
    assert!(host.run(&mut owner));
    let verdict = host.verdicts.last().unwrap();
    assert_eq!(verdict["outcome"], "nothing");
    assert_eq!(verdict["reason"], format!("guard {guard} set by test is active"));
    assert_eq!(host.performed, Vec::<String>::new());
    quiet(observer);
    quiet(owner);
}

#[test]
fn an_observer_sees_the_owners_records() {
    let home = TestHome::new();
    let (mut owner, mut host, mut observer) = two(&home);
    host.user_turn_with_boundaries();
    assert!(host.run(&mut owner));
    let params = ThreadGetParams { thread_id: THREAD.to_owned() };
    let (owners, observers) =
        (owner.call::<ThreadGet>(&params), observer.call::<ThreadGet>(&params));
    assert_eq!(observers, owners);
    assert!(observers.last_compaction.is_some());
    quiet(observer);
    quiet(owner);
}

#[test]
fn an_observer_stops_a_sequence_that_the_owner_runs() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let (mut owner, mut host, mut observer) = two(&home);
    host.user_turn_with_boundaries();
    assert!(host.run(&mut owner));
    assert_eq!(get(&mut owner, THREAD)["thread"]["phase"], "awaiting_approval");
    respond(&mut observer, Choice::Snooze);
    host.user_turn();
    assert!(host.run(&mut owner));
    assert_eq!(get(&mut owner, THREAD)["thread"]["phase"], "idle");
    assert_eq!(host.performed, Vec::<String>::new());
    quiet(observer);
    quiet(owner);
}

// rule: client.one-owner
// rule: client.observers
#[test]
fn the_owner_performs_what_an_observer_approves() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let (mut owner, mut host, mut observer) = two(&home);
    host.user_turn_with_boundaries();
    assert!(host.run(&mut owner));
    respond(&mut observer, Choice::Approve);
    let asked = observer.take_notes();
    assert!(!asked.iter().any(|note| note.method == "rawr/action/perform"), "{asked:?}");
    host.user_turn();
    assert!(host.run(&mut owner));
    assert_eq!(host.performed, ["packet_request", "compact", "handoff"]);
    quiet(observer);
    quiet(owner);
}
