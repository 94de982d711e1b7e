//! Notifications about threads of other processes: the same as the owner's client gets, and only those that were
//! requested.

use super::{HostProcess, THREAD, client, leave, wait_for_phase, watcher};
use rawr_protocol::methods::{
    CompactionUpdate, DecisionRecorded, GuardClear, GuardSet, SequenceHeadsUp, ThreadChanged,
    ThreadGet, ThreadOpen, ThreadUnwatch, ThreadWatch,
};
use rawr_protocol::{
    GuardClearParams, GuardSetParams, Notification, Phase, Request, Role, ThreadGetParams,
    ThreadUnwatchParams, ThreadWatchParams, Until,
};
use rawr_tests::sidecar::{LaunchOptions, Note, Streams};
use rawr_tests::{TestHome, TestSidecar};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

/// Only a hang takes this long.
const LIMIT: Duration = Duration::from_secs(60);

/// For a sidecar whose client reads nothing. A debug build needs half of it for itself.
const MOST_MEMORY: u64 = 64 << 20;

fn of<N: Notification>(notes: &[Note]) -> Vec<String> {
    let of_it = notes.iter().filter(|note| note.method == N::METHOD);
    of_it.map(|note| note.params.to_string()).collect()
}

/// The decisions without what became of them: a watcher that is late tells more of it.
fn decisions(notes: &[Note]) -> Vec<Value> {
    let of_it = notes.iter().filter(|note| note.method == DecisionRecorded::METHOD);
    let without_fate = |note: &Note| {
        let mut decision = note.params["decision"].clone();
        let fields = decision.as_object_mut().unwrap();
        fields.retain(|name, _| !["fate", "compaction"].contains(&name.as_str()));
        decision
    };
    of_it.map(without_fate).collect()
}

#[test]
fn a_watcher_gets_the_same_notifications_as_the_owners_client() {
    let home = TestHome::new();
    let mut running = HostProcess::on(&home, THREAD);
    let mut nvim = watcher(&home, "nvim");
    let mut owner = Vec::new();
    running.host.user_turn_with_boundaries();
    let note_down = |note: &Note| owner.push(note.clone());
    assert!(running.host.run_and(&mut running.sidecar, note_down));
    assert_eq!(running.host.performed, ["packet_request", "compact", "handoff"]);
    let all = |heard: &[Note]| {
        of::<ThreadChanged>(heard).last() == of::<ThreadChanged>(&owner).last()
            && of::<DecisionRecorded>(heard).len() == of::<DecisionRecorded>(&owner).len()
    };
    let mut heard = Vec::new();
    while !all(&heard) {
        heard.push(nvim.next_note());
    }
    assert_eq!(of::<SequenceHeadsUp>(&heard), of::<SequenceHeadsUp>(&owner));
    assert_eq!(of::<SequenceHeadsUp>(&heard).len(), 1);
    assert_eq!(of::<CompactionUpdate>(&heard), of::<CompactionUpdate>(&owner));
    assert_eq!(of::<CompactionUpdate>(&heard).len(), 2);
    assert_eq!(decisions(&heard), decisions(&owner));
    assert!(heard.iter().all(|note| note.method != "rawr/action/perform"), "{heard:?}");
    leave(nvim);
    leave(running.sidecar);
}

#[test]
fn who_only_opens_a_thread_as_an_observer_is_notified_of_nothing() {
    let home = TestHome::new();
    let mut running = HostProcess::on(&home, THREAD);
    let (mut opened, mut watching) = (client(&home, "cli"), watcher(&home, "nvim"));
    let opening = running.host.opening(&home, Role::Observer);
    opened.call::<ThreadOpen>(&opening);
    running.end_a_phase();
    wait_for_sequence(&mut watching, THREAD);
    let get = ThreadGetParams { thread_id: THREAD.to_owned() };
    assert_eq!(opened.call::<ThreadGet>(&get).thread.phase, Phase::Idle);
    assert_eq!(opened.take_notes(), []);
    for client in [opened, watching, running.sidecar] {
        leave(client);
    }
}

