//! Requests to the app-server and their replies. Other messages that arrive meanwhile are queued in order.

use std::collections::VecDeque;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::process::Command;

use super::message::{CodexError, Incoming};
use super::requests::{self, AppServerRequest, Experimental};
use super::transport::CodexTransport;
use crate::host::HostError;
use crate::host::pipes::PipeMessage;

/// A connection to one app-server.
#[derive(Debug)]
pub(super) struct CodexConnection {
    transport: CodexTransport,
    last_id: u64,
    unread: VecDeque<ConnectionMessage>,
}

/// A message other than the awaited reply.
#[derive(Debug)]
pub(super) enum ConnectionMessage {
    Message(Incoming),
    Noise(String),
    End { reason: String },
}

impl CodexConnection {
    /// Starts `command` and initializes the connection.
    pub(super) async fn open(binary: &Path, command: Command) -> Result<Self, HostError> {
        let transport = CodexTransport::start(super::NAME, command);
        let transport = transport
            .map_err(|source| HostError::NotStarted { path: binary.to_owned(), source })?;
        Self::greet(transport, Experimental::Wanted).await
    }

    /// Connects to a running app-server and initializes the connection.
    pub(super) async fn reach(
        socket: &Path,
        experimental: Experimental,
    ) -> Result<Self, HostError> {
        let transport = CodexTransport::reach(socket).await;
        let transport = transport
            .map_err(|source| HostError::NotReached { path: socket.to_owned(), source })?;
        Self::greet(transport, experimental).await
    }

    async fn greet(
        transport: CodexTransport,
        experimental: Experimental,
    ) -> Result<Self, HostError> {
        let mut connection = Self { transport, last_id: 0, unread: VecDeque::new() };
        connection.request(requests::initialize(experimental)).await?;
        connection.transport.send(&json!({"method": "initialized"}));
        Ok(connection)
    }

    /// Sends a request and waits for the result.
    pub(super) async fn request(&mut self, request: AppServerRequest) -> Result<Value, HostError> {
        let method = request.method;
        let answer = self.ask(request).await?;
        answer.map_err(|refusal| HostError::Refused { method, message: refusal.message })
    }

    /// As [`request`](Self::request), with the result parsed.
    pub(super) async fn request_as<T: DeserializeOwned>(
        &mut self,
        request: AppServerRequest,
    ) -> Result<T, HostError> {
        let method = request.method;
        let answer = self.request(request).await?;
        serde_json::from_value(answer).map_err(|source| HostError::NotUnderstood { method, source })
    }

    /// As [`request`](Self::request), with a refusal as a value.
    pub(super) async fn ask(
        &mut self,
        request: AppServerRequest,
    ) -> Result<Result<Value, CodexError>, HostError> {
        let (method, limit) = (request.method, request.limit);
        let id = self.post(request);
        let answer = tokio::time::timeout(limit, async {
            loop {
                match self.arrive().await {
                    ConnectionMessage::Message(Incoming::Reply { id: replied, answer })
                        if replied == id =>
                    {
                        return Ok(answer);
                    }
                    ConnectionMessage::End { reason } => {
                        self.unread.push_back(ConnectionMessage::End { reason: reason.clone() });
                        return Err(HostError::Gone { reason });
                    }
                    other => self.unread.push_back(other),
                }
            }
        });
        answer.await.unwrap_or(Err(HostError::Silent { method, seconds: limit.as_secs() }))
    }

    /// Sends a request without waiting. Returns its id.
    pub(super) fn post(&mut self, request: AppServerRequest) -> u64 {
        let AppServerRequest { method, params, .. } = request;
        self.last_id += 1;
        self.transport.send(&json!({"id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    /// Answers a request of Codex. `reply` contains a `result` or an `error`.
    pub(super) fn reply(&mut self, id: Value, mut reply: Value) {
        reply["id"] = id;
        self.transport.send(&reply);
    }

    /// The next message that was queued while a request waited.
    pub(super) fn take_unread(&mut self) -> Option<ConnectionMessage> {
        self.unread.pop_front()
    }

    /// Waits for the next message. Cancel safe.
    pub(super) async fn arrive(&mut self) -> ConnectionMessage {
        match self.transport.receive().await {
            PipeMessage::Message(message) => {
                ConnectionMessage::Message(Incoming::from_value(message))
            }
            PipeMessage::Noise(line) => ConnectionMessage::Noise(line),
            PipeMessage::End { reason } => ConnectionMessage::End { reason },
        }
    }

    pub(super) fn process_id(&self) -> Option<u32> {
        self.transport.process_id()
    }

    pub(super) async fn close(self) {
        self.transport.close().await;
    }
}
