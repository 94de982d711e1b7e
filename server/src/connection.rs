//! One client on one pair of pipes: frames, the life cycle, and the table of requests in flight. It is the only sender
//! of answers, and every request gets exactly one.

mod envelope;
mod leaving;
mod parked;
mod requests;
mod router;

pub use router::Router;

use crate::jobs::{Done, Jobs};
use crate::methods::{Commit, Session};
use crate::outbox::Outbox;
use crate::registry::Ticket;
use crate::trace::Trace;
use crate::watch::ChangeNotifier;
use crate::workers::{Worked, Workers};
use bytes::BytesMut;
use envelope::RequestId;
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
/// Answers wait here for a client that does not read; beyond it the client is given up.
const BACKLOG_LIMIT: usize = 64 << 20;

/// Why the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// `exit` after `shutdown`, the end of input, or a pipe that broke: all normal.
    Normally,
    /// `exit` without `shutdown`.
    WithoutShutdown,
    /// What came was no message, and nobody knows where the next one begins.
    Unreadable,
    /// The client let answers pile up without reading them.
    GivenUp,
    /// Some of what was begun never came to its end. Its requests were answered with an error.
    Unfinished,
}

/// The notifications that concern the connection itself.
pub const NOTIFICATIONS: [&str; 4] = ["initialized", "exit", "$/cancelRequest", "$/setTrace"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Fresh,
    Running,
    ShutDown,
}

type InFlight = FuturesUnordered<BoxFuture<'static, Option<(RequestId, MethodResponse)>>>;

/// One client, from its first message to its last.
pub struct Connection {
    router: Router,
    session: Arc<Session>,
    outbox: Outbox,
    trace: Trace,
    changes: ChangeNotifier,
    stage: Stage,
    framing: Framing,
    /// Read and not parsed yet.
    input: BytesMut,
    /// Framed and not written yet.
    output: BytesMut,
    /// Requests that are being worked on. Each entry is removed exactly once, by what answers the request.
    table: HashMap<RequestId, AbortHandle>,
    in_flight: InFlight,
    jobs: Jobs,
    workers: Workers,
    /// Messages whose thread is busy, in their order.
    parked: Parked,
    /// `shutdown` comes after everything before it; nothing is read meanwhile, and no deadline is dealt with.
    shutdown: Option<Box<[u8]>>,
    /// How long `shutdown` waits for a disk that does not answer.
    leaves_at: Option<Instant>,
    tickets: Ticket,
    /// What waits for the commit, in the order in which it was answered.
    answers: Vec<Answer>,
}

/// Everything that the loop waits for.
enum Event {
    /// Bytes went to the client. An error, or none written, means that the client is gone.
    Written(io::Result<usize>),
    /// Bytes came from the client. An error, or none read, is the end of input.
    Read(io::Result<usize>),
    /// A request that had to wait has its answer; `None` where it was cancelled.
    RequestDone(Option<(RequestId, MethodResponse)>),
    /// A worker has stored or read a thread's files.
    WorkDone(Box<Worked>),
    /// A job outside of this process has ended.
    JobDone(Done),
    /// There is something to write to the client.
    OutboxFilled,
    /// Other processes have written files.
    FilesChanged,
    /// A deadline of some thread has passed.
    DeadlinePassed,
    /// The client has asked to shut down, and the disk does not answer.
    LeaveTimedOut,
}

