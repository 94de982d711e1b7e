//! Several sidecars over one thread: one owner, any number of observers, and a person's word from any of them.

use super::{THREAD, get, set_guard};
use rawr_protocol::methods::{
    GuardSet, PacketChanged, SequenceRespond, SequenceResponded, ThreadChanged, ThreadClose,
    ThreadGet, ThreadOpen, ThreadUnwatch, ThreadWatch, TurnCompleted,
};
use rawr_protocol::{
    Choice, ErrorCode, PacketAuthor, PacketChange, Phase, Request, Role, SequenceRespondParams,
    ThreadGetParams, ThreadWatchParams, TurnCompletedParams, TurnStatus,
};
use rawr_tests::{Home, Sidecar, StandIn};
use serde_json::json;

fn respond(sidecar: &mut Sidecar, choice: Choice) -> Phase {
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

/// A host that owns the thread, and a person's editor that looks on.
fn two(home: &Home) -> (Sidecar, StandIn, Sidecar) {
    let (mut owner, mut host) = (Sidecar::start(home), StandIn::new(THREAD));
    host.open(home, &mut owner);
    let mut observer = Sidecar::start(home);
    let opened = observer.call::<ThreadOpen>(&host.opening(home, Role::Observer));
    assert!(!opened.owner);
    (owner, host, observer)
}

#[test]
fn every_client_hears_what_becomes_of_a_packet() {
    let home = Home::new();
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
    // What another process records is told when the system has told of it.
    owner.allow::<SequenceResponded>();
    let told = owner.wait_for::<PacketChanged>();
    assert_eq!((told.change, told.author, told.by), edited);
    quiet(observer);
    quiet(owner);
}

fn quiet(mut sidecar: Sidecar) {
    sidecar.take_notes();
    sidecar.leave();
}

#[test]
fn a_second_owner_is_refused_and_told_who_holds_the_thread() {
    let home = Home::new();
    let (owner, host, mut observer) = two(&home);
    let failure = observer.failure::<ThreadOpen>(&host.opening(&home, Role::Owner));
    assert_eq!(failure.code, ErrorCode::OwnedElsewhere);
    let holder = format!("test for stand-in (process {})", owner.process_id());
    assert_eq!(failure.message, format!("thread t is owned by {holder}"));
    assert_eq!(failure.data.thread_id.as_deref(), Some(THREAD));
    assert_eq!(failure.data.hint, "end the other host, or open the thread with role `observer`");
    assert_eq!(get(&mut observer, THREAD)["thread"]["phase"], "idle");
    quiet(observer);
    quiet(owner);
}

#[test]
fn an_owner_that_is_killed_leaves_the_thread_free_at_once() {
    let home = Home::new();
    let (mut owner, mut host, mut observer) = two(&home);
    owner.take_notes();
    owner.kill();
    assert!(host.open(&home, &mut observer), "{}", observer.told());
    quiet(observer);
}

#[test]
fn an_owner_that_closes_the_thread_leaves_it_free() {
    let home = Home::new();
    let (mut owner, mut host, mut observer) = two(&home);
    owner.say("rawr/thread/close", &json!({ "threadId": THREAD })).unwrap().unwrap();
    assert!(host.open(&home, &mut observer), "{}", observer.told());
    quiet(owner);
    quiet(observer);
}

/// Nothing waits for an answer between the two.
#[test]
fn a_thread_that_is_opened_right_behind_its_close_stays_open() {
    let home = Home::new();
    let (mut sidecar, mut host) = (Sidecar::start(&home), StandIn::new(THREAD));
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

/// The watch ends before what was asked of the thread is stored.
#[test]
fn what_a_watcher_asked_for_is_stored_though_its_watch_ends() {
    let home = Home::new();
    let (mut owner, mut host) = (Sidecar::start(&home), StandIn::new(THREAD));
    host.open(&home, &mut owner);
    let mut watcher = Sidecar::start(&home);
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
    let home = Home::new();
    let (owner, _, mut observer) = two(&home);
    let params = TurnCompletedParams {
        thread_id: THREAD.to_owned(),
        turn_id: "t1".to_owned(),
        status: TurnStatus::Completed,
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
fn nobody_looks_at_a_thread_that_is_not_there() {
    let home = Home::new();
    let mut sidecar = Sidecar::start(&home);
    let failure =
        sidecar.failure::<ThreadOpen>(&StandIn::new("none").opening(&home, Role::Observer));
    assert_eq!(failure.code, ErrorCode::UnknownThread);
    assert!(!home.thread("none").exists(), "looking leaves no trace");
    quiet(sidecar);
}

#[test]
fn an_observers_guard_holds_at_the_owners_next_input() {
    let home = Home::new();
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
fn an_observer_sees_what_the_owner_has_done() {
    let home = Home::new();
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
    let home = Home::new();
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

#[test]
fn what_an_observer_approves_the_owner_performs() {
    let home = Home::new();
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
