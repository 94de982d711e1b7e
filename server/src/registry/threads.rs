//! The registry's task: which threads are open, what clients watch, and what other processes write. It passes messages on
//! and waits for no thread.

use super::follow::{LOOK_AGAIN_AFTER_MS, LookAgain, TRY_AGAIN_AFTER_MS, Watch};
use super::inbox::{RequestKind, ThreadMessage, ThreadRequest};
use super::task::ThreadTask;
use super::thread::{ThreadContext, ThreadControl};
use super::{RegistryError, RegistryNotice, WatchFilter};
use crate::jobs::Jobs;
use crate::query::ThreadOverview;
use crate::tasks::until;
use crate::watch::{ChangeNotifier, ChangeSet, POLL_EVERY, TELLS_OF_CLOSING};
use crate::workspace::within;
use futures::FutureExt;
use futures::future::join_all;
use rawr_core::units::{ThreadId, Timestamp};
use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;

/// The number of idle threads that the answer of a watch lists, besides the running ones.
const NEWEST: usize = 32;
/// The most threads that are kept in memory only because they are watched.
const MOST_KEPT: usize = 256;
/// The most messages that wait for one thread. A request beyond them is refused.
const MOST_WAITING: usize = 16 << 10;

/// What the registry's task is asked for.
pub(super) enum RegistryMessage {
    /// Pass it on to the thread.
    Request(ThreadId, Box<ThreadRequest>),
    Watch(WatchFilter, oneshot::Sender<Result<Vec<ThreadOverview>, RegistryError>>),
    Unwatch(WatchFilter, oneshot::Sender<()>),
    /// How to reach each thread at any time.
    Controls(oneshot::Sender<Vec<(ThreadId, UnboundedSender<ThreadControl>)>>),
    /// A thread does not match what clients watched then.
    PassedOver(ThreadId, Arc<[WatchFilter]>),
    /// Too early to read a thread: again after so many milliseconds.
    LookAgain(ThreadId, u64),
    /// This task of the thread has nothing left to do after so many messages.
    Idle(ThreadId, u64, u64),
    /// All threads store everything and end. Returns what each of them answers.
    Leave(oneshot::Sender<Vec<oneshot::Receiver<()>>>),
}

/// The way to one thread's task.
struct ThreadEntry {
    inbox: Sender<ThreadMessage>,
    news: Arc<Notify>,
    controls: UnboundedSender<ThreadControl>,
    /// Which of the thread's tasks it leads to.
    generation: u64,
    /// The number of messages that were sent.
    sent: u64,
    /// When it last had news, in the order of all news.
    used: u64,
    /// Whether it was asked to end since.
    is_released: bool,
}

pub(super) struct RegistryTask {
    context: ThreadContext,
    /// For the threads' own messages.
    messages: UnboundedSender<RegistryMessage>,
    inbox: UnboundedReceiver<RegistryMessage>,
    changes: ChangeNotifier,
    threads: HashMap<ThreadId, ThreadEntry>,
    tasks: JoinSet<()>,
    watch: Watch,
    /// Threads that were read and do not match.
    passed_over: HashSet<ThreadId>,
    /// Threads to read again although no change was reported. They are not open.
    again: Vec<(LookAgain, ThreadId)>,
    polled_at: Timestamp,
    uses: u64,
    /// The number of tasks that were started.
    started: u64,
}

/// What the task waits for.
enum RegistryEvent {
    Message(RegistryMessage),
    FilesChanged,
    DeadlinePassed,
}

impl RegistryTask {
    pub(super) fn new(
        context: ThreadContext,
        messages: UnboundedSender<RegistryMessage>,
        inbox: UnboundedReceiver<RegistryMessage>,
        changes: ChangeNotifier,
    ) -> Self {
        Self {
            context,
            messages,
            inbox,
            changes,
            threads: HashMap::new(),
            tasks: JoinSet::new(),
            watch: Watch { filters: Arc::default(), since: Timestamp::default() },
            passed_over: HashSet::new(),
            again: Vec::new(),
            polled_at: Timestamp::default(),
            uses: 0,
            started: 0,
        }
    }

