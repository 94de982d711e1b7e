//! An open thread on the simulated disk, its host and the clock. A process that dies is replaced by another one; notices
//! after its death are lost.

use crate::faults::host::SimulatedHost;
use crate::faults::played_disk::{SimulatedDisk, Visitor};
use crate::fixture::SECRET;
use rawr_core::event::{Capabilities, DirectiveGiven, Event, HostInfo, Phase};
use rawr_core::machine::{InputKind, ProcessRole, must_be_durable};
use rawr_core::thread::Issued;
use rawr_core::units::{InputId, ThreadId, Timestamp, Tokens};
use rawr_core::{Input, Record, Thread};
use rawr_server::registry::{
    HandledInput, NoticeListener, OpenThread, Opening, RegistryError, RegistryNotice, ThreadContext,
};
use rawr_server::workspace::{Workspace, WorkspaceHandle, WorkspaceSetup};
use rawr_settings::config::Home;
use rawr_storage::store::{Disk, Store};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// How long a disk stays broken, in milliseconds of simulated time.
const OUTAGE: i64 = 3000;
/// More steps than that mean an endless loop.
const MOST_STEPS: u32 = 2000;

pub struct FaultWorld {
    pub disk: Arc<SimulatedDisk>,
    pub host: SimulatedHost,
    pub submitted: Vec<InputId>,
    /// Durable events whose request was answered.
    pub acknowledged: Vec<Record>,
    pub issued: Vec<Issued>,
    home: TempDir,
    runtime: Runtime,
    thread: Option<OpenThread>,
    heard: Arc<Mutex<Vec<HeardNotice>>>,
    now: Timestamp,
    /// The clock of `now`, for the visitor.
    clock: Arc<AtomicI64>,
    visitor: Option<JoinHandle<Vec<Record>>>,
    /// Before which input the clock jumps, and by how many milliseconds.
    pub jump: Option<(usize, i64)>,
    /// The number of inputs.
    pub said: usize,
    heal_at: Option<Timestamp>,
    typed_in_the_outage: bool,
    steps: u32,
}

enum HeardNotice {
    Perform(Issued),
    Failed(Vec<InputId>),
    Recovered,
}

enum InputResult {
    Recorded,
    Refused,
    Died,
}

/// A phase ends with a turn, whatever the next message says.
fn setup(folder: &Path) -> WorkspaceSetup {
    let spec = json!({ "rawr_auto_compaction": { "preset": "spec" } });
    let home = Home::at(folder.join("home"));
    WorkspaceSetup { home, prompt_folder: None, overrides: Some(spec) }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// The disk and the clock of a process, and who gets its notices.
fn context(
    home: &Path,
    disk: &Arc<SimulatedDisk>,
    clock: &Arc<AtomicI64>,
    listener: NoticeListener,
) -> ThreadContext {
    let setup = setup(home);
    let faults: Arc<SimulatedDisk> = Arc::clone(disk);
    let store = Store::on(Disk::with_faults(faults), &setup.home.dir);
    let root = store.root().to_owned();
    let workspace = Workspace::open(setup, root, Default::default(), Box::new(|_| {}));
    let clock = Arc::clone(clock);
    let clock = Arc::new(move || Timestamp(clock.load(Ordering::Relaxed)));
    let workspace = WorkspaceHandle::start(workspace, Arc::clone(&clock) as _);
    ThreadContext { store, workspace, listener, clock }
}

fn listener(disk: &Arc<SimulatedDisk>, heard: &Arc<Mutex<Vec<HeardNotice>>>) -> NoticeListener {
    let (alive, heard) = (Arc::clone(disk), Arc::clone(heard));
    Arc::new(move |notice: RegistryNotice<'_>| {
        let told = match notice {
            RegistryNotice::Perform { issued, .. } => HeardNotice::Perform(issued.clone()),
            RegistryNotice::StoreFailed { held, .. } => HeardNotice::Failed(held.to_vec()),
            RegistryNotice::StoreRecovered { .. } => HeardNotice::Recovered,
            _ => return,
        };
        if !alive.is_dead() {
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(told);
        }
    })
}

fn opening(home: &Path, role: ProcessRole) -> Opening {
    let can = Capabilities { inject_turn: true, compact: true, ..Capabilities::default() };
    let host = HostInfo { name: "host".to_owned(), version: None, can };
    let opening = Opening::new(id(), home.display().to_string(), role, host);
    Opening { window: Some(Tokens(190_000)), ..opening }
}

