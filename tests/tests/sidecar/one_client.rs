//! One client and one sidecar: notifications, their order, and that records are stored first. Also that the test client
//! fails on unread notifications.

use crate::fixture::THREAD;
use expect_test::expect;
use rawr_protocol::methods::{
    GuardList, GuardSet, Initialize, LogTrace, SetTrace, SignalReport, ThreadChanged, ThreadGet,
    ThreadList, ThreadOpen,
};
use rawr_protocol::{
    ErrorCode, GuardListParams, GuardSetParams, InitializeParams, Notification, Role,
    SetTraceParams, Signal, SignalReportParams, ThreadGetParams, ThreadListParams, Trace, Until,
};
use rawr_tests::{LaunchOptions, StandIn, TestHome, TestSidecar};

fn guarded(home: &TestHome) -> TestSidecar {
    let mut sidecar = TestSidecar::start(home);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(home, Role::Owner));
    let thread_id = THREAD.to_owned();
    sidecar.call::<GuardSet>(&GuardSetParams { thread_id, until: Until::Released, note: None });
    sidecar
}

#[test]
#[should_panic(expected = "unread messages")]
fn a_test_that_leaves_a_notification_unread_fails() {
    drop(guarded(&TestHome::new()));
}

#[test]
fn a_notification_that_is_read_or_allowed_is_not_missed() {
    let home = TestHome::new();
    let mut sidecar = guarded(&home);
    assert_eq!(sidecar.expect::<ThreadChanged>().guards.len(), 1);
    drop(sidecar);
    let other = TestHome::new();
    guarded(&other).allow::<ThreadChanged>();
}

#[test]
fn an_ended_guard_is_not_listed() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = (TestSidecar::start(&home), StandIn::new(THREAD));
    host.open(&home, &mut sidecar);
    let listed = |sidecar: &mut TestSidecar| {
        let thread_id = || THREAD.to_owned();
        let list = sidecar.call::<GuardList>(&GuardListParams { thread_id: thread_id() });
        let thread = sidecar.call::<ThreadGet>(&ThreadGetParams { thread_id: thread_id() });
        [list.guards.len(), thread.guards.len()]
    };
    let (thread_id, until) = (THREAD.to_owned(), Until::Turns { turns: 1 });
    sidecar.call::<GuardSet>(&GuardSetParams { thread_id, until, note: None });
    assert_eq!(sidecar.expect::<ThreadChanged>().guards.len(), 1);
    assert_eq!(listed(&mut sidecar), [1, 1]);
    host.user_turn();
    host.user_turn();
    assert!(host.run(&mut sidecar));
    assert_eq!(listed(&mut sidecar), [0, 0]);
    sidecar.leave();
}

#[test]
fn the_hosts_title_replaces_the_one_of_the_first_message() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = (TestSidecar::start(&home), StandIn::new(THREAD));
    host.open(&home, &mut sidecar);
    let mut named = |title: Option<&str>| {
        let signal = Signal::TitleChanged { title: title.map(str::to_owned) };
        let (thread_id, turn_id, signal_id) = (THREAD.to_owned(), None, None);
        sidecar.call::<SignalReport>(&SignalReportParams { thread_id, turn_id, signal_id, signal });
        let told = sidecar.take::<ThreadChanged>();
        let listed = sidecar.call::<ThreadList>(&ThreadListParams {});
        assert!(told.iter().all(|told| told.title == listed.threads[0].title), "{told:?}");
        (told.len(), listed.threads[0].title.clone())
    };
    assert_eq!(named(Some("The parser\nand more")), (1, Some("The parser".to_owned())));
    // Hosts repeat it.
    assert_eq!(named(Some("The parser\nand more")), (0, Some("The parser".to_owned())));
    assert_eq!(named(Some(" … ")), (1, None));
    assert_eq!(named(Some("Again")), (1, Some("Again".to_owned())));
    assert_eq!(named(None), (1, None));
    sidecar.leave();
    let events = std::fs::read_to_string(home.thread(THREAD).join("events.jsonl")).unwrap();
    assert_eq!(events.matches("title_changed").count(), 4, "{events}");
}

fn trace(sidecar: &mut TestSidecar, value: Trace) {
    sidecar.notify::<SetTrace>(&SetTraceParams { value });
}

fn get(sidecar: &mut TestSidecar) {
    sidecar.call::<ThreadGet>(&ThreadGetParams { thread_id: THREAD.to_owned() });
}

