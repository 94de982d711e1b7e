//! One client on one pair of streams: framing, life cycle, and the table of requests in flight. It is the only sender
//! of answers, and every request gets exactly one.

mod envelope;
mod leaving;
mod parked;
mod requests;
mod router;

pub use router::Router;

use crate::jobs::{JobResult, Jobs};
use crate::methods::{ClientSession, CommitResult};
use crate::outbox::Outbox;
use crate::registry::Ticket;
use crate::trace::WorkTrace;
use crate::watch::ChangeNotifier;
use crate::workers::{FinishedWork, Workers};
use bytes::BytesMut;
use envelope::JsonRpcId;
use futures::StreamExt;
use futures::future::{AbortHandle, BoxFuture};
use futures::stream::FuturesUnordered;
use jsonrpsee::core::server::MethodResponse;
use jsonrpsee::types::Id;
use leaving::LEAVE_LIMIT;
use parked::Parked;
use rawr_protocol::ErrorCode;
use rawr_protocol::framing::{Frame, Framing, FramingError};
use rawr_protocol::methods::LogTrace;
use router::error;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;
use tokio_util::codec::{Decoder, Encoder};

const READ_CHUNK: usize = 64 << 10;
/// The most bytes of unread answers. A client that lets more pile up is disconnected.
const BACKLOG_LIMIT: usize = 64 << 20;

/// Why the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// The client sent `exit` after `shutdown`, closed its end, or the pipe broke.
    Normally,
    /// The client sent `exit` without `shutdown`.
    WithoutShutdown,
    /// The input is not framed as it must be, so the start of the next message is unknown.
    Unreadable,
    /// The client did not read its answers and too many piled up.
    GivenUp,
    /// The disk did not finish some of the work in time. The requests in question were answered with an error.
    Unfinished,
}

