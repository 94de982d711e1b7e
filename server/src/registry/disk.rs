//! How a thread uses the disk: it stores batches and then sends their effects. If its files fail, the thread stops acting
//! and releases held messages to its host. It retries and continues from what the disk holds.

use super::files::{commit, on_files, save_cache};
use super::held::with_original;
use super::notice::{RegistryNotice, publish, report_damage};
use super::thread::{OpenThread, ThreadControl};
use super::{RegistryError, outside};
use crate::workspace::within;
use rawr_core::event::ThreadClosed;
use rawr_core::machine::Notice;
use rawr_core::units::{InputId, Timestamp};
use rawr_core::{Effect, Input, Machine, Thread};
use rawr_storage::store::{LogDamage, OwnerLock, Replay, StoreError, ThreadLog};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::mpsc::UnboundedReceiver;

/// How long to wait before a disk that failed is tried again, in milliseconds.
const TRY_AGAIN_AFTER_MS: u64 = 1000;
/// How long a host may take to report which released messages it delivered, in milliseconds. Then they count as held.
const HOST_MAY_TAKE_MS: u64 = 5000;
/// Due whatever the clock says.
const AT_ONCE: Timestamp = Timestamp(0);

/// The state of a thread's files.
#[derive(Debug)]
pub(super) struct ThreadHealth {
    course: DiskRecovery,
    /// Another process holds the append lock for longer than is worth waiting: requests fail at once until then.
    locked: Option<(StoreError, Timestamp)>,
    /// A failure from before the commit. The commit reports it.
    error: Option<StoreError>,
    /// The held messages that were not sent, as of the last commit.
    waiting: Vec<InputId>,
}

/// What follows from a failed disk. The host delivers `released` messages, and reports it with `input/cancel` once that
/// can be stored.
#[derive(Debug, Default)]
enum DiskRecovery {
    #[default]
    Good,
    Failing {
        released: Vec<InputId>,
        retry_at: Timestamp,
    },
    /// The disk works again. Until the host has reported its deliveries, inputs are recorded without decisions.
    Returning {
        released: Vec<InputId>,
        until: Timestamp,
    },
}

impl Default for ThreadHealth {
    fn default() -> Self {
        let (course, waiting) = Default::default();
        Self { course, locked: None, error: None, waiting }
    }
}

impl ThreadHealth {
    /// Whether inputs are decided on.
    pub(super) const fn is_good(&self) -> bool {
        matches!(self.course, DiskRecovery::Good)
    }

    pub(super) const fn is_failing(&self) -> bool {
        matches!(self.course, DiskRecovery::Failing { .. })
    }

    /// Notes that the thread could not be read or locked. The next commit reports it, and memory may be ahead of the
    /// disk.
    pub(super) fn mark_failed(&mut self, error: &StoreError, is_stale: &mut bool) {
        *is_stale = true;
        self.error = Some(error.told_again());
    }

    fn back_off(&mut self, error: &StoreError, now: Timestamp) {
        if matches!(error, StoreError::Locked { .. }) {
            self.locked = Some((error.told_again(), now.plus_millis(TRY_AGAIN_AFTER_MS)));
        }
    }

    fn refusal(&mut self, now: impl FnOnce() -> Timestamp) -> Option<StoreError> {
        let now = self.locked.as_ref().map(|_| now())?;
        self.locked.take_if(|(_, until)| within(*until, TRY_AGAIN_AFTER_MS, now) <= now);
        self.locked.as_ref().map(|(error, _)| error.told_again())
    }

    fn stored(&mut self, thread: &Thread) {
        let waiting = thread.held.iter().filter(|held| held.action.is_none());
        self.waiting.clear();
        self.waiting.extend(waiting.map(|held| held.id.clone()));
    }
}

async fn next_control(
    controls: &mut Option<UnboundedReceiver<ThreadControl>>,
) -> Option<ThreadControl> {
    match controls {
        Some(controls) => controls.recv().await,
        None => None,
    }
}

impl OpenThread {
    /// Runs `work` on the thread's files. Meanwhile the thread takes controls, so that the state is known even while its
    /// disk hangs.
    async fn on_files<T: Send + 'static>(
        &mut self,
        waits_for_locks: bool,
        work: impl FnMut(&mut Box<ThreadLog>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let Some(log) = self.log.take() else { return Err(self.without_files()) };
        // On the heap, as all that rarely happens, so that a thread at rest takes little memory.
        let mut working = Box::pin(on_files(log, waits_for_locks, work));
        let (log, done) = loop {
            tokio::select! {
                biased;
                back = &mut working => break back,
                Some(control) = next_control(&mut self.controls) => {
                    // Whatever happens here, the files come back.
                    if catch_unwind(AssertUnwindSafe(|| self.control(control))).is_err() {
                        tracing::error!(thread = %self.id(), "a thread panicked; this is a bug in rawr");
                    }
                }
            }
        };
        self.log = Some(log);
        done
    }

