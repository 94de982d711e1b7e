//! The task of one thread: it takes messages in order and owns everything that the thread has.

use super::follow::{FollowResult, LOOK_AGAIN_AFTER_MS, TRY_AGAIN_AFTER_MS, Watch};
use super::inbox::{InputSource, Reply, RequestKind, ThreadMessage, ThreadRequest};
use super::thread::{ThreadContext, ThreadControl};
use super::threads::RegistryMessage;
use super::{HandledInput, OpenThread, Opening, RegistryError, WatchFilter};
use crate::jobs::{JobResult, Jobs};
use crate::query::ThreadOverview;
use crate::tasks::until;
use futures::FutureExt;
use rawr_core::units::ThreadId;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use tokio::sync::futures::Notified;
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender};
use tokio::sync::{Notify, oneshot};
use tracing::Instrument;

/// The most requests that share one write.
const MOST_IN_A_BATCH: usize = 256;

pub(super) struct ThreadTask {
    pub(super) id: ThreadId,
    pub(super) context: ThreadContext,
    pub(super) registry: UnboundedSender<RegistryMessage>,
    pub(super) filters: Arc<[WatchFilter]>,
    pub(super) inbox: Receiver<ThreadMessage>,
    /// Other processes have recorded something.
    pub(super) news: Arc<Notify>,
    pub(super) controls: UnboundedSender<ThreadControl>,
    /// With the thread while that is open.
    pub(super) receiver: Option<UnboundedReceiver<ThreadControl>>,
    pub(super) thread: Option<Box<OpenThread>>,
    pub(super) jobs: Jobs,
    /// Which of the thread's tasks this is.
    pub(super) generation: u64,
    /// The messages of the inbox that were taken.
    pub(super) taken: u64,
    /// Answers to watches that wait until the thread is read.
    pub(super) lists: Vec<(Box<WatchFilter>, oneshot::Sender<Option<ThreadOverview>>)>,
    /// The answers that wait for the next commit.
    pub(super) replies: Vec<Box<dyn Reply>>,
}

/// What the task waits for.
enum TaskEvent {
    Message(ThreadMessage),
    Control(ThreadControl),
    NewsArrived,
    JobDone(Box<JobResult>),
    DeadlinePassed,
}

