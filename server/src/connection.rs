//! One client on one pair of pipes: frames, the life cycle, and the table of requests in flight. It is the only sender
//! of answers, and every request gets exactly one.

mod backing;
mod envelope;
mod leaving;
mod parked;

pub use backing::{Backing, Commit, Ticket};

use crate::jobs::{Done, Jobs};
use crate::outbox::Outbox;
use crate::router::{Dispatched, Router, error};
use crate::trace::Trace;
use crate::watch::Bell;
use crate::workers::{Worked, Workers};
use bytes::BytesMut;
use envelope::{Envelope, Malformed, RequestId};
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use jsonrpsee::core::server::MethodResponse;
use jsonrpsee::types::Id;
use leaving::LEAVE_LIMIT;
use parked::{Parked, thread_in};
use rawr_core::units::ThreadId;
use rawr_protocol::framing::{Frame, Framing, FramingError};
use rawr_protocol::methods::LogTrace;
use rawr_protocol::{CancelParams, ErrorCode, SetTraceParams, read_params};
use std::collections::{HashMap, HashSet};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;
use tokio_util::codec::{Decoder, Encoder};
use tracing::Instrument;

const READ_CHUNK: usize = 64 << 10;
/// Answers wait here for a client that does not read; beyond it the client is given up.
const BACKLOG_LIMIT: usize = 64 << 20;
const MAX_IN_FLIGHT: usize = 256;

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

pub struct Connection<C> {
    router: Router,
    outbox: Outbox,
    trace: Trace,
    bell: Bell,
    backing: C,
    stage: Stage,
    /// Registered when it comes in, taken when it is answered: whoever takes the entry answers.
    table: HashMap<RequestId, AbortHandle>,
    in_flight: InFlight,
    jobs: Jobs,
    workers: Workers,
    /// Messages whose thread is busy, in their order.
    parked: Parked,
    /// `shutdown` comes after everything before it; nothing is read meanwhile, and no deadline is dealt with.
    shutdown: Option<Box<[u8]>>,
    tickets: Ticket,
    /// What waits for the commit, in the order in which it was answered.
    answers: Vec<Answer>,
}

/// What the loop goes on from.
enum Arrival {
    Written(io::Result<usize>),
    Answered(Option<(RequestId, MethodResponse)>),
    Done(Done),
    Worked(Box<Worked>),
    Filled,
    Read(io::Result<usize>),
    Rung,
    Due,
}

enum Dispatch {
    /// Or it will be.
    Answered,
    /// It has done nothing yet: these threads are busy.
    Waits(Vec<ThreadId>),
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

impl<C: Backing> Connection<C> {
    pub fn new(router: Router, outbox: Outbox, bell: Bell, backing: C) -> Self {
        Self {
            router,
            outbox,
            trace: Trace::default(),
            bell,
            backing,
            stage: Stage::Fresh,
            table: HashMap::new(),
            in_flight: FuturesUnordered::new(),
            jobs: Jobs::default(),
            workers: Workers::default(),
            parked: Parked::default(),
            shutdown: None,
            tickets: 0,
            answers: Vec::new(),
        }
    }

    /// Tells the client what is heard there.
    #[must_use]
    pub fn with_trace(self, trace: Trace) -> Self {
        Self { trace, ..self }
    }

