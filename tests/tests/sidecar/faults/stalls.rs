//! Runs the registry's work step by step: storing one thread never blocks another.

use crate::faults::played_disk::{EIO, SimulatedDisk, SimulatedFault};
use rawr_core::Input;
use rawr_core::event::{Capabilities, DirectiveGiven, HostInfo, ThreadClosed};
use rawr_core::machine::ProcessRole;
use rawr_core::units::{ThreadId, Timestamp, Tokens};
use rawr_server::config::Home;
use rawr_server::registry::{Opening, RegistryError, RegistryNotice, ThreadRegistry};
use rawr_server::store::{Disk, Store};
use rawr_server::workers::ThreadWork;
use rawr_server::workspace::{Workspace, WorkspaceSetup};
use std::sync::Arc;
use tempfile::TempDir;

const NOW: Timestamp = Timestamp(10_000_000);

fn registry(home: &TempDir) -> ThreadRegistry {
    registry_on(Disk::default(), home)
}

fn registry_on(disk: Disk, home: &TempDir) -> ThreadRegistry {
    let setup = WorkspaceSetup {
        home: Home::at(home.path().to_owned()),
        prompt_folder: None,
        overrides: None,
    };
    let store = Store::on(disk, &setup.home.dir);
    let root = store.root().to_owned();
    let workspace = Workspace::open(setup, root, Default::default(), Box::new(|_| {}));
    ThreadRegistry::new(store, workspace, Box::new(|_: RegistryNotice<'_>| {}))
}

fn open(registry: &mut ThreadRegistry, home: &TempDir, thread: &str) {
    let host = HostInfo { name: "host".to_owned(), version: None, can: Capabilities::default() };
    let cwd = home.path().display().to_string();
    let opening = Opening::new(ThreadId::new(thread), cwd, ProcessRole::Owner, host);
    let opening = Opening { window: Some(Tokens(190_000)), ..opening };
    assert!(
        matches!(registry.open(opening.clone(), NOW), Err(RegistryError::Busy(_))),
        "it is read first"
    );
    registry.settle(NOW);
    registry.open(opening, NOW).unwrap();
    registry.settle(NOW);
}

/// A request with a durable record.
fn give(registry: &mut ThreadRegistry, ticket: u64, thread: &str) -> Result<(), RegistryError> {
    let id = ThreadId::new(thread);
    registry.begins(ticket, Some(&id), NOW);
    let given = DirectiveGiven { text: "keep the API".to_owned(), pinned: true, by: None };
    registry.handle(&id, Input::Saw(given.into()), NOW).map(drop)
}

fn works(registry: &mut ThreadRegistry) -> Vec<ThreadWork> {
    assert!(registry.commit().is_empty());
    registry.take_works()
}

#[test]
fn a_slow_sync_blocks_only_its_own_thread() {
    let home = TempDir::new().unwrap();
    let mut registry = registry(&home);
    open(&mut registry, &home, "a");
    open(&mut registry, &home, "b");
    give(&mut registry, 1, "a").unwrap();
    let of_a = works(&mut registry);
    assert_eq!((of_a.len(), registry.unsettled()), (1, vec![1]));
    // The request has had no effect, and other threads are served.
    give(&mut registry, 2, "b").unwrap();
    for work in works(&mut registry) {
        registry.worked(work.run(), NOW);
    }
    assert_eq!(registry.unsettled(), [1], "the second request is stored, the first is not");
    // Requests for the thread wait for its files and have no effect before.
    assert!(matches!(give(&mut registry, 3, "a"), Err(RegistryError::Busy(_))));
    assert_eq!(registry.waits_for(), [ThreadId::new("a")]);
    for work in of_a {
        registry.worked(work.run(), NOW);
    }
    assert_eq!(registry.unsettled(), [0; 0]);
    give(&mut registry, 3, "a").unwrap();
    registry.settle(NOW);
    let events = home.path().join("rawr/auto_compaction/threads/a/events.jsonl");
    assert_eq!(std::fs::read_to_string(events).unwrap().matches("keep the API").count(), 2);
}

#[test]
fn many_threads_are_stored_in_parallel() {
    const THREADS: [&str; 4] = ["a", "b", "c", "d"];
    let home = TempDir::new().unwrap();
    let mut registry = registry(&home);
    for thread in THREADS {
        open(&mut registry, &home, thread);
    }
    for (thread, ticket) in THREADS.into_iter().zip(1..) {
        give(&mut registry, ticket, thread).unwrap();
    }
    let mut works = works(&mut registry);
    assert_eq!(works.len(), 4, "one piece of work per thread");
    works.reverse();
    for work in works {
        registry.worked(work.run(), NOW);
    }
    assert_eq!(registry.unsettled(), [0; 0]);
}

/// Closing a thread also waits for its disk, and nothing is lost at the end of the process.
#[test]
fn pending_records_are_stored_at_the_end() {
    let home = TempDir::new().unwrap();
    let mut registry = registry(&home);
    open(&mut registry, &home, "a");
    give(&mut registry, 1, "a").unwrap();
    let id = ThreadId::new("a");
    registry.handle(&id, Input::Saw(ThreadClosed {}.into()), NOW).unwrap();
    registry.leave(NOW);
    let events = home.path().join("rawr/auto_compaction/threads/a/events.jsonl");
    let log = std::fs::read_to_string(events).unwrap();
    assert!(log.contains("keep the API") && log.contains("thread_closed"), "{log}");
}

#[test]
fn setting_the_clock_back_does_not_delay_a_retry() {
    const AN_HOUR_MS: i64 = 3_600_000;
    let (disk, home) = (Arc::new(SimulatedDisk::default()), TempDir::new().unwrap());
    let faults: Arc<SimulatedDisk> = Arc::clone(&disk);
    let mut registry = registry_on(Disk::with_faults(faults), &home);
    open(&mut registry, &home, "a");
    disk.strike_after(0, SimulatedFault::Lasting(EIO));
    give(&mut registry, 1, "a").unwrap();
    registry.settle(NOW);
    assert_eq!(registry.commit().len(), 1, "the disk fails");
    let earlier = Timestamp(NOW.0 - AN_HOUR_MS);
    let next = registry.next_deadline(earlier).unwrap();
    assert!(next <= earlier.plus_seconds(1), "the next try is {} ms away", next.0 - earlier.0);
}