    fn without_files(&self) -> StoreError {
        let source = std::io::Error::other("they are in use; this is a bug in rawr");
        StoreError::Io { verb: "use", path: self.folder.clone(), source }
    }

    /// Makes sure that this process holds the append lock and that memory matches the disk.
    pub(super) async fn ready(&mut self) -> Result<(), RegistryError> {
        let clock = &self.context.clock;
        if let Some(error) = self.health.refusal(|| clock()) {
            return Err(error.into());
        }
        if self.is_stale {
            // What this batch recorded before a panic is valid if it can be stored.
            if let Err(error) = self.commit().await {
                tracing::error!(thread = %self.id(), %error, "failed to store the records before a panic");
            }
            self.batch.is_open = true;
            Box::pin(self.reread()).await?;
        }
        self.batch.is_open = true;
        let locked = match self.log.as_mut().map_or(Ok(()), |log| log.take_lock()) {
            Err(StoreError::Locked { .. }) => self.on_files(true, |log| log.take_lock()).await,
            locked => locked,
        };
        if let Err(error) = locked {
            let now = self.now();
            self.health.back_off(&error, now);
            self.health.mark_failed(&error, &mut self.is_stale);
            return Err(error.into());
        }
        Ok(())
    }

    async fn reread(&mut self) -> Result<(), RegistryError> {
        let id = self.id().clone();
        let reread = move |log: &mut Box<ThreadLog>| {
            log.take_lock()?;
            log.reread(&id)
        };
        match self.on_files(true, reread).await {
            Ok(read) => {
                self.take_up(read);
                Ok(())
            }
            Err(error) => {
                let now = self.now();
                self.health.back_off(&error, now);
                self.report_failure(&error);
                Err(error.into())
            }
        }
    }

    /// [`Self::ready`] for an input, which is decided on after what other processes have recorded: if the thread's files
    /// failed, only once the disk is known to accept writes again.
    pub(super) async fn ready_for_input(&mut self) -> Result<(), RegistryError> {
        if self.health.is_failing() {
            Box::pin(self.recover()).await?;
        }
        self.ready().await?;
        self.end_recovery();
        self.fold_news()
    }

    /// Decides on inputs again, once the host has reported its deliveries or took too long.
    fn end_recovery(&mut self) {
        if matches!(self.health.course, DiskRecovery::Returning { .. }) {
            let now = self.now();
            if self.disk_due(now).is_some_and(|at| at <= now) {
                self.health.course = DiskRecovery::Good;
            }
        }
    }

    /// Tests whether the disk works again. If it does, repeats the actions that the host has not reported, because a report
    /// may have been lost while nothing could be stored.
    async fn recover(&mut self) -> Result<(), StoreError> {
        let id = self.id().clone();
        // No wait for locks, because it is retried every second.
        let recover = move |log: &mut Box<ThreadLog>| {
            log.take_lock()?;
            log.recover(&id)
        };
        self.batch.is_open = true;
        let read = self.on_files(false, recover).await;
        match read {
            Ok(read) => self.take_up(read),
            Err(error) => {
                self.report_failure(&error);
                return Err(error);
            }
        }
        let DiskRecovery::Failing { released, .. } = std::mem::take(&mut self.health.course) else {
            return Ok(());
        };
        let until = self.now().plus_millis(HOST_MAY_TAKE_MS);
        self.health.course = DiskRecovery::Returning { released, until };
        let listener = &self.context.listener;
        listener(RegistryNotice::StoreRecovered { thread: self.id() });
        let thread = self.machine.thread();
        for issued in thread.pending_actions() {
            let issued = with_original(&self.folder, issued.clone());
            listener(RegistryNotice::Perform { thread, issued: &issued });
        }
        self.asks_again = true;
        Ok(())
    }

