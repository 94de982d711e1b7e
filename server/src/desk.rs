//! The desk: owns every open thread, its rules and its files, and runs what the core decides. It knows no wire and no
//! client; what the world should hear leaves as [`Notice`]s. Everything here is synchronous and has one owner.

mod capsules;
mod clean;
mod disk;
mod editing;
mod error;
mod follow;
mod held;
mod inquiry;
mod live;
mod notes;
mod notice;
mod opening;
mod outside;
mod query;
mod retention;
mod settings;
mod spans;
mod threads;
mod work;

pub use editing::{Editing, Now, Past, read_past};
pub use error::DeskError;
pub use follow::WatchFilter;
pub use inquiry::Inquiry;
pub use notes::MAX_NOTE;
pub use notice::Notice;
pub use opening::Opening;
pub use query::Summary;

use clean::redacted;
use follow::{Watching, fold_news};
use live::Live;
use notice::publish;
use settings::ConfigScope;

use crate::capsule::Capsule;
use crate::config::{Config, Home};
use crate::jobs::Job;
use crate::problem::Problem;
use crate::prompts::{PacketFrontMatter, PromptStore};
use crate::store::archive::Wanted;
use crate::store::{Damage, DecisionFile, Disk, OwnerLock, Store, StoreError, ThreadLog};
use crate::watch::{ChangeNotifier, Watcher};
use crate::workers::{Opened, Task};
use rawr_core::assess::Decision;
use rawr_core::event::ThreadOpened;
use rawr_core::machine::{Role, must_be_durable};
use rawr_core::policy::MidTurn;
use rawr_core::units::{DecisionId, GuardId, ThreadId, Timestamp};
use rawr_core::{Effect, Event, Input, Machine, Record, Rules, Thread};
use std::cell::RefCell;
use std::path::PathBuf;

/// What one input led to.
#[derive(Debug, Default)]
pub struct Handled {
    pub records: Vec<Record>,
    pub decision: Option<Decision>,
}

#[derive(Debug)]
struct Open {
    machine: Machine,
    /// `None` while a worker has it.
    log: Option<Box<ThreadLog>>,
    folder: PathBuf,
    decisions: DecisionFile,
    owner: Option<OwnerLock>,
    scope: ConfigScope,
    config: Config,
    problems: Vec<Problem>,
    last_decision: Option<Decision>,
    /// A write failed: what is in memory may be ahead of the disk, which is right.
    stale: bool,
    /// A client took it up; else it is here because it is watched.
    by_client: bool,
    /// The client wants to hear what others record.
    watched: bool,
    /// It has just come to be, and the client has not heard of it yet.
    unheard_of: bool,
    /// Goes with the next commit.
    closing: bool,
    /// This batch has something to say to the thread's owner.
    calls_owner: bool,
    /// The requests of this batch that concern it.
    tickets: Vec<Ticket>,
    /// Those that have seen what the batch holds: they are answered with it, because it may still be refused.
    readers: RefCell<Vec<Ticket>>,
    /// What the world shall hear of this batch.
    staged: Vec<Staged>,
    /// To be kept before this batch is stored.
    capsules: Vec<Capsule>,
    originals: held::Originals,
    look: outside::RepoLook,
    health: disk::Health,
}

impl Open {
    fn new(
        machine: Machine,
        log: Box<ThreadLog>,
        decisions: DecisionFile,
        scope: ConfigScope,
        (config, problems): (Config, Vec<Problem>),
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
            closing: false,
            calls_owner: false,
            tickets: Vec::new(),
            readers: RefCell::default(),
            staged: Vec::new(),
            capsules: Vec::new(),
            originals: held::Originals::default(),
            look: outside::RepoLook::default(),
            health: disk::Health::default(),
        }
    }
}

/// Names a request to its caller.
pub type Ticket = u64;

/// No request answers for what nobody asked for.
const NOBODYS: Ticket = 0;

/// What the world shall hear once its records are stored.
#[derive(Debug)]
struct Staged {
    effects: Vec<Effect>,
    now: Timestamp,
}

