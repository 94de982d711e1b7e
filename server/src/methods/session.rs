//! One client's session: the ways to the tasks that own its threads, its configuration and its documents, and the little
//! that requests share besides.

use super::document::{self, DocumentsHandle};
use super::long_work::LongWork;
use crate::outbox::Outbox;
use crate::registry::Registry;
use crate::tokens::TokenService;
use crate::trace::WorkTrace;
use crate::watch::ChangeNotifier;
use crate::wire::RpcError;
use crate::workspace::{Workspace, WorkspaceHandle};
use rawr_core::units::Timestamp;
use rawr_protocol::ErrorCode;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;

/// The context of every method.
#[derive(Debug)]
pub struct ClientSession {
    /// Started by `initialize`, which determines the home folder.
    tasks: OnceLock<SessionTasks>,
    pub(super) client: OnceLock<String>,
    /// The number of judgments that clients asked for.
    pub(super) judgments: AtomicU64,
    pub(super) replays: LongWork,
    pub(super) outbox: Outbox,
    pub(super) trace: WorkTrace,
    pub(super) changes: ChangeNotifier,
    pub(super) home: Option<PathBuf>,
    pub(super) tokens: TokenService,
    /// Decisions that were read for an editor, on other threads.
    pub(super) past: Arc<Mutex<document::PastDecisions>>,
    /// The number of requests that are answered even if the input ends.
    owed: Arc<AtomicUsize>,
    /// The number of those that take little time and memory.
    brief: Arc<AtomicUsize>,
    progress: Notify,
}

/// The tasks of a session. They end with it.
#[derive(Debug)]
pub(super) struct SessionTasks {
    pub(super) registry: Registry,
    pub(super) documents: DocumentsHandle,
}

/// Counts a request until it is answered or dropped.
pub(super) struct CountedRequest(Arc<AtomicUsize>);

impl CountedRequest {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for CountedRequest {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ClientSession {
    pub fn new(
        outbox: Outbox,
        trace: WorkTrace,
        changes: ChangeNotifier,
        home: Option<PathBuf>,
    ) -> Self {
        let (tasks, client, judgments, replays, tokens) = Default::default();
        let (past, owed, brief, progress) = Default::default();
        Self {
            tasks,
            client,
            judgments,
            replays,
            outbox,
            trace,
            changes,
            home,
            tokens,
            past,
            owed,
            brief,
            progress,
        }
    }

    /// Starts the tasks. Returns false if an earlier `initialize` has.
    pub(super) fn start(&self, start: impl FnOnce() -> SessionTasks) -> bool {
        let mut is_first = false;
        self.tasks.get_or_init(|| {
            is_first = true;
            start()
        });
        is_first
    }

    fn tasks(&self) -> Result<&SessionTasks, RpcError> {
        self.tasks.get().ok_or_else(|| {
            let code = ErrorCode::ServerNotInitialized;
            RpcError::new(code, code.message(), "send initialize first")
        })
    }

    /// The open threads.
    pub(super) fn registry(&self) -> Result<&Registry, RpcError> {
        Ok(&self.tasks()?.registry)
    }

    /// Configuration and prompts.
    pub(super) fn workspace(&self) -> Result<&WorkspaceHandle, RpcError> {
        Ok(&self.registry()?.context().workspace)
    }

    /// The documents in the client's editor.
    pub(super) fn documents(&self) -> Result<&DocumentsHandle, RpcError> {
        Ok(&self.tasks()?.documents)
    }

    pub(super) fn client(&self) -> &str {
        self.client.get().map_or("a client", String::as_str)
    }

    pub(super) fn owe_answer(&self) -> CountedRequest {
        CountedRequest::new(&self.owed)
    }

    pub(super) fn begin_brief(&self) -> CountedRequest {
        CountedRequest::new(&self.brief)
    }

    /// Whether a request must be answered even if the input ends.
    pub fn owes_answers(&self) -> bool {
        self.owed.load(Ordering::Relaxed) > 0
    }

    /// The number of requests in progress that take little time and memory.
    pub fn brief_requests(&self) -> usize {
        self.brief.load(Ordering::Relaxed)
    }

    /// Stores everything and ends all threads.
    pub async fn leave(&self) {
        let Ok(registry) = self.registry() else { return };
        registry.leave(|| self.progress.notify_one()).await;
        // The user's own setting, because the threads of all projects are in one home.
        let days = |workspace: &mut Workspace| workspace.base().config.retention_days;
        let days = registry.context().workspace.ask(days).await;
        let store = registry.context().store.clone();
        if aside(move || store.archive_idle(days, now())).await.is_err() {
            tracing::error!("archiving panicked; this is a bug in rawr");
        }
    }

    /// Resolves when another thread has ended at the end of the session.
    pub async fn progress(&self) {
        self.progress.notified().await;
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

/// Runs `read` on another thread, while other requests are served.
pub(super) async fn aside<T: Send + 'static>(
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RpcError> {
    tokio::task::spawn_blocking(read)
        .await
        .map_err(|error| RpcError::new(ErrorCode::InternalError, error.to_string(), "retry"))
}
