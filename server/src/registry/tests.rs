//! Threads and their registry in one process, beside another registry as a second process.

use super::{
    NoticeListener, OpenThread, Opening, Registry, RegistryError, RegistryNotice, ThreadContext,
    WatchFilter,
};
use crate::watch::ChangeNotifier;
use crate::workspace::{Workspace, WorkspaceHandle, WorkspaceSetup};
use futures::FutureExt;
use rawr_core::Input;
use rawr_core::event::{Capabilities, Choice, DirectiveGiven, HostInfo};
use rawr_core::machine::{self, ProcessRole, Response};
use rawr_core::units::{ThreadId, Timestamp, Tokens};
use rawr_settings::config::Home;
use rawr_storage::store::{Disk, DiskFaults, DiskOperation, OperationOutcome, Store};
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

pub(super) const NOW: Timestamp = Timestamp(10_000_000);
const GIVES_UP: Duration = Duration::from_secs(60);

/// A home with its clock.
pub(super) struct TestHome {
    folder: TempDir,
    clock: Arc<AtomicI64>,
    /// How often the clock was read.
    looks: Arc<AtomicUsize>,
}

impl TestHome {
    pub(super) fn new() -> Self {
        let clock = Arc::new(AtomicI64::new(NOW.0));
        Self { folder: TempDir::new().unwrap(), clock, looks: Arc::default() }
    }

    pub(super) fn set_clock(&self, at: Timestamp) {
        self.clock.store(at.0, Ordering::Relaxed);
    }

    pub(super) fn context(&self) -> ThreadContext {
        self.context_on(Disk::default(), Arc::new(|_| {}), &ChangeNotifier::default())
    }

    fn context_on(
        &self,
        disk: Disk,
        listener: NoticeListener,
        changes: &ChangeNotifier,
    ) -> ThreadContext {
        let setup = WorkspaceSetup {
            home: Home::at(self.folder.path().to_owned()),
            prompt_folder: None,
            overrides: None,
        };
        let store = Store::on(disk, &setup.home.dir);
        let root = store.root().to_owned();
        let workspace = Workspace::open(setup, root, changes.clone(), Box::new(|_| {}));
        let (clock, looks) = (Arc::clone(&self.clock), Arc::clone(&self.looks));
        let clock = Arc::new(move || {
            looks.fetch_add(1, Ordering::Relaxed);
            Timestamp(clock.load(Ordering::Relaxed))
        });
        let workspace = WorkspaceHandle::start(workspace, Arc::clone(&clock) as _);
        ThreadContext { store, workspace, listener, clock }
    }

    fn registry(&self) -> Registry {
        self.registry_on(Disk::default(), Arc::new(|_| {}))
    }

    fn registry_on(&self, disk: Disk, listener: NoticeListener) -> Registry {
        let changes = ChangeNotifier::default();
        Registry::start(self.context_on(disk, listener, &changes), changes)
    }
}

pub(super) fn opening(role: ProcessRole) -> Opening {
    opening_of("a", role)
}

fn opening_of(thread: &str, role: ProcessRole) -> Opening {
    let host = HostInfo { name: "host".to_owned(), version: None, can: Capabilities::default() };
    let opening = Opening::new(ThreadId::new(thread), "/work".to_owned(), role, host);
    Opening { window: Some(Tokens(190_000)), ..opening }
}

fn given(text: &str) -> Input {
    Input::Saw(DirectiveGiven { text: text.to_owned(), pinned: true, by: None }.into())
}

async fn give(registry: &Registry, thread: &str, text: &str) -> Result<(), RegistryError> {
    registry.handle(&ThreadId::new(thread), given(text), |_, _| ()).await
}

async fn open(registry: &Registry, thread: &str) {
    registry.open(opening_of(thread, ProcessRole::Owner), |_| ()).await.unwrap();
}

async fn directives(registry: &Registry, thread: &str) -> usize {
    let read = |open: &mut OpenThread| open.thread().known.directives.len();
    registry.read(&ThreadId::new(thread), read).await.unwrap()
}

/// Waits until `is_so`.
async fn until(is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(GIVES_UP, wait).await.expect("it did not come");
}

