//! Idle threads are archived and restored as a whole, and never while a process has them open.

use super::{THREAD, events, live_in, lived_in, reread, run, said, stored};
use rawr_protocol::methods::{ThreadList, ThreadOpen};
use rawr_protocol::{Role, ThreadListParams};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

const DAY: u64 = 24 * 60 * 60;

/// Makes the thread look unused for so many days.
fn rest(home: &TestHome, thread: &str, days: u64) {
    let at = SystemTime::now() - Duration::from_secs(days * DAY);
    File::options().append(true).open(home.events(thread)).unwrap().set_modified(at).unwrap();
}

fn archive(home: &TestHome) -> PathBuf {
    home.path().join("rawr/auto_compaction/archive")
}

fn stamp(home: &TestHome) -> PathBuf {
    home.path().join("rawr/auto_compaction/retention.stamp")
}

/// The threads that a client gets in its list.
fn listed(home: &TestHome) -> Vec<String> {
    let mut sidecar = TestSidecar::start(home);
    let listed = sidecar.request("rawr/thread/list", &json!({})).unwrap().unwrap();
    sidecar.take_notes();
    sidecar.kill();
    let id = |thread: &Value| thread["threadId"].as_str().unwrap().to_owned();
    listed["threads"].as_array().unwrap().iter().map(id).collect()
}

/// The output of `rawr state list`.
fn told(home: &TestHome, arguments: &[&str]) -> Vec<String> {
    let (events, code) = events(home, &[&["list"], arguments].concat());
    assert_eq!(code, 0);
    events.iter().map(|event| event["threadId"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn idle_threads_leave_the_list_and_others_stay() {
    let home = lived_in();
    live_in(&home, "young");
    rest(&home, THREAD, 91);
    rest(&home, "young", 89);
    let before = fs::read(home.events(THREAD)).unwrap();
    let (text, code) = said(&home, &["compact"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("✓ t archived\n"), "{text}");
    assert_eq!(listed(&home), ["young"]);
    assert_eq!(told(&home, &[]), ["young"]);
    assert_eq!(told(&home, &["--archived"]), [THREAD]);
    assert_eq!(fs::read(archive(&home).join("t/events.jsonl")).unwrap(), before);
    // Archived threads are checked like any other.
    assert_eq!(said(&home, &["check"]), ("2 threads read, nothing wrong.\n".to_owned(), 0));
}

#[test]
fn opening_an_archived_thread_restores_it_unchanged() {
    for role in [Role::Owner, Role::Observer] {
        let home = lived_in();
        let before = reread(&home);
        rest(&home, THREAD, 100);
        run(&home, &["compact"]);
        assert!(!home.thread(THREAD).exists());
        let mut sidecar = TestSidecar::start(&home);
        sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, role));
        let seen =
            sidecar.request("rawr/thread/get", &json!({ "threadId": THREAD })).unwrap().unwrap();
        if role == Role::Observer {
            assert_eq!(seen, before);
        }
        assert_eq!(seen["lastCompaction"], before["lastCompaction"]);
        sidecar.discard_and_leave();
        assert_eq!((told(&home, &[]), told(&home, &["--archived"])), (vec![THREAD.into()], vec![]));
        assert!(!archive(&home).join(THREAD).exists());
    }
}

#[test]
fn an_open_thread_is_not_archived() {
    for role in [Role::Owner, Role::Observer] {
        let home = lived_in();
        let mut sidecar = TestSidecar::start(&home);
        sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, role));
        rest(&home, THREAD, 100);
        let (text, code) = said(&home, &["compact"]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("· t not archived: "), "{text}");
        assert!(home.thread(THREAD).exists());
        sidecar.take_notes();
        sidecar.kill();
        // A dead process has nothing open.
        run(&home, &["compact"]);
        assert!(!home.thread(THREAD).exists());
    }
}

