//! Requests and their replies over the wire. Everything else that arrives meanwhile is kept, in order, for whoever reads on.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::process::Command;

use super::message::{Incoming, Refusal};
use super::wire::Wire;
use crate::host::HostError;
use crate::host::pipes::Received;

/// A connection to one app-server.
#[derive(Debug)]
pub(super) struct Connection {
    wire: Wire,
    last_id: u64,
    unread: VecDeque<Arrived>,
}

/// Whether Codex is asked for what it may still change. Without it there is neither a sample nor a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Experimental {
    #[default]
    Wanted,
    Refused,
}

/// What came and was not the reply that somebody waits for.
#[derive(Debug)]
pub(super) enum Arrived {
    Message(Incoming),
    Noise(String),
    End { reason: String },
}

/// Codex answers every request that rawr sends at once; a model's work comes as notifications.
const PATIENCE: Duration = Duration::from_secs(60);

/// Notifications that come often and mean nothing to rawr.
const UNWANTED: [&str; 7] = [
    "account/rateLimits/updated",
    "item/agentMessage/delta",
    "item/commandExecution/outputDelta",
    "item/fileChange/outputDelta",
    "item/reasoning/summaryTextDelta",
    "item/reasoning/textDelta",
    "turn/diff/updated",
];

impl Connection {
    /// Starts `command` and shakes hands.
    pub(super) async fn open(binary: &Path, command: Command) -> Result<Self, HostError> {
        let wire = Wire::start(super::NAME, command);
        let wire =
            wire.map_err(|source| HostError::NotStarted { path: binary.to_owned(), source })?;
        Self::greet(wire, Experimental::Wanted).await
    }

    /// Reaches an app-server that runs already, and shakes hands.
    pub(super) async fn reach(
        socket: &Path,
        experimental: Experimental,
    ) -> Result<Self, HostError> {
        let wire = Wire::reach(socket).await;
        let wire =
            wire.map_err(|source| HostError::NotReached { path: socket.to_owned(), source })?;
        Self::greet(wire, experimental).await
    }

    async fn greet(wire: Wire, experimental: Experimental) -> Result<Self, HostError> {
        let mut connection = Self { wire, last_id: 0, unread: VecDeque::new() };
        let hello = json!({
            "clientInfo": {"name": "rawr", "title": "rawr", "version": env!("CARGO_PKG_VERSION")},
            "capabilities": {
                "experimentalApi": experimental == Experimental::Wanted,
                "requestAttestation": false,
                "optOutNotificationMethods": UNWANTED,
            },
        });
        connection.request("initialize", hello).await?;
        connection.wire.send(&json!({"method": "initialized"}));
        Ok(connection)
    }

    /// Asks and waits for the answer.
    pub(super) async fn request(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<Value, HostError> {
        let answer = self.ask(method, params).await?;
        answer.map_err(|refusal| HostError::Refused { method, message: refusal.message })
    }

    /// The same, with the answer in its shape.
    pub(super) async fn request_as<T: DeserializeOwned>(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<T, HostError> {
        let answer = self.request(method, params).await?;
        serde_json::from_value(answer).map_err(|source| HostError::NotUnderstood { method, source })
    }

    /// The same, for whom a refusal is an answer too.
    pub(super) async fn ask(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<Result<Value, Refusal>, HostError> {
        let id = self.post(method, params);
        let answer = tokio::time::timeout(PATIENCE, async {
            loop {
                match self.arrive().await {
                    Arrived::Message(Incoming::Reply { id: replied, answer }) if replied == id => {
                        return Ok(answer);
                    }
                    Arrived::End { reason } => {
                        self.unread.push_back(Arrived::End { reason: reason.clone() });
                        return Err(HostError::Gone { reason });
                    }
                    other => self.unread.push_back(other),
                }
            }
        });
        answer.await.unwrap_or(Err(HostError::Silent { method, seconds: PATIENCE.as_secs() }))
    }

    /// Asks without waiting. Returns the id that the answer will bear.
    pub(super) fn post(&mut self, method: &'static str, params: Value) -> u64 {
        self.last_id += 1;
        self.wire.send(&json!({"id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    /// Answers a question of Codex: `reply` holds a `result` or an `error`.
    pub(super) fn reply(&mut self, id: Value, mut reply: Value) {
        reply["id"] = id;
        self.wire.send(&reply);
    }

    /// What arrived while an answer was waited for.
    pub(super) fn take_unread(&mut self) -> Option<Arrived> {
        self.unread.pop_front()
    }

    /// What arrives next. May be cancelled at any time.
    pub(super) async fn arrive(&mut self) -> Arrived {
        match self.wire.receive().await {
            Received::Message(message) => Arrived::Message(Incoming::from_value(message)),
            Received::Noise(line) => Arrived::Noise(line),
            Received::End { reason } => Arrived::End { reason },
        }
    }

    pub(super) fn process_id(&self) -> Option<u32> {
        self.wire.process_id()
    }

    pub(super) async fn close(self) {
        self.wire.close().await;
    }
}