/// A disk whose syncs of one thread's files block while it hangs.
#[derive(Debug)]
struct HangingDisk {
    thread: &'static str,
    hangs: AtomicBool,
}

impl HangingDisk {
    fn of(thread: &'static str) -> Arc<Self> {
        Arc::new(Self { thread, hangs: AtomicBool::new(false) })
    }
}

impl DiskFaults for HangingDisk {
    fn meet(&self, operation: &DiskOperation<'_>, path: &Path) -> OperationOutcome {
        let is_its = path.parent().is_some_and(|folder| folder.ends_with(self.thread));
        while *operation == DiskOperation::Sync && is_its && self.hangs.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        OperationOutcome::Passes
    }
}

#[tokio::test]
async fn a_disk_that_hangs_blocks_only_its_own_thread() {
    let (home, disk) = (TestHome::new(), HangingDisk::of("a"));
    let registry = home.registry_on(Disk::with_faults(Arc::clone(&disk) as _), Arc::new(|_| {}));
    open(&registry, "a").await;
    open(&registry, "b").await;
    disk.hangs.store(true, Ordering::Relaxed);
    let mut of_a = Box::pin(give(&registry, "a", "one"));
    assert!(of_a.as_mut().now_or_never().is_none());
    give(&registry, "b", "two").await.unwrap();
    // A list of all threads does not wait for it either.
    let listed = registry.list().await;
    assert_eq!(listed().unwrap().len(), 2);
    assert!(of_a.as_mut().now_or_never().is_none(), "not stored, and so not answered");
    disk.hangs.store(false, Ordering::Relaxed);
    of_a.await.unwrap();
    assert_eq!(directives(&registry, "a").await, 1);
}

// rule: client.one-answer
#[tokio::test]
async fn a_cancelled_request_that_waits_does_nothing() {
    let (home, disk) = (TestHome::new(), HangingDisk::of("a"));
    let registry = home.registry_on(Disk::with_faults(Arc::clone(&disk) as _), Arc::new(|_| {}));
    open(&registry, "a").await;
    disk.hangs.store(true, Ordering::Relaxed);
    let mut first = Box::pin(give(&registry, "a", "one"));
    assert!(first.as_mut().now_or_never().is_none());
    // The first one is being stored.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let mut second = Box::pin(give(&registry, "a", "two"));
    assert!(second.as_mut().now_or_never().is_none());
    drop(second);
    disk.hangs.store(false, Ordering::Relaxed);
    first.await.unwrap();
    assert_eq!(directives(&registry, "a").await, 1);
}

