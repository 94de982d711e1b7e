//! Files on disk, and their failures: nothing that was acknowledged is lost, and no loss is silent.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod disk;
mod held;
mod log;
mod owners;
mod secrets;

use crate::fixture::{SECRET, THREAD, get, look, mode};
use rawr_protocol::methods::{GuardSet, SignalReport};
use rawr_protocol::{GuardSetParams, Signal, SignalReportParams, Until};
use rawr_tests::{StandIn, TestHome, TestSidecar};

/// A thread with records of every kind. The last record is a guard.
fn lived_in() -> TestHome {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let mut host = StandIn::new(THREAD);
    host.open(&home, &mut sidecar);
    host.user_turn_with_boundaries();
    host.run(&mut sidecar);
    host.user_turn();
    host.run(&mut sidecar);
    assert_eq!(host.count("handoff"), 1, "{}", sidecar.told());
    let signal = Signal::Directive { text: "never push".to_owned(), pinned: true };
    let thread_id = THREAD.to_owned();
    sidecar.call::<SignalReport>(&SignalReportParams {
        thread_id,
        turn_id: None,
        signal_id: None,
        signal,
    });
    set_guard(&mut sidecar, "before the release");
    sidecar.take_notes();
    sidecar.kill();
    home
}

fn set_guard(sidecar: &mut TestSidecar, note: &str) -> String {
    let (thread_id, note) = (THREAD.to_owned(), Some(note.to_owned()));
    sidecar.call::<GuardSet>(&GuardSetParams { thread_id, until: Until::Released, note }).guard_id
}