    pub async fn run(
        mut self,
        mut reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) -> Closed {
        let mut framing = Framing::default();
        let (mut input, mut output) = (BytesMut::with_capacity(READ_CHUNK), BytesMut::new());
        let mut leaves_at = None;
        let closed = loop {
            let closed = self.handle_all(&mut framing, &mut input);
            self.settle();
            if let Some(closed) = closed {
                break closed;
            }
            self.fill(&mut framing, &mut output);
            if self.outbox.backlog() > BACKLOG_LIMIT {
                break Closed::GivenUp;
            }
            let mut due = self.backing.due_in();
            if self.shutdown.is_some() {
                due = None;
                leaves_at.get_or_insert_with(|| Instant::now() + LEAVE_LIMIT);
            } else if self.backing.is_idle_for_the_first_time() {
                due = Some(Duration::ZERO);
            } else if due == Some(Duration::ZERO) {
                // However much there is to read: a client that never pauses must not hold up a deadline.
                self.backing.tick();
                self.settle();
                due = self.backing.due_in();
            }
            let reads = self.reads();
            let arrival = tokio::select! {
                biased;
                written = writer.write_buf(&mut output), if !output.is_empty() => Arrival::Written(written),
                Some(done) = self.in_flight.next() => Arrival::Answered(done),
                worked = self.workers.next() => Arrival::Worked(worked),
                done = self.jobs.next() => Arrival::Done(done),
                () = self.outbox.filled() => Arrival::Filled,
                read = reader.read_buf(&mut input), if reads => Arrival::Read(read),
                () = self.bell.rung() => Arrival::Rung,
                () = wait(due) => Arrival::Due,
                () = wait_until(leaves_at) => break Closed::Unfinished,
            };
            if matches!(arrival, Arrival::Worked(_) | Arrival::Answered(_)) {
                leaves_at = None;
            }
            match arrival {
                Arrival::Written(Ok(0) | Err(_)) => break Closed::Normally,
                Arrival::Read(Ok(0) | Err(_)) => {
                    break self.end_of_input(&mut framing, &mut input);
                }
                Arrival::Written(Ok(_)) | Arrival::Read(Ok(_)) | Arrival::Filled => {}
                Arrival::Answered(done) => self.finish(done),
                Arrival::Worked(worked) => self.go_on(worked),
                Arrival::Done(done) => self.backing.done(done),
                Arrival::Rung => self.backing.rung(),
                Arrival::Due => self.backing.tick(),
            }
            self.outbox.stop_waking();
            input.reserve(READ_CHUNK / 2);
        };
        let is_finished = closed != Closed::Unfinished && self.finish_what_was_begun().await;
        if !is_finished {
            self.leave_unfinished();
        }
        self.flush(&mut framing, &mut output, &mut writer).await;
        if is_finished { closed } else { Closed::Unfinished }
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
        self.workers.start(self.backing.works());
        self.jobs.start(self.backing.jobs());
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
        self.backing.worked(*worked);
        // Behind one that has to wait again, those that follow it wait as well.
        for body in self.parked.take(&thread) {
            self.handle(&body);
        }
        self.backing.went_on();
    }