/// Where the desk works and with what, before any thread is opened.
#[derive(Debug, Clone)]
pub struct Setup {
    pub home: Home,
    pub prompt_folder: Option<PathBuf>,
    pub overrides: Option<serde_json::Value>,
}

type Listener = Box<dyn FnMut(Notice<'_>) + Send>;

pub struct Desk {
    setup: Setup,
    store: Store,
    prompts: PromptStore,
    watcher: Watcher,
    watching: Watching,
    threads: threads::Threads,
    tell: Listener,
    live: Live,
    /// The configuration of whatever has no project and no model, and what is wrong with it: clients were told.
    base: (Config, Vec<Problem>),
    ticket: Ticket,
    /// Threads that the next commit has something to do for.
    batch: Vec<ThreadId>,
    work: work::Progress,
    /// To be done outside, once its records are stored.
    jobs: Vec<Job>,
    newest: editing::Newest,
    /// Of this batch, found before its commit.
    failures: Vec<(Vec<Ticket>, DeskError)>,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk")
            .field("threads", &self.threads.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Desk {
    pub fn new(setup: Setup, notifier: ChangeNotifier, tell: Listener) -> Self {
        Self::on(Disk::default(), setup, notifier, tell)
    }

    /// The same on a disk of the caller's.
    pub fn on(disk: Disk, setup: Setup, notifier: ChangeNotifier, tell: Listener) -> Self {
        let store = Store::on(disk, &setup.home.dir);
        let folder = setup.prompt_folder.clone().unwrap_or_else(|| setup.home.prompt_folder());
        let mut live = Live::default();
        live.takes_up([&setup.home.rawr_toml(), &setup.home.codex_toml()]);
        let config = Config::load(
            &setup.home,
            None,
            setup.overrides.as_ref(),
            &PacketFrontMatter::default(),
        )
        .0;
        let mut prompts = PromptStore::open(&folder, &config.prompt_paths);
        prompts.use_decisions(config.decision_prompts());
        let base = settings::configure(
            &setup,
            prompts.set().packet_front_matter(),
            &ConfigScope::default(),
        );
        let watcher = Watcher::new(store.root().to_owned(), notifier);
        let mut desk = Self {
            setup,
            store,
            prompts,
            watcher,
            watching: Watching::default(),
            threads: threads::Threads::default(),
            tell,
            live,
            base,
            ticket: 0,
            batch: Vec::new(),
            work: work::Progress::default(),
            jobs: Vec::new(),
            newest: editing::Newest::default(),
            failures: Vec::new(),
        };
        let mut problems = desk.base.1.clone();
        problems.extend(desk.prompts.set().problems());
        if !problems.is_empty() {
            (desk.tell)(Notice::Problems { problems: &problems });
        }
        desk
    }

    pub const fn prompts(&self) -> &PromptStore {
        &self.prompts
    }

    /// Takes a thread up. What it owed when it was left is owed again, under the same ids.
    pub fn open(&mut self, opening: Opening, now: Timestamp) -> Result<&Thread, DeskError> {
        let id = opening.thread.clone();
        let had = self.threads.get(&id).map(|open| open.by_client);
        match self.threads.get(&id) {
            Some(open) => {
                let scope = ConfigScope::of(&opening, open.machine.thread());
                self.configure_again(&id, scope);
            }
            None => {
                let mut open = self.load(&id, &opening)?;
                self.watching.choose(&mut open);
                self.threads.insert(id.clone(), open);
            }
        }
        if opening.role == Role::Owner
            && let Err(error) = self.own(&id, &opening)
        {
            // It is as it was before.
            if had.is_none() {
                self.threads.remove(&id);
            }
            return Err(error);
        }
        if let Some(open) = self.threads.get_mut(&id) {
            open.by_client = true;
        }
        if opening.role == Role::Owner {
            let opened = ThreadOpened {
                cwd: opening.cwd,
                host: opening.host,
                model: opening.model,
                window: opening.window,
                window_is_assumed: opening.window_is_assumed,
                baseline: opening.baseline,
                agent: opening.agent,
                transcript: opening.transcript,
                running_turn: opening.running_turn,
            };
            self.handle(&id, Input::Saw(opened.into()), now)?;
        }
        self.look_at_notes(&id);
        self.thread(&id)
    }

    fn own(&mut self, id: &ThreadId, opening: &Opening) -> Result<(), DeskError> {
        let open = self.threads.get_mut(id).ok_or_else(|| DeskError::UnknownThread(id.clone()))?;
        if open.owner.is_none() {
            let log = open.log.as_ref().ok_or_else(|| DeskError::Busy(id.clone()))?;
            open.owner = Some(log.own(id, &opening.holder)?);
            self.watcher.watch_one(&self.store.wake_file(id));
            // Asked before and not answered: by a process that is gone.
            let pending = open.machine.thread().pending_actions();
            self.jobs.extend(outside::questions(open, id, pending));
        }
        Ok(())
    }

    fn load(&mut self, id: &ThreadId, opening: &Opening) -> Result<Open, DeskError> {
        let wanted = match opening.role {
            Role::Owner => Wanted::StoredOrNew,
            Role::Observer => Wanted::Stored,
        };
        let opened = match (self.work.opened.remove(id), wanted) {
            (Some(Err(StoreError::NoThread { thread })), Wanted::Stored) => {
                return Err(DeskError::UnknownThread(thread));
            }
            // It was looked for on behalf of an observer that has gone since.
            (None | Some(Err(StoreError::NoThread { .. })), _) => {
                return Err(self.hand_over(id, Task::Open(self.store.clone(), wanted)));
            }
            (Some(opened), _) => opened?,
        };
        let Opened { log, state: thread, replay } = opened;
        tell_damage(&mut self.tell, id, &replay.damage);
        self.refresh_prompts();
        let scope = ConfigScope::of(opening, &thread);
        let settings = self.configured(&scope);
        Ok(Open::new(Machine::new(thread), log, self.store.decisions(id), scope, settings))
    }

    /// After a panic nobody knows what a thread in memory was in the middle of; the disk does.
    pub fn distrust_memory(&mut self) {
        self.threads.values_mut().for_each(|open| open.stale = true);
    }

    pub fn thread(&self, id: &ThreadId) -> Result<&Thread, DeskError> {
        Ok(self.open_thread(id)?.machine.thread())
    }

    pub fn is_owner(&self, id: &ThreadId) -> bool {
        self.threads.get(id).is_some_and(|open| open.owner.is_some())
    }

    fn open_thread(&self, id: &ThreadId) -> Result<&Open, DeskError> {
        let open = self.threads.get(id).ok_or_else(|| DeskError::UnknownThread(id.clone()))?;
        open.is_seen_by(self.ticket);
        Ok(open)
    }

    /// For what only the thread's host may say.
    pub fn handle_as_owner(
        &mut self,
        id: &ThreadId,
        input: Input,
        now: Timestamp,
    ) -> Result<Handled, DeskError> {
        if self.open_thread(id)?.owner.is_none() {
            return Err(DeskError::NotOwner(id.clone()));
        }
        self.handle(id, input, now)
    }

    /// ConfigScope request the next inputs belong to, and the thread that it names. Whoever asks sees that thread as the disk
    /// has it: with what others wrote, and without what could not be written. While its files cannot be read or locked, it
    /// is shown as it was last known here, which may be ahead of the disk: a request that only reads is not held up by that.
    pub fn begins(&mut self, ticket: Ticket, thread: Option<&ThreadId>, now: Timestamp) {
        self.ticket = ticket;
        self.work.waits_for.clear();
        let Some(id) = thread.filter(|id| self.threads.get(id).is_some_and(Open::is_behind)) else {
            return;
        };
        match self.look(id, now) {
            Ok(()) | Err(DeskError::Busy(_)) => {}
            Err(error) => {
                tracing::warn!(thread = %id, %error, "what is on the disk cannot be read")
            }
        }
    }

    /// Whether some thread must be looked at before a request that names it.
    pub fn reads_on_request(&mut self, now: Timestamp) -> bool {
        self.threads.is_any_behind(now)
    }

    /// Decides on one input. What follows is stored with the next [`Self::commit`], and only then the world hears of it.
    pub fn handle(
        &mut self,
        id: &ThreadId,
        input: Input,
        now: Timestamp,
    ) -> Result<Handled, DeskError> {
        let _span = spans::of_thread(id).entered();
        self.follow_model(id, &input);
        if may_start_a_sequence(&input, self.open_thread(id)?) {
            self.refresh_prompts();
        }
        self.ready(id, now)?;
        let open = self.threads.get_mut(id).ok_or_else(|| DeskError::UnknownThread(id.clone()))?;
        open.tickets.push(self.ticket);
        self.batch.push(id.clone());
        let (damage, told) = fold_news(id, open)?;
        tell_damage(&mut self.tell, id, &damage);
        publish(open, &mut self.tell, told, now);
        self.follow_host(id);
        let open = self.threads.get_mut(id).ok_or_else(|| DeskError::UnknownThread(id.clone()))?;
        let Open { machine, log, config, stale, owner, calls_owner, health, .. } = open;
        let log = log.as_mut().ok_or_else(|| DeskError::Busy(id.clone()))?;
        let rules = Rules { policy: &config.policy, prompts: self.prompts.set().prompts() };
        let refused = |refusal| DeskError::Refused(id.clone(), refusal);
        let written = held::written(&input);
        let (input, secrets) = redacted(input);
        if secrets > 0 {
            tracing::info!(thread = %id, secrets, "secrets were taken out of what was reported");
        }
        let effects = match owner {
            Some(_) if health.is_good() => machine.handle(input, &rules, now),
            _ => machine.note(input, &rules, now),
        }
        .map_err(refused)?;
        let mut handled = Handled::default();
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
            Effect::Decided(decision) => Some(decision.clone()),
            _ => None,
        });
        if let Some(decision) = &handled.decision {
            open.last_decision = Some(decision.clone());
        }
        open.keep_originals(written, &handled.records);
        self.jobs.extend(outside::look(open, id, &handled.records, now));
        if !staged.is_empty() {
            open.staged.push(Staged { effects: staged, now });
        }
        self.keep_capsules(id, &handled.records);
        Ok(handled)
    }

    /// The id of the guard that `records` set.
    pub fn guard_set(handled: &Handled) -> Option<GuardId> {
        handled.records.iter().find_map(|record| match &record.event {
            Event::GuardSet(set) => Some(set.guard.clone()),
            _ => None,
        })
    }

    pub fn last_decision(&self, id: &ThreadId) -> Result<Option<&Decision>, DeskError> {
        Ok(self.open_thread(id)?.last_decision.as_ref())
    }

    pub fn decision(&self, id: &ThreadId, decision: &DecisionId) -> Result<Decision, DeskError> {
        let last = self.last_decision(id)?.filter(|last| last.id == *decision);
        if let Some(last) = last {
            return Ok(last.clone());
        }
        let unknown =
            || DeskError::UnknownName { what: "stored decision", name: decision.to_string() };
        let mut stored = self.open_thread(id)?.decisions.newest_first()?;
        stored.find(|stored| stored.id == *decision).ok_or_else(unknown)
    }
}

/// Where a sequence may start, or the judge be asked, the prompts are read as they are on the disk.
fn may_start_a_sequence(input: &Input, open: &Open) -> bool {
    let (thread, policy) = (open.machine.thread(), &open.config.policy);
    match input {
        Input::Saw(Event::TurnCompleted(_)) | Input::Respond(_) | Input::Judged(_) => true,
        Input::Submitted { .. } => thread.deferred.is_some(),
        Input::Saw(Event::UsageReported(reported)) => {
            let pressed = thread.tier(policy).is_some();
            reported.needs_follow_up && pressed && policy.mid_turn != MidTurn::Off
        }
        _ => false,
    }
}

fn tell_damage(tell: &mut Listener, thread: &ThreadId, damage: &[Damage]) {
    for damage in damage {
        tell(Notice::Damaged { thread, damage });
    }
}

fn save_cache(open: &mut Open) {
    let Some(log) = open.log.as_mut().filter(|_| !open.stale) else { return };
    if let Err(error) = log.save_cache(open.machine.thread()) {
        tracing::warn!(%error, "the state could not be cached; the next start replays the log");
    }
}