    pub(super) async fn run(mut self) {
        let changes = self.changes.clone();
        let mut changed = pin!(changes.changed());
        while let Some(event) = self.next_event(changed.as_mut()).await {
            if matches!(event, RegistryEvent::FilesChanged) {
                changed.set(changes.changed());
            }
            // A panic ends the request that caused it, and no thread.
            if AssertUnwindSafe(self.handle_event(event)).catch_unwind().await.is_err() {
                tracing::error!("the registry panicked; this is a bug in rawr");
            }
        }
    }

    async fn handle_event(&mut self, event: RegistryEvent) {
        match event {
            RegistryEvent::Message(message) => {
                self.handle_message(message).await;
                while let Ok(message) = self.inbox.try_recv() {
                    self.handle_message(message).await;
                }
            }
            RegistryEvent::FilesChanged => {
                let changes = self.changes.take();
                self.context.workspace.files_changed(&changes);
                self.follow(changes);
            }
            RegistryEvent::DeadlinePassed => self.read_due_threads(),
        }
    }

    async fn next_event(
        &mut self,
        changed: Pin<&mut impl Future<Output = ()>>,
    ) -> Option<RegistryEvent> {
        let now = self.now();
        let due = self.next_look(now);
        tokio::select! {
            message = self.inbox.recv() => message.map(RegistryEvent::Message),
            () = changed => Some(RegistryEvent::FilesChanged),
            () = until(due, now) => Some(RegistryEvent::DeadlinePassed),
        }
    }

    fn now(&self) -> Timestamp {
        (self.context.clock)()
    }

    async fn handle_message(&mut self, message: RegistryMessage) {
        match message {
            RegistryMessage::Request(id, request) => self.request(&id, request),
            RegistryMessage::Watch(_, reply) if reply.is_closed() => {}
            RegistryMessage::Unwatch(_, reply) if reply.is_closed() => {}
            RegistryMessage::Watch(filter, reply) => self.watch(filter, reply).await,
            RegistryMessage::Unwatch(filter, reply) => {
                self.unwatch(&filter);
                let _ = reply.send(());
            }
            RegistryMessage::Controls(reply) => {
                let controls =
                    |(id, entry): (&ThreadId, &ThreadEntry)| (id.clone(), entry.controls.clone());
                let _ = reply.send(self.threads.iter().map(controls).collect());
            }
            RegistryMessage::PassedOver(id, filters) => {
                if Arc::ptr_eq(&filters, &self.watch.filters) {
                    self.passed_over.insert(id);
                }
            }
            RegistryMessage::LookAgain(id, after_ms) => self.schedule_read(id, after_ms),
            RegistryMessage::Idle(id, generation, taken) => {
                let is_idle =
                    |entry: &ThreadEntry| entry.generation == generation && entry.sent == taken;
                if self.threads.get(&id).is_some_and(is_idle) {
                    self.threads.remove(&id);
                }
            }
            RegistryMessage::Leave(reply) => {
                let leaving = self.threads.values_mut().map(|entry| {
                    let (reply, left) = oneshot::channel();
                    // A thread whose inbox is full is busy to the end.
                    let _ = entry.inbox.try_send(ThreadMessage::Leave(reply));
                    left
                });
                let _ = reply.send(leaving.collect());
                self.threads.clear();
                self.watch.filters = Arc::default();
            }
        }
    }

    fn request(&mut self, id: &ThreadId, request: Box<ThreadRequest>) {
        if matches!(request.kind, RequestKind::Open(_)) {
            self.start_if_absent(id);
        }
        // A task that died has none: its thread is opened again from disk.
        let entry = self.threads.get_mut(id).filter(|entry| !entry.inbox.is_closed());
        let Some(entry) = entry else {
            return request.reply.refuse(RegistryError::UnknownThread(id.clone()));
        };
        if let Err(ThreadMessage::Request(request)) = entry.send(ThreadMessage::Request(request)) {
            request.reply.refuse(RegistryError::Busy(id.clone()));
        }
    }

    fn start_if_absent(&mut self, id: &ThreadId) {
        if self.threads.get(id).is_none_or(|entry| entry.inbox.is_closed()) {
            let entry = self.start(id.clone());
            self.threads.insert(id.clone(), entry);
        }
    }

