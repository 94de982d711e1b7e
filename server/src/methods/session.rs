//! One client's session: the open threads, the documents in its editor, and what its requests share. The connection
//! drives it and is the only one that waits.

use super::{document, judgment};
use crate::jobs::{Done, Job};
use crate::outbox::Outbox;
use crate::registry::{ThreadRegistry, Ticket};
use crate::tokens::Tokens;
use crate::trace::Trace;
use crate::watch::ChangeNotifier;
use crate::wire::RpcError;
use crate::workers::{Work, Worked};
use jsonrpsee::types::ErrorObjectOwned;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_protocol::ErrorCode;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What every method works with.
#[derive(Debug)]
pub struct Session {
    /// Created by `initialize`, which says where home is.
    registry: OnceLock<Mutex<ThreadRegistry>>,
    pub(super) client: OnceLock<String>,
    pub(super) evaluations: judgment::Evaluations,
    pub(super) outbox: Outbox,
    pub(super) trace: Trace,
    pub(super) changes: ChangeNotifier,
    pub(super) home: Option<PathBuf>,
    pub(super) tokens: Tokens,
    pub(super) editor: Mutex<document::Editor>,
    /// A prompt or the configuration was reloaded, and open documents do not show it yet.
    pub(super) edited: Arc<AtomicBool>,
    /// Decisions that were read for an editor.
    pub(super) past: Arc<Mutex<document::PastDecisions>>,
    /// Requests whose answer is being read from disk.
    reading: AtomicUsize,
}

/// What became of requests whose records must be stored before they are answered.
#[derive(Debug, Default)]
pub struct Commit {
    /// Not stored: these requests are answered with the error.
    pub failed: Vec<(Ticket, ErrorObjectOwned)>,
    /// Being stored: the answers wait.
    pub unsettled: Vec<Ticket>,
}

impl Session {
    pub fn new(
        outbox: Outbox,
        trace: Trace,
        changes: ChangeNotifier,
        home: Option<PathBuf>,
    ) -> Self {
        let (registry, client, evaluations, tokens) = Default::default();
        let (editor, edited, past, reading) = Default::default();
        Self {
            registry,
            client,
            evaluations,
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

    /// Fails where `initialize` has set one before.
    pub(super) fn set_registry(&self, registry: ThreadRegistry) -> bool {
        self.registry.set(Mutex::new(registry)).is_ok()
    }

    /// One method at a time uses it. A panic in one poisons nothing: threads are read from disk again.
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

    pub fn distrust_memory(&self) {
        if let Ok(mut registry) = self.registry() {
            registry.distrust_memory();
        }
    }

    pub fn leave(&self) {
        if let Ok(mut registry) = self.registry() {
            registry.leave(now());
            // The user's own setting: threads of every project are in one home.
            let days = registry.workspace().base().0.retention_days;
            registry.store().archive_idle(days, now());
        }
    }
}

/// What the connection's loop calls. None of it waits: what may wait is handed out as [`Work`] or as a [`Job`].
impl Session {
    /// Whether it matters now which thread a request names.
    pub fn reads_threads(&self) -> bool {
        self.registry()
            .is_ok_and(|mut registry| registry.is_any_busy() || registry.reads_on_request(now()))
    }

    /// Whether a worker has the thread's files, so that requests that name the thread wait.
    pub fn is_busy(&self, thread: &ThreadId) -> bool {
        self.registry().is_ok_and(|registry| registry.is_busy(thread))
    }

    /// The next dispatch belongs to this request, which names this thread, where that matters.
    pub fn begins(&self, ticket: Ticket, thread: Option<&ThreadId>) {
        if let Ok(mut registry) = self.registry() {
            registry.begins(ticket, thread, now());
        }
    }

    /// The threads without whose files the last request could not begin. Dispatch it again when they are back.
    pub fn waits_for(&self) -> Vec<ThreadId> {
        self.registry().map(|registry| registry.waits_for()).unwrap_or_default()
    }

    /// All requests that could go on have been dispatched again.
    pub fn went_on(&self) {
        if let Ok(mut registry) = self.registry() {
            registry.requests_went_on(now());
        }
    }

    /// Starts to store everything since the last commit. Answers leave only when that is done.
    pub fn commit(&self) -> Commit {
        let Ok(mut registry) = self.registry() else { return Commit::default() };
        let mut failed = Vec::new();
        for (tickets, error) in registry.commit() {
            let error = ErrorObjectOwned::from(RpcError::from(error));
            failed.extend(tickets.into_iter().map(|ticket| (ticket, error.clone())));
        }
        Commit { failed, unsettled: registry.unsettled() }
    }

    /// Work that may wait for the disk, since the last call. It is finished even where the connection ends.
    pub fn take_work(&self) -> Vec<Work> {
        self.registry().map(|mut registry| registry.take_works()).unwrap_or_default()
    }

    pub fn work_done(&self, worked: Worked) {
        if let Ok(mut registry) = self.registry() {
            registry.worked(worked, now());
        }
    }

    /// Work outside of this process, since the last call. It ends with the connection.
    pub fn take_jobs(&self) -> Vec<Job> {
        self.registry().map(|mut registry| registry.take_jobs()).unwrap_or_default()
    }

    pub fn job_done(&self, done: Done) {
        if let Ok(mut registry) = self.registry() {
            registry.done(done, now());
        }
    }

    /// Whether a request is being read for that is to be answered even where the connection ends.
    pub fn is_reading(&self) -> bool {
        self.reading.load(Ordering::Relaxed) > 0
    }

    /// How long until [`Self::tick`] has something to do; `None` where nothing is due.
    pub fn due_in(&self) -> Option<Duration> {
        let now = now();
        let due = self.registry().ok()?.next_deadline(now)?;
        Some(Duration::from_millis(u64::try_from(due.0.saturating_sub(now.0)).unwrap_or(0)))
    }

    /// The next tick is the first: not before the client has its first answers.
    pub fn is_idle_for_the_first_time(&self) -> bool {
        self.registry().is_ok_and(|registry| !registry.workspace().is_live())
    }

    /// Deals with every deadline that has passed.
    pub fn tick(&self) {
        if let Ok(mut registry) = self.registry() {
            // Not before the client has its answer to `initialize`: it costs more than that.
            registry.workspace_mut().go_live();
            registry.tick(now());
        }
        document::files_changed(self);
    }

    /// Other processes have written files.
    pub fn files_changed(&self) {
        if let Ok(mut registry) = self.registry() {
            let changes = self.changes.take();
            registry.heard_of_edits(&changes, now());
            registry.follow(changes, now());
        }
        document::files_changed(self);
    }

    /// False where the notification is unknown.
    pub fn notified(&self, method: &str, params: Option<&str>) -> bool {
        document::notified(self, method, params)
    }

    /// The client's answer to a request of ours: its result, or its error.
    pub fn answered(&self, id: &str, outcome: Result<&str, &str>) {
        document::answered(self, id, outcome);
    }
}

pub(super) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Reads on another thread, while other requests are served. The request is answered even where the input ends meanwhile.
pub(super) async fn aside<T: Send + 'static>(
    session: &Session,
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RpcError> {
    struct Reading<'c>(&'c AtomicUsize);
    impl Drop for Reading<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    session.reading.fetch_add(1, Ordering::Relaxed);
    let _reading = Reading(&session.reading);
    tokio::task::spawn_blocking(read)
        .await
        .map_err(|error| RpcError::new(ErrorCode::InternalError, error.to_string(), "try again"))
}
