//! One client's session: the open threads, the documents in its editor, and the state that its requests share. The
//! connection drives it and is the only one that waits.

use super::long_work::LongWork;
use super::{document, judgment};
use crate::jobs::{Job, JobResult};
use crate::outbox::Outbox;
use crate::registry::{ThreadRegistry, Ticket};
use crate::tokens::TokenService;
use crate::trace::WorkTrace;
use crate::watch::ChangeNotifier;
use crate::wire::RpcError;
use crate::workers::{FinishedWork, ThreadWork};
use jsonrpsee::types::ErrorObjectOwned;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_protocol::ErrorCode;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The context of every method.
#[derive(Debug)]
pub struct ClientSession {
    /// Created by `initialize`, which determines the home folder.
    registry: OnceLock<Mutex<ThreadRegistry>>,
    pub(super) client: OnceLock<String>,
    pub(super) evaluations: judgment::Evaluations,
    pub(super) replays: LongWork,
    pub(super) outbox: Outbox,
    pub(super) trace: WorkTrace,
    pub(super) changes: ChangeNotifier,
    pub(super) home: Option<PathBuf>,
    pub(super) tokens: TokenService,
    pub(super) editor: Mutex<document::OpenDocuments>,
    /// A prompt or the configuration was reloaded, and diagnostics of open documents are not updated yet.
    pub(super) edited: Arc<AtomicBool>,
    /// Decisions that were read for an editor.
    pub(super) past: Arc<Mutex<document::PastDecisions>>,
    /// The number of requests whose answer is being read from disk.
    reading: AtomicUsize,
}

/// The requests whose answers depend on stored records.
#[derive(Debug, Default)]
pub struct CommitResult {
    /// Their records were not stored: they are answered with the error.
    pub failed: Vec<(Ticket, ErrorObjectOwned)>,
    /// Their records are being stored: their answers wait.
    pub unsettled: Vec<Ticket>,
}

impl ClientSession {
    pub fn new(
        outbox: Outbox,
        trace: WorkTrace,
        changes: ChangeNotifier,
        home: Option<PathBuf>,
    ) -> Self {
        let (registry, client, evaluations, replays, tokens) = Default::default();
        let (editor, edited, past, reading) = Default::default();
        Self {
            registry,
            client,
            evaluations,
            replays,
            outbox,
            trace,
            changes,
            home,
            tokens,
            editor,
            edited,
            past,
            reading,
        }
    }

    /// Returns false if there is one already, from an earlier `initialize`.
    pub(super) fn set_registry(&self, registry: ThreadRegistry) -> bool {
        self.registry.set(Mutex::new(registry)).is_ok()
    }

    /// One method at a time uses it. A panic does not poison it: threads are read from disk again.
    pub(super) fn registry(&self) -> Result<MutexGuard<'_, ThreadRegistry>, RpcError> {
        let registry = self.registry.get().ok_or_else(|| {
            let code = ErrorCode::ServerNotInitialized;
            RpcError::new(code, code.message(), "send initialize first")
        })?;
        Ok(registry.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn client(&self) -> &str {
        self.client.get().map_or("a client", String::as_str)
    }

    pub fn mark_threads_stale(&self) {
        if let Ok(mut registry) = self.registry() {
            registry.mark_threads_stale();
        }
    }

    pub fn leave(&self) {
        if let Ok(mut registry) = self.registry() {
            registry.leave(now());
            // The user's own setting, because the threads of all projects are in one home.
            let days = registry.workspace().base().0.retention_days;
            registry.store().archive_idle(days, now());
        }
    }
}

/// Called by the connection's loop. Never blocks: what may block is returned as [`ThreadWork`] or as a [`Job`].
impl ClientSession {
    /// Whether it matters now which thread a request names.
    pub fn reads_threads(&self) -> bool {
        self.registry()
            .is_ok_and(|mut registry| registry.is_any_busy() || registry.reads_on_request(now()))
    }

    /// Whether a worker has the thread's files, so that requests that name the thread wait.
    pub fn is_busy(&self, thread: &ThreadId) -> bool {
        self.registry().is_ok_and(|registry| registry.is_busy(thread))
    }

