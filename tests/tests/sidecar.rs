//! One client and one sidecar in the ordinary case: what is told, in which order, and that it is on the disk by then.
//! Also that the test client itself lets nothing pass unread.

use expect_test::expect;
use rawr_protocol::methods::{GuardSet, ThreadChanged, ThreadOpen};
use rawr_protocol::{GuardSetParams, Role, Until};
use rawr_tests::{Home, Sidecar, StandIn};

const THREAD: &str = "t";

fn guarded(home: &Home) -> Sidecar {
    let mut sidecar = Sidecar::start(home);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(home, Role::Owner));
    let thread_id = THREAD.to_owned();
    sidecar.call::<GuardSet>(&GuardSetParams { thread_id, until: Until::Released, note: None });
    sidecar
}

#[test]
#[should_panic(expected = "nobody looked at")]
fn a_test_that_leaves_a_notification_unread_fails() {
    drop(guarded(&Home::new()));
}

#[test]
fn a_notification_that_is_read_or_allowed_is_not_missed() {
    let home = Home::new();
    let mut sidecar = guarded(&home);
    assert_eq!(sidecar.expect::<ThreadChanged>().guards.len(), 1);
    drop(sidecar);
    let other = Home::new();
    guarded(&other).allow::<ThreadChanged>();
}

#[test]
fn a_sequence_is_told_in_the_order_in_which_it_happens() {
    let home = Home::new();
    let (mut sidecar, mut host) = (Sidecar::start(&home), StandIn::new(THREAD));
    host.open(&home, &mut sidecar);
    host.user_turn_with_boundaries();
    let mut told = Vec::new();
    assert!(host.run_and(&mut sidecar, |note| told.push(note.method.clone())));
    expect![[r#"
        rawr/decision/recorded
        rawr/sequence/headsUp
        rawr/action/perform
        rawr/thread/changed
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

#[test]
fn what_is_asked_of_the_host_is_on_the_disk_before_it_is_asked() {
    let home = Home::new();
    let (mut sidecar, mut host) = (Sidecar::start(&home), StandIn::new(THREAD));
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