enum Answer {
    /// Becomes an error if its request's records cannot be stored.
    IfStored(Ticket, RequestId, MethodResponse),
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
    pub fn new(
        router: Router,
        outbox: Outbox,
        changes: ChangeNotifier,
        session: Arc<Session>,
    ) -> Self {
        Self {
            router,
            session,
            outbox,
            trace: Trace::default(),
            changes,
            stage: Stage::Fresh,
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

    /// Sends the client what this trace records.
    #[must_use]
    pub fn with_trace(self, trace: Trace) -> Self {
        Self { trace, ..self }
    }

    /// Serves the client until either side ends.
    pub async fn run(
        mut self,
        mut reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) -> Closed {
        let closed = loop {
            let closed = self.handle_messages();
            self.settle();
            if let Some(closed) = closed {
                break closed;
            }
            self.fill_output();
            if self.outbox.backlog() > BACKLOG_LIMIT {
                break Closed::GivenUp;
            }
            let event = self.next_event(&mut reader, &mut writer).await;
            if let Some(closed) = self.handle_event(event) {
                break closed;
            }
            self.outbox.stop_waking();
            self.input.reserve(READ_CHUNK / 2);
        };
        let is_finished = closed != Closed::Unfinished && self.finish_what_was_begun().await;
        if !is_finished {
            self.leave_unfinished();
        }
        self.flush(&mut writer).await;
        if is_finished { closed } else { Closed::Unfinished }
    }

    async fn next_event(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
        writer: &mut (impl AsyncWrite + Unpin),
    ) -> Event {
        let due = self.next_deadline();
        let reads = self.reads();
        let writes = !self.output.is_empty();
        tokio::select! {
            biased;
            written = writer.write_buf(&mut self.output), if writes => Event::Written(written),
            Some(done) = self.in_flight.next() => Event::RequestDone(done),
            worked = self.workers.next() => Event::WorkDone(worked),
            done = self.jobs.next() => Event::JobDone(done),
            () = self.outbox.filled() => Event::OutboxFilled,
            read = reader.read_buf(&mut self.input), if reads => Event::Read(read),
            () = self.changes.changed() => Event::FilesChanged,
            () = wait(due) => Event::DeadlinePassed,
            () = wait_until(self.leaves_at) => Event::LeaveTimedOut,
        }
    }

    /// How long until [`Event::DeadlinePassed`]. What is due already is dealt with here: a client that never stops sending
    /// must not hold it up.
    fn next_deadline(&mut self) -> Option<Duration> {
        if self.shutdown.is_some() {
            self.leaves_at.get_or_insert_with(|| Instant::now() + LEAVE_LIMIT);
            return None;
        }
        let due = self.session.due_in();
        // The first tick costs more than `initialize`, whose answer goes first.
        let is_first = || self.session.is_idle_for_the_first_time() && self.output.is_empty();
        if due != Some(Duration::ZERO) && !is_first() {
            return due;
        }
        self.session.tick();
        self.settle();
        self.session.due_in()
    }

    fn handle_event(&mut self, event: Event) -> Option<Closed> {
        match event {
            Event::Written(Ok(0) | Err(_)) => return Some(Closed::Normally),
            Event::Read(Ok(0) | Err(_)) => {
                self.end_of_input();
                return Some(Closed::Normally);
            }
            Event::LeaveTimedOut => return Some(Closed::Unfinished),
            Event::Written(Ok(_)) | Event::Read(Ok(_)) | Event::OutboxFilled => {}
            Event::RequestDone(done) => {
                self.leaves_at = None;
                self.finish(done);
            }
            Event::WorkDone(worked) => {
                self.leaves_at = None;
                self.go_on(worked);
            }
            Event::JobDone(done) => self.session.job_done(done),
            Event::FilesChanged => self.session.files_changed(),
            Event::DeadlinePassed => self.session.tick(),
        }
        None
    }

    /// What is stored goes on to the disk, what is stored already is answered, and `shutdown` follows when nothing is left.
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

    /// What waits for busy threads is bounded by not reading on.
    fn reads(&self) -> bool {
        self.shutdown.is_none() && !self.parked.is_full()
    }

    /// Nothing waits for a worker any more.
    fn is_settled(&self) -> bool {
        self.workers.is_idle() && self.parked.is_empty()
    }

    /// A worker is done, and what waited for it goes on in its order.
    fn go_on(&mut self, worked: Box<Worked>) {
        let thread = worked.thread.clone();
        self.session.work_done(*worked);
        // Behind one that has to wait again, those that follow it wait as well.
        for body in self.parked.take(&thread) {
            self.handle(&body);
        }
        self.session.went_on();
    }

    /// Every whole message that has come.
    fn handle_messages(&mut self) -> Option<Closed> {
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
                    self.send(error(Id::Null, code, message, "send less at once"));
                }
                Err(error) => return Some(self.unreadable(&error)),
            }
        }
    }

    fn unreadable(&mut self, problem: &FramingError) -> Closed {
        tracing::error!(error = %problem, "the input cannot be read on");
        let hint = "every message begins with `Content-Length: N` and an empty line";
        self.send(error(Id::Null, ErrorCode::ParseError, problem.to_string(), hint));
        Closed::Unreadable
    }

    fn end_of_input(&mut self) {
        if let Err(error) = self.framing.decode_eof(&mut self.input) {
            tracing::warn!(%error, "the input ended in the middle of a message");
        }
    }

    /// Nothing is answered before it lasts.
    fn commit(&mut self) {
        let Commit { failed, unsettled } = self.session.commit();
        let unsettled: HashSet<_> = unsettled.into_iter().collect();
        let failed: HashMap<_, _> = failed.into_iter().collect();
        for answer in std::mem::take(&mut self.answers) {
            self.outbox.send(match answer {
                Answer::Anyway(message) => message,
                Answer::IfStored(ticket, ..) if unsettled.contains(&ticket) => {
                    self.answers.push(answer);
                    continue;
                }
                Answer::IfStored(ticket, id, response) => {
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

    fn finish(&mut self, done: Option<(RequestId, MethodResponse)>) {
        if let Some((id, response)) = done
            && self.table.remove(&id).is_some()
        {
            self.send(response);
        }
    }

    fn send(&mut self, response: MethodResponse) {
        self.answers.push(Answer::Anyway(bytes(response)));
    }

    /// Moves messages into the buffer that is being written. The rest waits where its length is watched.
    fn fill_output(&mut self) {
        while self.output.len() < READ_CHUNK {
            let Some(message) = self.outbox.take() else { return };
            if let Err(error) = self.framing.encode(bytes::Bytes::from(message), &mut self.output) {
                tracing::error!(%error, "a message could not be framed");
            }
        }
    }
}

#[cfg(test)]
mod tests;