#[test]
fn a_leaving_sidecar_archives_once_a_day() {
    let home = lived_in();
    rest(&home, THREAD, 100);
    let come_and_go = || TestSidecar::start(&home).leave();
    // The previous session ended today.
    come_and_go();
    assert!(home.thread(THREAD).exists());
    let yesterday = SystemTime::now() - Duration::from_secs(DAY + 60);
    File::options().append(true).open(stamp(&home)).unwrap().set_modified(yesterday).unwrap();
    let sidecar = TestSidecar::start(&home);
    assert!(home.thread(THREAD).exists(), "nothing is moved at a start");
    sidecar.leave();
    assert!(!home.thread(THREAD).exists());
    assert!(archive(&home).join(THREAD).exists());
}

#[test]
fn a_stamp_in_the_future_does_not_block_archiving() {
    let home = lived_in();
    rest(&home, THREAD, 100);
    let later = SystemTime::now() + Duration::from_secs(400 * DAY);
    File::options().append(true).open(stamp(&home)).unwrap().set_modified(later).unwrap();
    TestSidecar::start(&home).leave();
    assert!(!home.thread(THREAD).exists());
}

#[test]
fn the_user_sets_the_days_and_zero_is_never() {
    for (toml, days, stays) in [
        ("retention_days = 0", 5000, true),
        ("retention_days = 7", 6, true),
        ("retention_days = 7", 8, false),
        ("retention_days = \"soon\"", 89, true),
        ("retention_days = \"soon\"", 91, false),
    ] {
        let home = lived_in();
        home.configure(&format!("[rawr_auto_compaction]\n{toml}\n"));
        rest(&home, THREAD, days);
        run(&home, &["compact"]);
        assert_eq!(home.thread(THREAD).exists(), stays, "{toml}, {days} days");
    }
}

#[test]
fn two_threads_of_one_name_are_both_kept() {
    let home = lived_in();
    rest(&home, THREAD, 100);
    run(&home, &["compact"]);
    let archived = super::files(&archive(&home));
    live_in(&TestHome::new(), THREAD);
    fs::create_dir(home.thread(THREAD)).unwrap();
    fs::copy(archive(&home).join("t/events.jsonl"), home.events(THREAD)).unwrap();
    rest(&home, THREAD, 100);
    let (text, _) = said(&home, &["compact"]);
    assert!(text.contains("not archived: a thread of that name is already archived"), "{text}");
    reread(&home);
    assert_eq!(super::files(&archive(&home)).len(), archived.len());
    let found = super::findings(&home);
    assert!(found.contains(&"wrong there_twice t".to_owned()), "{found:?}");
}

#[test]
fn an_empty_home_stays_empty() {
    let home = TestHome::new();
    TestSidecar::start(&home).leave();
    run(&home, &["compact"]);
    assert_eq!(stored(&home).len(), 0);
}

#[test]
fn a_thread_cannot_be_opened_while_it_is_moved() {
    let home = lived_in();
    let log = home.lines(THREAD);
    let gate = File::open(home.thread(THREAD).parent().unwrap()).unwrap();
    gate.lock().unwrap();
    let mut sidecar = TestSidecar::start(&home);
    let asked = sidecar.ask::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Owner));
    // A process that does not wait would be done by then.
    thread::sleep(Duration::from_millis(200));
    fs::create_dir(archive(&home)).unwrap();
    fs::rename(home.thread(THREAD), archive(&home).join(THREAD)).unwrap();
    gate.unlock().unwrap();
    sidecar.answer::<ThreadOpen>(asked).unwrap();
    assert!(!archive(&home).join(THREAD).exists());
    assert_eq!(home.lines(THREAD)[..log.len()], log);
    sidecar.discard_and_leave();
}

