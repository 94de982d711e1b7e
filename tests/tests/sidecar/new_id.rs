//! A conversation that its host goes on with under another id.

use rawr_protocol::methods::{
    DirectiveList, GuardList, GuardSet, InputCancel, InputSubmit, SignalReport, ThreadOpen,
};
use rawr_protocol::{
    DirectiveListParams, Disposition, GuardListParams, GuardSetParams, InputCancelParams,
    InputKind, InputSubmitParams, Role, Signal, SignalReportParams, ThreadOpenParams, Until,
};
use rawr_tests::sidecar::LaunchOptions;
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::json;

const BEGAN: u64 = 1_700_000_000_000;

/// Returns the message that waited before.
fn open(
    home: &TestHome,
    sidecar: &mut TestSidecar,
    thread: &str,
    began_at_ms: Option<u64>,
) -> Option<String> {
    let opening = StandIn::new(thread).opening(home, Role::Owner);
    let opened = sidecar.call::<ThreadOpen>(&ThreadOpenParams { began_at_ms, ..opening });
    opened.held_before.map(|held| held.text)
}

fn set_by_people(sidecar: &mut TestSidecar, thread: &str) -> (Vec<(String, bool)>, Vec<Until>) {
    let thread_id = thread.to_owned();
    let said = sidecar.call::<DirectiveList>(&DirectiveListParams { thread_id: thread_id.clone() });
    let directives = said.directives.into_iter().map(|said| (said.text, said.pinned)).collect();
    let set = sidecar.call::<GuardList>(&GuardListParams { thread_id });
    (directives, set.guards.into_iter().map(|guard| guard.until).collect())
}

// rule: recovery.new-id
#[test]
fn directives_and_guards_go_along_under_a_new_id() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::launch(&home, &LaunchOptions::default());
    open(&home, &mut sidecar, "old", Some(BEGAN));
    sidecar.call::<SignalReport>(&SignalReportParams {
        thread_id: "old".to_owned(),
        turn_id: None,
        signal_id: None,
        signal: Signal::Directive { text: "Never on main.".to_owned(), pinned: true },
    });
    sidecar.call::<GuardSet>(&GuardSetParams {
        thread_id: "old".to_owned(),
        until: Until::NextCommit,
        note: None,
    });
    let both = set_by_people(&mut sidecar, "old");
    assert_eq!(both, (vec![("Never on main.".to_owned(), true)], vec![Until::NextCommit]));

    assert_eq!(open(&home, &mut sidecar, "new", Some(BEGAN)), None);
    assert_eq!(set_by_people(&mut sidecar, "new"), both);
    // Only once: what is removed there stays removed.
    open(&home, &mut sidecar, "new", Some(BEGAN));
    assert_eq!(set_by_people(&mut sidecar, "new"), both);
    for (other, began) in [("cleared", Some(BEGAN + 1)), ("unknown", None)] {
        open(&home, &mut sidecar, other, began);
        assert_eq!(set_by_people(&mut sidecar, other), Default::default(), "{other}");
    }
    sidecar.discard_and_leave();
}

// rule: recovery.new-id
#[test]
fn a_message_that_waited_goes_along_under_a_new_id() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::launch(&home, &LaunchOptions::default());
    let mut host = StandIn::new("old");
    open(&home, &mut sidecar, "old", Some(BEGAN));
    host.user_turn_with_boundaries();
    for request in host.ask_all(&mut sidecar) {
        sidecar.answer_to(&json!(request));
    }
    let submitted = sidecar.call::<InputSubmit>(&InputSubmitParams {
        thread_id: "old".to_owned(),
        input_id: "i1".to_owned(),
        text: "Now the docs.".to_owned(),
        kind: InputKind::Message,
    });
    assert_eq!(submitted.disposition, Disposition::Held);
    let cancel = InputCancelParams { thread_id: "old".to_owned(), input_id: "i1".to_owned() };
    sidecar.call::<InputCancel>(&cancel);
    let waited = open(&home, &mut sidecar, "new", Some(BEGAN));
    assert_eq!(waited.as_deref(), Some("Now the docs."));
    assert_eq!(open(&home, &mut sidecar, "new", Some(BEGAN)), None);
    sidecar.discard_and_leave();
}

// rule: recovery.taken-back-at-the-end
#[test]
fn a_message_that_was_taken_back_when_its_session_ended_comes_with_the_next() {
    let home = TestHome::new();
    let mut first = TestSidecar::launch(&home, &LaunchOptions::default());
    let mut host = StandIn::new("t");
    open(&home, &mut first, "t", Some(BEGAN));
    host.user_turn_with_boundaries();
    for request in host.ask_all(&mut first) {
        first.answer_to(&json!(request));
    }
    let text = "Now the docs.".to_owned();
    let (thread_id, input_id, kind) = ("t".to_owned(), "i1".to_owned(), InputKind::Message);
    first.call::<InputSubmit>(&InputSubmitParams { thread_id, input_id, text, kind });
    let (thread_id, input_id) = ("t".to_owned(), "i1".to_owned());
    first.call::<InputCancel>(&InputCancelParams { thread_id, input_id });
    first.discard_and_leave();
    let mut second = TestSidecar::launch(&home, &LaunchOptions::default());
    let waited = open(&home, &mut second, "t", Some(BEGAN));
    assert_eq!(waited.as_deref(), Some("Now the docs."));
    second.discard_and_leave();
}
