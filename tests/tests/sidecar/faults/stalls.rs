//! A desk whose works are done one by one: what is stored of one thread waits for nothing of another.

use crate::faults::played_disk::{EIO, Fault, PlayedDisk};
use rawr_core::Input;
use rawr_core::event::{Capabilities, DirectiveGiven, HostInfo, ThreadClosed};
use rawr_core::machine::Role;
use rawr_core::units::{ThreadId, Timestamp, Tokens};
use rawr_server::config::Home;
use rawr_server::desk::{Desk, DeskError, Notice, Opening, Setup};
use rawr_server::store::Disk;
use rawr_server::workers::Work;
use std::sync::Arc;
use tempfile::TempDir;

const NOW: Timestamp = Timestamp(10_000_000);

fn desk(home: &TempDir) -> Desk {
    desk_on(Disk::default(), home)
}

fn desk_on(disk: Disk, home: &TempDir) -> Desk {
    let setup =
        Setup { home: Home::at(home.path().to_owned()), prompt_folder: None, overrides: None };
    Desk::on(disk, setup, Default::default(), Box::new(|_: Notice<'_>| {}))
}

fn open(desk: &mut Desk, home: &TempDir, thread: &str) {
    let host = HostInfo { name: "host".to_owned(), version: None, can: Capabilities::default() };
    let cwd = home.path().display().to_string();
    let opening = Opening::new(ThreadId::new(thread), cwd, Role::Owner, host);
    let opening = Opening { window: Some(Tokens(190_000)), ..opening };
    assert!(matches!(desk.open(opening.clone(), NOW), Err(DeskError::Busy(_))), "it is read first");
    desk.settle(NOW);
    desk.open(opening, NOW).unwrap();
    desk.settle(NOW);
}

/// As a request that has to last.
fn give(desk: &mut Desk, ticket: u64, thread: &str) -> Result<(), DeskError> {
    let id = ThreadId::new(thread);
    desk.begins(ticket, Some(&id), NOW);
    let given = DirectiveGiven { text: "keep the API".to_owned(), pinned: true, by: None };
    desk.handle(&id, Input::Saw(given.into()), NOW).map(drop)
}

fn works(desk: &mut Desk) -> Vec<Work> {
    assert!(desk.commit().is_empty());
    desk.take_works()
}

#[test]
fn a_sync_that_takes_its_time_holds_up_only_its_own_thread() {
    let home = TempDir::new().unwrap();
    let mut desk = desk(&home);
    open(&mut desk, &home, "a");
    open(&mut desk, &home, "b");
    give(&mut desk, 1, "a").unwrap();
    let of_a = works(&mut desk);
    assert_eq!((of_a.len(), desk.unsettled()), (1, vec![1]));
    // Nothing of it has been done, and other threads are served.
    give(&mut desk, 2, "b").unwrap();
    for work in works(&mut desk) {
        desk.worked(work.run(), NOW);
    }
    assert_eq!(desk.unsettled(), [1], "the second request is stored, the first is not");
    // What concerns the thread waits for its files, and does nothing before.
    assert!(matches!(give(&mut desk, 3, "a"), Err(DeskError::Busy(_))));
    assert_eq!(desk.waits_for(), [ThreadId::new("a")]);
    for work in of_a {
        desk.worked(work.run(), NOW);
    }
    assert_eq!(desk.unsettled(), [0; 0]);
    give(&mut desk, 3, "a").unwrap();
    desk.settle(NOW);
    let events = home.path().join("rawr/auto_compaction/threads/a/events.jsonl");
    assert_eq!(std::fs::read_to_string(events).unwrap().matches("keep the API").count(), 2);
}

#[test]
fn many_threads_are_stored_side_by_side() {
    const THREADS: [&str; 4] = ["a", "b", "c", "d"];
    let home = TempDir::new().unwrap();
    let mut desk = desk(&home);
    for thread in THREADS {
        open(&mut desk, &home, thread);
    }
    for (thread, ticket) in THREADS.into_iter().zip(1..) {
        give(&mut desk, ticket, thread).unwrap();
    }
    let mut works = works(&mut desk);
    assert_eq!(works.len(), 4, "one piece of work a thread, each free to wait alone");
    works.reverse();
    for work in works {
        desk.worked(work.run(), NOW);
    }
    assert_eq!(desk.unsettled(), [0; 0]);
}

/// The last word of a thread's host waits for its disk as well; nothing of it is lost at the end of the process.
#[test]
fn what_was_begun_is_stored_at_the_end() {
    let home = TempDir::new().unwrap();
    let mut desk = desk(&home);
    open(&mut desk, &home, "a");
    give(&mut desk, 1, "a").unwrap();
    let id = ThreadId::new("a");
    desk.handle(&id, Input::Saw(ThreadClosed {}.into()), NOW).unwrap();
    desk.leave(NOW);
    let events = home.path().join("rawr/auto_compaction/threads/a/events.jsonl");
    let log = std::fs::read_to_string(events).unwrap();
    assert!(log.contains("keep the API") && log.contains("thread_closed"), "{log}");
}

#[test]
fn a_clock_that_is_set_back_puts_off_no_new_try() {
    const AN_HOUR_MS: i64 = 3_600_000;
    let (disk, home) = (Arc::new(PlayedDisk::default()), TempDir::new().unwrap());
    let faults: Arc<PlayedDisk> = Arc::clone(&disk);
    let mut desk = desk_on(Disk::with_faults(faults), &home);
    open(&mut desk, &home, "a");
    disk.strike_after(0, Fault::Lasting(EIO));
    give(&mut desk, 1, "a").unwrap();
    desk.settle(NOW);
    assert_eq!(desk.commit().len(), 1, "the disk fails");
    let earlier = Timestamp(NOW.0 - AN_HOUR_MS);
    let next = desk.next_deadline(earlier).unwrap();
    assert!(next <= earlier.plus_seconds(1), "the next try is {} ms away", next.0 - earlier.0);
}