/// Another client adds a directive once the thread exists. Returns its acknowledged records.
async fn visit(home: &Path, disk: Arc<SimulatedDisk>, clock: &Arc<AtomicI64>) -> Vec<Record> {
    let context = context(home, &disk, clock, Arc::new(|_| {}));
    let mut thread = loop {
        match OpenThread::read(&context, &opening(home, ProcessRole::Observer)).await {
            Ok(thread) => break thread,
            Err(RegistryError::UnknownThread(_)) => thread::sleep(Duration::from_millis(1)),
            Err(error) => panic!("the visitor cannot open the thread: {error}"),
        }
    };
    let text = "never touch the lexer".to_owned();
    let given = DirectiveGiven { text, pinned: true, by: Some("visitor".to_owned()) };
    let handled = thread.handle(Input::Saw(given.into())).await.unwrap();
    thread.commit().await.unwrap();
    handled.records
}

fn id() -> ThreadId {
    ThreadId::new("walked")
}

impl FaultWorld {
    pub fn new(disk: SimulatedDisk) -> Self {
        let (disk, home) = (Arc::new(disk), TempDir::new().unwrap());
        std::fs::create_dir(home.path().join("home")).unwrap();
        let mut world = Self {
            disk,
            host: SimulatedHost::default(),
            submitted: Vec::new(),
            acknowledged: Vec::new(),
            issued: Vec::new(),
            home,
            runtime: runtime(),
            thread: None,
            heard: Arc::default(),
            now: Timestamp(1_000_000),
            clock: Arc::new(AtomicI64::new(1_000_000)),
            visitor: None,
            jump: None,
            said: 0,
            heal_at: None,
            typed_in_the_outage: false,
            steps: 0,
        };
        if world.disk.will_delay() {
            world.expect_visitor();
        }
        world.open();
        world
    }

    fn expect_visitor(&mut self) {
        let ((call, called), (say_done, done)) = (mpsc::channel(), mpsc::channel());
        self.disk.expect(Visitor { call, done });
        let (disk, home, clock) =
            (Arc::clone(&self.disk), self.home.path().to_owned(), Arc::clone(&self.clock));
        self.visitor = Some(thread::spawn(move || {
            called.recv().unwrap();
            let records = runtime().block_on(visit(&home, disk, &clock));
            let _ = say_done.send(());
            records
        }));
    }

    /// Waits for the visitor, if there is one. Its records were acknowledged.
    pub fn see_off(&mut self) {
        if let Some(visitor) = self.visitor.take() {
            self.acknowledged.extend(visitor.join().unwrap());
        }
    }

    fn pass(&mut self, milliseconds: i64) {
        self.now.0 += milliseconds;
        self.clock.store(self.now.0, Ordering::Relaxed);
    }

    pub fn events(&self) -> PathBuf {
        self.home.path().join("home/rawr/auto_compaction/threads/walked/events.jsonl")
    }

    fn open_thread(&self) -> &OpenThread {
        self.thread.as_ref().unwrap()
    }

    pub fn thread(&self) -> &Thread {
        self.open_thread().thread()
    }

    /// A person sends a message.
    pub fn submit(&mut self, ends_phase: bool) {
        let input = InputId::new(format!("m{}", self.submitted.len() + 1));
        let mut text = format!("message {input}\nunchanged, ");
        if self.submitted.len() == 1 {
            text.push_str(SECRET);
        }
        self.submitted.push(input.clone());
        let submitted =
            Input::Submitted { input: input.clone(), text: text.clone(), kind: InputKind::Message };
        let answer = loop {
            match self.deliver(submitted.clone()) {
                InputResult::Died => {}
                answer => break answer,
            }
        };
        let is_held = self.thread().held.iter().any(|held| held.id == input);
        match answer {
            InputResult::Recorded if is_held => drop(self.host.held.insert(input, text)),
            InputResult::Recorded => self.host.user_turn(&input, ends_phase),
            InputResult::Refused | InputResult::Died => self.host.deliver_itself(input, ends_phase),
        }
        self.handle_notices();
    }

    /// The host sends its reports and performs its actions; time passes if nothing else can happen.
    pub fn run(&mut self) {
        while self.step() {
            self.steps += 1;
            assert!(self.steps < MOST_STEPS, "it never becomes idle: {:?}", self.thread());
        }
    }

