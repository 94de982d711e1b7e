//! One thread that is open in this process: its log, its state, its held texts and its owner's lock. The core's decisions
//! are stored first, then performed and reported. Knows no wire format and no client, and waits for nothing but its own
//! files and the workspace.

use super::clean::redacted;
use super::disk::ThreadHealth;
use super::follow::{LookAgain, Runner};
use super::notice::NoticeListener;
use super::outside::RepoLook;
use super::{RegistryError, WatchFilter, held, outside, spans};
use crate::jobs::Job;
use crate::notes::AgentNotes;
use crate::query::ThreadOverview;
use crate::workspace::{ConfigScope, Settings, WorkspaceHandle, WorkspaceNews};
use rawr_core::assess::DecisionRecord;
use rawr_core::event::{InputHeld, JudgeReply};
use rawr_core::machine::{HeadsUpBanner, must_be_durable};
use rawr_core::policy::Policy;
use rawr_core::prompt::Prompts;
use rawr_core::thread::Issued;
use rawr_core::units::{DecisionId, ThreadId, Timestamp};
use rawr_core::{Effect, Event, Input, Machine, Record, Rules, Thread};
use rawr_settings::config::Config;
use rawr_settings::prompts::PromptSet;
use rawr_storage::capsule::StoredCapsule;
use rawr_storage::store::{DecisionFile, OwnerLock, Store, ThreadLog};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tracing::Instrument;

/// What all threads of this process share.
#[derive(Clone)]
pub struct ThreadContext {
    /// The store of all threads, open or not.
    pub store: Store,
    /// Configuration and prompts.
    pub workspace: WorkspaceHandle,
    /// Gets every notice after its records are stored.
    pub listener: NoticeListener,
    /// The wall clock, which may be set back.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl std::fmt::Debug for ThreadContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadContext").field("store", &self.store).finish_non_exhaustive()
    }
}

/// What a thread takes at any time, also while it waits for its files. Small, as messages are.
pub(super) enum ThreadControl {
    /// Files that people edit have changed.
    Workspace(Box<WorkspaceNews>),
    /// What the client watches from now on.
    Watched(Arc<[WatchFilter]>),
    /// A look at the state as it is in memory.
    Peek(Box<dyn FnOnce(&OpenThread) + Send>),
    /// The overview for the answer to a watch.
    List(Box<WatchFilter>, oneshot::Sender<Option<ThreadOverview>>),
    /// A process that ran the thread may have ended: the operating system releases its lock a moment later.
    LookAgain,
}

/// The result of one input.
#[derive(Debug, Default)]
pub struct HandledInput {
    /// Stored with the next commit.
    pub records: Vec<Record>,
    /// The assessment that the input led to, if any.
    pub decision: Option<DecisionRecord>,
}

/// Effects that are sent once their records are stored.
#[derive(Debug)]
pub(super) struct StagedEffects {
    pub(super) effects: Vec<Effect>,
    pub(super) now: Timestamp,
}

/// What the next commit stores, and what follows once it is stored.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The append lock may be held, or there is something to store.
    pub(super) is_open: bool,
    /// The thread is closed with it.
    pub(super) closes: bool,
    /// Written before the records.
    pub(super) capsules: Vec<StoredCapsule>,
    pub(super) staged: Vec<StagedEffects>,
    pub(super) jobs: Vec<Job>,
    /// The thread's owner, in another process, must read these records.
    pub(super) calls_owner: bool,
}

/// A judgment that a client asked for. It belongs to no sequence and is not recorded.
#[derive(Debug)]
struct ClientQuestion {
    request: String,
    reply: oneshot::Sender<JudgeReply>,
}

