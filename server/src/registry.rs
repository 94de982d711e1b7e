//! The threads that are open in this process. The core's decisions are stored first, then performed and reported. Knows
//! no wire format and no client. Everything here is synchronous and has one owner; what may block is handed to workers.

mod capsules;
mod clean;
mod configuration;
mod disk;
mod error;
mod follow;
mod held;
mod lists;
mod notice;
mod opening;
mod outside;
mod spans;
mod threads;
mod work;

pub use error::RegistryError;
pub(crate) use follow::WatchFilter;
pub use notice::RegistryNotice;
pub use opening::Opening;

use clean::redacted;
use configuration::scope_of;
use follow::{WatchState, fold_news};
use notice::{publish, report_damage};

use crate::capsule::StoredCapsule;
use crate::config::Config;
use crate::jobs::Job;
use crate::notes::AgentNotes;
use crate::problem::FileProblem;
use crate::store::archive::OpenMode;
use crate::store::{DecisionFile, OwnerLock, Store, StoreError, ThreadLog};
use crate::workers::{OpenedThread, WorkerTask};
use crate::workspace::{ConfigScope, Workspace};
use rawr_core::assess::DecisionRecord;
use rawr_core::event::{InputHeld, ThreadOpened};
use rawr_core::machine::{HeadsUpBanner, ProcessRole, must_be_durable};
use rawr_core::policy::Policy;
use rawr_core::prompt::Prompts;
use rawr_core::units::{DecisionId, ThreadId, Timestamp};
use rawr_core::{Effect, Input, Machine, Record, Rules, Thread};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// The result of one input.
#[derive(Debug, Default)]
pub struct HandledInput {
    /// Stored with the next commit.
    pub records: Vec<Record>,
    /// The assessment that the input led to, if any.
    pub decision: Option<DecisionRecord>,
}

/// A thread that is open in this process.
#[derive(Debug)]
pub(crate) struct OpenThread {
    machine: Machine,
    /// `None` while a worker has it.
    log: Option<Box<ThreadLog>>,
    folder: PathBuf,
    decisions: DecisionFile,
    owner: Option<OwnerLock>,
    scope: ConfigScope,
    config: Config,
    problems: Vec<FileProblem>,
    last_decision: Option<DecisionRecord>,
    /// A write failed: memory may be ahead of the disk, and the disk is right.
    stale: bool,
    /// A client has opened it. Otherwise it is here because it is watched.
    by_client: bool,
    /// The client wants to be notified of what other processes record.
    watched: bool,
    /// The thread is new and the client has not been notified of it.
    unheard_of: bool,
    /// A message that waited when the conversation's last session ended, for the client that opens the next one.
    held_before: Option<InputHeld>,
    /// The client was last notified of a banner.
    banner_told: bool,
    /// To be removed with the next commit.
    closing: bool,
    /// This batch holds records that the thread's owner must read.
    calls_owner: bool,
    /// The requests of this batch that concern the thread.
    tickets: Vec<Ticket>,
    /// Requests that have read what this batch would store. They are answered with it, because storing it may still
    /// fail.
    readers: RefCell<Vec<Ticket>>,
    /// Effects of this batch.
    staged: Vec<StagedEffects>,
    /// Written before the records of this batch.
    capsules: Vec<StoredCapsule>,
    originals: held::HeldOriginals,
    look: outside::RepoLook,
    health: disk::ThreadHealth,
}

impl OpenThread {
    fn new(
        machine: Machine,
        log: Box<ThreadLog>,
        decisions: DecisionFile,
        scope: ConfigScope,
        (config, problems): (Config, Vec<FileProblem>),
    ) -> Self {
        Self {
            machine,
            folder: log.folder().to_owned(),
            log: Some(log),
            decisions,
            owner: None,
            scope,
            config,
            problems,
            last_decision: None,
            stale: false,
            by_client: false,
            watched: false,
            unheard_of: false,
            held_before: None,
            banner_told: false,
            closing: false,
            calls_owner: false,
            tickets: Vec::new(),
            readers: RefCell::default(),
            staged: Vec::new(),
            capsules: Vec::new(),
            originals: held::HeldOriginals::default(),
            look: outside::RepoLook::default(),
            health: disk::ThreadHealth::default(),
        }
    }
}

