//! A client that requested the list once keeps it current with notifications: threads of other processes are added,
//! change owners and are removed.

use super::{HostProcess, THREAD, client, leave, watcher};
use rawr_protocol::methods::{ThreadChanged, ThreadListChanged};
use rawr_protocol::{Notification, ThreadListChangedNotification};
use rawr_tests::{StandIn, TestHome, TestSidecar};

/// The next change of the list. Skips other notifications.
fn next(sidecar: &mut TestSidecar) -> ThreadListChangedNotification {
    loop {
        let note = sidecar.next_note();
        if note.method == ThreadListChanged::METHOD {
            return serde_json::from_value(note.params).unwrap();
        }
    }
}

/// Waits until the thread is reported as owned by this client, or by none.
fn wait_for_runner(sidecar: &mut TestSidecar, client: Option<&str>) {
    loop {
        let changed = next(sidecar);
        let [thread] = changed.threads.as_slice() else { continue };
        assert_eq!(thread.thread_id, THREAD);
        // A lock is held for a moment before its holder has written its name.
        let is_reached = match (client, &thread.owner) {
            (Some(client), Some(owner)) => owner.starts_with(client),
            (None, None) => true,
            _ => false,
        };
        if is_reached {
            return;
        }
    }
}

#[test]
fn a_thread_that_another_process_opens_closes_and_reopens_is_reported() {
    let home = TestHome::new();
    let mut nvim = watcher(&home, "nvim");
    let running = HostProcess::on(&home, THREAD);
    wait_for_runner(&mut nvim, Some("cli for stand-in"));
    leave(running.sidecar);
    wait_for_runner(&mut nvim, None);
    let mut next = client(&home, "another");
    assert!(StandIn::new(THREAD).open(&home, &mut next));
    wait_for_runner(&mut nvim, Some("another for stand-in"));
    leave(next);
    leave(nvim);
}

#[test]
fn a_killed_process_loses_its_thread_and_its_banner() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let mut running = HostProcess::on(&home, THREAD);
    running.end_a_phase();
    let mut nvim = watcher(&home, "nvim");
    running.sidecar.kill();
    wait_for_runner(&mut nvim, None);
    let changed = nvim.wait_for::<ThreadChanged>();
    assert_eq!(changed.heads_up, None);
    leave(nvim);
}

#[test]
fn a_thread_whose_files_are_removed_is_reported_as_gone() {
    let home = TestHome::new();
    leave(HostProcess::on(&home, THREAD).sidecar);
    let mut nvim = watcher(&home, "nvim");
    std::fs::remove_dir_all(home.thread(THREAD)).unwrap();
    assert_eq!(next(&mut nvim).gone, [THREAD]);
    leave(nvim);
}