    /// Every whole message that has come.
    fn handle_all(&mut self, framing: &mut Framing, input: &mut BytesMut) -> Option<Closed> {
        loop {
            if !self.reads() {
                return None;
            }
            match framing.decode(input) {
                Ok(None) => return None,
                Ok(Some(Frame::Message(body))) => {
                    if let Some(closed) = self.handle(&body) {
                        return Some(closed);
                    }
                }
                Ok(Some(Frame::TooLarge { length })) => {
                    let message = format!("a message of {length} bytes is too large");
                    self.send(error(
                        Id::Null,
                        ErrorCode::InvalidRequest,
                        message,
                        "send less at once",
                    ));
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

    fn end_of_input(&self, framing: &mut Framing, input: &mut BytesMut) -> Closed {
        if let Err(error) = framing.decode_eof(input) {
            tracing::warn!(%error, "the input ended in the middle of a message");
        }
        Closed::Normally
    }

    fn handle(&mut self, body: &[u8]) -> Option<Closed> {
        match envelope::parse(body) {
            Ok(Envelope::Request { id, method, params }) => {
                let is_last = method == "shutdown" && self.stage == Stage::Running;
                if is_last && !self.is_settled() {
                    self.shutdown = Some(body.into());
                } else if let Dispatch::Waits(threads) = self.request(&id, &method, params) {
                    if is_last {
                        self.shutdown = Some(body.into());
                    } else {
                        self.parked.push(body.into(), id, threads);
                    }
                }
                None
            }
            Ok(Envelope::Notification { method, params }) => self.notification(&method, params),
            Ok(Envelope::Response { id, outcome }) => {
                match id {
                    Some(RequestId::Text(id)) => self.backing.answered(&id, outcome),
                    _ => tracing::warn!("an answer to nothing that was asked was ignored"),
                }
                None
            }
            Err(Malformed { id, code, message, hint }) => {
                self.answers.push(Answer::Anyway(envelope::error(&id, code, &message, hint)));
                None
            }
        }
    }

    fn request(&mut self, id: &RequestId, method: &str, params: Option<&str>) -> Dispatch {
        let refusal = match (self.stage, method) {
            (Stage::Fresh, "initialize") => None,
            (Stage::Fresh, _) => Some((ErrorCode::ServerNotInitialized, "send initialize first")),
            (Stage::Running, "initialize") => {
                Some((ErrorCode::InvalidRequest, "initialize is sent once"))
            }
            (Stage::ShutDown, _) => {
                Some((ErrorCode::InvalidRequest, "only exit may follow shutdown"))
            }
            _ if self.table.contains_key(id) || self.parked.contains(id) => {
                Some((ErrorCode::InvalidRequest, "this id is in use"))
            }
            _ if self.table.len() >= MAX_IN_FLIGHT => {
                Some((ErrorCode::Busy, "wait for some answers first"))
            }
            _ => None,
        };
        if let Some((code, hint)) = refusal {
            self.send(error(id.clone().into(), code, code.message().to_owned(), hint));
            return Dispatch::Answered;
        }
        let span = tracing::info_span!("request", method = self.router.name_of(method), ?id);
        let entered = span.enter();
        self.tickets += 1;
        let reads = !self.parked.is_empty() || self.backing.reads_threads();
        let thread = if reads { thread_in(params) } else { None };
        self.backing.begins(self.tickets, thread.as_ref());
        let waits = |thread: &ThreadId| self.parked.holds(thread) || self.backing.is_busy(thread);
        if thread.as_ref().is_some_and(waits) {
            return Dispatch::Waits(thread.into_iter().collect());
        }
        let dispatched = self.router.dispatch(method, id.clone().into(), params);
        let waits_for = self.backing.waits_for();
        if !waits_for.is_empty() {
            return Dispatch::Waits(waits_for);
        }
        match dispatched {
            Dispatched::Done(response) => {
                match method {
                    "initialize" if response.is_success() => self.stage = Stage::Running,
                    "shutdown" => self.stage = Stage::ShutDown,
                    _ => {}
                }
                self.answers.push(Answer::IfStored(self.tickets, id.clone(), response));
            }
            Dispatched::Working(work) => {
                drop(entered);
                let work = work.instrument(span);
                let (handle, registration) = AbortHandle::new_pair();
                self.table.insert(id.clone(), handle);
                let (work, id) = (Abortable::new(work, registration), id.clone());
                self.in_flight
                    .push(Box::pin(async move { work.await.ok().map(|response| (id, response)) }));
            }
        }
        Dispatch::Answered
    }

    fn notification(&mut self, method: &str, params: Option<&str>) -> Option<Closed> {
        match method {
            "exit" => {
                let orderly = self.stage == Stage::ShutDown;
                return Some(if orderly { Closed::Normally } else { Closed::WithoutShutdown });
            }
            "$/cancelRequest" => match read_params::<CancelParams>(params) {
                Ok(CancelParams { id }) => self.cancel(&RequestId::from(id)),
                Err(error) => tracing::warn!(%error, "a cancellation names no request"),
            },
            "$/setTrace" => match read_params::<SetTraceParams>(params) {
                Ok(SetTraceParams { value }) => self.trace.set(value),
                Err(error) => tracing::warn!(%error, "what is to be traced is not said"),
            },
            "initialized" => {}
            other if other.starts_with("$/") => {}
            // Before its first request and after its last a client has nothing to tell.
            other if self.stage != Stage::Running => {
                tracing::warn!(method = other, "a notification out of turn was ignored");
            }
            other => {
                let told = AssertUnwindSafe(|| self.backing.notified(other, params));
                match catch_unwind(told) {
                    Ok(true) => {}
                    Ok(false) => {
                        tracing::warn!(method = other, "an unknown notification was ignored")
                    }
                    Err(_) => self.router.panicked(),
                }
            }
        }
        None
    }

    /// Answered at once; what its work still comes to falls on the floor, and what it held is given up before the next
    /// message is read.
    fn cancel(&mut self, id: &RequestId) {
        if self.parked.remove(id) {
            let code = ErrorCode::RequestCancelled;
            self.send(error(id.clone().into(), code, code.message().to_owned(), "nothing to do"));
        } else if let Some(handle) = self.table.remove(id) {
            handle.abort();
            while let Some(Some(done)) = self.in_flight.next().now_or_never() {
                self.finish(done);
            }
            let code = ErrorCode::RequestCancelled;
            self.send(error(id.clone().into(), code, code.message().to_owned(), "nothing to do"));
        }
    }

    /// Nothing is answered before it lasts.
    fn commit(&mut self) {
        let Commit { failed, unsettled } = self.backing.commit();
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
    fn fill(&self, framing: &mut Framing, output: &mut BytesMut) {
        while output.len() < READ_CHUNK {
            let Some(message) = self.outbox.take() else { return };
            if let Err(error) = framing.encode(bytes::Bytes::from(message), output) {
                tracing::error!(%error, "a message could not be framed");
            }
        }
    }
}

#[cfg(test)]
mod tests;