impl OpenThread {
    pub(crate) const fn thread(&self) -> &Thread {
        self.machine.thread()
    }

    pub(crate) const fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) const fn policy(&self) -> &Policy {
        &self.config.policy
    }

    pub(crate) const fn is_owned(&self) -> bool {
        self.owner.is_some()
    }

    /// The thread's folder in the store.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) const fn last_decision(&self) -> Option<&DecisionRecord> {
        self.last_decision.as_ref()
    }

    /// The scratch file of its agent.
    pub(crate) fn notes(&self) -> AgentNotes {
        AgentNotes::of(self.thread(), self.policy())
    }

    /// The rules of the thread now, with these prompts.
    pub(crate) fn rules<'r>(&'r self, prompts: &'r Prompts) -> Rules<'r> {
        let notes_exist = AgentNotes::may_be_named(self.thread(), self.policy());
        Rules { policy: self.policy(), prompts, notes_exist }
    }

    /// The current banner. A thread that no process runs has none, because there is no owner to act on an answer.
    pub(crate) fn heads_up(&self) -> Option<HeadsUpBanner> {
        let heads_up = self.machine.heads_up(self.policy())?;
        let is_run = self.is_owned()
            || self.thread().session.host.can.compact_by_person
            || OwnerLock::holder(&self.folder).is_some();
        is_run.then_some(heads_up)
    }
}

/// The number of a request on its connection. 0 is reserved for work without a request.
pub type Ticket = u64;

/// The ticket of work that no request asked for.
const NO_REQUEST: Ticket = 0;

/// Effects that are sent once their records are stored.
#[derive(Debug)]
struct StagedEffects {
    effects: Vec<Effect>,
    now: Timestamp,
}

