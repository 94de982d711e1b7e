//! A thread whose disk failed, beside a clock that is set back.

use crate::faults::played_disk::{EIO, SimulatedDisk, SimulatedFault};
use rawr_core::Input;
use rawr_core::event::{Capabilities, DirectiveGiven, HostInfo};
use rawr_core::machine::ProcessRole;
use rawr_core::units::{ThreadId, Timestamp, Tokens};
use rawr_server::registry::{OpenThread, Opening, ThreadContext};
use rawr_server::workspace::{Workspace, WorkspaceHandle, WorkspaceSetup};
use rawr_settings::config::Home;
use rawr_storage::store::{Disk, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tempfile::TempDir;

const NOW: i64 = 10_000_000;

fn opening(home: &TempDir) -> Opening {
    let host = HostInfo { name: "host".to_owned(), version: None, can: Capabilities::default() };
    let cwd = home.path().display().to_string();
    let opening = Opening::new(ThreadId::new("a"), cwd, ProcessRole::Owner, host);
    Opening { window: Some(Tokens(190_000)), ..opening }
}

fn context(home: &TempDir, disk: Disk, clock: &Arc<AtomicI64>) -> ThreadContext {
    let setup = WorkspaceSetup {
        home: Home::at(home.path().to_owned()),
        prompt_folder: None,
        overrides: None,
    };
    let store = Store::on(disk, &setup.home.dir);
    let root = store.root().to_owned();
    let workspace = Workspace::open(setup, root, Default::default(), Box::new(|_| {}));
    let clock = Arc::clone(clock);
    let clock = Arc::new(move || Timestamp(clock.load(Ordering::Relaxed)));
    let workspace = WorkspaceHandle::start(workspace, Arc::clone(&clock) as _);
    ThreadContext { store, workspace, listener: Arc::new(|_| {}), clock }
}

#[tokio::test]
async fn setting_the_clock_back_does_not_delay_a_retry() {
    const AN_HOUR_MS: i64 = 3_600_000;
    let (disk, home) = (Arc::new(SimulatedDisk::default()), TempDir::new().unwrap());
    let (faults, clock) = (Arc::<SimulatedDisk>::clone(&disk), Arc::new(AtomicI64::new(NOW)));
    let context = context(&home, Disk::with_faults(faults), &clock);
    let mut thread = OpenThread::read(&context, &opening(&home)).await.unwrap();
    thread.open_for_client(opening(&home)).await.unwrap();
    thread.commit().await.unwrap();
    disk.strike_after(0, SimulatedFault::Lasting(EIO));
    let given = DirectiveGiven { text: "keep the API".to_owned(), pinned: true, by: None };
    let handled = thread.handle(Input::Saw(given.into())).await;
    let stored = thread.commit().await;
    assert!(handled.is_err() || stored.is_err(), "the disk fails");
    clock.store(NOW - AN_HOUR_MS, Ordering::Relaxed);
    let next = thread.next_deadline().unwrap();
    let earlier = Timestamp(NOW - AN_HOUR_MS);
    assert!(next <= earlier.plus_seconds(1), "the next try is {} ms away", next.0 - earlier.0);
}
