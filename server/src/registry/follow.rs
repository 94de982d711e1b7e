//! What other processes record in one thread. A thread that is owned here continues from it; of a thread that is watched
//! here, clients are notified.

use super::RegistryError;
use super::files::{FollowedThread, ReadThread, read_followed};
use super::notice::{RegistryNotice, publish, report_damage};
use super::thread::{OpenThread, ThreadContext, ThreadControl};
use crate::query::{ThreadOverview, overview};
use crate::recall::RecallSource;
use crate::workspace::{ConfigScope, within};
use rawr_core::machine;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Effect, Input, Thread};
use rawr_settings::config::is_within;
use rawr_storage::store::{StoreError, StoredDecision};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// How long until a thread is read again whose owner has closed its lock, or whose news came while its task ended.
pub(super) const LOOK_AGAIN_AFTER_MS: u64 = 100;
/// How long until a thread is read again whose files another process holds for longer than is worth waiting, or whose
/// owner may not have ended yet.
pub(super) const TRY_AGAIN_AFTER_MS: u64 = 1_000;

/// What a client wants to be notified of. Without a thread or a folder: everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WatchFilter {
    pub thread: Option<ThreadId>,
    /// Threads whose working folder is this one or below it.
    pub folder: Option<PathBuf>,
}

impl WatchFilter {
    /// For a thread of which only the id is known any more.
    pub(super) fn may_be_for(&self, id: &ThreadId) -> bool {
        self.thread.as_ref().is_none_or(|wanted| wanted == id)
    }

    pub(super) fn is_for(&self, thread: &Thread) -> bool {
        self.may_be_for(&thread.id)
            && self
                .folder
                .as_ref()
                .is_none_or(|folder| is_within(folder, Path::new(&thread.session.cwd)))
    }
}

/// Who runs a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Runner {
    owner: Option<String>,
    is_running: bool,
}

impl Runner {
    fn of(overview: &ThreadOverview) -> Self {
        Self { owner: overview.owner.clone(), is_running: overview.is_running() }
    }
}

/// A time to read a thread although no change was reported.
#[derive(Debug, Clone, Copy)]
pub(super) struct LookAgain {
    at: Timestamp,
    /// The wait at the beginning: the clock may be set back.
    within_ms: u64,
}

impl LookAgain {
    pub(super) fn after(within_ms: u64, now: Timestamp) -> Self {
        Self { at: now.plus_millis(within_ms), within_ms }
    }

    pub(super) fn due(&self, now: Timestamp) -> Timestamp {
        within(self.at, self.within_ms, now)
    }
}

/// What clients watch.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    pub(super) filters: Arc<[WatchFilter]>,
    /// Earlier records are not reported.
    pub(super) since: Timestamp,
}

/// What became of a thread that may be watched.
pub(super) enum FollowResult {
    /// A client watches it.
    Open(Box<OpenThread>),
    /// No client watches it.
    PassedOver,
    /// Nothing is written yet that tells.
    NotYet,
    /// Another process holds its lock: read it again later.
    Locked,
}

pub(super) fn source(
    thread: &Thread,
    folder: &Path,
    policy: &rawr_core::policy::Policy,
) -> RecallSource {
    RecallSource {
        thread: thread.id.clone(),
        folder: folder.to_owned(),
        cwd: PathBuf::from(&thread.session.cwd),
        scratch_file: thread.scratch_file(policy),
        transcript: thread.session.transcript.as_ref().map(PathBuf::from),
    }
}

impl OpenThread {
    /// Reads a stored thread, reports what was recorded since the watch began, and keeps it if a client watches it.
    /// `is_listed`: the answer to a watch names it, so that it is no news.
    pub(super) async fn follow(
        context: &ThreadContext,
        controls: &UnboundedSender<ThreadControl>,
        id: &ThreadId,
        watch: &Watch,
        is_listed: bool,
    ) -> FollowResult {
        context.workspace.watch_thread(context.store.folder(id)).await;
        match read_followed(context.store.clone(), id.clone(), watch.since).await {
            // The folder is watched: what is written from now on is reported.
            Err(StoreError::NoThread { .. }) => FollowResult::NotYet,
            Err(StoreError::Locked { .. }) => FollowResult::Locked,
            read => {
                let read = read.map_err(RegistryError::from);
                let shown = match read {
                    Ok(read) => Self::show(context, controls, read, watch, is_listed).await,
                    Err(error) => Err(error),
                };
                shown.unwrap_or_else(|error| {
                    tracing::warn!(thread = %id, %error, "failed to read the records of another process");
                    FollowResult::PassedOver
                })
            }
        }
    }