/// While it is moved back, the thread may seem to be in neither folder to a process that reads one after the other.
#[test]
fn a_thread_that_is_being_moved_is_not_reported_as_missing() {
    let home = lived_in();
    let gate = File::open(home.thread(THREAD).parent().unwrap()).unwrap();
    let mut sidecar = TestSidecar::start(&home);
    gate.lock().unwrap();
    let on_its_way = home.path().join("on-its-way");
    fs::rename(home.thread(THREAD), &on_its_way).unwrap();
    let asked = sidecar.ask::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Observer));
    // Requests that do not wait for the gate are answered before this one.
    sidecar.call::<ThreadList>(&ThreadListParams {});
    fs::rename(&on_its_way, home.thread(THREAD)).unwrap();
    gate.unlock().unwrap();
    sidecar.answer::<ThreadOpen>(asked).unwrap();
    sidecar.discard_and_leave();
}

#[test]
fn a_folder_without_records_is_not_damage() {
    let home = lived_in();
    fs::create_dir(home.thread("coming")).unwrap();
    let (text, code) = said(&home, &["compact"]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn an_empty_folder_stays_while_a_thread_is_opened() {
    let home = lived_in();
    fs::create_dir(home.thread("coming")).unwrap();
    let gate = File::open(home.thread(THREAD).parent().unwrap()).unwrap();
    gate.lock_shared().unwrap();
    said(&home, &["repair"]);
    assert!(home.thread("coming").exists());
    gate.unlock().unwrap();
    said(&home, &["repair"]);
    assert!(!home.thread("coming").exists());
}

/// Opening and archiving concurrently loses nothing that was acknowledged.
#[test]
fn opening_and_archiving_at_the_same_time_loses_nothing() {
    const ROUNDS: usize = 12;
    let home = lived_in();
    thread::scope(|scope| {
        let archiving = scope.spawn(|| {
            for _ in 0..ROUNDS * 3 {
                assert_eq!(said(&home, &["compact"]).1, 0);
            }
        });
        let mut opened = Vec::new();
        for _ in 0..2 {
            opened.push(scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let mut sidecar = TestSidecar::start(&home);
                    let opening = StandIn::new(THREAD).opening(&home, Role::Observer);
                    sidecar.call::<ThreadOpen>(&opening);
                    let guard = json!({ "threadId": THREAD, "until": { "kind": "released" } });
                    sidecar.request("rawr/guard/set", &guard).unwrap().unwrap();
                    rest(&home, THREAD, 100);
                    sidecar.take_notes();
                    sidecar.kill();
                }
            }));
        }
        opened.into_iter().for_each(|thread| thread.join().unwrap());
        archiving.join().unwrap();
    });
    let seen = reread(&home);
    assert_eq!(seen["guards"].as_array().unwrap().len(), 2 * ROUNDS);
    assert!(!archive(&home).join(THREAD).exists());
    let ids: Vec<_> = seen["guards"].as_array().unwrap().iter().map(|it| &it["guardId"]).collect();
    let one_each: std::collections::BTreeSet<_> = ids.iter().map(|id| id.to_string()).collect();
    assert_eq!(one_each.len(), ids.len());
}

#[test]
fn two_runs_at_once_archive_each_thread_once() {
    let home = lived_in();
    let ids: Vec<String> = (0..40).map(|at| format!("old-{at}")).collect();
    for id in &ids {
        fs::create_dir(home.thread(id)).unwrap();
        fs::copy(home.events(THREAD), home.events(id)).unwrap();
        rest(&home, id, 91);
    }
    let runs: [(Vec<Value>, i32); 3] = thread::scope(|scope| {
        let running = [(); 3].map(|()| scope.spawn(|| events(&home, &["compact"])));
        running.map(|run| run.join().unwrap())
    });
    let archived = |(told, code): &(Vec<Value>, i32)| {
        assert_eq!(*code, 0, "{told:?}");
        let moved =
            |event: &&Value| event["event"] == "thread_archived" && event["notArchived"].is_null();
        told.iter().filter(moved).count()
    };
    // One that another run has locked stays for the next time.
    let moved = runs.iter().map(archived).sum::<usize>();
    assert_eq!(told(&home, &["--archived"]).len(), moved, "{runs:?}");
    assert_eq!(events(&home, &["compact"]).1, 0);
    assert_eq!(told(&home, &["--archived"]).len(), ids.len());
}
