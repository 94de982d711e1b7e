//! What clients may add to a thread is limited. Anything over the limit is refused with an error and never dropped
//! silently.

use rawr_protocol::methods::{InputSubmit, ThreadOpen};
use rawr_protocol::{Disposition, ErrorCode, InputKind, InputSubmitParams, Role};
use rawr_tests::sidecar::Failure;
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};

fn opened(home: &TestHome) -> TestSidecar {
    let mut sidecar = TestSidecar::start(home);
    sidecar.call::<ThreadOpen>(&StandIn::new("t").opening(home, Role::Owner));
    sidecar
}

/// Repeats a request until it is refused, and returns how many were accepted.
fn fill(
    sidecar: &mut TestSidecar,
    method: &str,
    params: impl Fn(usize) -> Value,
) -> (usize, Failure) {
    for taken in 0..10_000 {
        if let Err(failure) = sidecar.request(method, &params(taken)).unwrap() {
            return (taken, *failure);
        }
    }
    panic!("{method} is never refused");
}

#[test]
fn guards_are_limited_and_expired_ones_do_not_count() {
    let home = TestHome::new();
    let mut sidecar = opened(&home);
    let guard = |until: Value| json!({ "threadId": "t", "until": until });
    for _ in 0..150 {
        let expired = guard(json!({ "kind": "minutes", "minutes": 0 }));
        sidecar.request("rawr/guard/set", &expired).unwrap().unwrap();
    }
    let held = |_| guard(json!({ "kind": "released" }));
    let (taken, failure) = fill(&mut sidecar, "rawr/guard/set", held);
    assert_eq!((taken, failure.code), (100, ErrorCode::NotNow), "{failure:?}");
    assert_eq!(failure.message, "100 guards are active, which is as many as a thread keeps");
    let cleared =
        sidecar.request("rawr/guard/clear", &json!({ "threadId": "t" })).unwrap().unwrap();
    assert_eq!(cleared["cleared"], 100);
    sidecar.request("rawr/guard/set", &held(0)).unwrap().unwrap();
    sidecar.discard_and_leave();
}

#[test]
fn directives_are_limited_and_a_known_one_may_be_repeated() {
    let home = TestHome::new();
    let mut sidecar = opened(&home);
    let directive = |number: usize| json!({ "threadId": "t", "signal": { "kind": "directive", "text": format!("rule {number}"), "pinned": true } });
    let (taken, failure) = fill(&mut sidecar, "rawr/signal/report", directive);
    assert_eq!((taken, failure.code), (200, ErrorCode::NotNow), "{failure:?}");
    assert_eq!(failure.message, "200 directives are in force, which is as many as a thread keeps");
    sidecar.request("rawr/signal/report", &directive(7)).unwrap().unwrap();
    sidecar.discard_and_leave();
}

#[test]
fn held_messages_are_limited_and_no_accepted_one_is_lost() {
    let home = TestHome::new();
    let mut sidecar = opened(&home);
    let turn = |fields: Value| {
        let mut params = json!({ "threadId": "t", "turnId": "u1" });
        params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        params
    };
    let commit = json!({ "kind": "commit", "subject": "the parser" });
    let end = json!({ "status": "completed", "lastAgentMessage": "The parser is written and committed.",
        "usage": { "contextTokens": 190_000 } });
    for (method, params) in [
        ("rawr/turn/started", turn(json!({ "origin": "user", "text": "Write the parser" }))),
        ("rawr/signal/report", turn(json!({ "signal": commit }))),
        ("rawr/turn/completed", turn(end)),
    ] {
        sidecar.request(method, &params).unwrap().unwrap();
    }
    let submit = |number: usize| InputSubmitParams {
        thread_id: "t".to_owned(),
        input_id: format!("i{number}"),
        text: "go on".to_owned(),
        kind: InputKind::Message,
    };
    let asked: Vec<_> =
        (0..=1000).map(|number| sidecar.ask::<InputSubmit>(&submit(number))).collect();
    let answers: Vec<_> = asked.into_iter().map(|id| sidecar.answer::<InputSubmit>(id)).collect();
    let held = answers.iter().flatten().filter(|answer| answer.disposition == Disposition::Held);
    assert_eq!(held.count(), 1000);
    let failure = answers[1000].as_ref().unwrap_err();
    assert_eq!(failure.message, "1000 messages are held, which is as many as a thread keeps");
    let queued =
        sidecar.request("rawr/input/queued", &json!({ "threadId": "t" })).unwrap().unwrap();
    assert_eq!(queued["inputIds"].as_array().unwrap().len(), 1000);
    sidecar.take_notes();
    sidecar.kill();
}

/// More than the inbox of a thread holds, and more than one read brings.
#[test]
fn a_burst_of_reports_is_recorded_as_a_whole_and_in_order() {
    const MANY: usize = 20_000;
    let home = TestHome::new();
    let mut sidecar = opened(&home);
    let usage = |number: usize| {
        let usage = json!({ "contextTokens": 1000 + number });
        json!({ "jsonrpc": "2.0", "id": 10_000 + number, "method": "rawr/turn/usage",
            "params": { "threadId": "t", "turnId": "u1", "usage": usage, "needsFollowUp": true } })
    };
    let started = json!({ "threadId": "t", "turnId": "u1", "origin": "user" });
    sidecar.request("rawr/turn/started", &started).unwrap().unwrap();
    let burst: Vec<_> = (0..MANY).map(usage).collect();
    sidecar.send_at_once(&burst);
    for number in 0..MANY {
        let answer = sidecar.answer_to(&json!(10_000 + number));
        assert_eq!(answer.get("error"), None, "{number}: {answer}");
    }
    let log = std::fs::read_to_string(home.events("t")).unwrap();
    let recorded: Vec<_> = log.lines().filter(|line| line.contains("usage_reported")).collect();
    assert_eq!(recorded.len(), MANY);
    for (number, line) in recorded.iter().enumerate() {
        assert!(line.contains(&format!("\"context\":{}", 1000 + number)), "{number}: {line}");
    }
    sidecar.discard_and_leave();
}