#[tokio::test]
async fn a_thread_with_too_many_waiting_requests_is_busy() {
    const MANY: usize = 20_000;
    let (home, disk) = (TestHome::new(), HangingDisk::of("a"));
    let registry = home.registry_on(Disk::with_faults(Arc::clone(&disk) as _), Arc::new(|_| {}));
    open(&registry, "a").await;
    open(&registry, "b").await;
    disk.hangs.store(true, Ordering::Relaxed);
    let mut asked: Vec<_> = (0..MANY).map(|_| Box::pin(give(&registry, "a", "one"))).collect();
    for request in &mut asked {
        assert!(request.as_mut().now_or_never().is_none());
    }
    give(&registry, "b", "two").await.unwrap();
    disk.hangs.store(false, Ordering::Relaxed);
    let (mut stored, mut busy) = (0, 0);
    for answer in futures::future::join_all(asked).await {
        match answer {
            Ok(()) => stored += 1,
            Err(RegistryError::Busy(_)) => busy += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(stored > 0 && busy > 0 && stored + busy == MANY, "{stored} stored, {busy} refused");
}

#[tokio::test]
async fn a_panic_ends_one_request_and_the_thread_continues_from_its_disk() {
    let home = TestHome::new();
    let registry = home.registry();
    open(&registry, "a").await;
    give(&registry, "a", "one").await.unwrap();
    let id = ThreadId::new("a");
    let panics = registry.read(&id, |_| -> () { panic!("on purpose") });
    assert!(AssertUnwindSafe(panics).catch_unwind().await.is_err());
    give(&registry, "a", "two").await.unwrap();
    assert_eq!(directives(&registry, "a").await, 2);
}

#[tokio::test]
async fn a_closed_thread_is_unknown_and_opens_again() {
    let home = TestHome::new();
    let registry = home.registry();
    let id = ThreadId::new("a");
    for _ in 0..2 {
        open(&registry, "a").await;
        registry.close(&id).await.unwrap();
        let asked = give(&registry, "a", "one").await;
        assert!(matches!(asked, Err(RegistryError::UnknownThread(_))), "{asked:?}");
    }
    // Requests that were sent in one go keep their order.
    let opened = registry.open(opening(ProcessRole::Owner), |_| ());
    let closed = registry.close(&id);
    let reopened = registry.open(opening(ProcessRole::Owner), |_| ());
    let (opened, closed, reopened) = tokio::join!(biased; opened, closed, reopened);
    assert!(opened.is_ok() && closed.is_ok() && reopened.is_ok());
    give(&registry, "a", "two").await.unwrap();
}

#[tokio::test]
async fn requests_behind_a_refused_open_find_no_thread() {
    let home = TestHome::new();
    let owner = home.registry();
    open(&owner, "a").await;
    let other = home.registry();
    let opened = other.open(opening(ProcessRole::Owner), |_| ());
    let asked = give(&other, "a", "one");
    let (opened, asked) = tokio::join!(biased; opened, asked);
    assert!(opened.is_err());
    assert!(matches!(asked, Err(RegistryError::UnknownThread(_))), "{asked:?}");
    assert_eq!(directives(&owner, "a").await, 0);
}

#[tokio::test]
async fn a_watch_lists_a_thread_that_is_being_opened() {
    let home = TestHome::new();
    let registry = home.registry();
    for thread in ["a", "b"] {
        let opened = registry.open(opening_of(thread, ProcessRole::Owner), |_| ());
        let filter = WatchFilter { thread: Some(ThreadId::new(thread)), folder: None };
        let watched = registry.watch(filter);
        let (opened, watched) = tokio::join!(biased; opened, watched);
        assert!(opened.is_ok());
        assert_eq!(watched.unwrap().len(), 1, "{thread}");
    }
}

#[tokio::test]
async fn pending_records_are_stored_at_the_end() {
    let home = TestHome::new();
    let registry = home.registry();
    open(&registry, "a").await;
    let mut asked = Box::pin(give(&registry, "a", "keep the API"));
    assert!(asked.as_mut().now_or_never().is_none());
    registry.leave(|| ()).await;
    asked.await.unwrap();
    let events = home.folder.path().join("rawr/auto_compaction/threads/a/events.jsonl");
    assert!(std::fs::read_to_string(events).unwrap().contains("keep the API"));
    // Another process can own it now.
    open(&home.registry(), "a").await;
}

fn changes(home: &TestHome) -> (Registry, Arc<Mutex<Vec<String>>>) {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&told);
    let listener = move |notice: RegistryNotice<'_>| {
        if let RegistryNotice::Thread { thread, notice: machine::Notice::Changed, .. } = notice {
            heard.lock().unwrap().push(format!("{} changed", thread.id));
        }
    };
    (home.registry_on(Disk::default(), Arc::new(listener)), told)
}

#[tokio::test]
async fn records_written_while_a_thread_is_opened_are_reported() {
    let home = TestHome::new();
    let (watcher, told) = changes(&home);
    assert!(watcher.watch(WatchFilter::default()).await.unwrap().is_empty());
    let owner = home.registry();
    open(&owner, "a").await;
    watcher.open(opening(ProcessRole::Observer), |_| ()).await.unwrap();
    until(|| !told.lock().unwrap().is_empty()).await;
    told.lock().unwrap().clear();
    give(&owner, "a", "keep the API").await.unwrap();
    until(|| !told.lock().unwrap().is_empty()).await;
    assert_eq!(directives(&watcher, "a").await, 1);
}

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

async fn own(context: &ThreadContext) -> OpenThread {
    let can = Capabilities { compact: true, inject_turn: true, ..Capabilities::default() };
    let host = HostInfo { name: "host".to_owned(), version: None, can };
    let opening = Opening { host, ..opening(ProcessRole::Owner) };
    let mut open = OpenThread::read(context, &opening).await.unwrap();
    open.open_for_client(opening).await.unwrap();
    open
}