/// Steps of a sequence may be combined in one notification, but its banner and its end are always reported.
fn wait_for_sequence(sidecar: &mut TestSidecar, thread: &str) {
    sidecar.allow::<ThreadChanged>();
    sidecar.allow::<DecisionRecorded>();
    sidecar.allow::<CompactionUpdate>();
    assert_eq!(sidecar.wait_for::<SequenceHeadsUp>().thread_id, thread);
    // Another thread may be reported as having no owner any more.
    while wait_for_phase(sidecar, Phase::Idle).thread_id != thread {}
}

#[test]
fn a_thread_that_begins_later_is_watched_as_well() {
    let home = TestHome::new();
    let mut nvim = watcher(&home, "nvim");
    let mut running = HostProcess::on(&home, "later");
    let changed = nvim.wait_for::<ThreadChanged>();
    assert_eq!((changed.thread_id.as_str(), changed.phase), ("later", Phase::Idle));
    running.end_a_phase();
    wait_for_sequence(&mut nvim, "later");
    leave(nvim);
    leave(running.sidecar);
}

#[test]
fn changes_are_polled_if_the_system_reports_none() {
    let home = TestHome::new();
    let mut running = HostProcess::on(&home, THREAD);
    let polls = ("RAWR_WATCH", "poll".into());
    let launch = LaunchOptions { environment: vec![polls], ..LaunchOptions::default() };
    let mut nvim = TestSidecar::launch(&home, &launch);
    nvim.call::<ThreadWatch>(&ThreadWatchParams::default());
    running.end_a_phase();
    wait_for_sequence(&mut nvim, THREAD);
    let mut later = HostProcess::on(&home, "later");
    later.end_a_phase();
    wait_for_sequence(&mut nvim, "later");
    leave(nvim);
    leave(running.sidecar);
    leave(later.sidecar);
}

/// More events than the OS keeps for a slow reader.
#[cfg(target_os = "linux")]
#[test]
fn after_missed_changes_everything_is_read() {
    let kept: usize = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events")
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let home = TestHome::new();
    let mut running = HostProcess::on(&home, THREAD);
    let launch = LaunchOptions {
        environment: vec![("RAWR_LOG", "info".into())],
        ..LaunchOptions::default()
    };
    let mut nvim = TestSidecar::launch(&home, &launch);
    nvim.call::<ThreadWatch>(&ThreadWatchParams::default());
    nvim.pause();
    // Alternates between two files, because repeated events of one file are merged.
    let files = ["one", "other"].map(|file| File::create(home.thread(THREAD).join(file)).unwrap());
    for _ in 0..kept {
        files.iter().for_each(|mut file| file.write_all(b".").unwrap());
    }
    running.end_a_phase();
    nvim.resume();
    wait_for_sequence(&mut nvim, THREAD);
    // The sequence is among the first changes, the overflow event comes last.
    let give_up = Instant::now() + LIMIT;
    while !nvim.log().contains("missed changes") {
        assert!(Instant::now() < give_up, "{}", nvim.log());
        thread::sleep(Duration::from_millis(10));
    }
    leave(nvim);
    leave(running.sidecar);
}