    async fn show(
        context: &ThreadContext,
        controls: &UnboundedSender<ThreadControl>,
        read: ReadThread<FollowedThread>,
        watch: &Watch,
        is_listed: bool,
    ) -> Result<FollowResult, RegistryError> {
        let ReadThread { log, state: FollowedThread { before: machine, news, since }, replay } =
            read;
        let mut now_there = machine.clone();
        news.iter().for_each(|record| now_there.apply(record));
        let is_new = now_there.thread().updated_at == Timestamp::default();
        if !watch.filters.iter().any(|filter| filter.is_for(now_there.thread())) {
            // The first event, which names the folder, may not be written yet.
            return Ok(if is_new { FollowResult::NotYet } else { FollowResult::PassedOver });
        }
        report_damage(&context.listener, &now_there.thread().id, &replay.damage);
        let scope = ConfigScope::recorded(now_there.thread());
        let mut open = Self::new(context, controls, machine, log, scope).await;
        open.decisions.look()?;
        (open.filters, open.is_watched) = (Arc::clone(&watch.filters), true);
        let policy = &open.settings.config.policy;
        let mut notices: Vec<_> =
            news.iter().flat_map(|record| open.machine.follow(record, policy)).collect();
        open.is_unreported = is_new;
        if !news.is_empty() {
            notices.push(machine::Notice::Changed);
        }
        let now = open.now();
        publish(&mut open, notices.into_iter().map(Effect::Tell).collect(), now);
        let mut newest = open.decisions.newest_first()?;
        open.last_decision = newest.next();
        let later = open.last_decision.iter().cloned().chain(newest);
        let later: Vec<_> = later.take_while(|decision| decision.at >= since).collect();
        for decision in later.iter().rev() {
            (context.listener)(RegistryNotice::Decided { thread: open.thread(), decision });
        }
        if is_listed {
            open.runner = Some(Runner::of(&open.overview_with_owner()));
        }
        open.report_owner();
        open.follow_notes();
        Ok(FollowResult::Open(Box::new(open)))
    }

    /// Applies what clients watch.
    pub(super) fn choose_watched(&mut self) {
        let thread = self.machine.thread();
        self.is_watched = self.filters.iter().any(|filter| filter.is_for(thread));
        if self.is_watched
            && let Err(error) = self.decisions.look()
        {
            tracing::warn!(%error, "failed to watch the decisions of other processes");
        }
    }

    /// Reads the thread again after so many milliseconds.
    pub(super) fn schedule_read(&mut self, after_ms: u64) {
        let now = self.now();
        self.again.push(LookAgain::after(after_ms, now));
    }

    /// Neither a batch nor a notification keeps it up to date.
    pub(super) const fn is_behind(&self) -> bool {
        let is_notified = self.is_owned() || self.is_watched;
        !self.batch.is_open && (self.is_stale || !is_notified)
    }

    /// Reads what others have recorded.
    pub(super) async fn catch_up(&mut self) {
        match self.catch_up_with_files().await {
            Ok(()) => self.report_owner(),
            Err(error) => {
                tracing::warn!(thread = %self.id(), %error, "failed to read the records of another process");
                if matches!(error, RegistryError::Store(StoreError::Locked { .. })) {
                    self.schedule_read(TRY_AGAIN_AFTER_MS);
                }
            }
        }
    }

    async fn catch_up_with_files(&mut self) -> Result<(), RegistryError> {
        if self.is_owned() {
            return if self.has_news()? {
                self.handle(Input::Tick).await.map(drop)
            } else {
                Ok(())
            };
        }
        self.read_news().await?;
        self.report_decisions()
    }

    fn has_news(&self) -> Result<bool, StoreError> {
        self.log.as_ref().map_or(Ok(false), |log| log.has_news())
    }

    /// Reads new records, so that the state is as the disk has it.
    pub(super) async fn read_news(&mut self) -> Result<(), RegistryError> {
        if !self.is_stale && !self.has_news()? {
            return Ok(());
        }
        self.ready().await?;
        self.fold_news()?;
        self.follow_host().await;
        // Releases the lock.
        Ok(self.commit().await?)
    }