#[test]
fn a_client_chooses_the_level_of_traces() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = (TestSidecar::start(&home), StandIn::new(THREAD));
    host.open(&home, &mut sidecar);
    get(&mut sidecar);
    assert_eq!(sidecar.take::<LogTrace>(), []);
    trace(&mut sidecar, Trace::Messages);
    get(&mut sidecar);
    let told = sidecar.wait_for::<LogTrace>();
    assert!(told.message.starts_with(r#"request method="rawr/thread/get" id="#), "{told:?}");
    assert!(told.message.ends_with(" ms"), "{told:?}");
    assert_eq!(told.verbose, None);
    trace(&mut sidecar, Trace::Verbose);
    host.user_turn_with_boundaries();
    let mut told = String::new();
    assert!(host.run_and(&mut sidecar, |note| {
        if note.method == LogTrace::METHOD {
            told.push_str(note.params["verbose"].as_str().unwrap_or_default());
            told.push('\n');
        }
    }));
    for line in [
        "thread id=t\n",
        "\n  sequence id=s1-",
        "\n    recorded event=\"SequenceStarted\"",
        "\n    action id=s1-",
        "what=\"packet_request\"\n      recorded event=\"ActionIssued\"",
        "what=\"completed\"\n    recorded event=\"ActionReported\"",
        "\n  recorded event=\"TurnCompleted\"",
    ] {
        assert!(told.contains(line), "{line} in\n{told}");
    }
    trace(&mut sidecar, Trace::Off);
    get(&mut sidecar);
    sidecar.take_notes();
    get(&mut sidecar);
    assert_eq!(sidecar.take_notes(), []);
    sidecar.leave();
}

#[test]
fn initialize_can_turn_on_traces() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::spawn(&home, &LaunchOptions::default());
    let trace = Some(Trace::Messages);
    sidecar.call::<Initialize>(&InitializeParams { trace, ..InitializeParams::default() });
    sidecar.call::<ThreadList>(&ThreadListParams {});
    sidecar.wait_for::<LogTrace>();
    sidecar.allow::<LogTrace>();
    sidecar.leave();
}

/// An editor's current folder may be any, and the home would be created there.
#[test]
fn initialize_refuses_a_relative_home() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::spawn(&home, &LaunchOptions::default());
    let mut params = InitializeParams::default();
    params.initialization_options.home = Some("notes/rawr".to_owned());
    let refused = sidecar.failure::<Initialize>(&params);
    assert_eq!(refused.code, ErrorCode::InvalidParams);
    sidecar.kill();
}

#[test]
fn the_log_names_request_thread_sequence_and_action() {
    let home = TestHome::new();
    let launch = LaunchOptions {
        environment: vec![("RAWR_LOG", "debug".into())],
        ..LaunchOptions::default()
    };
    let (mut sidecar, mut host) = (TestSidecar::launch(&home, &launch), StandIn::new(THREAD));
    host.open(&home, &mut sidecar);
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    let log = sidecar.log();
    let line = log.lines().find(|line| line.contains("ActionIssued")).unwrap();
    for span in [
        r#"request{method="rawr/turn/completed" id="#,
        "thread{id=t}",
        "sequence{id=s1-",
        "action{id=s1-",
        r#"what="packet_request"}"#,
    ] {
        assert!(line.contains(span), "{span} in {line}");
    }
    sidecar.leave();
}

#[test]
fn a_sequence_is_reported_in_order() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = (TestSidecar::start(&home), StandIn::new(THREAD));
    host.open(&home, &mut sidecar);
    host.user_turn_with_boundaries();
    let mut told = Vec::new();
    assert!(host.run_and(&mut sidecar, |note| told.push(note.method.clone())));
    expect![[r#"
        rawr/decision/recorded
        rawr/sequence/headsUp
        rawr/action/perform
        rawr/thread/changed
        rawr/packet/changed
        rawr/action/perform
        rawr/thread/changed
        rawr/compaction/update
        rawr/compaction/update
        rawr/thread/changed
        rawr/action/perform
        rawr/thread/changed
        rawr/thread/changed"#]]
    .assert_eq(&told.join("\n"));
    sidecar.leave();
}

// rule: recovery.thread-folder
// rule: client.action-stored-first
// rule: recovery.written-before-done
#[test]
fn actions_are_stored_before_the_host_gets_them() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = (TestSidecar::start(&home), StandIn::new(THREAD));
    host.open(&home, &mut sidecar);
    host.user_turn_with_boundaries();
    let mut asked = 0;
    let on_disk = |action: &str| {
        let issued = |line: &String| line.contains("action_issued") && line.contains(action);
        home.lines(THREAD).iter().any(issued)
    };
    assert!(host.run_and(&mut sidecar, |note| {
        if let Some(action) = note.params["actionId"].as_str() {
            asked += 1;
            assert!(on_disk(action), "{action}");
        }
    }));
    assert_eq!(asked, 3);
    sidecar.leave();
}