    /// Stores what was decided since the last commit: one write and at most one sync. Then sends the effects.
    pub async fn commit(&mut self) -> Result<(), StoreError> {
        if !std::mem::take(&mut self.batch.is_open) {
            return Ok(());
        }
        let cache = self.is_worth_caching().then(|| Box::new(self.thread().clone()));
        let wants_sync = self.log.as_ref().is_some_and(|log| log.wants_sync());
        let stored = if wants_sync || cache.is_some() || !self.batch.capsules.is_empty() {
            let (id, capsules) = (self.id().clone(), std::mem::take(&mut self.batch.capsules));
            self.on_files(true, move |log| commit(log, &id, &capsules, cache.as_deref())).await
        } else {
            self.log.as_mut().map_or(Ok(()), |log| log.commit())
        };
        self.finish_batch(stored)
    }

    fn finish_batch(&mut self, stored: Result<(), StoreError>) -> Result<(), StoreError> {
        self.batch.closes = false;
        let before = self.health.error.take();
        match &stored {
            Ok(()) if !self.is_stale => self.health.stored(self.machine.thread()),
            Ok(()) => {
                if let Some(error) = before {
                    self.report_failure(&error);
                }
            }
            Err(error) => {
                self.batch.staged.clear();
                self.report_failure(error);
            }
        }
        self.call_owner();
        let staged = std::mem::take(&mut self.batch.staged);
        for staged in staged {
            let asked = staged.effects.iter().filter_map(|effect| match effect {
                Effect::Perform(issued) => Some(issued.as_ref()),
                _ => None,
            });
            let questions = outside::questions(self, asked);
            self.batch.jobs.extend(questions);
            publish(self, staged.effects, staged.now);
        }
        stored
    }

    /// At the end of a sequence, after many events, and when the thread is removed, so that the next start replays little.
    fn is_worth_caching(&self) -> bool {
        let Some(log) = self.log.as_ref().filter(|_| !self.is_stale) else { return false };
        let ends_a_sequence = || {
            let mut effects = self.batch.staged.iter().flat_map(|staged| &staged.effects);
            effects.any(|effect| matches!(effect, Effect::Tell(Notice::SequenceEnded(_))))
        };
        let is_due = || self.is_owned() && (log.wants_caching() || ends_a_sequence());
        log.is_uncached() && (self.batch.closes || !self.is_wanted() || is_due())
    }

    /// Whether a client has it open or watches it.
    pub(super) const fn is_wanted(&self) -> bool {
        self.by_client || self.is_watched
    }

    /// Wakes the owner of the thread in another process if this batch holds records for it.
    fn call_owner(&mut self) {
        if std::mem::take(&mut self.batch.calls_owner)
            && !self.is_stale
            && let Err(error) = OwnerLock::ring(&self.folder)
        {
            tracing::warn!(thread = %self.id(), %error, "failed to wake the owner; it reads this at its next input");
        }
    }

    /// Closes the thread for its host. The state is stored if possible; the owner lock is released in any case. The thread
    /// stays open while it is watched.
    pub async fn close(&mut self) -> Result<(), RegistryError> {
        let closed = match self.owner {
            Some(_) => self.handle(Input::Saw(ThreadClosed {}.into())).await.map(drop),
            None => Ok(()),
        };
        self.by_client = false;
        (self.batch.is_open, self.batch.closes) = (true, true);
        let stored = self.commit().await;
        self.health = ThreadHealth::default();
        if self.owner.take().is_some() {
            self.context.workspace.unwatch_file(self.context.store.wake_file(self.id()));
        }
        closed?;
        Ok(stored?)
    }

    /// Stores everything at the end of the process.
    pub async fn leave(&mut self) {
        if let Err(error) = self.commit().await {
            tracing::error!(thread = %self.id(), %error, "failed to store the last records");
        }
        let state = self.thread().clone();
        if !self.is_stale {
            let save = move |log: &mut Box<ThreadLog>| {
                save_cache(log, &state);
                Ok(())
            };
            drop(self.on_files(true, save).await);
        }
    }