async fn next_control(receiver: Option<&mut UnboundedReceiver<ThreadControl>>) -> ThreadControl {
    match receiver {
        Some(receiver) => match receiver.recv().await {
            Some(control) => control,
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

impl ThreadTask {
    /// Runs until the registry drops the inbox.
    pub(super) async fn run(mut self) {
        let news = Arc::clone(&self.news);
        let mut arrived = pin!(news.notified());
        while let Some(event) = self.next_event(arrived.as_mut()).await {
            if matches!(event, TaskEvent::NewsArrived) {
                arrived.set(news.notified());
            }
            self.handle_or_contain(event).await;
            // Requests that came meanwhile share the write and the sync.
            while self.replies.len() < MOST_IN_A_BATCH
                && let Ok(message) = self.inbox.try_recv()
            {
                self.handle_or_contain(TaskEvent::Message(message)).await;
            }
            self.store_or_contain().await;
            if !self.inbox.is_empty() {
                // Answers leave before what follows from later requests.
                tokio::task::yield_now().await;
            }
        }
        if arrived.now_or_never().is_some() {
            self.report(RegistryMessage::LookAgain(self.id.clone(), LOOK_AGAIN_AFTER_MS));
        }
    }

    async fn next_event(&mut self, news: Pin<&mut Notified<'_>>) -> Option<TaskEvent> {
        let due = self.thread.as_ref().and_then(|open| open.next_deadline());
        let now = (self.context.clock)();
        let receiver = match &mut self.thread {
            Some(open) => open.controls.as_mut(),
            None => self.receiver.as_mut(),
        };
        tokio::select! {
            message = self.inbox.recv() => message.map(TaskEvent::Message),
            control = next_control(receiver) => Some(TaskEvent::Control(control)),
            () = news => Some(TaskEvent::NewsArrived),
            result = self.jobs.next() => Some(TaskEvent::JobDone(Box::new(result))),
            () = until(due, now) => Some(TaskEvent::DeadlinePassed),
        }
    }

    /// A panic ends one request. The thread is read from disk again before the next one.
    async fn handle_or_contain(&mut self, event: TaskEvent) {
        if AssertUnwindSafe(self.handle_event(event)).catch_unwind().await.is_err() {
            self.recover_from_panic();
        }
    }

    /// A panic while a batch is stored ends all of its requests.
    async fn store_or_contain(&mut self) {
        if AssertUnwindSafe(self.store()).catch_unwind().await.is_err() {
            self.replies.clear();
            self.recover_from_panic();
        }
    }

    fn recover_from_panic(&mut self) {
        tracing::error!(thread = %self.id, "a thread panicked; this is a bug in rawr");
        if let Some(open) = &mut self.thread {
            open.is_stale = true;
        }
    }

    async fn handle_event(&mut self, event: TaskEvent) {
        match event {
            TaskEvent::Message(message) => {
                self.taken += 1;
                self.take_controls();
                match message {
                    ThreadMessage::Request(request) => {
                        let span = request.span.clone();
                        self.serve(*request).instrument(span).await;
                    }
                    ThreadMessage::Follow(watch) => Box::pin(self.follow(watch)).await,
                    ThreadMessage::Release => self.release(),
                    ThreadMessage::Gone => {
                        if let Some(open) = &mut self.thread {
                            open.is_watched = false;
                        }
                    }
                    ThreadMessage::Leave(reply) => Box::pin(self.leave(reply)).await,
                }
            }
            TaskEvent::Control(control) => self.control(control),
            TaskEvent::NewsArrived => match &mut self.thread {
                Some(open) => Box::pin(open.catch_up()).await,
                // They came when the thread was about to end.
                None => {
                    self.report(RegistryMessage::LookAgain(self.id.clone(), LOOK_AGAIN_AFTER_MS))
                }
            },
            TaskEvent::JobDone(result) => {
                if let Some(open) = &mut self.thread {
                    Box::pin(open.finish_job(*result)).await;
                }
            }
            TaskEvent::DeadlinePassed => {
                if let Some(open) = &mut self.thread {
                    Box::pin(open.tick()).await;
                }
            }
        }
    }

    /// What was sent before a request is in force for it.
    fn take_controls(&mut self) {
        loop {
            let receiver = match &mut self.thread {
                Some(open) => open.controls.as_mut(),
                None => self.receiver.as_mut(),
            };
            let Some(Ok(control)) = receiver.map(UnboundedReceiver::try_recv) else { return };
            self.control(control);
        }
    }

    fn control(&mut self, control: ThreadControl) {
        if let ThreadControl::Watched(filters) = &control {
            self.filters = Arc::clone(filters);
        }
        match (&mut self.thread, control) {
            (Some(open), control) => open.control(control),
            // Answered once the thread is read.
            (None, ThreadControl::List(filter, reply)) => self.lists.push((filter, reply)),
            // Dropping it is an answer, too.
            (None, _) => {}
        }
    }

    fn answer_lists(&mut self) {
        for (filter, reply) in self.lists.drain(..) {
            let _ = reply.send(self.thread.as_mut().and_then(|open| open.listed(&filter)));
        }
    }

    async fn serve(&mut self, request: ThreadRequest) {
        let ThreadRequest { kind, mut reply, .. } = request;
        if reply.is_unwanted() {
            return;
        }
        let closes = matches!(kind, RequestKind::Close);
        let opens = matches!(kind, RequestKind::Open(_));
        if closes || self.thread.as_ref().is_some_and(|open| open.is_stale) {
            // What was recorded before stands or falls by itself.
            self.store().await;
        }
        match self.perform(kind, &mut *reply).await {
            // Cancelled while the files were waited for.
            Ok(None) => {}
            Ok(Some(handled)) => {
                if let Some(open) = &mut self.thread {
                    reply.make(open, handled);
                    self.replies.push(reply);
                }
            }
            Err(error) => reply.refuse(error),
        }
        let is_unwanted = self.thread.as_ref().is_some_and(|open| !open.is_wanted());
        if closes || opens && is_unwanted {
            // The next request finds it closed.
            self.store().await;
        }
    }

    /// Performs a request, unless it is cancelled before its files are at hand.
    async fn perform(
        &mut self,
        kind: RequestKind,
        reply: &mut dyn Reply,
    ) -> Result<Option<Vec<HandledInput>>, RegistryError> {
        if let RequestKind::Open(opening) = kind {
            return Ok(Box::pin(self.open(*opening, reply)).await?.then(Vec::new));
        }
        let open = self.thread.as_mut();
        let open = open.ok_or_else(|| RegistryError::UnknownThread(self.id.clone()))?;
        let inputs = match kind {
            RequestKind::Open(_) | RequestKind::Read => {
                if open.is_behind()
                    && let Err(error) = Box::pin(open.read_news()).await
                {
                    tracing::warn!(thread = %self.id, %error, "failed to read the thread from disk");
                }
                return Ok(Some(Vec::new()));
            }
            RequestKind::Close => {
                return Box::pin(open.close()).await.map(|()| Some(Vec::new()));
            }
            RequestKind::Handle(InputSource::Owner, _) if !open.is_owned() => {
                return Err(RegistryError::NotOwner(self.id.clone()));
            }
            RequestKind::Handle(_, inputs) => inputs,
        };
        // The inputs depend on what other processes have recorded.
        open.ready_for_input().await?;
        if reply.is_unwanted() {
            return Ok(None);
        }
        let inputs = inputs(open);
        let mut handled = Vec::with_capacity(inputs.len());
        for input in inputs {
            handled.push(open.decide(input).await?);
        }
        Ok(Some(handled))
    }

    /// Returns false if the request was cancelled meanwhile.
    async fn open(
        &mut self,
        opening: Opening,
        reply: &mut dyn Reply,
    ) -> Result<bool, RegistryError> {
        if self.thread.is_none() {
            let (context, controls) = (self.context.clone(), self.controls.clone());
            let read = OpenThread::read_for_task(&context, &controls, &opening);
            let read = self.take_controls_during(read).await?;
            self.keep(Box::new(read));
        }
        match &mut self.thread {
            Some(open) if !reply.is_unwanted() => {
                open.open_for_client(opening).await.map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// While the thread is being read, it is not open for those who ask for its state.
    async fn take_controls_during<T>(&mut self, read: impl Future<Output = T>) -> T {
        let mut read = pin!(read);
        loop {
            tokio::select! {
                biased;
                read = &mut read => return read,
                control = next_control(self.receiver.as_mut()) => self.control(control),
            }
        }
    }

    fn keep(&mut self, mut open: Box<OpenThread>) {
        open.controls = self.receiver.take();
        open.filters = Arc::clone(&self.filters);
        open.choose_watched();
        self.thread = Some(open);
    }

    async fn follow(&mut self, mut watch: Watch) {
        while self.thread.is_none() {
            let (context, controls) = (self.context.clone(), self.controls.clone());
            let (id, is_listed) = (self.id.clone(), !self.lists.is_empty());
            let read = OpenThread::follow(&context, &controls, &id, &watch, is_listed);
            match self.take_controls_during(read).await {
                FollowResult::Open(open) => self.keep(open),
                FollowResult::NotYet => break,
                // Another client may have begun to watch it meanwhile.
                FollowResult::PassedOver if !Arc::ptr_eq(&watch.filters, &self.filters) => {
                    watch.filters = Arc::clone(&self.filters);
                    continue;
                }
                FollowResult::PassedOver => {
                    self.report(RegistryMessage::PassedOver(id, Arc::clone(&self.filters)));
                }
                FollowResult::Locked => {
                    self.report(RegistryMessage::LookAgain(id, TRY_AGAIN_AFTER_MS));
                }
            }
            break;
        }
    }

    fn release(&mut self) {
        if let Some(open) = &mut self.thread
            && !open.by_client
            && !open.batch.is_open
            && open.thread().sequence().is_none()
        {
            open.is_watched = false;
        }
    }

    async fn leave(&mut self, reply: oneshot::Sender<()>) {
        self.store().await;
        if let Some(mut open) = self.thread.take() {
            open.leave().await;
        }
        let _ = reply.send(());
    }

    /// Stores what was handled, then answers.
    async fn store(&mut self) {
        self.answer_lists();
        let Some(open) = &mut self.thread else { return self.end() };
        let failed = open.commit().await.err();
        if let Some(error) = failed.as_ref().filter(|_| self.replies.is_empty()) {
            tracing::error!(thread = %self.id, %error, "failed to record an event without a request");
        }
        for reply in self.replies.drain(..) {
            match &failed {
                None => reply.send(),
                Some(error) => reply.refuse(error.told_again().into()),
            }
        }
        self.jobs.start(open.take_jobs());
        if !open.is_wanted() {
            self.end();
        }
    }

    /// No client has the thread open or watches it.
    fn end(&mut self) {
        self.replies.clear();
        if let Some(open) = self.thread.take() {
            self.context.workspace.remove_thread(&self.id);
            (self.receiver, self.filters) = (open.controls, open.filters);
            self.jobs = Jobs::default();
        }
        if self.inbox.is_empty() {
            self.report(RegistryMessage::Idle(self.id.clone(), self.generation, self.taken));
        }
    }

    fn report(&self, message: RegistryMessage) {
        // At the end of the process there is no registry any more.
        let _ = self.registry.send(message);
    }
}
