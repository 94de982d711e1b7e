//! What waits for a thread's files beside requests.

use crate::config::Home;
use crate::desk::{Desk, DeskError, Notice, Opening, Setup, WatchFilter};
use crate::watch::ChangeSet;
use rawr_core::Input;
use rawr_core::event::{Capabilities, DirectiveGiven, HostInfo};
use rawr_core::machine;
use rawr_core::machine::Role;
use rawr_core::units::{ThreadId, Timestamp, Tokens};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

pub(crate) const NOW: Timestamp = Timestamp(10_000_000);

pub(crate) fn desk(home: &TempDir) -> (Desk, Arc<Mutex<Vec<String>>>) {
    let setup =
        Setup { home: Home::at(home.path().to_owned()), prompt_folder: None, overrides: None };
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&told);
    let tell = move |notice: Notice<'_>| {
        if let Notice::Thread { thread, notice: machine::Notice::Changed, .. } = notice {
            heard.lock().unwrap().push(format!("{} changed", thread.id));
        }
    };
    (Desk::new(setup, Default::default(), Box::new(tell)), told)
}

pub(crate) fn opening(role: Role) -> Opening {
    let host = HostInfo { name: "host".to_owned(), version: None, can: Capabilities::default() };
    let opening = Opening::new(ThreadId::new("a"), "/work".to_owned(), role, host);
    Opening { window: Some(Tokens(190_000)), ..opening }
}

#[test]
fn what_is_recorded_while_a_thread_is_opened_is_told() {
    let home = TempDir::new().unwrap();
    let (mut watcher, told) = desk(&home);
    assert!(watcher.watch(WatchFilter::default(), NOW).unwrap().is_empty());
    let (mut owner, _) = desk(&home);
    assert!(matches!(owner.open(opening(Role::Owner), NOW), Err(DeskError::Busy(_))));
    owner.settle(NOW);
    owner.open(opening(Role::Owner), NOW).unwrap();
    owner.settle(NOW);

    assert!(matches!(watcher.open(opening(Role::Observer), NOW), Err(DeskError::Busy(_))));
    let works = watcher.take_works();
    watcher.follow(ChangeSet { threads: ["a".to_owned()].into(), ..ChangeSet::default() }, NOW);
    for work in works {
        watcher.worked(work.run(), NOW);
    }
    let given = DirectiveGiven { text: "keep the API".to_owned(), pinned: true, by: None };
    owner.handle(&ThreadId::new("a"), Input::Saw(given.into()), NOW).unwrap();
    owner.settle(NOW);
    watcher.open(opening(Role::Observer), NOW).unwrap();
    watcher.requests_went_on(NOW);
    watcher.settle(NOW);
    assert_eq!(*told.lock().unwrap(), ["a changed"]);
}
