//! A client that requested the list once keeps it current with notifications: threads of other processes are added,
//! change owners and are removed.

use super::{HostProcess, THREAD, client, leave, wait_for_phase, watcher};
use rawr_protocol::methods::{ThreadChanged, ThreadGet, ThreadListChanged, ThreadOpen};
use rawr_protocol::{Notification, Phase, Role, ThreadGetParams, ThreadListChangedNotification};
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

/// Waits until all of these threads are reported as gone.
fn wait_until_gone(sidecar: &mut TestSidecar, threads: &[&str]) {
    let mut gone = std::collections::BTreeSet::new();
    while !threads.iter().all(|id| gone.contains(*id)) {
        gone.extend(next(sidecar).gone);
    }
}

// rule: client.home-again
#[test]
fn a_home_that_is_moved_away_and_made_again_is_watched_again() {
    let home = TestHome::new();
    leave(HostProcess::on(&home, "before").sidecar);
    let mut nvim = watcher(&home, "nvim");
    for turn in ["first", "second"] {
        std::fs::rename(home.path(), home.work().join(turn)).unwrap();
        wait_until_gone(&mut nvim, &[if turn == "first" { "before" } else { THREAD }]);
        std::fs::create_dir(home.path()).unwrap();
        home.configure("[rawr_auto_compaction]\npreset = \"spec\"\nmode = \"ask\"\n");
        let mut running = HostProcess::on(&home, THREAD);
        wait_for_runner(&mut nvim, Some("cli for stand-in"));
        running.end_a_phase();
        assert!(wait_for_phase(&mut nvim, Phase::AwaitingApproval).heads_up.is_some());
        running.sidecar.kill();
        wait_for_runner(&mut nvim, None);
    }
    leave(nvim);
}

// rule: client.running
#[test]
fn a_thread_that_is_only_looked_at_does_not_run() {
    let home = TestHome::new();
    leave(HostProcess::on(&home, THREAD).sidecar);
    let mut nvim = client(&home, "nvim");
    let get = |nvim: &mut TestSidecar| {
        let params = ThreadGetParams { thread_id: THREAD.to_owned() };
        let found = serde_json::to_value(nvim.call::<ThreadGet>(&params)).unwrap();
        (found["thread"]["open"].clone(), found["thread"]["running"].clone())
    };
    nvim.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Observer));
    assert_eq!(get(&mut nvim), (true.into(), false.into()));
    let running = HostProcess::on(&home, THREAD);
    assert_eq!(get(&mut nvim), (true.into(), true.into()));
    leave(running.sidecar);
    leave(nvim);
}