/// A thread that is open in this process.
///
/// Inputs are decided on by [`Self::handle`] and stored by [`Self::commit`]: many inputs share one write and at most one
/// sync. Records are stored before their effects leave as notices. Call [`Self::tick`] at [`Self::next_deadline`], which
/// may change with every other call.
pub struct OpenThread {
    pub(super) context: ThreadContext,
    pub(super) machine: Machine,
    /// `None` only while it is on a blocking thread.
    pub(super) log: Option<Box<ThreadLog>>,
    pub(super) folder: PathBuf,
    pub(super) decisions: DecisionFile,
    pub(super) owner: Option<OwnerLock>,
    pub(super) scope: ConfigScope,
    pub(super) settings: Arc<Settings>,
    pub(super) prompts: Arc<PromptSet>,
    pub(super) last_decision: Option<DecisionRecord>,
    /// A write failed: memory may be ahead of the disk, and the disk is right.
    pub(super) is_stale: bool,
    /// A client has opened it. Otherwise it is here because it is watched.
    pub(super) by_client: bool,
    pub(super) filters: Arc<[WatchFilter]>,
    /// The client wants to be notified of what other processes record.
    pub(super) is_watched: bool,
    /// The thread is new and the client has not been notified of it.
    pub(super) is_unreported: bool,
    /// Who runs the thread, as it was last reported.
    pub(super) runner: Option<Runner>,
    /// A message that waited when the conversation's last session ended, for the client that opens the next one.
    pub(super) held_before: Option<InputHeld>,
    /// The client was last notified of a banner.
    pub(super) shows_banner: bool,
    /// The policy has changed, and its deadlines may have passed already.
    pub(super) has_new_policy: bool,
    /// The sidecar's own questions may have been lost while nothing could be stored.
    pub(super) asks_again: bool,
    /// Inputs of no request that could not be handled yet. They are not reported again.
    pub(super) deferred: Vec<Input>,
    pub(super) batch: Batch,
    pub(super) originals: held::HeldOriginals,
    pub(super) look: RepoLook,
    /// A judgment that a client asked for.
    question: Option<ClientQuestion>,
    pub(super) health: ThreadHealth,
    /// When to read the thread although no change was reported.
    pub(super) again: Vec<LookAgain>,
    pub(super) controls: Option<UnboundedReceiver<ThreadControl>>,
}

impl std::fmt::Debug for OpenThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenThread").field("id", self.id()).finish_non_exhaustive()
    }
}

impl OpenThread {
    pub(super) async fn new(
        context: &ThreadContext,
        controls: &UnboundedSender<ThreadControl>,
        machine: Machine,
        log: Box<ThreadLog>,
        scope: ConfigScope,
    ) -> Self {
        let id = &machine.thread().id;
        let sender = controls.clone();
        let listener = move |news| drop(sender.send(ThreadControl::Workspace(Box::new(news))));
        let (settings, prompts) =
            context.workspace.add_thread(id, scope.clone(), Box::new(listener)).await;
        Self {
            context: context.clone(),
            folder: log.folder().to_owned(),
            log: Some(log),
            decisions: context.store.decisions(id),
            machine,
            owner: None,
            scope,
            settings,
            prompts,
            last_decision: None,
            is_stale: false,
            by_client: false,
            filters: Arc::default(),
            is_watched: false,
            is_unreported: false,
            runner: None,
            held_before: None,
            shows_banner: false,
            has_new_policy: false,
            asks_again: false,
            deferred: Vec::new(),
            batch: Batch::default(),
            originals: held::HeldOriginals::default(),
            look: RepoLook::default(),
            question: None,
            health: ThreadHealth::default(),
            again: Vec::new(),
            controls: None,
        }
    }