    /// Sends one report, or lets a little time pass.
    pub fn step(&mut self) -> bool {
        self.wait(0);
        if self.host.is_cut_off {
            self.wait(500);
            if self.disk.is_failing() && !std::mem::replace(&mut self.typed_in_the_outage, true) {
                self.submit(false);
            }
            return true;
        }
        if let Some(event) = self.host.to_say.front().cloned() {
            if let InputResult::Recorded = self.report(event) {
                self.host.to_say.pop_front();
            }
            self.handle_notices();
            return true;
        }
        let due = self.open_thread().next_deadline().is_some_and(|at| at.0 < self.now.0 + 10_000);
        if due {
            self.wait(500);
        }
        due
    }

    pub fn is_at_rest(&self) -> bool {
        let thread = self.thread();
        let pending = thread.pending_actions().next().is_some();
        thread.phase() == Phase::Idle && thread.is_idle() && thread.held.is_empty() && !pending
    }

    fn report(&mut self, event: Event) -> InputResult {
        if let Event::InputCancelled(cancelled) = &event {
            let held = &self.thread().held;
            if !held.iter().any(|held| held.id == cancelled.input && held.action.is_none()) {
                return InputResult::Recorded;
            }
        }
        self.deliver(Input::Saw(event))
    }

    fn deliver(&mut self, input: Input) -> InputResult {
        self.said += 1;
        self.pass(10);
        if let Some((_, by)) = self.jump.take_if(|(at, _)| *at == self.said) {
            self.pass(by);
        }
        let thread = self.thread.as_mut().unwrap();
        let (handled, stored) = self.runtime.block_on(async {
            let handled = thread.handle(input).await;
            (handled, thread.commit().await)
        });
        self.take(handled, stored.is_err())
    }

    fn take(&mut self, handled: Result<HandledInput, RegistryError>, failed: bool) -> InputResult {
        if self.disk.is_dead() {
            self.begin_again();
            return InputResult::Died;
        }
        self.handle_notices();
        match handled {
            Ok(handled) if !failed => {
                let durable = |record: &Record| must_be_durable(&record.event);
                self.acknowledged.extend(handled.records.into_iter().filter(durable));
                InputResult::Recorded
            }
            // The sequence has ended and does not know it any more.
            Err(RegistryError::Refused(..)) if !failed => InputResult::Recorded,
            _ => {
                if !self.host.is_cut_off {
                    self.wait(500);
                }
                InputResult::Refused
            }
        }
    }

    fn wait(&mut self, milliseconds: i64) {
        self.pass(milliseconds);
        self.heal_in_time();
        if let Some(thread) = &mut self.thread
            && thread.next_deadline().is_some_and(|at| at <= self.now)
        {
            let stored = self.runtime.block_on(async {
                thread.tick().await;
                thread.commit().await
            });
            // The host is told.
            drop(stored);
        }
        if self.disk.is_dead() {
            self.begin_again();
        }
        self.handle_notices();
    }

    fn heal_in_time(&mut self) {
        if self.disk.is_failing() {
            let heal_at = *self.heal_at.get_or_insert(Timestamp(self.now.0 + OUTAGE));
            if heal_at <= self.now {
                self.disk.heal();
            }
        }
    }

    fn begin_again(&mut self) {
        self.disk.revive();
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.thread = None;
        if std::mem::take(&mut self.host.is_cut_off) {
            self.host.heard_again();
        }
        self.open();
    }

    fn open(&mut self) {
        let listener = listener(&self.disk, &self.heard);
        for _ in 0..20 {
            let (home, disk, clock) = (self.home.path(), &self.disk, &self.clock);
            let (thread, listener) = (&mut self.thread, Arc::clone(&listener));
            let opened = self.runtime.block_on(async {
                let opening = opening(home, ProcessRole::Owner);
                let open = match thread {
                    Some(open) => open,
                    None => {
                        let context = context(home, disk, clock, listener);
                        thread.insert(OpenThread::read(&context, &opening).await?)
                    }
                };
                let opened = open.open_for_client(opening).await;
                open.commit().await?;
                opened
            });
            if self.disk.is_dead() {
                self.begin_again();
                return;
            }
            self.handle_notices();
            if opened.is_ok() {
                let pending = self.open_thread().pending();
                pending.iter().for_each(|issued| self.perform(issued));
                return;
            }
            self.wait(500);
        }
        panic!("the thread cannot be opened");
    }

    fn handle_notices(&mut self) {
        let heard = std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner));
        for heard in heard {
            match heard {
                HeardNotice::Perform(issued) => self.perform(&issued),
                HeardNotice::Failed(released) => self.host.cut_off(released),
                HeardNotice::Recovered => self.host.heard_again(),
            }
        }
    }

    fn perform(&mut self, issued: &Issued) {
        self.issued.push(issued.clone());
        self.host.perform(issued);
    }
}
