//! Handles one message of the client. Every request gets exactly one answer.

use super::envelope::{self, Envelope, JsonRpcId, MalformedMessage};
use super::parked::thread_in;
use super::router::{Dispatched, error};
use super::{CloseReason, Connection, ConnectionStage, PendingAnswer};
use futures::future::{AbortHandle, Abortable};
use futures::{FutureExt, StreamExt};
use rawr_core::units::ThreadId;
use rawr_protocol::{CancelParams, ErrorCode, SetTraceParams, read_params};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tracing::Instrument;

pub(super) const MAX_IN_FLIGHT: usize = 256;

enum DispatchResult {
    /// Answered, now or later.
    Answered,
    /// Not started: these threads are busy.
    Waits(Vec<ThreadId>),
}

impl Connection {
    pub(super) fn handle(&mut self, body: &[u8]) -> Option<CloseReason> {
        match envelope::parse(body) {
            Ok(Envelope::Request { id, method, params }) => {
                let is_last = method == "shutdown" && self.stage == ConnectionStage::Running;
                if is_last && !self.is_settled() {
                    self.shutdown = Some(body.into());
                } else if let DispatchResult::Waits(threads) = self.request(&id, &method, params) {
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
                    Some(JsonRpcId::Text(id)) => self.session.answered(&id, outcome),
                    _ => tracing::warn!("ignored an answer without a matching request"),
                }
                None
            }
            Err(MalformedMessage { id, code, message, hint }) => {
                self.answers
                    .push(PendingAnswer::Anyway(envelope::error(&id, code, &message, hint)));
                None
            }
        }
    }

    fn request(&mut self, id: &JsonRpcId, method: &str, params: Option<&str>) -> DispatchResult {
        let refusal = match (self.stage, method) {
            (ConnectionStage::Fresh, "initialize") => None,
            (ConnectionStage::Fresh, _) => {
                Some((ErrorCode::ServerNotInitialized, "send initialize first"))
            }
            (ConnectionStage::Running, "initialize") => {
                Some((ErrorCode::InvalidRequest, "send initialize only once"))
            }
            (ConnectionStage::ShutDown, _) => {
                Some((ErrorCode::InvalidRequest, "send only exit after shutdown"))
            }
            _ if self.table.contains_key(id) || self.parked.contains(id) => {
                Some((ErrorCode::InvalidRequest, "use an id that is not in use"))
            }
            _ if self.table.len() >= MAX_IN_FLIGHT => {
                Some((ErrorCode::Busy, "wait for some answers first"))
            }
            _ => None,
        };
        if let Some((code, hint)) = refusal {
            self.send(error(id.clone().into(), code, code.message().to_owned(), hint));
            return DispatchResult::Answered;
        }
        let span = tracing::info_span!("request", method = self.router.name_of(method), ?id);
        let entered = span.enter();
        self.tickets += 1;
        let reads = !self.parked.is_empty() || self.session.reads_threads();
        let thread = if reads { thread_in(params) } else { None };
        self.session.begins(self.tickets, thread.as_ref());
        let waits = |thread: &ThreadId| self.parked.holds(thread) || self.session.is_busy(thread);
        if thread.as_ref().is_some_and(waits) {
            return DispatchResult::Waits(thread.into_iter().collect());
        }
        let dispatched = self.router.dispatch(method, id.clone().into(), params);
        let waits_for = self.session.waits_for();
        if !waits_for.is_empty() {
            return DispatchResult::Waits(waits_for);
        }
        match dispatched {
            Dispatched::Done(response) => {
                match method {
                    "initialize" if response.is_success() => self.stage = ConnectionStage::Running,
                    "shutdown" => self.stage = ConnectionStage::ShutDown,
                    _ => {}
                }
                self.answers.push(PendingAnswer::IfStored(self.tickets, id.clone(), response));
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
        DispatchResult::Answered
    }

    fn notification(&mut self, method: &str, params: Option<&str>) -> Option<CloseReason> {
        match method {
            "exit" => {
                let orderly = self.stage == ConnectionStage::ShutDown;
                return Some(if orderly {
                    CloseReason::Normally
                } else {
                    CloseReason::WithoutShutdown
                });
            }
            "$/cancelRequest" => match read_params::<CancelParams>(params) {
                Ok(CancelParams { id }) => self.cancel(&JsonRpcId::from(id)),
                Err(error) => tracing::warn!(%error, "ignored a cancellation without a valid id"),
            },
            "$/setTrace" => match read_params::<SetTraceParams>(params) {
                Ok(SetTraceParams { value }) => self.trace.set(value),
                Err(error) => tracing::warn!(%error, "ignored an invalid $/setTrace"),
            },
            "initialized" => {}
            other if other.starts_with("$/") => {}
            // Before `initialize` and after `shutdown`, other notifications are not expected.
            other if self.stage != ConnectionStage::Running => {
                tracing::warn!(
                    method = other,
                    "ignored a notification outside of initialize and shutdown"
                );
            }
            other => {
                let told = AssertUnwindSafe(|| self.session.notified(other, params));
                match catch_unwind(told) {
                    Ok(true) => {}
                    Ok(false) => {
                        tracing::warn!(method = other, "ignored an unknown notification")
                    }
                    Err(_) => self.router.panicked(),
                }
            }
        }
        None
    }

    /// Answers at once. The result of the running work is dropped, and its locks are released before the next message
    /// is read.
    fn cancel(&mut self, id: &JsonRpcId) {
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
}