    /// When [`Self::tick`] must be called next.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let now = self.now();
        let again = self.again.iter().map(|look| look.due(now)).min();
        again.into_iter().chain(self.next_input(now)).min()
    }

    /// When an input of no request is due.
    fn next_input(&self, now: Timestamp) -> Option<Timestamp> {
        let waits = !self.deferred.is_empty()
            || (self.has_new_policy || self.asks_again) && self.is_owned();
        let disk = self.owner.as_ref().and_then(|_| self.disk_due(now));
        let due = waits.then_some(AT_ONCE).into_iter().chain(disk).min()?;
        // Nothing can be done before the files are tried again.
        Some(self.not_before(now).map_or(due, |retry_at| due.max(retry_at)))
    }

    fn not_before(&self, now: Timestamp) -> Option<Timestamp> {
        let locked = self.health.locked.as_ref().map(|(_, until)| *until);
        let failing = match &self.health.course {
            DiskRecovery::Failing { retry_at, .. } => Some(*retry_at),
            DiskRecovery::Good | DiskRecovery::Returning { .. } => None,
        };
        locked.max(failing).map(|at| within(at, TRY_AGAIN_AFTER_MS, now))
    }

    /// Handles every deadline that has passed.
    pub async fn tick(&mut self) {
        let now = self.now();
        if self.again.extract_if(.., |look| look.due(now) <= now).count() > 0 {
            self.catch_up().await;
        }
        if self.next_input(now).is_none_or(|at| at > now) {
            return;
        }
        self.has_new_policy = false;
        let must_recover = self.is_owned() && (self.is_stale || self.health.is_failing());
        if must_recover && Box::pin(self.recover()).await.is_err() {
            return;
        }
        for input in std::mem::take(&mut self.deferred) {
            self.handle_in_time(input).await;
        }
        // Only what has no answer among those inputs.
        if self.deferred.is_empty() && std::mem::take(&mut self.asks_again) {
            let questions = outside::questions(self, self.thread().pending_actions());
            self.batch.jobs.extend(questions);
        }
        if self.is_owned()
            && let Err(error) = self.handle(Input::Tick).await
        {
            tracing::error!(thread = %self.id(), %error, "failed to handle a deadline");
        }
    }

    /// Handles an input without a request: now, or as soon as the thread's files can be used, because it is not reported
    /// again.
    pub(super) async fn handle_in_time(&mut self, input: Input) {
        match self.handle(input.clone()).await {
            Ok(_) => {}
            Err(RegistryError::Store(error)) => {
                tracing::warn!(thread = %self.id(), %error, "deferred an input");
                self.deferred.push(input);
            }
            Err(error) => {
                tracing::error!(thread = %self.id(), %error, "failed to record a deferred input");
            }
        }
    }

    fn disk_due(&self, now: Timestamp) -> Option<Timestamp> {
        let waits = |input: &InputId| {
            let mut held = self.thread().held.iter();
            held.any(|held| held.id == *input && held.action.is_none())
        };
        match &self.health.course {
            DiskRecovery::Failing { retry_at, .. } => {
                Some(within(*retry_at, TRY_AGAIN_AFTER_MS, now))
            }
            _ if self.is_stale => Some(AT_ONCE),
            DiskRecovery::Returning { released, until } => {
                let until = within(*until, HOST_MAY_TAKE_MS, now);
                Some(if released.iter().any(waits) { until } else { AT_ONCE })
            }
            DiskRecovery::Good => self.machine.wakes_at(self.policy(), now),
        }
    }

    /// Memory is ahead of the disk, and the disk is right. The host is notified once per streak of failures, and again only
    /// if more messages are held.
    fn report_failure(&mut self, error: &StoreError) {
        self.is_stale = true;
        if !self.is_owned() {
            return;
        }
        let retry_at = self.now().plus_millis(TRY_AGAIN_AFTER_MS);
        let (mut released, is_known) = match std::mem::take(&mut self.health.course) {
            DiskRecovery::Failing { released, .. } => (released, true),
            DiskRecovery::Returning { released, .. } => (released, false),
            DiskRecovery::Good => (Vec::new(), false),
        };
        let held = &self.machine.thread().held;
        let mut news = self.health.waiting.clone();
        // A message may have been cancelled since.
        news.retain(|input| held.iter().any(|held| held.id == *input) && !released.contains(input));
        if !is_known || !news.is_empty() {
            let error = error.to_string();
            (self.context.listener)(RegistryNotice::StoreFailed {
                thread: self.id(),
                error: &error,
                held: &news,
            });
        }
        released.append(&mut news);
        self.health.course = DiskRecovery::Failing { released, retry_at };
    }

    /// Takes the state from the disk. Unreadable lines were reported when they were first read.
    fn take_up(&mut self, (thread, mut replay): (Thread, Replay)) {
        self.machine = Machine::new(thread);
        self.last_decision = None;
        self.is_stale = false;
        self.originals.forget();
        self.health.locked = None;
        self.health.stored(self.machine.thread());
        replay.damage.retain(|damage| matches!(damage, LogDamage::TornTail { .. }));
        report_damage(&self.context.listener, self.id(), &replay.damage);
    }
}
