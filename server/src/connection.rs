//! One client on one pair of streams: framing, life cycle, and the table of requests in flight. It is the only sender
//! of answers, and every request gets exactly one.

mod envelope;
mod leaving;
mod requests;
mod router;

pub use router::Router;

use crate::methods::ClientSession;
use crate::outbox::Outbox;
use crate::trace::WorkTrace;
use bytes::BytesMut;
use envelope::JsonRpcId;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use jsonrpsee::core::server::MethodResponse;
use jsonrpsee::types::Id;
use leaving::LEAVE_LIMIT;
use rawr_protocol::ErrorCode;
use rawr_protocol::framing::{Frame, Framing, FramingError};
use rawr_protocol::methods::LogTrace;
use router::error;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;
use tokio_util::codec::{Decoder, Encoder};
use tracing::instrument::Instrumented;

const READ_CHUNK: usize = 64 << 10;
/// Above this size of the requests in progress, nothing more is read until some are answered.
const IN_FLIGHT_LIMIT: usize = 16 << 20;
/// With more requests in progress, nothing more is read either. No thread refuses a request because of those before it.
const MOST_IN_FLIGHT: usize = 8 << 10;
/// With more requests in progress, the threads get a turn before more is read.
const MANY_IN_FLIGHT: usize = 64;
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

/// A request whose answer is awaited. Without an answer, it was cancelled.
struct InFlight {
    id: JsonRpcId,
    work: Abortable<Instrumented<BoxFuture<'static, MethodResponse>>>,
}

impl Future for InFlight {
    type Output = Option<(JsonRpcId, MethodResponse)>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let done = Pin::new(&mut self.work).poll(context);
        done.map(|answer| answer.ok().map(|response| (self.id.clone(), response)))
    }
}

/// A request in progress.
struct OpenRequest {
    /// In the order in which requests came.
    number: u64,
    abort: AbortHandle,
    /// The size of its message.
    bytes: usize,
}

/// One client, from its first message to its last.
pub struct Connection {
    router: Router,
    session: Arc<ClientSession>,
    outbox: Outbox,
    trace: WorkTrace,
    stage: ConnectionStage,
    framing: Framing,
    /// Bytes that were read and not parsed yet.
    input: BytesMut,
    /// Bytes that were framed and not written yet.
    output: BytesMut,
    /// Requests in progress. Each entry is removed exactly once, by the code that answers the request.
    table: HashMap<JsonRpcId, OpenRequest>,
    /// The size of their messages.
    table_bytes: usize,
    /// The number of requests that were begun.
    begun: u64,
    in_flight: FuturesUnordered<InFlight>,
    /// A `shutdown` in progress. Meanwhile nothing is read.
    shutdown: Option<JsonRpcId>,
    /// When `shutdown` stops waiting for a disk that does not answer.
    leaves_at: Option<Instant>,
}

/// Everything that the loop waits for.
enum LoopEvent {
    /// Bytes were written to the client. An error or zero bytes means that the client is gone.
    Written(io::Result<usize>),
    /// Bytes were read from the client. An error or zero bytes is the end of input.
    Read(io::Result<usize>),
    /// An asynchronous request has its answer, or `None` if it was cancelled.
    RequestDone(Option<(JsonRpcId, MethodResponse)>),
    /// There is something to write to the client.
    OutboxFilled,
    /// A thread has ended, because the client asked to shut down.
    ThreadEnded,
    /// The client asked to shut down, and the disk does not answer.
    LeaveTimedOut,
}

fn bytes(response: MethodResponse) -> Box<[u8]> {
    String::from(Box::<str>::from(response.into_json())).into_bytes().into()
}

async fn wait_until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

