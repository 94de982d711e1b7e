//! The threads that are open in this process, each a task of its own with an inbox. The registry's task knows which there
//! are, passes requests on in the order in which they came, and follows what other processes write. It waits for no
//! thread.

mod capsules;
mod clean;
mod configuration;
mod disk;
mod earlier;
mod error;
mod files;
mod follow;
mod held;
mod inbox;
mod notice;
mod opening;
mod outside;
mod spans;
mod task;
mod thread;
mod threads;

pub use error::RegistryError;
pub use notice::{NoticeListener, RegistryNotice};
pub use opening::Opening;
pub use thread::{HandledInput, OpenThread, ThreadContext};

pub(crate) use earlier::NewestThreads;
pub(crate) use follow::WatchFilter;

use crate::query::{ThreadOverview, overview};
use crate::recall::RecallSource;
use crate::tasks::{Answer, answer};
use crate::watch::ChangeNotifier;
use crate::workspace::{ConfigReader, ConfigScope};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use inbox::{InputSource, ReplyWith, RequestKind, ThreadRequest};
use rawr_core::units::ThreadId;
use rawr_core::{Input, Thread};
use rawr_storage::parallel::on_each;
use rawr_storage::store::StoreError;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use thread::ThreadControl;
use threads::{RegistryMessage, RegistryTask};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

/// The way to all threads of this process. They end with it.
///
/// Requests for one thread are handled in the order in which they are made. One whose answer is dropped before its turn does
/// nothing. Each is answered once what it recorded or read is stored.
#[derive(Debug)]
pub struct Registry {
    messages: UnboundedSender<RegistryMessage>,
    context: ThreadContext,
    _task: AbortOnDropHandle<()>,
}

/// The answer to a request for one thread.
type Requested<R> = Answer<Result<R, RegistryError>>;

impl Registry {
    /// Starts without open threads. What `changes` reports is read again.
    pub fn start(context: ThreadContext, changes: ChangeNotifier) -> Self {
        let (messages, inbox) = unbounded_channel();
        let task = RegistryTask::new(context.clone(), messages.clone(), inbox, changes);
        let _task = AbortOnDropHandle::new(tokio::spawn(task.run()));
        Self { messages, context, _task }
    }

    /// What the threads share.
    pub(crate) const fn context(&self) -> &ThreadContext {
        &self.context
    }

