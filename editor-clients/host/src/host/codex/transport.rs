//! The transport to an app-server: the pipes of a child process, or the socket of a running app-server.

mod socket;

use std::path::Path;

use serde_json::Value;
use tokio::process::Command;

use self::socket::CodexSocket;
use crate::host::pipes::{PipeMessage, ProcessPipes};

/// A transport to an app-server. Its waits are cancel safe.
#[derive(Debug)]
pub(super) enum CodexTransport {
    Pipes(Box<ProcessPipes>),
    Socket(Box<CodexSocket>),
}

impl CodexTransport {
    /// Starts the process without a shell. Dropping this kills it.
    pub(super) fn start(name: &'static str, command: Command) -> std::io::Result<Self> {
        Ok(Self::Pipes(Box::new(ProcessPipes::start(name, command)?)))
    }

    /// Connects to an app-server that listens on a unix socket.
    pub(super) async fn reach(socket: &Path) -> std::io::Result<Self> {
        Ok(Self::Socket(Box::new(CodexSocket::connect(socket).await?)))
    }

    /// Queues one message. It is written while [`receive`](Self::receive) or [`close`](Self::close) is awaited.
    pub(super) fn send(&mut self, message: &Value) {
        match self {
            Self::Pipes(pipes) => pipes.send(message),
            Self::Socket(socket) => socket.send(message),
        }
    }

    /// Waits for the next message. Cancel safe.
    pub(super) async fn receive(&mut self) -> PipeMessage {
        match self {
            Self::Pipes(pipes) => pipes.receive().await,
            Self::Socket(socket) => socket.receive().await,
        }
    }

    /// The process id of a child process, while it runs.
    pub(super) fn process_id(&self) -> Option<u32> {
        match self {
            Self::Pipes(pipes) => pipes.process_id(),
            Self::Socket(_) => None,
        }
    }

    /// Stops the child process, or closes the socket.
    pub(super) async fn close(self) {
        match self {
            Self::Pipes(pipes) => pipes.close().await,
            Self::Socket(socket) => socket.close().await,
        }
    }
}
