//! Handles one message of the client. Every request gets exactly one answer.

use super::envelope::{self, Envelope, JsonRpcId, MalformedMessage};
use super::router::{Dispatched, error};
use super::{CloseReason, Connection, ConnectionStage, InFlight, OpenRequest};
use futures::future::{AbortHandle, Abortable};
use rawr_protocol::{CancelParams, ErrorCode, SetTraceParams, read_params};
use tracing::Instrument;

pub(super) const MAX_IN_FLIGHT: usize = 256;

impl Connection {
    pub(super) fn handle(&mut self, body: &[u8]) -> Option<CloseReason> {
        match envelope::parse(body) {
            Ok(Envelope::Request { id, method, params }) => {
                self.request(id, &method, params, body.len());
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
                self.outbox.send(envelope::error(&id, code, &message, hint));
                None
            }
        }
    }

    /// Whether so much slow work is in progress that no more is begun. Brief requests are bounded by not reading on.
    fn is_crowded(&self) -> bool {
        self.table.len() >= MAX_IN_FLIGHT + self.session.brief_requests()
    }

    fn request(&mut self, id: JsonRpcId, method: &str, params: Option<&str>, bytes: usize) {
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
            _ if self.table.contains_key(&id) => {
                Some((ErrorCode::InvalidRequest, "use an id that is not in use"))
            }
            _ if self.is_crowded() => Some((ErrorCode::Busy, "wait for some answers first")),
            _ => None,
        };
        if let Some((code, hint)) = refusal {
            return self.send(error(id.into(), code, code.message().to_owned(), hint));
        }
        let span = tracing::info_span!("request", method = self.router.name_of(method), ?id);
        let entered = span.enter();
        let dispatched = self.router.dispatch(method, id.clone().into(), params);
        if method == "shutdown" {
            self.stage = ConnectionStage::ShutDown;
        }
        match dispatched {
            Dispatched::Done(response) => {
                if method == "initialize" && response.is_success() {
                    self.stage = ConnectionStage::Running;
                }
                self.send(response);
            }
            Dispatched::Working(work) => {
                drop(entered);
                if method == "shutdown" {
                    self.shutdown = Some(id.clone());
                }
                let work = work.instrument(span);
                let (abort, registration) = AbortHandle::new_pair();
                self.begun += 1;
                let open = OpenRequest { number: self.begun, abort, bytes };
                self.table.insert(id.clone(), open);
                self.table_bytes += bytes;
                let work = Abortable::new(work, registration);
                self.in_flight.push(InFlight { id, work });
            }
        }
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
                if !self.session.notified(other, params) {
                    tracing::warn!(method = other, "ignored an unknown notification");
                }
            }
        }
        None
    }

    /// Answers at once. The result of the running work is dropped, and its locks are released before the next message
    /// is read.
    fn cancel(&mut self, id: &JsonRpcId) {
        if let Some(open) = self.forget(id) {
            open.abort.abort();
            self.finish_ready();
            let code = ErrorCode::RequestCancelled;
            self.send(error(id.clone().into(), code, code.message().to_owned(), "nothing to do"));
        }
    }
}