impl Connection {
    /// A connection that has not read anything yet. `router` dispatches its requests to `session`.
    pub fn new(router: Router, outbox: Outbox, session: Arc<ClientSession>) -> Self {
        Self {
            router,
            session,
            outbox,
            trace: WorkTrace::default(),
            stage: ConnectionStage::Fresh,
            framing: Framing::default(),
            input: BytesMut::with_capacity(READ_CHUNK),
            output: BytesMut::new(),
            table: HashMap::new(),
            table_bytes: 0,
            begun: 0,
            in_flight: FuturesUnordered::new(),
            shutdown: None,
            leaves_at: None,
        }
    }

    /// Sends what `trace` records to the client.
    #[must_use]
    pub fn with_trace(self, trace: WorkTrace) -> Self {
        Self { trace, ..self }
    }

    /// Serves the client until either side ends, and has everything stored.
    pub async fn run(
        mut self,
        mut reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) -> CloseReason {
        let closed = loop {
            if let Some(closed) = self.handle_messages() {
                break closed;
            }
            self.send_traces();
            self.fill_output();
            if self.outbox.backlog() > BACKLOG_LIMIT {
                break CloseReason::GivenUp;
            }
            // A client that never stops sending must not keep the threads from their work and their deadlines.
            if self.table.len() >= MANY_IN_FLIGHT {
                tokio::task::yield_now().await;
            } else {
                tokio::task::coop::consume_budget().await;
            }
            let event = self.next_event(&mut reader, &mut writer).await;
            if let Some(closed) = self.handle_event(event) {
                break closed;
            }
            self.outbox.stop_waking();
            self.input.reserve(READ_CHUNK / 2);
        };
        let is_finished =
            closed != CloseReason::Unfinished && self.finish_pending().await && self.leave().await;
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
        let leaves = self.shutdown.is_some();
        if leaves {
            self.leaves_at.get_or_insert_with(|| Instant::now() + LEAVE_LIMIT);
        }
        let reads = self.reads();
        let writes = !self.output.is_empty();
        // Else the outbox waits for the client to read.
        let takes = self.output.len() < READ_CHUNK;
        tokio::select! {
            biased;
            written = writer.write_buf(&mut self.output), if writes => LoopEvent::Written(written),
            Some(done) = self.in_flight.next() => LoopEvent::RequestDone(done),
            () = self.outbox.filled(), if takes => LoopEvent::OutboxFilled,
            read = reader.read_buf(&mut self.input), if reads => LoopEvent::Read(read),
            () = self.session.progress(), if leaves => LoopEvent::ThreadEnded,
            () = wait_until(self.leaves_at) => LoopEvent::LeaveTimedOut,
        }
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
            LoopEvent::ThreadEnded => self.leaves_at = None,
            LoopEvent::RequestDone(done) => {
                self.leaves_at = None;
                self.finish(done);
                self.finish_ready();
            }
        }
        None
    }

    /// Whether to read on. Not reading bounds what waits for busy threads.
    fn reads(&self) -> bool {
        self.shutdown.is_none()
            && self.table_bytes <= IN_FLIGHT_LIMIT
            && self.table.len() <= MOST_IN_FLIGHT
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

    fn send_traces(&self) {
        for done in self.trace.take() {
            self.outbox.notify::<LogTrace>(&done);
        }
    }

    fn finish(&mut self, done: Option<(JsonRpcId, MethodResponse)>) {
        let Some((id, response)) = done else { return };
        if self.forget(&id).is_some() {
            if self.shutdown.as_ref() == Some(&id) {
                self.shutdown = None;
                self.leaves_at = None;
            }
            self.send(response);
        }
    }

    /// The answers that are ready share a write.
    fn finish_ready(&mut self) {
        while let Some(Some(done)) = self.in_flight.next().now_or_never() {
            self.finish(done);
        }
    }

    fn forget(&mut self, id: &JsonRpcId) -> Option<OpenRequest> {
        let open = self.table.remove(id)?;
        self.table_bytes -= open.bytes;
        Some(open)
    }

    fn send(&self, response: MethodResponse) {
        self.outbox.send(bytes(response));
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