/// The listener is called between the report of the banner and that of the owner.
// rule: client.running-banner
#[tokio::test]
async fn the_banner_of_a_process_that_ends_while_it_is_reported_is_taken_down() {
    let home = TestHome::new();
    let owner: Arc<Mutex<Option<OpenThread>>> = Arc::default();
    let banners: Arc<Mutex<Vec<bool>>> = Arc::default();
    let (ends, seen) = (Arc::clone(&owner), Arc::clone(&banners));
    let listener = move |notice: RegistryNotice<'_>| {
        if let RegistryNotice::Thread { notice: machine::Notice::Changed, heads_up, .. } = notice {
            seen.lock().unwrap().push(heads_up.is_some());
            if heads_up.is_some() {
                drop(ends.lock().unwrap().take());
            }
        }
    };
    let watcher = home.registry_on(Disk::default(), Arc::new(listener));
    assert!(watcher.watch(WatchFilter::default()).await.unwrap().is_empty());
    for case in ["a thread that was not known", "a thread that did not run"] {
        banners.lock().unwrap().clear();
        // The watcher finds everything at once.
        meanwhile(async || {
            let mut running = own(&home.context()).await;
            if running.thread().sequence().is_none() {
                for input in turn() {
                    running.handle(input).await.unwrap();
                }
                let compact = Response {
                    choice: Choice::CompactNow,
                    sequence: None,
                    turns: None,
                    minutes: None,
                    packet: None,
                    by: None,
                };
                running.handle(Input::Respond(compact)).await.unwrap();
            }
            assert!(running.thread().sequence().is_some());
            running.handle(given(case)).await.unwrap();
            running.commit().await.unwrap();
            *owner.lock().unwrap() = Some(running);
        });
        until(|| owner.lock().unwrap().is_none()).await;
        until(|| banners.lock().unwrap().last() == Some(&false)).await;
        assert!(banners.lock().unwrap().contains(&true), "{case}");
    }
}

/// Does something in another process, while this one stands still.
fn meanwhile(work: impl AsyncFnOnce() + Send) {
    std::thread::scope(|scope| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        scope.spawn(move || runtime.unwrap().block_on(work())).join().unwrap();
    });
}

#[tokio::test]
async fn a_thread_is_reported_however_soon_its_records_follow_its_folder() {
    const THREADS: usize = 64;
    let home = TestHome::new();
    let (watcher, told) = changes(&home);
    let folder = Some(PathBuf::from("/work"));
    assert!(watcher.watch(WatchFilter { thread: None, folder }).await.unwrap().is_empty());
    let context = home.context();
    // All of them run until the end: what ends is read again.
    let mut running = Vec::new();
    for number in 0..THREADS {
        let opening = opening_of(&format!("t{number}"), ProcessRole::Owner);
        let mut open = OpenThread::read(&context, &opening).await.unwrap();
        open.open_for_client(opening).await.unwrap();
        open.commit().await.unwrap();
        running.push(open);
    }
    until(|| {
        // A thread whose lock another process holds for long is read again later.
        home.clock.fetch_add(5, Ordering::Relaxed);
        told.lock().unwrap().iter().collect::<BTreeSet<_>>().len() == THREADS
    })
    .await;
}

#[tokio::test]
async fn a_folder_without_records_is_not_read_again_and_again() {
    let home = TestHome::new();
    let (watcher, told) = changes(&home);
    assert!(watcher.watch(WatchFilter::default()).await.unwrap().is_empty());
    let threads = home.folder.path().join("rawr/auto_compaction/threads");
    std::fs::create_dir(threads.join("empty")).unwrap();
    // Reported after the folder.
    let context = home.context();
    let mut other = own(&context).await;
    other.commit().await.unwrap();
    until(|| !told.lock().unwrap().is_empty()).await;
    let looks = || home.looks.load(Ordering::Relaxed);
    for _ in 0..20 {
        let before = looks();
        tokio::time::sleep(Duration::from_millis(300)).await;
        if looks() == before {
            return;
        }
    }
    panic!("the sidecar is never idle");
}
