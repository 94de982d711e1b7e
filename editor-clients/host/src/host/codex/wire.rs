//! How messages reach an app-server and come back: over the pipes of a process of ours, or a socket of somebody else's. Knows no message.

mod socket;

use std::path::Path;

use serde_json::Value;
use tokio::process::Command;

use self::socket::Socket;
use crate::host::pipes::{Pipes, Received};

/// One way to an app-server. Nothing is lost when a wait is cancelled.
#[derive(Debug)]
pub(super) enum Wire {
    Pipes(Box<Pipes>),
    Socket(Box<Socket>),
}

impl Wire {
    /// Starts the process, without a shell. It is killed when this is dropped.
    pub(super) fn start(name: &'static str, command: Command) -> std::io::Result<Self> {
        Ok(Self::Pipes(Box::new(Pipes::start(name, command)?)))
    }

    /// Reaches an app-server that listens on a unix socket.
    pub(super) async fn reach(socket: &Path) -> std::io::Result<Self> {
        Ok(Self::Socket(Box::new(Socket::connect(socket).await?)))
    }

    /// Queues one message. It is on its way while [`receive`](Self::receive) or [`close`](Self::close) is awaited.
    pub(super) fn send(&mut self, message: &Value) {
        match self {
            Self::Pipes(pipes) => pipes.send(message),
            Self::Socket(socket) => socket.send(message),
        }
    }

    /// The next message. May be cancelled at any time.
    pub(super) async fn receive(&mut self) -> Received {
        match self {
            Self::Pipes(pipes) => pipes.receive().await,
            Self::Socket(socket) => socket.receive().await,
        }
    }

    /// The process, where it is ours and runs.
    pub(super) fn process_id(&self) -> Option<u32> {
        match self {
            Self::Pipes(pipes) => pipes.process_id(),
            Self::Socket(_) => None,
        }
    }

    /// Ends the process, or only hangs up.
    pub(super) async fn close(self) {
        match self {
            Self::Pipes(pipes) => pipes.close().await,
            Self::Socket(socket) => socket.close().await,
        }
    }
}
