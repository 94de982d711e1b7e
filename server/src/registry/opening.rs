//! How a thread is opened: its role, its client, and what continues from an earlier session.

use super::files::{ReadThread, read_thread};
use super::notice::report_damage;
use super::thread::{OpenThread, ThreadContext, ThreadControl};
use super::{RegistryError, earlier, outside};
use crate::workspace::ConfigScope;
use rawr_core::event::{HostInfo, ThreadOpened};
use rawr_core::machine::ProcessRole;
use rawr_core::units::{ThreadId, Timestamp, Tokens, TurnId};
use rawr_core::{Input, Machine, Thread};
use rawr_storage::store::StoreError;
use rawr_storage::store::archive::OpenMode;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Who opens a thread, and as what.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The id that the host gave to the thread.
    pub thread: ThreadId,
    /// The thread's working folder.
    pub cwd: String,
    /// Owner or observer.
    pub role: ProcessRole,
    /// The host and its capabilities.
    pub host: HostInfo,
    /// The model, if known.
    pub model: Option<String>,
    /// The size of the context window in tokens, if known.
    pub window: Option<Tokens>,
    /// Whether the host only assumes this size.
    pub window_is_assumed: bool,
    /// The host compacts by itself above this many tokens, if it does and they are known.
    pub compacts_above: Option<Tokens>,
    /// Tokens that no compaction can free.
    pub baseline: Tokens,
    /// The agent's name, for its scratch file.
    pub agent: Option<String>,
    /// Where the host keeps its own transcript of the conversation.
    pub transcript: Option<String>,
    /// When the host began the conversation, if known.
    pub began_at: Option<Timestamp>,
    /// The turn that is running, if any.
    pub running_turn: Option<TurnId>,
    /// The name of the owner that other clients are shown.
    pub holder: String,
}

impl Opening {
    /// Only the required parameters.
    pub fn new(thread: ThreadId, cwd: String, role: ProcessRole, host: HostInfo) -> Self {
        Self {
            thread,
            cwd,
            role,
            holder: host.name.clone(),
            host,
            model: None,
            window: None,
            window_is_assumed: false,
            compacts_above: None,
            baseline: Tokens(0),
            agent: None,
            transcript: None,
            began_at: None,
            running_turn: None,
        }
    }
}

/// The host names folder and model. For an observer, the host's last report counts.
fn scope_of(opening: &Opening, thread: &Thread) -> ConfigScope {
    match opening.role {
        ProcessRole::Observer if !thread.session.cwd.is_empty() => ConfigScope::recorded(thread),
        _ => ConfigScope::new(opening.cwd.clone(), opening.model.clone()),
    }
}

impl OpenThread {
    /// Reads a thread, or creates it for its owner. No client has it open yet.
    pub async fn read(context: &ThreadContext, opening: &Opening) -> Result<Self, RegistryError> {
        let (sender, controls) = unbounded_channel();
        let mut open = Self::read_for_task(context, &sender, opening).await?;
        open.controls = Some(controls);
        Ok(open)
    }

    /// Like [`Self::read`], for a task that has the thread's controls.
    pub(super) async fn read_for_task(
        context: &ThreadContext,
        controls: &UnboundedSender<ThreadControl>,
        opening: &Opening,
    ) -> Result<Self, RegistryError> {
        let id = opening.thread.clone();
        let wanted = match opening.role {
            ProcessRole::Owner => OpenMode::StoredOrNew,
            ProcessRole::Observer => OpenMode::Stored,
        };
        let read = match read_thread(context.store.clone(), id, wanted).await {
            Err(StoreError::NoThread { thread }) => {
                return Err(RegistryError::UnknownThread(thread));
            }
            read => read?,
        };
        let ReadThread { log, state: thread, replay } = read;
        report_damage(&context.listener, &thread.id, &replay.damage);
        let scope = scope_of(opening, &thread);
        Ok(Self::new(context, controls, Machine::new(thread), log, scope).await)
    }

    /// Opens the thread for a client, or changes its role. Actions that were pending when it was closed are pending again,
    /// under the same ids.
    pub async fn open_for_client(&mut self, opening: Opening) -> Result<(), RegistryError> {
        let was_open = self.by_client;
        self.rescope(scope_of(&opening, self.thread())).await;
        if opening.role == ProcessRole::Observer {
            self.by_client = true;
            self.follow_notes();
            return Ok(());
        }
        self.own(&opening).await?;
        self.by_client = true;
        let is_new = self.thread().is_new();
        let earlier = if is_new { self.earlier(&opening).await } else { None };
        let ended = match &earlier {
            Some(earlier) => Some(&earlier.thread),
            None => (!was_open && opening.began_at.is_some()).then_some(self.id()),
        };
        let held_before = ended.and_then(|ended| earlier::held_at_end(&self.context.store, ended));
        self.held_before = held_before.or_else(|| earlier.as_ref()?.held.clone());
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
        self.handle(Input::Saw(opened.into())).await?;
        for input in earlier.into_iter().flat_map(|earlier| earlier.set_by_people) {
            self.handle(input).await?;
        }
        self.follow_notes();
        Ok(())
    }

    async fn own(&mut self, opening: &Opening) -> Result<(), RegistryError> {
        let Some(log) = self.log.as_ref().filter(|_| self.owner.is_none()) else { return Ok(()) };
        self.owner = Some(log.own(self.id(), &opening.holder)?);
        self.context.workspace.watch_file(self.context.store.wake_file(self.id())).await;
        // Actions that an earlier process was asked for and did not report.
        let pending = self.thread().pending_actions();
        let questions = outside::questions(self, pending);
        self.batch.jobs.extend(questions);
        Ok(())
    }

    /// The conversation that goes on under this new id. Threads that cannot be read are passed over.
    async fn earlier(&self, opening: &Opening) -> Option<earlier::EarlierThread> {
        opening.began_at?;
        let (store, opening, now) = (self.context.store.clone(), opening.clone(), self.now());
        let find = move || earlier::find(&store, &opening, now);
        tokio::task::spawn_blocking(find).await.ok().flatten()
    }
}
