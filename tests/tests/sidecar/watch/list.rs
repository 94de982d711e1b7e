//! A client that has asked for the list once keeps it current by what it is told: threads of other processes come, change
//! hands and go.

use super::{Running, THREAD, client, leave, watcher};
use rawr_protocol::methods::{ThreadChanged, ThreadListChanged};
use rawr_protocol::{Notification, ThreadListChangedNotification};
use rawr_tests::{Home, Sidecar, StandIn};

/// The next change of the list; other notifications are passed over.
fn next(sidecar: &mut Sidecar) -> ThreadListChangedNotification {
    loop {
        let note = sidecar.next_note();
        if note.method == ThreadListChanged::METHOD {
            return serde_json::from_value(note.params).unwrap();
        }
    }
}

/// Until it is told that such a client runs the one thread, or that none does.
fn wait_for_runner(sidecar: &mut Sidecar, client: Option<&str>) {
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
fn a_thread_that_another_process_begins_and_leaves_and_takes_up_again_is_told() {
    let home = Home::new();
    let mut nvim = watcher(&home, "nvim");
    let running = Running::on(&home, THREAD);
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
fn a_process_that_is_killed_runs_its_thread_no_more_and_its_banner_goes() {
    let home = Home::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let mut running = Running::on(&home, THREAD);
    running.end_a_phase();
    let mut nvim = watcher(&home, "nvim");
    running.sidecar.kill();
    wait_for_runner(&mut nvim, None);
    let changed = nvim.wait_for::<ThreadChanged>();
    assert_eq!(changed.heads_up, None);
    leave(nvim);
}

#[test]
fn a_thread_whose_files_are_removed_is_told_to_be_gone() {
    let home = Home::new();
    leave(Running::on(&home, THREAD).sidecar);
    let mut nvim = watcher(&home, "nvim");
    std::fs::remove_dir_all(home.thread(THREAD)).unwrap();
    assert_eq!(next(&mut nvim).gone, [THREAD]);
    leave(nvim);
}
