//! The workspace's task, and the way to it.

use super::{ConfigReader, ConfigScope, NewsListener, Settings, Workspace};
use crate::tasks::{Answer, answer, until};
use crate::watch::{ChangeSet, EditedFiles};
use futures::FutureExt;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_settings::prompts::PromptSet;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// What the task is asked for.
enum WorkspaceRequest {
    /// Work that waits for nothing.
    Do(Box<dyn FnOnce(&mut Workspace) + Send>),
    /// Read prompts that were saved a moment ago.
    RefreshPrompts(oneshot::Sender<Arc<PromptSet>>),
    /// Read configuration files that were saved a moment ago.
    RefreshConfig(oneshot::Sender<()>),
    FilesChanged(EditedFiles, bool),
}

/// The way to the workspace. The task ends with the last one.
#[derive(Debug, Clone)]
pub struct WorkspaceHandle {
    requests: UnboundedSender<WorkspaceRequest>,
    polls_threads: Arc<AtomicBool>,
}

struct WorkspaceTask {
    workspace: Workspace,
    requests: UnboundedReceiver<WorkspaceRequest>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    polls_threads: Arc<AtomicBool>,
}

impl WorkspaceHandle {
    /// Starts the task.
    pub fn start(workspace: Workspace, clock: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        let (sender, requests) = unbounded_channel();
        let polls_threads = Arc::default();
        let task =
            WorkspaceTask { workspace, requests, clock, polls_threads: Arc::clone(&polls_threads) };
        tokio::spawn(task.run());
        Self { requests: sender, polls_threads }
    }

    fn send(&self, request: WorkspaceRequest) {
        if self.requests.send(request).is_err() {
            tracing::error!("the workspace has ended; this is a bug in rawr");
        }
    }

    fn order(&self, work: impl FnOnce(&mut Workspace) + Send + 'static) {
        self.send(WorkspaceRequest::Do(Box::new(work)));
    }

    /// Asks for something that waits for nothing. A panic ends the request that caused it.
    pub(crate) fn ask<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Workspace) -> R + Send + 'static,
    ) -> Answer<R> {
        let (reply, answered) = answer();
        self.order(|workspace| {
            // A cancelled request does nothing.
            if !reply.is_closed() {
                drop(reply.send(work(workspace)));
            }
        });
        answered
    }

    /// Starts to reload edited files as they are saved.
    pub(crate) fn go_live(&self) {
        self.order(Workspace::go_live);
    }

    /// The configuration and the prompts of a thread, which is sent what changes of them.
    pub(crate) fn add_thread(
        &self,
        id: &ThreadId,
        scope: ConfigScope,
        listener: NewsListener,
    ) -> Answer<(Arc<Settings>, Arc<PromptSet>)> {
        let id = id.clone();
        self.ask(|workspace| workspace.add_thread(id, scope, listener))
    }

    /// The configuration of a thread whose host has reported another folder or model.
    pub(crate) fn move_thread(&self, id: &ThreadId, scope: ConfigScope) -> Answer<Arc<Settings>> {
        let id = id.clone();
        self.ask(move |workspace| workspace.move_thread(&id, scope))
    }

    /// A thread that is not open any more is sent nothing.
    pub(crate) fn remove_thread(&self, id: &ThreadId) {
        let id = id.clone();
        self.order(move |workspace| workspace.remove_thread(&id));
    }

    /// The prompts as they are on disk, except those that are being saved at this moment.
    pub(crate) fn refreshed_prompts(&self) -> Answer<Arc<PromptSet>> {
        let (reply, answered) = answer();
        self.send(WorkspaceRequest::RefreshPrompts(reply));
        answered
    }

    /// Reads changed configuration files now, except those that are being saved at this moment.
    pub(crate) fn refresh_config(&self) -> Answer<()> {
        let (reply, answered) = answer();
        self.send(WorkspaceRequest::RefreshConfig(reply));
        answered
    }

    /// A reader with the current settings.
    pub(crate) fn config_reader(&self) -> Answer<ConfigReader> {
        self.ask(|workspace| workspace.config_reader())
    }

    /// The watcher has reported these files.
    pub(crate) fn files_changed(&self, changes: &ChangeSet) {
        self.send(WorkspaceRequest::FilesChanged(changes.edited.clone(), changes.all));
    }

    pub(crate) fn watch_file(&self, path: PathBuf) -> Answer<()> {
        self.ask(move |workspace| workspace.watcher.watch_one(&path))
    }

    pub(crate) fn unwatch_file(&self, path: PathBuf) {
        self.order(move |workspace| workspace.watcher.unwatch(&path));
    }

    /// Watches a thread's folder before it is read.
    pub(crate) fn watch_thread(&self, folder: PathBuf) -> Answer<()> {
        self.ask(move |workspace| workspace.watcher.watch_thread(&folder))
    }

    /// Watches all threads of this home, also after it was replaced.
    pub(crate) fn watch_threads(&self) -> Answer<()> {
        self.ask(Workspace::watch_threads)
    }

    pub(crate) fn unwatch_threads(&self) {
        self.order(|workspace| workspace.watcher.unwatch_all());
    }

    /// Whether threads are polled, because the operating system reports no changes.
    pub(crate) fn polls_threads(&self) -> bool {
        self.polls_threads.load(Ordering::Relaxed)
    }

    /// Starts to report changes of a thread's scratch file.
    pub(crate) fn watch_notes(&self, id: &ThreadId, path: PathBuf) {
        let id = id.clone();
        self.order(move |workspace| workspace.watch_notes(&id, path));
    }

    /// Reports what this client has appended to a scratch file to every thread that uses it.
    pub(crate) fn notes_appended(&self, path: PathBuf, by: String) -> Answer<()> {
        self.ask(move |workspace| workspace.notes_appended(&path, &by))
    }
}

impl WorkspaceTask {
    async fn run(mut self) {
        loop {
            let now = (self.clock)();
            let due = self.workspace.next_edit(now);
            let request = tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => Some(request),
                    None => return,
                },
                () = until(due, now) => None,
            };
            let handled = AssertUnwindSafe(self.handle(request)).catch_unwind().await;
            if handled.is_err() {
                tracing::error!("the workspace panicked; this is a bug in rawr");
            }
            self.polls_threads.store(self.workspace.watcher.polls(), Ordering::Relaxed);
        }
    }

    async fn handle(&mut self, request: Option<WorkspaceRequest>) {
        let now = (self.clock)();
        let workspace = &mut self.workspace;
        match request {
            Some(WorkspaceRequest::Do(work)) => work(workspace),
            Some(WorkspaceRequest::RefreshPrompts(reply)) => {
                workspace.refresh_prompts().await;
                let _ = reply.send(Arc::clone(workspace.prompts.set()));
            }
            Some(WorkspaceRequest::RefreshConfig(reply)) => {
                workspace.refresh_config(now).await;
                let _ = reply.send(());
            }
            Some(WorkspaceRequest::FilesChanged(edited, all)) => {
                workspace.record_edits(&edited, all, now);
                workspace.take_up_edits(now);
            }
            None => workspace.take_up_edits(now),
        }
    }
}
