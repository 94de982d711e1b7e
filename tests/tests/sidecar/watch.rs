//! Several real sidecars on one home: each is notified of what the others record, and the first answer from any of them
//! is carried out by the owner of the thread.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod answers;
mod banners;
mod hears;
mod list;

use crate::fixture::THREAD;
use rawr_protocol::methods::{ThreadChanged, ThreadListChanged, ThreadWatch};
use rawr_protocol::{Phase, ThreadChangedNotification, ThreadWatchParams};
use rawr_tests::sidecar::LaunchOptions;
use rawr_tests::{StandIn, TestHome, TestSidecar};

/// A client's sidecar.
fn client(home: &TestHome, name: &str) -> TestSidecar {
    let mut sidecar = TestSidecar::spawn(home, &LaunchOptions::default());
    sidecar.greet(name);
    sidecar.allow::<ThreadListChanged>();
    sidecar
}

/// Like [`client`], watching all threads.
fn watcher(home: &TestHome, name: &str) -> TestSidecar {
    let mut sidecar = client(home, name);
    sidecar.call::<ThreadWatch>(&ThreadWatchParams::default());
    sidecar
}

/// A host with its own sidecar.
struct HostProcess {
    sidecar: TestSidecar,
    host: StandIn,
}

impl HostProcess {
    fn on(home: &TestHome, thread: &str) -> Self {
        let (mut sidecar, mut host) = (client(home, "cli"), StandIn::new(thread));
        assert!(host.open(home, &mut sidecar));
        Self { sidecar, host }
    }

    fn end_a_phase(&mut self) {
        self.host.user_turn_with_boundaries();
        assert!(self.host.run(&mut self.sidecar));
    }
}

/// Later records of other processes may still be reported and are ignored.
fn leave(mut client: TestSidecar) {
    client.allow_news_of_others();
    client.leave();
}

/// The first notification of the thread in this phase. Skips other notifications.
fn wait_for_phase(sidecar: &mut TestSidecar, phase: Phase) -> ThreadChangedNotification {
    loop {
        let note = sidecar.next_note();
        if note.method == <ThreadChanged as rawr_protocol::Notification>::METHOD {
            let changed = serde_json::from_value(note.params);
            let changed: ThreadChangedNotification = changed.unwrap();
            if changed.phase == phase {
                return changed;
            }
        }
    }
}
