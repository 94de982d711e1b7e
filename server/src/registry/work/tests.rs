//! What waits for a thread's files without a request.

use crate::config::Home;
use crate::registry::{Opening, RegistryError, RegistryNotice, ThreadRegistry, WatchFilter};
use crate::store::Store;
use crate::watch::ChangeSet;
use crate::workspace::{Workspace, WorkspaceSetup};
use rawr_core::Input;
use rawr_core::event::{Capabilities, DirectiveGiven, HostInfo, ToolStarted};
use rawr_core::machine;
use rawr_core::machine::ProcessRole;
use rawr_core::units::{CallId, ThreadId, Timestamp, Tokens};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

pub(crate) const NOW: Timestamp = Timestamp(10_000_000);

pub(crate) fn registry(home: &TempDir) -> (ThreadRegistry, Arc<Mutex<Vec<String>>>) {
    let setup = WorkspaceSetup {
        home: Home::at(home.path().to_owned()),
        prompt_folder: None,
        overrides: None,
    };
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&told);
    let tell = move |notice: RegistryNotice<'_>| {
        if let RegistryNotice::Thread { thread, notice: machine::Notice::Changed, .. } = notice {
            heard.lock().unwrap().push(format!("{} changed", thread.id));
        }
    };
    let store = Store::new(&setup.home.dir);
    let root = store.root().to_owned();
    let workspace = Workspace::open(setup, root, Default::default(), Box::new(|_| {}));
    (ThreadRegistry::new(store, workspace, Box::new(tell)), told)
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