    /// Sets the request that is dispatched next, and the thread that it names if that matters.
    pub fn begins(&self, ticket: Ticket, thread: Option<&ThreadId>) {
        if let Ok(mut registry) = self.registry() {
            registry.begins(ticket, thread, now());
        }
    }

    /// The threads that the last request needs before it can begin. Dispatch it again when they are back.
    pub fn waits_for(&self) -> Vec<ThreadId> {
        self.registry().map(|registry| registry.waits_for()).unwrap_or_default()
    }

    /// Call when all requests that could continue have been dispatched again.
    pub fn requests_resumed(&self) {
        if let Ok(mut registry) = self.registry() {
            registry.requests_resumed(now());
        }
    }

    /// Starts to store everything since the last commit. Answers are sent only when that is done.
    pub fn commit(&self) -> CommitResult {
        let Ok(mut registry) = self.registry() else { return CommitResult::default() };
        let mut failed = Vec::new();
        for (tickets, error) in registry.commit() {
            let error = ErrorObjectOwned::from(RpcError::from(error));
            failed.extend(tickets.into_iter().map(|ticket| (ticket, error.clone())));
        }
        CommitResult { failed, unsettled: registry.unsettled() }
    }

    /// Work that may wait for the disk, since the last call. It is finished even if the connection ends.
    pub fn take_work(&self) -> Vec<ThreadWork> {
        self.registry().map(|mut registry| registry.take_works()).unwrap_or_default()
    }

    pub fn work_done(&self, worked: FinishedWork) {
        if let Ok(mut registry) = self.registry() {
            registry.worked(worked, now());
        }
    }

    /// Work outside of this process, since the last call. It is cancelled when the connection ends.
    pub fn take_jobs(&self) -> Vec<Job> {
        self.registry().map(|mut registry| registry.take_jobs()).unwrap_or_default()
    }

    pub fn job_done(&self, done: JobResult) {
        if let Ok(mut registry) = self.registry() {
            registry.done(done, now());
        }
    }

    /// Whether a request is being read for that must be answered even if the connection ends.
    pub fn is_reading(&self) -> bool {
        self.reading.load(Ordering::Relaxed) > 0
    }

    /// How long until [`Self::tick`] has something to do. `None` if nothing is due.
    pub fn due_in(&self) -> Option<Duration> {
        let now = now();
        let due = self.registry().ok()?.next_deadline(now)?;
        Some(Duration::from_millis(u64::try_from(due.0.saturating_sub(now.0)).unwrap_or(0)))
    }

    /// Whether the next tick is the first, which waits until the client has its first answers.
    pub fn is_idle_for_the_first_time(&self) -> bool {
        self.registry().is_ok_and(|registry| !registry.workspace().is_live())
    }

    /// Handles every deadline that has passed.
    pub fn tick(&self) {
        if let Ok(mut registry) = self.registry() {
            // After the client has its answer to `initialize`, because it takes longer than that.
            registry.workspace_mut().go_live();
            registry.tick(now());
        }
        document::files_changed(self);
    }

    /// Other processes have written files.
    pub fn files_changed(&self) {
        if let Ok(mut registry) = self.registry() {
            let changes = self.changes.take();
            registry.record_edits(&changes, now());
            registry.follow(changes, now());
        }
        document::files_changed(self);
    }

    /// Returns false if the notification is unknown.
    pub fn notified(&self, method: &str, params: Option<&str>) -> bool {
        document::notified(self, method, params)
    }

    /// The client's answer to a request of ours: its result or its error.
    pub fn answered(&self, id: &str, outcome: Result<&str, &str>) {
        document::answered(self, id, outcome);
    }
}

pub(super) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Runs `read` on another thread, while other requests are served. The request is answered even if the input ends
/// meanwhile.
pub(super) async fn aside<T: Send + 'static>(
    session: &ClientSession,
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RpcError> {
    struct ReadingGuard<'c>(&'c AtomicUsize);
    impl Drop for ReadingGuard<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    session.reading.fetch_add(1, Ordering::Relaxed);
    let _reading = ReadingGuard(&session.reading);
    tokio::task::spawn_blocking(read)
        .await
        .map_err(|error| RpcError::new(ErrorCode::InternalError, error.to_string(), "retry"))
}