    pub(crate) fn id(&self) -> &ThreadId {
        &self.machine.thread().id
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.context.clock)()
    }

    /// The state, with what the next commit stores.
    pub const fn thread(&self) -> &Thread {
        self.machine.thread()
    }

    pub(crate) fn config(&self) -> &Config {
        &self.settings.config
    }

    /// The configuration and its problems.
    pub(crate) const fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.settings.config.policy
    }

    /// Whether this process performs the thread's actions.
    pub(crate) const fn is_owned(&self) -> bool {
        self.owner.is_some()
    }

    /// The thread's folder in the store.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.context.store
    }

    pub(crate) const fn last_decision(&self) -> Option<&DecisionRecord> {
        self.last_decision.as_ref()
    }

    /// The message that its host may have dropped when the conversation's last session ended, once.
    pub(crate) const fn take_held_before(&mut self) -> Option<InputHeld> {
        self.held_before.take()
    }

    /// Whether a client waits for a judgment.
    pub(crate) fn is_asked(&self) -> bool {
        self.question.as_ref().is_some_and(|question| !question.reply.is_closed())
    }

    /// A client asks for a judgment, for as long as it keeps the result.
    pub(crate) fn ask(&mut self, request: String) -> oneshot::Receiver<JudgeReply> {
        let (reply, answer) = oneshot::channel();
        self.question = Some(ClientQuestion { request, reply });
        answer
    }

    /// Returns whether a client waited for this answer.
    pub(crate) fn answer_client(&mut self, request: &str, answer: &JudgeReply) -> bool {
        let question = self.question.take_if(|question| question.request == request);
        question.is_some_and(|question| question.reply.send(answer.clone()).is_ok())
    }

    /// The scratch file of its agent.
    pub(crate) fn notes(&self) -> AgentNotes {
        AgentNotes::of(self.thread(), self.policy())
    }

    /// The texts of the prompts, as they were last read.
    pub(crate) fn prompts(&self) -> &Prompts {
        self.prompts.prompts()
    }

    /// The rules of the thread now.
    pub(crate) fn rules(&self) -> Rules<'_> {
        let notes_exist = AgentNotes::may_be_named(self.thread(), self.policy());
        Rules { policy: self.policy(), prompts: self.prompts(), notes_exist }
    }

    /// The pending actions with original texts, as the host must perform them.
    pub fn pending(&self) -> Vec<Issued> {
        let pending = self.thread().pending_actions();
        pending.map(|issued| held::with_original(&self.folder, issued.clone())).collect()
    }

    /// The current banner. A thread that no process runs has none, because there is no owner to act on an answer.
    pub(crate) fn heads_up(&self) -> Option<HeadsUpBanner> {
        let heads_up = self.machine.heads_up(self.policy())?;
        let is_run = self.is_owned()
            || self.thread().session.host.can.compact_by_person
            || OwnerLock::holder(&self.folder).is_some();
        is_run.then_some(heads_up)
    }

    /// Decides on one input, after what other processes have recorded. Its records are stored with the next
    /// [`Self::commit`]; actions and notices follow. On an error nothing was recorded.
    pub async fn handle(&mut self, input: Input) -> Result<HandledInput, RegistryError> {
        self.ready_for_input().await?;
        self.decide(input).await
    }

    /// Like [`Self::handle`], when the thread is ready.
    pub(super) async fn decide(&mut self, input: Input) -> Result<HandledInput, RegistryError> {
        let span = spans::of_thread(self.id());
        self.decide_in_span(input).instrument(span).await
    }

    async fn decide_in_span(&mut self, input: Input) -> Result<HandledInput, RegistryError> {
        self.follow_model(&input).await;
        if outside::may_start_a_sequence(&input, self) {
            self.prompts = self.context.workspace.refreshed_prompts().await;
        }
        self.follow_host().await;
        let names_notes = self.may_name_notes(&input);
        let now = self.now();
        let Self { machine, log, settings, prompts, is_stale, owner, batch, health, .. } = self;
        let Some(log) = log.as_mut() else {
            return Err(RegistryError::Busy(machine.thread().id.clone()));
        };
        let rules = Rules {
            policy: &settings.config.policy,
            prompts: prompts.prompts(),
            notes_exist: names_notes
                && AgentNotes::may_be_named(machine.thread(), &settings.config.policy),
        };
        let written = held::written(&input);
        let (input, secrets) = redacted(input);
        if secrets > 0 {
            tracing::info!(thread = %machine.thread().id, secrets, "removed secrets from a report");
        }
        let effects = match owner {
            Some(_) if health.is_good() => machine.handle(input, &rules, now),
            _ => machine.note(input, &rules, now),
        }
        .map_err(|refusal| RegistryError::Refused(machine.thread().id.clone(), refusal))?;
        let mut handled = HandledInput::default();
        let mut staged = Vec::new();
        for effect in effects {
            match effect {
                Effect::Record(record) => {
                    spans::recorded(&record.event);
                    log.push(&record, must_be_durable(&record.event))
                        .inspect_err(|_| *is_stale = true)?;
                    batch.calls_owner |= owner.is_none();
                    handled.records.push(record);
                }
                other => staged.push(other),
            }
        }
        handled.decision = staged.iter().find_map(|effect| match effect {
            Effect::Decided(decision) => Some(decision.as_ref().clone()),
            _ => None,
        });
        if !staged.is_empty() {
            batch.staged.push(StagedEffects { effects: staged, now });
        }
        if let Some(decision) = &handled.decision {
            self.last_decision = Some(decision.clone());
        }
        self.keep_originals(written, &handled.records);
        let inspection = outside::repository_job(self, &handled.records, now);
        self.batch.jobs.extend(inspection);
        self.keep_capsules(&handled.records);
        Ok(handled)
    }

    /// Whether this input may lead to a text that names the scratch file. Looking for that file takes longer than anything
    /// else that the usual report costs.
    fn may_name_notes(&self, input: &Input) -> bool {
        let is_usage = matches!(input, Input::Saw(Event::UsageReported(_)));
        !is_usage
            || self.thread().sequence().is_some()
            || outside::may_start_a_sequence(input, self)
    }

    /// The decision with this id, from memory or disk. `None` if it was never stored.
    pub(crate) fn decision(
        &self,
        id: &DecisionId,
    ) -> Result<Option<DecisionRecord>, RegistryError> {
        if let Some(last) = self.last_decision().filter(|last| last.id == *id) {
            return Ok(Some(last.clone()));
        }
        let mut stored = self.decisions.newest_first()?;
        Ok(stored.find(|stored| stored.id == *id))
    }
}
