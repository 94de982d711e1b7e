//! The task that owns the documents that a client has open.

use super::open::OpenDocuments;
use super::{DocumentCapabilities, encoding, files_changed};
use crate::outbox::Outbox;
use crate::registry::NewestThreads;
use crate::tasks::{Answer, answer};
use crate::workspace::{ConfigReader, Workspace, WorkspaceHandle};
use futures::FutureExt;
use rawr_settings::config::UserSources;
use rawr_storage::store::Store;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What answers about documents depend on besides the open ones.
pub struct DocumentContext {
    /// The files that people edit.
    pub(super) files: UserSources,
    pub(super) reader: ConfigReader,
    pub(super) newest: RefCell<NewestThreads>,
    pub(super) store: Store,
    pub(super) outbox: Outbox,
}

type DocumentWork = Box<dyn FnOnce(&DocumentContext, &mut OpenDocuments) + Send>;

struct DocumentRequest {
    /// Prompts were saved and must be read first.
    after_save: bool,
    work: DocumentWork,
}

/// The way to the open documents. Their task ends with it.
#[derive(Debug)]
pub struct DocumentsHandle {
    requests: UnboundedSender<DocumentRequest>,
}

impl DocumentsHandle {
    /// Starts the task for a client that can do this. `edited` says that files were reloaded.
    pub fn start(
        can: DocumentCapabilities,
        (store, outbox): (Store, Outbox),
        workspace: WorkspaceHandle,
        edited: Arc<Notify>,
    ) -> Self {
        let (sender, requests) = unbounded_channel();
        let mut editor = OpenDocuments::default();
        (editor.encoding, editor.can) = (encoding(&can), can);
        let task = DocumentTask { requests, editor, store, outbox, workspace, edited };
        tokio::spawn(task.run());
        Self { requests: sender }
    }

    /// Does `work` with the documents, in order.
    pub fn order(
        &self,
        after_save: bool,
        work: impl FnOnce(&DocumentContext, &mut OpenDocuments) + Send + 'static,
    ) {
        if self.requests.send(DocumentRequest { after_save, work: Box::new(work) }).is_err() {
            tracing::error!("the task of open documents has ended; this is a bug in rawr");
        }
    }

    /// Like [`Self::order`], with an answer.
    pub fn ask<R: Send + 'static>(
        &self,
        work: impl FnOnce(&DocumentContext, &mut OpenDocuments) -> R + Send + 'static,
    ) -> Answer<R> {
        let (reply, answered) = answer();
        self.order(false, |context, editor| {
            // A cancelled request does nothing.
            if !reply.is_closed() {
                drop(reply.send(work(context, editor)));
            }
        });
        answered
    }
}

struct DocumentTask {
    requests: UnboundedReceiver<DocumentRequest>,
    editor: OpenDocuments,
    store: Store,
    outbox: Outbox,
    workspace: WorkspaceHandle,
    edited: Arc<Notify>,
}

impl DocumentTask {
    /// The files that people edit, as they are now.
    async fn current(&self, after_save: bool) -> (UserSources, ConfigReader) {
        if after_save {
            self.workspace.refreshed_prompts().await;
        }
        let current =
            |workspace: &mut Workspace| (workspace.user_sources(), workspace.config_reader());
        self.workspace.ask(current).await
    }

    async fn run(mut self) {
        let mut newest = NewestThreads::default();
        loop {
            let request = tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => request,
                    None => return,
                },
                () = self.edited.notified() => {
                    DocumentRequest { after_save: false, work: Box::new(files_changed) }
                }
            };
            let Ok((files, reader)) =
                AssertUnwindSafe(self.current(request.after_save)).catch_unwind().await
            else {
                // The request is dropped, which is an answer.
                continue;
            };
            let (store, outbox) = (self.store.clone(), self.outbox.clone());
            let newest_now = RefCell::new(std::mem::take(&mut newest));
            let context = DocumentContext { files, reader, newest: newest_now, store, outbox };
            let editor = &mut self.editor;
            if catch_unwind(AssertUnwindSafe(|| (request.work)(&context, editor))).is_err() {
                tracing::error!("the open documents panicked; this is a bug in rawr");
            }
            newest = context.newest.into_inner();
        }
    }
}