#[test]
fn a_client_that_does_not_read_takes_little_memory_and_blocks_no_other() {
    let home = TestHome::new();
    let mut running = HostProcess::on(&home, THREAD);
    let unread = LaunchOptions { streams: Streams::Unread, ..LaunchOptions::default() };
    let mut deaf = TestSidecar::spawn(&home, &unread);
    for (id, method) in [("i", "initialize"), ("w", ThreadWatch::METHOD)] {
        deaf.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}));
    }
    let mut nvim = watcher(&home, "nvim");
    nvim.allow::<ThreadChanged>();
    // Some 16 megabytes of changes, which are not read.
    for _ in 0..400 {
        let (thread_id, note) = (THREAD.to_owned(), Some("x".repeat(20_000)));
        let guard = GuardSetParams { thread_id, until: Until::Released, note };
        let guard_id = Some(running.sidecar.call::<GuardSet>(&guard).guard_id);
        let clear = GuardClearParams { thread_id: THREAD.to_owned(), guard_id };
        running.sidecar.call::<GuardClear>(&clear);
        running.sidecar.take_notes();
    }
    while !nvim.wait_for::<ThreadChanged>().guards.is_empty() {}
    assert!(deaf.peak_memory() < MOST_MEMORY, "{} bytes", deaf.peak_memory());
    deaf.kill();
    leave(nvim);
    leave(running.sidecar);
}

#[test]
fn a_watch_returns_the_matching_threads_and_reports_no_old_records() {
    let home = TestHome::new();
    let mut running = HostProcess::on(&home, THREAD);
    running.end_a_phase();
    let mut nvim = client(&home, "nvim");
    let watched = nvim.call::<ThreadWatch>(&ThreadWatchParams::default()).threads;
    assert_eq!(watched.len(), 1);
    assert_eq!(watched[0].thread_id, THREAD);
    assert!(watched[0].owner.as_ref().unwrap().starts_with("cli for stand-in"), "{watched:?}");
    assert!(!watched[0].open);
    assert_eq!(nvim.take_notes(), []);
    leave(running.sidecar);
    leave(nvim);
}

#[test]
fn only_matching_threads_are_reported() {
    let home = TestHome::new();
    let folder = home.work().display().to_string();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(home.work(), &link).unwrap();
    let link = link.display().to_string();
    let wishes = [
        (ThreadWatchParams { thread_id: Some("a".to_owned()), workspace_folder: None }, vec!["a"]),
        (ThreadWatchParams { thread_id: None, workspace_folder: Some(folder) }, vec!["a", "b"]),
        (ThreadWatchParams { thread_id: None, workspace_folder: Some(link) }, vec!["a", "b"]),
        (
            ThreadWatchParams { thread_id: None, workspace_folder: Some("/elsewhere".to_owned()) },
            vec![],
        ),
    ];
    let mut watchers: Vec<_> = wishes
        .iter()
        .map(|(wish, _)| {
            let mut sidecar = client(&home, "nvim");
            sidecar.call::<ThreadWatch>(wish);
            sidecar
        })
        .collect();
    for thread in ["a", "b"] {
        let mut running = HostProcess::on(&home, thread);
        running.end_a_phase();
        leave(running.sidecar);
    }
    for (watcher, (_, expected)) in watchers.iter_mut().zip(&wishes) {
        for thread in expected {
            wait_for_sequence(watcher, thread);
        }
    }
    for (mut watcher, (_, expected)) in watchers.into_iter().zip(&wishes) {
        let notes = watcher.take_notes();
        let strange =
            |note: &&Note| !expected.iter().any(|thread| note.params["threadId"] == *thread);
        assert_eq!(notes.iter().filter(strange).collect::<Vec<_>>(), Vec::<&Note>::new());
        watcher.leave();
    }
}

#[test]
fn after_unwatch_nothing_is_reported() {
    let home = TestHome::new();
    let mut running = HostProcess::on(&home, THREAD);
    let mut nvim = watcher(&home, "nvim");
    let mut other = watcher(&home, "other");
    nvim.call::<ThreadUnwatch>(&ThreadUnwatchParams::default());
    running.end_a_phase();
    wait_for_sequence(&mut other, THREAD);
    // A request makes sure that all notifications have arrived.
    nvim.call::<ThreadUnwatch>(&ThreadUnwatchParams::default());
    assert_eq!(nvim.take_notes(), []);
    leave(nvim);
    leave(other);
    leave(running.sidecar);
}