/// The notifications that the connection handles itself.
pub const NOTIFICATIONS: [&str; 4] = ["initialized", "exit", "$/cancelRequest", "$/setTrace"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionStage {
    Fresh,
    Running,
    ShutDown,
}

type InFlight = FuturesUnordered<BoxFuture<'static, Option<(JsonRpcId, MethodResponse)>>>;

/// One client, from its first message to its last.
pub struct Connection {
    router: Router,
    session: Arc<ClientSession>,
    outbox: Outbox,
    trace: WorkTrace,
    changes: ChangeNotifier,
    stage: ConnectionStage,
    framing: Framing,
    /// Bytes that were read and not parsed yet.
    input: BytesMut,
    /// Bytes that were framed and not written yet.
    output: BytesMut,
    /// Requests in progress. Each entry is removed exactly once, by the code that answers the request.
    table: HashMap<JsonRpcId, AbortHandle>,
    in_flight: InFlight,
    jobs: Jobs,
    workers: Workers,
    /// Messages whose thread is busy, in order of arrival.
    parked: Parked,
    /// A `shutdown` request that waits for everything before it. Meanwhile nothing is read and no deadline fires.
    shutdown: Option<Box<[u8]>>,
    /// When `shutdown` stops waiting for a disk that does not answer.
    leaves_at: Option<Instant>,
    tickets: Ticket,
    /// Answers that wait for the commit, in the order in which they were given.
    answers: Vec<PendingAnswer>,
}

/// Everything that the loop waits for.
enum LoopEvent {
    /// Bytes were written to the client. An error or zero bytes means that the client is gone.
    Written(io::Result<usize>),
    /// Bytes were read from the client. An error or zero bytes is the end of input.
    Read(io::Result<usize>),
    /// An asynchronous request has its answer, or `None` if it was cancelled.
    RequestDone(Option<(JsonRpcId, MethodResponse)>),
    /// A worker has stored or read a thread's files.
    WorkDone(Box<FinishedWork>),
    /// A job outside of this process has ended.
    JobDone(JobResult),
    /// There is something to write to the client.
    OutboxFilled,
    /// Other processes have written files.
    FilesChanged,
    /// A deadline of some thread has passed.
    DeadlinePassed,
    /// The client asked to shut down, and the disk does not answer.
    LeaveTimedOut,
}

enum PendingAnswer {
    /// Becomes an error if the records of its request cannot be stored.
    IfStored(Ticket, JsonRpcId, MethodResponse),
    Anyway(Box<[u8]>),
}

fn bytes(response: MethodResponse) -> Box<[u8]> {
    String::from(Box::<str>::from(response.into_json())).into_bytes().into()
}

async fn wait(due: Option<Duration>) {
    match due {
        Some(due) => tokio::time::sleep(due).await,
        None => std::future::pending().await,
    }
}

async fn wait_until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

impl Connection {
    /// A connection that has not read anything yet. `router` dispatches its requests to `session`.
    pub fn new(
        router: Router,
        outbox: Outbox,
        changes: ChangeNotifier,
        session: Arc<ClientSession>,
    ) -> Self {
        Self {
            router,
            session,
            outbox,
            trace: WorkTrace::default(),
            changes,
            stage: ConnectionStage::Fresh,
            framing: Framing::default(),
            input: BytesMut::with_capacity(READ_CHUNK),
            output: BytesMut::new(),
            table: HashMap::new(),
            in_flight: FuturesUnordered::new(),
            jobs: Jobs::default(),
            workers: Workers::default(),
            parked: Parked::default(),
            shutdown: None,
            leaves_at: None,
            tickets: 0,
            answers: Vec::new(),
        }
    }

    /// Sends what `trace` records to the client.
    #[must_use]
    pub fn with_trace(self, trace: WorkTrace) -> Self {
        Self { trace, ..self }
    }

    /// Serves the client until either side ends.
    pub async fn run(
        mut self,
        mut reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) -> CloseReason {
        let closed = loop {
            let closed = self.handle_messages();
            self.settle();
            if let Some(closed) = closed {
                break closed;
            }
            self.fill_output();
            if self.outbox.backlog() > BACKLOG_LIMIT {
                break CloseReason::GivenUp;
            }
            let event = self.next_event(&mut reader, &mut writer).await;
            if let Some(closed) = self.handle_event(event) {
                break closed;
            }
            self.outbox.stop_waking();
            self.input.reserve(READ_CHUNK / 2);
        };
        let is_finished = closed != CloseReason::Unfinished && self.finish_pending().await;
        if !is_finished {
            self.leave_unfinished();
        }
        self.flush(&mut writer).await;
        if is_finished { closed } else { CloseReason::Unfinished }
    }

    async fn next_event(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
        writer: &mut (impl AsyncWrite + Unpin),
    ) -> LoopEvent {
        let due = self.next_deadline();
        let reads = self.reads();
        let writes = !self.output.is_empty();
        // Else the outbox waits for the client to read.
        let takes = self.output.len() < READ_CHUNK;
        tokio::select! {
            biased;
            written = writer.write_buf(&mut self.output), if writes => LoopEvent::Written(written),
            Some(done) = self.in_flight.next() => LoopEvent::RequestDone(done),
            worked = self.workers.next() => LoopEvent::WorkDone(worked),
            done = self.jobs.next() => LoopEvent::JobDone(done),
            () = self.outbox.filled(), if takes => LoopEvent::OutboxFilled,
            read = reader.read_buf(&mut self.input), if reads => LoopEvent::Read(read),
            () = self.changes.changed() => LoopEvent::FilesChanged,
            () = wait(due) => LoopEvent::DeadlinePassed,
            () = wait_until(self.leaves_at) => LoopEvent::LeaveTimedOut,
        }
    }

    /// How long until [`LoopEvent::DeadlinePassed`]. Deadlines that have passed are handled here, so that a client that
    /// never stops sending cannot delay them.
    fn next_deadline(&mut self) -> Option<Duration> {
        if self.shutdown.is_some() {
            self.leaves_at.get_or_insert_with(|| Instant::now() + LEAVE_LIMIT);
            return None;
        }
        let due = self.session.due_in();
        // The first tick takes longer than `initialize`, whose answer should go first.
        let is_first = || self.session.is_idle_for_the_first_time() && self.output.is_empty();
        if due != Some(Duration::ZERO) && !is_first() {
            return due;
        }
        self.session.tick();
        self.settle();
        self.session.due_in()
    }

    fn handle_event(&mut self, event: LoopEvent) -> Option<CloseReason> {
        match event {
            LoopEvent::Written(Ok(0) | Err(_)) => return Some(CloseReason::Normally),
            LoopEvent::Read(Ok(0) | Err(_)) => {
                self.end_of_input();
                return Some(CloseReason::Normally);
            }
            LoopEvent::LeaveTimedOut => return Some(CloseReason::Unfinished),
            LoopEvent::Written(Ok(_)) | LoopEvent::Read(Ok(_)) | LoopEvent::OutboxFilled => {}
            LoopEvent::RequestDone(done) => {
                self.leaves_at = None;
                self.finish(done);
            }
            LoopEvent::WorkDone(worked) => {
                self.leaves_at = None;
                self.go_on(worked);
            }
            LoopEvent::JobDone(done) => self.session.job_done(done),
            LoopEvent::FilesChanged => self.session.files_changed(),
            LoopEvent::DeadlinePassed => self.session.tick(),
        }
        None
    }

    /// Commits, starts the work that follows, and handles a waiting `shutdown` when nothing else is left.
    fn settle(&mut self) {
        self.commit_and_start();
        if self.is_settled()
            && let Some(shutdown) = self.shutdown.take()
        {
            self.handle(&shutdown);
            self.commit_and_start();
        }
    }

    fn commit_and_start(&mut self) {
        self.commit();
        self.workers.start(self.session.take_work());
        self.jobs.start(self.session.take_jobs());
    }

    /// Whether to read on. Not reading bounds what waits for busy threads.
    fn reads(&self) -> bool {
        self.shutdown.is_none() && !self.parked.is_full()
    }

    /// Whether no message waits for a worker.
    fn is_settled(&self) -> bool {
        self.workers.is_idle() && self.parked.is_empty()
    }

    /// Takes a worker's result and dispatches the messages that waited for its thread, in order.
    fn go_on(&mut self, worked: Box<FinishedWork>) {
        let thread = worked.thread.clone();
        self.session.work_done(*worked);
        // If one of them has to wait again, those behind it wait as well.
        for body in self.parked.take(&thread) {
            self.handle(&body);
        }
        self.session.requests_resumed();
    }

    /// Handles every complete message in the input buffer.
    fn handle_messages(&mut self) -> Option<CloseReason> {
        loop {
            if !self.reads() {
                return None;
            }
            match self.framing.decode(&mut self.input) {
                Ok(None) => return None,
                Ok(Some(Frame::Message(body))) => {
                    if let Some(closed) = self.handle(&body) {
                        return Some(closed);
                    }
                }
                Ok(Some(Frame::TooLarge { length })) => {
                    let message = format!("a message of {length} bytes is too large");
                    let code = ErrorCode::InvalidRequest;
                    self.send(error(Id::Null, code, message, "split the request"));
                }
                Err(error) => return Some(self.unreadable(&error)),
            }
        }
    }

    fn unreadable(&mut self, problem: &FramingError) -> CloseReason {
        tracing::error!(error = %problem, "cannot find the next message in the input");
        let hint = "start every message with `Content-Length: N` and an empty line";
        self.send(error(Id::Null, ErrorCode::ParseError, problem.to_string(), hint));
        CloseReason::Unreadable
    }

    fn end_of_input(&mut self) {
        if let Err(error) = self.framing.decode_eof(&mut self.input) {
            tracing::warn!(%error, "the input ended inside a message");
        }
    }

    /// Sends each answer once the records of its request are stored.
    fn commit(&mut self) {
        let CommitResult { failed, unsettled } = self.session.commit();
        let unsettled: HashSet<_> = unsettled.into_iter().collect();
        let failed: HashMap<_, _> = failed.into_iter().collect();
        for answer in std::mem::take(&mut self.answers) {
            self.outbox.send(match answer {
                PendingAnswer::Anyway(message) => message,
                PendingAnswer::IfStored(ticket, ..) if unsettled.contains(&ticket) => {
                    self.answers.push(answer);
                    continue;
                }
                PendingAnswer::IfStored(ticket, id, response) => {
                    match failed.get(&ticket).filter(|_| response.is_success()) {
                        Some(error) => bytes(MethodResponse::error(id.into(), error.clone())),
                        None => bytes(response),
                    }
                }
            });
        }
        for done in self.trace.take() {
            self.outbox.notify::<LogTrace>(&done);
        }
    }

    fn finish(&mut self, done: Option<(JsonRpcId, MethodResponse)>) {
        if let Some((id, response)) = done
            && self.table.remove(&id).is_some()
        {
            self.send(response);
        }
    }

    fn send(&mut self, response: MethodResponse) {
        self.answers.push(PendingAnswer::Anyway(bytes(response)));
    }

    /// Moves messages into the buffer that is being written. The rest waits in the outbox, which counts its bytes.
    fn fill_output(&mut self) {
        while self.output.len() < READ_CHUNK {
            let Some(message) = self.outbox.take() else { return };
            if let Err(error) = self.framing.encode(bytes::Bytes::from(message), &mut self.output) {
                tracing::error!(%error, "failed to frame a message");
            }
        }
    }
}

#[cfg(test)]
mod tests;
