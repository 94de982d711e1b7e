//! What waits for a thread's files without a request.

use crate::config::Home;
use crate::registry::{Opening, RegistryError, RegistryNotice, ThreadRegistry, WatchFilter};
use crate::store::Store;
use crate::watch::ChangeSet;
use crate::workspace::{Workspace, WorkspaceSetup};
use rawr_core::Input;
use rawr_core::event::Choice;
use rawr_core::event::{Capabilities, DirectiveGiven, HostInfo, ToolStarted};
use rawr_core::machine;
use rawr_core::machine::{ProcessRole, Response};
use rawr_core::units::{CallId, ThreadId, Timestamp, Tokens};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

pub(crate) const NOW: Timestamp = Timestamp(10_000_000);

pub(crate) fn registry(home: &TempDir) -> (ThreadRegistry, Arc<Mutex<Vec<String>>>) {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&told);
    let tell = move |notice: RegistryNotice<'_>| {
        if let RegistryNotice::Thread { thread, notice: machine::Notice::Changed, .. } = notice {
            heard.lock().unwrap().push(format!("{} changed", thread.id));
        }
    };
    (registry_with(home, tell), told)
}

fn registry_with(
    home: &TempDir,
    tell: impl FnMut(RegistryNotice<'_>) + Send + 'static,
) -> ThreadRegistry {
    let setup = WorkspaceSetup {
        home: Home::at(home.path().to_owned()),
        prompt_folder: None,
        overrides: None,
    };
    let store = Store::new(&setup.home.dir);
    let root = store.root().to_owned();
    let workspace = Workspace::open(setup, root, Default::default(), Box::new(|_| {}));
    ThreadRegistry::new(store, workspace, Box::new(tell))
}

pub(crate) fn opening(role: ProcessRole) -> Opening {
    let host = HostInfo { name: "host".to_owned(), version: None, can: Capabilities::default() };
    let opening = Opening::new(ThreadId::new("a"), "/work".to_owned(), role, host);
    Opening { window: Some(Tokens(190_000)), ..opening }
}

#[test]
fn records_written_while_a_thread_is_opened_are_reported() {
    let home = TempDir::new().unwrap();
    let (mut watcher, told) = registry(&home);
    assert!(watcher.watch(WatchFilter::default(), NOW).unwrap().is_empty());
    let (mut owner, _) = registry(&home);
    assert!(matches!(owner.open(opening(ProcessRole::Owner), NOW), Err(RegistryError::Busy(_))));
    owner.settle(NOW);
    owner.open(opening(ProcessRole::Owner), NOW).unwrap();
    owner.settle(NOW);

    assert!(matches!(
        watcher.open(opening(ProcessRole::Observer), NOW),
        Err(RegistryError::Busy(_))
    ));
    let works = watcher.take_works();
    watcher.follow(ChangeSet { threads: ["a".to_owned()].into(), ..ChangeSet::default() }, NOW);
    for work in works {
        watcher.worked(work.run(), NOW);
    }
    let given = DirectiveGiven { text: "keep the API".to_owned(), pinned: true, by: None };
    owner.handle(&ThreadId::new("a"), Input::Saw(given.into()), NOW).unwrap();
    owner.settle(NOW);
    watcher.open(opening(ProcessRole::Observer), NOW).unwrap();
    watcher.requests_resumed(NOW);
    watcher.settle(NOW);
    assert_eq!(*told.lock().unwrap(), ["a changed"]);
}

/// Nothing keeps the thread open, so that storing its batch removes it. A request for it must not wait.
#[test]
fn a_thread_removed_after_a_panic_blocks_no_request() {
    let home = TempDir::new().unwrap();
    let (mut owner, _) = registry(&home);
    assert!(owner.open(opening(ProcessRole::Owner), NOW).is_err());
    owner.settle(NOW);
    owner.open(opening(ProcessRole::Owner), NOW).unwrap();
    owner.settle(NOW);

    let (id, filter) = (ThreadId::new("a"), WatchFilter::default());
    let started = || Input::Saw(ToolStarted { call: CallId::new("c"), name: None }.into());
    let (mut watcher, _) = registry(&home);
    assert!(watcher.watch(filter.clone(), NOW).is_err());
    watcher.settle(NOW);
    watcher.watch(filter.clone(), NOW).unwrap();
    watcher.begins(1, Some(&id), NOW);
    watcher.handle(&id, started(), NOW).unwrap();
    watcher.unwatch(&filter);
    watcher.mark_threads_stale();
    watcher.begins(2, Some(&id), NOW);
    let asked = watcher.handle(&id, started(), NOW).map(drop);
    assert_eq!(watcher.waits_for(), [], "{asked:?}");
    assert!(matches!(asked, Err(RegistryError::UnknownThread(_))), "{asked:?}");
}

fn given(text: &str) -> Input {
    Input::Saw(DirectiveGiven { text: text.to_owned(), pinned: true, by: None }.into())
}

fn changed_thread() -> ChangeSet {
    ChangeSet { threads: ["a".to_owned()].into(), ..ChangeSet::default() }
}

/// Opens the thread as its owner.
fn own(home: &TempDir, can: Capabilities) -> ThreadRegistry {
    let (mut owner, _) = registry(home);
    let opening = || {
        let host = HostInfo { name: "host".to_owned(), version: None, can };
        Opening { host, ..opening(ProcessRole::Owner) }
    };
    assert!(matches!(owner.open(opening(), NOW), Err(RegistryError::Busy(_))));
    owner.settle(NOW);
    owner.open(opening(), NOW).unwrap();
    owner.settle(NOW);
    owner
}

#[test]
fn records_are_read_later_if_the_files_are_in_use() {
    let home = TempDir::new().unwrap();
    let (mut watcher, told) = registry(&home);
    assert!(watcher.watch(WatchFilter::default(), NOW).unwrap().is_empty());
    let mut owner = own(&home, Capabilities::default());
    watcher.follow(changed_thread(), NOW);
    let read: Vec<_> = watcher.take_works().into_iter().map(|work| work.run()).collect();
    owner.handle(&ThreadId::new("a"), given("keep the API"), NOW).unwrap();
    owner.settle(NOW);
    // The lock is held until this is stored.
    owner.handle(&ThreadId::new("a"), given("keep the tests"), NOW).unwrap();
    read.into_iter().for_each(|read| watcher.worked(read, NOW));
    owner.settle(NOW);
    watcher.settle(NOW);
    assert_eq!(*told.lock().unwrap(), ["a changed", "a changed"]);
}

/// A turn with known usage.
fn turn() -> [Input; 2] {
    let of = |more: serde_json::Value| {
        let mut params = serde_json::json!({ "threadId": "a", "turnId": "u1" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let started = serde_json::from_value(of(serde_json::json!({ "origin": "user" })));
    let usage = serde_json::json!({ "contextTokens": 90_000 });
    let ended = of(serde_json::json!({ "status": "completed", "usage": usage }));
    let ended = serde_json::from_value(ended);
    [
        crate::wire::turn_started(started.unwrap()).unwrap(),
        crate::wire::turn_completed(ended.unwrap()).unwrap(),
    ]
}

/// The listener is called between the report of the banner and that of the owner.
// rule: client.running-banner
#[test]
fn the_banner_of_a_process_that_ends_while_it_is_reported_is_taken_down() {
    let home = TempDir::new().unwrap();
    let owner: Arc<Mutex<Option<ThreadRegistry>>> = Arc::default();
    let banners: Arc<Mutex<Vec<bool>>> = Arc::default();
    let (ends, seen) = (Arc::clone(&owner), Arc::clone(&banners));
    let mut watcher = registry_with(&home, move |notice| {
        if let RegistryNotice::Thread { notice: machine::Notice::Changed, heads_up, .. } = notice {
            seen.lock().unwrap().push(heads_up.is_some());
            drop(ends.lock().unwrap().take());
        }
    });
    assert!(watcher.watch(WatchFilter::default(), NOW).unwrap().is_empty());
    let id = ThreadId::new("a");
    let can = Capabilities { compact: true, inject_turn: true, ..Capabilities::default() };
    for case in ["a thread that was not known", "a thread that did not run"] {
        let mut running = own(&home, can);
        let compact = Response {
            choice: Choice::CompactNow,
            sequence: None,
            turns: None,
            minutes: None,
            packet: None,
            by: None,
        };
        if running.thread(&id).unwrap().sequence().is_none() {
            for input in turn() {
                running.handle(&id, input, NOW).unwrap();
            }
            running.handle(&id, Input::Respond(compact), NOW).unwrap();
            running.settle(NOW);
        }
        assert!(running.thread(&id).unwrap().sequence().is_some());
        running.handle(&id, given(case), NOW).unwrap();
        running.settle(NOW);
        *owner.lock().unwrap() = Some(running);
        watcher.follow(changed_thread(), NOW);
        watcher.settle(NOW);
    }
    assert_eq!(*banners.lock().unwrap(), [true, false, true, false]);
}