type NoticeListener = Box<dyn FnMut(RegistryNotice<'_>) + Send>;

/// The threads that are open in this process.
///
/// There are five groups of methods:
///
/// - **Requests.** For each request call [`begins`](Self::begins) with its ticket, then any of [`open`](Self::open),
///   [`handle`](Self::handle), [`handle_as_owner`](Self::handle_as_owner), [`close`](Self::close) or a method that reads.
///   [`RegistryError::Busy`] means that a worker has the thread's files: nothing has happened, and
///   [`waits_for`](Self::waits_for) names the threads. Repeat the request when they are back.
/// - **Storing.** [`commit`](Self::commit) stores the records of everything handled since the last commit and returns the
///   requests that failed. Answer no other request before its ticket has left [`unsettled`](Self::unsettled).
/// - **Work.** [`take_works`](Self::take_works) returns what may wait for the disk: run it on any thread and give the result
///   to [`worked`](Self::worked). When the requests that waited have been repeated, call
///   [`requests_resumed`](Self::requests_resumed). `take_jobs` and `done` do the same for work outside of this process.
/// - **Time.** Call [`tick`](Self::tick) at [`next_deadline`](Self::next_deadline), which may change with every other call.
///   `now` is the wall clock in milliseconds; it may be set back.
/// - **The end.** [`leave`](Self::leave) stores everything and caches the state. No worker may be under way.
///
/// Records are stored before their effects leave as [`RegistryNotice`]s to the listener. The listener runs inside of these
/// calls and must not call back.
pub struct ThreadRegistry {
    workspace: Workspace,
    store: Store,
    watching: WatchState,
    threads: threads::OpenThreads,
    tell: NoticeListener,
    ticket: Ticket,
    /// Threads with records or effects for the next commit.
    batch: Vec<ThreadId>,
    work: work::WorkerProgress,
    /// Jobs that start once their records are stored.
    jobs: Vec<Job>,
    /// The newest threads that are not open, as an editor last asked for them.
    newest: lists::NewestThreads,
    /// Failures of this batch from before its commit.
    failures: Vec<(Vec<Ticket>, RegistryError)>,
}

impl std::fmt::Debug for ThreadRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadRegistry")
            .field("threads", &self.threads.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl ThreadRegistry {
    /// Starts without open threads. `tell` receives every notice after its records are stored.
    pub fn new(store: Store, workspace: Workspace, tell: NoticeListener) -> Self {
        Self {
            workspace,
            store,
            watching: WatchState::default(),
            threads: threads::OpenThreads::default(),
            tell,
            ticket: 0,
            batch: Vec::new(),
            work: work::WorkerProgress::default(),
            jobs: Vec::new(),
            newest: lists::NewestThreads::default(),
            failures: Vec::new(),
        }
    }

    /// Configuration and prompts.
    pub(crate) const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// For operations that change no thread, such as reading and resetting prompts.
    pub(crate) const fn workspace_mut(&mut self) -> &mut Workspace {
        &mut self.workspace
    }

    /// The store of all threads, open or not.
    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    /// Opens a thread, or changes the role of an open one. Actions that were pending when it was closed are pending
    /// again, under the same ids. Fails with `Busy` until a worker has read it.
    pub fn open(&mut self, opening: Opening, now: Timestamp) -> Result<&Thread, RegistryError> {
        let id = opening.thread.clone();
        let had = self.threads.get(&id).map(|open| open.by_client);
        match self.threads.get(&id) {
            Some(open) => {
                let scope = scope_of(&opening, open.machine.thread());
                self.reload_config_for(&id, scope);
            }
            None => {
                let mut open = self.load(&id, &opening)?;
                self.watching.choose(&mut open);
                self.threads.insert(id.clone(), open);
            }
        }
        if opening.role == ProcessRole::Owner
            && let Err(error) = self.own(&id, &opening)
        {
            // Restore the previous state.
            if had.is_none() {
                self.threads.remove(&id);
            }
            return Err(error);
        }
        if let Some(open) = self.threads.get_mut(&id) {
            open.by_client = true;
        }
        if opening.role == ProcessRole::Owner {
            let is_new = self.thread(&id)?.is_new();
            let earlier = if is_new { self.earlier(&opening, now) } else { None };
            let ended = match &earlier {
                Some(earlier) => Some(&earlier.thread),
                None => (had.is_none() && opening.began_at.is_some()).then_some(&id),
            };
            let held_before = ended.and_then(|ended| self.held_at_end(ended));
            let held_before = held_before.or_else(|| earlier.as_ref()?.held.clone());
            if let Some(open) = self.threads.get_mut(&id) {
                open.held_before = held_before;
            }
            let opened = ThreadOpened {
                cwd: opening.cwd,
                host: opening.host,
                model: opening.model,
                window: opening.window,
                window_is_assumed: opening.window_is_assumed,
                compacts_above: opening.compacts_above,
                baseline: opening.baseline,
                agent: opening.agent,
                transcript: opening.transcript,
                began_at: opening.began_at,
                running_turn: opening.running_turn,
            };
            self.handle(&id, Input::Saw(opened.into()), now)?;
            for input in earlier.into_iter().flat_map(|earlier| earlier.set_by_people) {
                self.handle(&id, input, now)?;
            }
        }
        self.follow_notes(&id);
        self.thread(&id)
    }

    fn own(&mut self, id: &ThreadId, opening: &Opening) -> Result<(), RegistryError> {
        let open =
            self.threads.get_mut(id).ok_or_else(|| RegistryError::UnknownThread(id.clone()))?;
        if open.owner.is_none() {
            let log = open.log.as_ref().ok_or_else(|| RegistryError::Busy(id.clone()))?;
            open.owner = Some(log.own(id, &opening.holder)?);
            self.workspace.watcher_mut().watch_one(&self.store.wake_file(id));
            // Actions that an earlier process was asked for and did not report.
            let pending = open.machine.thread().pending_actions();
            self.jobs.extend(outside::questions(open, id, pending));
        }
        Ok(())
    }

    fn load(&mut self, id: &ThreadId, opening: &Opening) -> Result<OpenThread, RegistryError> {
        let wanted = match opening.role {
            ProcessRole::Owner => OpenMode::StoredOrNew,
            ProcessRole::Observer => OpenMode::Stored,
        };
        let opened = match (self.work.opened.remove(id), wanted) {
            (Some(Err(StoreError::NoThread { thread })), OpenMode::Stored) => {
                return Err(RegistryError::UnknownThread(thread));
            }
            // The thread was read for an observer that has gone since.
            (None | Some(Err(StoreError::NoThread { .. })), _) => {
                return Err(self.hand_over(id, WorkerTask::Open(self.store.clone(), wanted)));
            }
            (Some(opened), _) => opened?,
        };
        let OpenedThread { log, state: thread, replay } = opened;
        report_damage(&mut self.tell, id, &replay.damage);
        self.workspace.refresh_prompts();
        let scope = scope_of(opening, &thread);
        let settings = self.workspace.configured(&scope);
        Ok(OpenThread::new(Machine::new(thread), log, self.store.decisions(id), scope, settings))
    }

    /// Marks all threads in memory as stale after a panic, so that they are read from disk again.
    pub fn mark_threads_stale(&mut self) {
        self.threads.values_mut().for_each(|open| open.stale = true);
    }

    /// The state of an open thread.
    pub fn thread(&self, id: &ThreadId) -> Result<&Thread, RegistryError> {
        Ok(self.open_thread(id)?.machine.thread())
    }

    /// Once.
    pub(crate) fn take_held_before(&mut self, id: &ThreadId) -> Option<InputHeld> {
        self.threads.get_mut(id)?.held_before.take()
    }

    /// Whether this process performs the thread's actions.
    pub(crate) fn is_owner(&self, id: &ThreadId) -> bool {
        self.threads.get(id).is_some_and(|open| open.owner.is_some())
    }

    /// A thread that is open here. The current request is answered only once what it reads is stored.
    pub(crate) fn open_thread(&self, id: &ThreadId) -> Result<&OpenThread, RegistryError> {
        let open = self.threads.get(id).ok_or_else(|| RegistryError::UnknownThread(id.clone()))?;
        open.is_seen_by(self.ticket);
        Ok(open)
    }

    /// Like [`Self::open_thread`], if this process owns the thread.
    pub(crate) fn owned_thread(&self, id: &ThreadId) -> Result<&OpenThread, RegistryError> {
        let open = self.open_thread(id)?;
        open.is_owned().then_some(open).ok_or_else(|| RegistryError::NotOwner(id.clone()))
    }

    /// Like [`Self::handle`], for inputs that only the thread's host may report.
    pub fn handle_as_owner(
        &mut self,
        id: &ThreadId,
        input: Input,
        now: Timestamp,
    ) -> Result<HandledInput, RegistryError> {
        self.owned_thread(id)?;
        self.handle(id, input, now)
    }

    /// Sets the request that the next calls belong to, and the thread that it names. The request sees that thread as
    /// the disk has it: with the records of other processes and without what could not be written. If its files cannot
    /// be read or locked, the request sees the last known state, which may be ahead of the disk, so that reading never
    /// waits.
    pub fn begins(&mut self, ticket: Ticket, thread: Option<&ThreadId>, now: Timestamp) {
        self.ticket = ticket;
        self.work.waits_for.clear();
        let Some(id) = thread.filter(|id| self.threads.get(id).is_some_and(OpenThread::is_behind))
        else {
            return;
        };
        match self.look(id, now) {
            Ok(()) | Err(RegistryError::Busy(_)) => {}
            Err(error) => {
                tracing::warn!(thread = %id, %error, "failed to read the thread from disk")
            }
        }
    }

    /// Whether some thread must be read before a request that names it.
    pub fn reads_on_request(&mut self, now: Timestamp) -> bool {
        self.threads.is_any_behind(now)
    }

    /// Decides on one input. Its records are stored with the next [`Self::commit`]; actions and notices follow. On an
    /// error nothing was recorded.
    pub fn handle(
        &mut self,
        id: &ThreadId,
        input: Input,
        now: Timestamp,
    ) -> Result<HandledInput, RegistryError> {
        let _span = spans::of_thread(id).entered();
        self.follow_model(id, &input);
        if outside::may_start_a_sequence(&input, self.open_thread(id)?) {
            self.workspace.refresh_prompts();
        }
        self.ready_for_input(id, now)?;
        let open =
            self.threads.get_mut(id).ok_or_else(|| RegistryError::UnknownThread(id.clone()))?;
        open.tickets.push(self.ticket);
        self.batch.push(id.clone());
        let (damage, told) = fold_news(id, open)?;
        report_damage(&mut self.tell, id, &damage);
        publish(open, &mut self.tell, told, now);
        self.follow_host(id);
        let open =
            self.threads.get_mut(id).ok_or_else(|| RegistryError::UnknownThread(id.clone()))?;
        let OpenThread { machine, log, config, stale, owner, calls_owner, health, .. } = open;
        let log = log.as_mut().ok_or_else(|| RegistryError::Busy(id.clone()))?;
        let rules = Rules {
            policy: &config.policy,
            prompts: self.workspace.prompts().set().prompts(),
            notes_exist: AgentNotes::may_be_named(machine.thread(), &config.policy),
        };
        let refused = |refusal| RegistryError::Refused(id.clone(), refusal);
        let written = held::written(&input);
        let (input, secrets) = redacted(input);
        if secrets > 0 {
            tracing::info!(thread = %id, secrets, "removed secrets from a report");
        }
        let effects = match owner {
            Some(_) if health.is_good() => machine.handle(input, &rules, now),
            _ => machine.note(input, &rules, now),
        }
        .map_err(refused)?;
        let mut handled = HandledInput::default();
        let mut staged = Vec::new();
        for effect in effects {
            match effect {
                Effect::Record(record) => {
                    spans::recorded(&record.event);
                    log.push(&record, must_be_durable(&record.event))
                        .inspect_err(|_| *stale = true)?;
                    *calls_owner |= owner.is_none();
                    handled.records.push(record);
                }
                other => staged.push(other),
            }
        }
        handled.decision = staged.iter().find_map(|effect| match effect {
            Effect::Decided(decision) => Some(decision.as_ref().clone()),
            _ => None,
        });
        if let Some(decision) = &handled.decision {
            open.last_decision = Some(decision.clone());
        }
        open.keep_originals(written, &handled.records);
        self.jobs.extend(outside::look(open, id, &handled.records, now));
        if !staged.is_empty() {
            open.staged.push(StagedEffects { effects: staged, now });
        }
        let open =
            self.threads.get_mut(id).ok_or_else(|| RegistryError::UnknownThread(id.clone()))?;
        open.keep_capsules(self.store.disk(), &handled.records);
        Ok(handled)
    }

    /// The decision with this id, from memory or disk. `None` if it was never stored.
    pub(crate) fn decision(
        &self,
        id: &ThreadId,
        decision: &DecisionId,
    ) -> Result<Option<DecisionRecord>, RegistryError> {
        let open = self.open_thread(id)?;
        if let Some(last) = open.last_decision().filter(|last| last.id == *decision) {
            return Ok(Some(last.clone()));
        }
        let mut stored = open.decisions.newest_first()?;
        Ok(stored.find(|stored| stored.id == *decision))
    }
}