    /// Takes the append lock and folds the records of other processes. Reports them if a client watches.
    pub(super) fn fold_news(&mut self) -> Result<(), RegistryError> {
        let Self { machine, log, settings, .. } = self;
        let Some(log) = log.as_mut() else { return Err(RegistryError::Busy(self.id().clone())) };
        let policy = &settings.config.policy;
        let (mut before, mut notices) = (None, Vec::new());
        let begun = log.begin(|record| {
            before.get_or_insert_with(|| machine.visible_state(policy));
            notices.extend(machine.follow(&record, policy));
        });
        let damage =
            begun.inspect_err(|error| self.health.mark_failed(error, &mut self.is_stale))?;
        if !damage.is_empty() {
            before.get_or_insert_with(|| machine.visible_state(policy));
        }
        machine.skip_lines(log.lines);
        let is_news = before.is_some_and(|before| machine.visible_state(policy) != before);
        if is_news || std::mem::take(&mut self.is_unreported) {
            notices.push(machine::Notice::Changed);
        }
        if !self.is_owned() && !self.is_watched {
            notices.clear();
        }
        report_damage(&self.context.listener, self.id(), &damage);
        if !notices.is_empty() {
            let now = self.now();
            publish(self, notices.into_iter().map(Effect::Tell).collect(), now);
        }
        Ok(())
    }

    /// Reports a watched thread that is new or has another owner than before, and takes down a banner to which no process
    /// would react.
    fn report_owner(&mut self) {
        // Without its first event, nothing is known of a thread. One whose files are gone was reported as such.
        let is_known = self.thread().updated_at > Timestamp::default();
        if !self.is_watched || !is_known || !self.context.store.exists(self.id()) {
            return;
        }
        let overview = self.overview_with_owner();
        if let Some(until) = overview.hooks_until {
            let wait = u64::try_from(until.0 - self.now().0).unwrap_or_default();
            self.again.retain(|look| look.within_ms <= TRY_AGAIN_AFTER_MS);
            self.schedule_read(wait);
        }
        let runner = Runner::of(&overview);
        let before = self.runner.replace(runner.clone());
        let is_news = before.as_ref() != Some(&runner);
        if is_news {
            (self.context.listener)(RegistryNotice::Listed { overview: &overview });
        }
        // The banner is shown only while a client runs the thread. Its owner may have ended since it was reported.
        if is_news && before.is_some() || self.shows_banner && self.heads_up().is_none() {
            let now = self.now();
            publish(self, vec![Effect::Tell(machine::Notice::Changed)], now);
        }
    }

    /// Other processes decide on their own and store decisions in the thread's folder.
    fn report_decisions(&mut self) -> Result<(), RegistryError> {
        if !self.is_watched {
            return Ok(());
        }
        let lines = self.decisions.look()?;
        for decision in StoredDecision::read(&lines) {
            let thread = self.machine.thread();
            (self.context.listener)(RegistryNotice::Decided { thread, decision: &decision });
            self.last_decision = Some(decision);
        }
        Ok(())
    }

    /// The overview for the answer to a watch, if the filter is for this thread.
    pub(super) fn listed(&mut self, filter: &WatchFilter) -> Option<ThreadOverview> {
        let overview = filter.is_for(self.thread()).then(|| self.overview_with_owner())?;
        self.runner = Some(Runner::of(&overview));
        Some(overview)
    }

    /// The overview without the owner, which only the disk knows.
    pub(super) fn overview(&self, now: Timestamp) -> ThreadOverview {
        ThreadOverview { open: self.by_client, ..overview(self.thread(), self.policy(), now) }
    }

    /// The overview and its owner.
    pub(crate) fn overview_with_owner(&self) -> ThreadOverview {
        let overview = self.overview(self.now());
        ThreadOverview { owner: self.context.store.owner(self.id()), ..overview }
    }

    /// What a search covers of this thread.
    pub(super) fn source(&self) -> RecallSource {
        source(self.thread(), self.folder(), self.policy())
    }

    /// Starts to notify clients of changes of the thread's scratch file.
    pub(super) fn follow_notes(&self) {
        self.context.workspace.watch_notes(self.id(), self.notes().path());
    }

    /// Reports a changed scratch file if it is this thread's. A symbolic link counts as no scratch file.
    pub(super) fn report_notes(&self, path: &Path, by: Option<&str>) {
        let notes = self.notes();
        if notes.path() != path {
            return;
        }
        match notes.length() {
            Ok(bytes) => {
                let (thread, file) = (self.id(), notes.file.as_str());
                (self.context.listener)(RegistryNotice::Notes { thread, file, path, bytes, by });
            }
            Err(error) => {
                tracing::warn!(thread = %self.id(), %error, "failed to read the scratch file");
            }
        }
    }
}