    fn start(&mut self, id: ThreadId) -> ThreadEntry {
        let (inbox, receives) = channel(MOST_WAITING);
        let (controls, receiver) = unbounded_channel();
        let news = Arc::new(Notify::new());
        self.started += 1;
        let generation = self.started;
        let task = ThreadTask {
            id,
            context: self.context.clone(),
            registry: self.messages.clone(),
            filters: Arc::clone(&self.watch.filters),
            inbox: receives,
            news: Arc::clone(&news),
            controls: controls.clone(),
            receiver: Some(receiver),
            thread: None,
            jobs: Jobs::default(),
            generation,
            taken: 0,
            lists: Vec::new(),
            replies: Vec::new(),
        };
        while self.tasks.try_join_next().is_some() {}
        self.tasks.spawn(task.run());
        ThreadEntry { inbox, news, controls, generation, sent: 0, used: 0, is_released: false }
    }

    async fn watch(
        &mut self,
        filter: WatchFilter,
        reply: oneshot::Sender<Result<Vec<ThreadOverview>, RegistryError>>,
    ) {
        match self.begin_watch(&filter).await {
            Ok(ids) => {
                let overviews: Vec<_> =
                    ids.iter().filter_map(|id| self.overview_of(id, &filter)).collect();
                tokio::spawn(async move {
                    let overviews = join_all(overviews).await;
                    let mut overviews: Vec<_> =
                        overviews.into_iter().filter_map(|seen| seen.ok().flatten()).collect();
                    overviews.sort_by_key(|seen| std::cmp::Reverse(seen.updated_at));
                    let _ = reply.send(Ok(overviews));
                });
            }
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    /// The threads that the answer lists if they match.
    async fn begin_watch(&mut self, filter: &WatchFilter) -> Result<Vec<ThreadId>, RegistryError> {
        let store = self.context.store.clone();
        store.create()?;
        match filter.thread.as_ref().filter(|id| store.exists(id)) {
            Some(id) => self.context.workspace.watch_file(store.folder(id)).await,
            None => self.context.workspace.watch_threads().await,
        }
        if !self.watch.filters.contains(filter) {
            let filters = self.watch.filters.iter().chain([filter]).cloned();
            self.watch = Watch { filters: filters.collect(), since: self.now() };
            self.watches_changed();
        }
        Ok(match &filter.thread {
            Some(id) => vec![id.clone()],
            None => store.newest(NEWEST)?,
        })
    }

    fn overview_of(
        &mut self,
        id: &ThreadId,
        filter: &WatchFilter,
    ) -> Option<oneshot::Receiver<Option<ThreadOverview>>> {
        if !self.threads.contains_key(id) {
            self.read(id);
        }
        let (reply, seen) = oneshot::channel();
        self.threads.get(id)?.control(ThreadControl::List(Box::new(filter.clone()), reply));
        Some(seen)
    }

    fn unwatch(&mut self, filter: &WatchFilter) {
        let kept = self.watch.filters.iter().filter(|kept| *kept != filter).cloned();
        self.watch.filters = kept.collect();
        let (store, workspace) = (&self.context.store, &self.context.workspace);
        if let Some(id) = &filter.thread {
            workspace.unwatch_file(store.folder(id));
        }
        let is_of_one =
            |filter: &WatchFilter| filter.thread.as_ref().is_some_and(|id| store.exists(id));
        if self.watch.filters.iter().all(is_of_one) {
            workspace.unwatch_threads();
        }
        self.watches_changed();
    }

    fn watches_changed(&mut self) {
        self.passed_over.clear();
        for entry in self.threads.values() {
            entry.control(ThreadControl::Watched(Arc::clone(&self.watch.filters)));
        }
    }

    fn schedule_read(&mut self, id: ThreadId, after_ms: u64) {
        self.again.push((LookAgain::after(after_ms, self.now()), id));
    }

    /// Passes on which files of threads have changed.
    fn follow(&mut self, changes: ChangeSet) {
        let mut removed: HashSet<_> = changes.removed.into_iter().map(ThreadId::new).collect();
        if changes.all {
            removed.extend(self.threads.keys().cloned());
        }
        removed.retain(|id| !self.context.store.exists(id));
        for id in &removed {
            if let Some(entry) = self.threads.get_mut(id) {
                let _ = entry.send(ThreadMessage::Gone);
            }
            if self.watch.filters.iter().any(|filter| filter.may_be_for(id)) {
                (self.context.listener)(RegistryNotice::Gone { thread: id });
            }
        }
        for id in changes.closed.into_iter().map(ThreadId::new) {
            match self.threads.get(&id) {
                Some(entry) => entry.control(ThreadControl::LookAgain),
                None if !self.context.store.exists(&id) => {}
                None => {
                    self.schedule_read(id.clone(), LOOK_AGAIN_AFTER_MS);
                    self.schedule_read(id, TRY_AGAIN_AFTER_MS);
                }
            }
        }
        let ids = if changes.all {
            self.passed_over.clear();
            self.everything()
        } else {
            changes.threads.into_iter().map(ThreadId::new).collect()
        };
        for id in ids.into_iter().filter(|id| !removed.contains(id)) {
            self.catch_up(&id);
        }
    }

    fn everything(&self) -> Vec<ThreadId> {
        let open = self.threads.keys().cloned();
        if self.watch.filters.is_empty() {
            return open.collect();
        }
        let stored = self.context.store.newest(NEWEST).unwrap_or_default();
        let closed = stored.into_iter().filter(|id| !self.threads.contains_key(id));
        open.chain(closed).collect()
    }

    fn catch_up(&mut self, id: &ThreadId) {
        self.uses += 1;
        match self.threads.get_mut(id) {
            Some(entry) => {
                (entry.used, entry.is_released) = (self.uses, false);
                entry.news.notify_one();
            }
            None => self.read(id),
        }
    }

    /// Has a thread read that is not open here, if a client may watch it.
    fn read(&mut self, id: &ThreadId) {
        if self.watch.filters.is_empty() || self.passed_over.contains(id) {
            return;
        }
        self.make_room();
        let follow = ThreadMessage::Follow(self.watch.clone());
        self.start_if_absent(id);
        if let Some(entry) = self.threads.get_mut(id) {
            (entry.used, entry.is_released) = (self.uses, false);
            let _ = entry.send(follow);
        }
    }

    /// Has the threads end that had no news for the longest time, if no client has them open.
    fn make_room(&mut self) {
        let mut kept: Vec<_> =
            self.threads.values_mut().filter(|entry| !entry.is_released).collect();
        if kept.len() >= MOST_KEPT {
            kept.sort_by_key(|entry| entry.used);
            for entry in kept.into_iter().take(MOST_KEPT / 4) {
                entry.is_released = entry.send(ThreadMessage::Release).is_ok();
            }
        }
    }

    /// When files must be read although no change was reported.
    fn next_look(&self, now: Timestamp) -> Option<Timestamp> {
        let again = self.again.iter().map(|(look, _)| look.due(now)).min();
        let every = POLL_EVERY.as_millis() as u64;
        let polls = self.polls().then(|| within(self.polled_at.plus_millis(every), every, now));
        again.into_iter().chain(polls).min()
    }

    fn polls(&self) -> bool {
        let has_threads = !self.watch.filters.is_empty() || !self.threads.is_empty();
        has_threads && (self.context.workspace.polls_threads() || !TELLS_OF_CLOSING)
    }

    fn read_due_threads(&mut self) {
        let now = self.now();
        let mut changes = ChangeSet::default();
        let due = self.again.extract_if(.., |(look, _)| look.due(now) <= now);
        changes.threads.extend(due.map(|(_, id)| id.to_string()));
        if self.polls() {
            changes.all = self.context.workspace.polls_threads();
            changes.threads.extend(self.threads.keys().map(ToString::to_string));
            self.polled_at = now;
        }
        self.follow(changes);
    }
}

impl ThreadEntry {
    /// Fails if too many messages wait.
    fn send(&mut self, message: ThreadMessage) -> Result<(), ThreadMessage> {
        match self.inbox.try_send(message) {
            Ok(()) => {
                self.sent += 1;
                Ok(())
            }
            Err(TrySendError::Full(message) | TrySendError::Closed(message)) => Err(message),
        }
    }

    fn control(&self, control: ThreadControl) {
        // The task of an entry that is about to be removed may have ended.
        let _ = self.controls.send(control);
    }
}
