//! WebSocket messages over a unix socket, one JSON text each. Knows no message, and loses none when a wait is cancelled.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::UnixStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::host::pipes::{Received, received};

/// A conversation with an app-server that belongs to somebody else.
#[derive(Debug)]
pub(in crate::host::codex) struct Socket {
    stream: WebSocketStream<UnixStream>,
    /// What could not be handed to the socket yet.
    unsent: VecDeque<Message>,
    /// Why there is nothing more to read, once there is nothing.
    ended: Option<String>,
}

/// A command's whole output can come in one message, and in one frame.
const LARGEST: usize = 256 * 1024 * 1024;

/// How long a server that no longer answers may keep us from hanging up.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long the greeting may take: whoever accepts and says nothing is no app-server.
const GREETING: Duration = Duration::from_secs(30);

impl Socket {
    pub(super) async fn connect(path: &Path) -> io::Result<Self> {
        let greeted = tokio::time::timeout(GREETING, async {
            // A long path is a link to a short one: the address of a socket holds about a hundred bytes.
            let stream = UnixStream::connect(path.canonicalize()?).await?;
            let config = WebSocketConfig::default()
                .max_message_size(Some(LARGEST))
                .max_frame_size(Some(LARGEST));
            // The address is what HTTP wants to see; the socket is reached already.
            let greeted = client_async_with_config("ws://localhost/", stream, Some(config)).await;
            greeted.map_err(io::Error::other)
        });
        let silent = || io::Error::new(io::ErrorKind::TimedOut, "it does not greet");
        let (stream, _) = greeted.await.map_err(|_| silent())??;
        Ok(Self { stream, unsent: VecDeque::new(), ended: None })
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.unsent.push_back(Message::text(message.to_string()));
    }

    pub(super) async fn receive(&mut self) -> Received {
        loop {
            if let Some(reason) = &self.ended {
                return Received::End { reason: reason.clone() };
            }
            match std::future::poll_fn(|context| self.poll(context)).await {
                Some(Ok(Message::Text(text))) => return received(text.as_bytes()),
                Some(Ok(Message::Binary(bytes))) => return received(&bytes),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_))) | None => self.end("codex closed the connection"),
                Some(Err(error)) => {
                    self.end(&format!("lost the connection to codex: {error}"));
                }
            }
        }
    }

    pub(super) async fn close(mut self) {
        let farewell = async {
            while let Some(message) = self.unsent.pop_front() {
                self.stream.feed(message).await?;
            }
            self.stream.close(None).await
        };
        // A server that is gone needs no farewell.
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    }

    fn end(&mut self, reason: &str) {
        self.ended = Some(reason.to_owned());
    }

    /// Hands over what waits as far as it goes, and reads.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        if let Poll::Ready(Err(error)) = self.poll_unsent(context) {
            return Poll::Ready(Some(Err(error)));
        }
        self.stream.poll_next_unpin(context)
    }

    fn poll_unsent(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        while !self.unsent.is_empty() {
            std::task::ready!(self.stream.poll_ready_unpin(context))?;
            if let Some(message) = self.unsent.pop_front() {
                self.stream.start_send_unpin(message)?;
            }
        }
        self.stream.poll_flush_unpin(context)
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;
    use tokio::net::UnixListener;

    use super::Socket;

    #[tokio::test]
    async fn a_socket_is_reached_by_a_path_that_is_too_long_for_an_address() {
        let (short, long) =
            (TempDir::with_prefix_in("s", "/tmp").unwrap(), TempDir::new().unwrap());
        let listener = UnixListener::bind(short.path().join("it")).unwrap();
        let folder = long.path().join("x".repeat(120));
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(short.path().join("it"), folder.join("socket")).unwrap();
        let server = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            tokio_tungstenite::accept_async(stream).await.unwrap()
        });
        Socket::connect(&folder.join("socket")).await.unwrap();
        server.await.unwrap();
    }
}