    fn request<R: Send + 'static>(
        &self,
        id: &ThreadId,
        kind: RequestKind,
        answer_with: impl FnOnce(&mut OpenThread, Vec<HandledInput>) -> R + Send + 'static,
    ) -> Requested<R> {
        let (reply, answered) = answer();
        let reply = Box::new(ReplyWith::new(answer_with, reply));
        let request = ThreadRequest { kind, reply, span: tracing::Span::current() };
        self.send(RegistryMessage::Request(id.clone(), Box::new(request)));
        answered
    }

    fn send(&self, message: RegistryMessage) {
        if self.messages.send(message).is_err() {
            tracing::error!("the registry has ended; this is a bug in rawr");
        }
    }

    /// Opens a thread, or changes the role of an open one.
    pub(crate) fn open<R: Send + 'static>(
        &self,
        opening: Opening,
        answer: impl FnOnce(&mut OpenThread) -> R + Send + 'static,
    ) -> Requested<R> {
        let id = opening.thread.clone();
        let kind = RequestKind::Open(Box::new(opening));
        self.request(&id, kind, |open, _| answer(open))
    }

    /// Closes a thread for its host.
    pub(crate) fn close(&self, id: &ThreadId) -> Requested<()> {
        self.request(id, RequestKind::Close, |_, _| ())
    }

    /// Reads an open thread, as the disk has it: with the records of other processes and without what could not be
    /// written. If its files cannot be read or locked, it is the last known state.
    pub(crate) fn read<R: Send + 'static>(
        &self,
        id: &ThreadId,
        read: impl FnOnce(&mut OpenThread) -> R + Send + 'static,
    ) -> Requested<R> {
        self.request(id, RequestKind::Read, |open, _| read(open))
    }

    /// Has a thread decide on one input.
    pub(crate) fn handle<R: Send + 'static>(
        &self,
        id: &ThreadId,
        input: Input,
        answer: impl FnOnce(&OpenThread, HandledInput) -> R + Send + 'static,
    ) -> Requested<R> {
        self.handle_all(id, |_| vec![input], |open, handled| answer(open, first(handled)))
    }

    /// Like [`Self::handle`], for inputs that depend on the state.
    pub(crate) fn handle_all<R: Send + 'static>(
        &self,
        id: &ThreadId,
        inputs: impl FnOnce(&mut OpenThread) -> Vec<Input> + Send + 'static,
        answer: impl FnOnce(&OpenThread, Vec<HandledInput>) -> R + Send + 'static,
    ) -> Requested<R> {
        let kind = RequestKind::Handle(InputSource::Anyone, Box::new(inputs));
        self.request(id, kind, |open, handled| answer(open, handled))
    }

    /// Like [`Self::handle_all`], for inputs that only the thread's host may report.
    pub(crate) fn handle_all_as_owner<R: Send + 'static>(
        &self,
        id: &ThreadId,
        inputs: impl FnOnce(&mut OpenThread) -> Vec<Input> + Send + 'static,
        answer: impl FnOnce(&OpenThread, Vec<HandledInput>) -> R + Send + 'static,
    ) -> Requested<R> {
        let kind = RequestKind::Handle(InputSource::Owner, Box::new(inputs));
        self.request(id, kind, |open, handled| answer(open, handled))
    }

    /// Like [`Self::handle`], for an input that only the thread's host may report.
    pub(crate) fn handle_as_owner<R: Send + 'static>(
        &self,
        id: &ThreadId,
        input: Input,
        answer: impl FnOnce(&OpenThread, HandledInput) -> R + Send + 'static,
    ) -> Requested<R> {
        let answer = |open: &OpenThread, handled| answer(open, first(handled));
        self.handle_all_as_owner(id, |_| vec![input], answer)
    }

    /// Starts to notify this client of what others record in matching threads. Returns the matching threads of now.
    pub(crate) fn watch(&self, filter: WatchFilter) -> Requested<Vec<ThreadOverview>> {
        let (reply, answered) = answer();
        self.send(RegistryMessage::Watch(filter, reply));
        answered
    }

    pub(crate) fn unwatch(&self, filter: WatchFilter) -> Answer<()> {
        let (reply, answered) = answer();
        self.send(RegistryMessage::Unwatch(filter, reply));
        answered
    }

    /// Reads the state of every open thread as it is in memory, without waiting for its disk.
    async fn peek<R: Send + 'static>(
        &self,
        look: impl Fn(&OpenThread) -> R + Send + Sync + 'static,
    ) -> HashMap<ThreadId, R> {
        let (reply, answered) = answer();
        self.send(RegistryMessage::Controls(reply));
        let look = Arc::new(look);
        let asked = answered.await.into_iter().map(|(id, controls)| {
            let (reply, seen) = oneshot::channel();
            let look = Arc::clone(&look);
            let peek = Box::new(move |open: &OpenThread| drop(reply.send(look(open))));
            // A thread that ends meanwhile drops it.
            let _ = controls.send(ThreadControl::Peek(peek));
            async move { Some((id, seen.await.ok()?)) }
        });
        let asked: FuturesUnordered<_> = asked.collect();
        asked.filter_map(|seen| async { seen }).collect().await
    }

    /// All threads of this home, the most recently used first. A thread that cannot be read is left out and logged.
    /// Threads that are not open are read when the result is called, which may take long: call it on another thread.
    pub(crate) async fn list(
        &self,
    ) -> impl FnOnce() -> Result<Vec<ThreadOverview>, StoreError> + Send + use<> {
        let (store, now) = (self.context.store.clone(), (self.context.clock)());
        let reader = self.context.workspace.config_reader().await;
        let open = self.peek(move |open| (open.overview(now), open.is_behind())).await;
        move || {
            let policies = Policies::new(&reader);
            let read = |id: &ThreadId| {
                let owner = store.owner(id);
                if let Some((known, false)) = open.get(id) {
                    return Some(Box::new(ThreadOverview { owner, ..known.clone() }));
                }
                match store.glance(id) {
                    Ok(thread) => {
                        let open = open.get(id).is_some_and(|(known, _)| known.open);
                        let seen = overview(&thread, &policies.of(&thread), now);
                        Some(Box::new(ThreadOverview { owner, open, ..seen }))
                    }
                    Err(error) => {
                        tracing::warn!(thread = %id, %error, "left out of the list");
                        None
                    }
                }
            };
            let (to_the_end, unseen) = (AtomicBool::new(false), |_, _| ());
            let ids = store.thread_ids()?;
            let listed = on_each(&ids, &to_the_end, &unseen, read, |id| {
                tracing::error!(thread = %id, "a defect left it out of the list");
                None
            });
            let mut overviews: Vec<_> = listed.into_iter().flatten().map(|seen| *seen).collect();
            overviews.sort_by(|one, other| {
                (other.updated_at, &one.thread).cmp(&(one.updated_at, &other.thread))
            });
            Ok(overviews)
        }
    }

    /// What a search covers: one open thread, or all threads. Threads that are not open are read when the result is called,
    /// which may take long: call it on another thread.
    pub(crate) async fn sources(
        &self,
        id: Option<&ThreadId>,
    ) -> Result<impl FnOnce() -> Vec<RecallSource> + Send + use<>, RegistryError> {
        let store = self.context.store.clone();
        let (open, rest) = match id {
            Some(id) => (vec![self.read(id, |open| open.source()).await?], Vec::new()),
            None => {
                let open = self.peek(OpenThread::source).await;
                let mut rest = store.thread_ids()?;
                rest.retain(|id| !open.contains_key(id));
                (open.into_values().collect(), rest)
            }
        };
        let reader = self.context.workspace.config_reader().await;
        let at_rest = move |id: &ThreadId| {
            // A thread that cannot be read does not fail the search.
            let read = store.glance(id).inspect_err(|error| {
                tracing::warn!(thread = %id, %error, "left out of the search");
            });
            let thread = read.ok()?;
            let settings = reader.read(&ConfigScope::recorded(&thread));
            Some(follow::source(&thread, &store.folder(id), &settings.config.policy))
        };
        Ok(move || open.into_iter().chain(rest.iter().filter_map(at_rest)).collect())
    }

    /// Has all threads store everything and end. Calls `progress` after each of them.
    pub(crate) async fn leave(&self, progress: impl Fn()) {
        let (reply, answered) = answer();
        self.send(RegistryMessage::Leave(reply));
        let leaving = answered.await;
        let mut leaving: FuturesUnordered<_> = leaving.into_iter().collect();
        while leaving.next().await.is_some() {
            progress();
        }
    }
}

fn first(handled: Vec<HandledInput>) -> HandledInput {
    handled.into_iter().next().unwrap_or_default()
}

/// Many threads share their policy.
struct Policies<'r> {
    reader: &'r ConfigReader,
    known: Mutex<HashMap<ConfigScope, Arc<rawr_core::policy::Policy>>>,
}

impl<'r> Policies<'r> {
    fn new(reader: &'r ConfigReader) -> Self {
        Self { reader, known: Mutex::default() }
    }

    fn of(&self, thread: &Thread) -> Arc<rawr_core::policy::Policy> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let policy = known
            .entry(ConfigScope::recorded(thread))
            .or_insert_with_key(|scope| Arc::new(self.reader.read(scope).config.policy));
        Arc::clone(policy)
    }
}

#[cfg(test)]
mod tests;
