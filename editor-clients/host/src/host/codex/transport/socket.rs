//! WebSocket messages over a unix socket, one JSON value each. All waits are cancel safe: no message is lost.

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

use crate::host::pipes::{PipeMessage, received};

/// A connection to a running app-server.
#[derive(Debug)]
pub(in crate::host::codex) struct CodexSocket {
    stream: WebSocketStream<UnixStream>,
    /// Messages not yet written to the socket.
    unsent: VecDeque<Message>,
    /// Why the connection ended.
    ended: Option<String>,
}

/// The largest message and frame, in bytes. One frame can contain a command's whole output.
const LARGEST: usize = 256 * 1024 * 1024;

/// Timeout of the closing handshake.
const FAREWELL: Duration = Duration::from_secs(1);

/// Timeout of the opening handshake.
const GREETING: Duration = Duration::from_secs(30);

impl CodexSocket {
    pub(super) async fn connect(path: &Path) -> io::Result<Self> {
        let greeted = tokio::time::timeout(GREETING, async {
            // A socket address holds about 100 bytes; a longer path may be a link to a shorter one.
            let stream = UnixStream::connect(path.canonicalize()?).await?;
            let config = WebSocketConfig::default()
                .max_message_size(Some(LARGEST))
                .max_frame_size(Some(LARGEST));
            // HTTP needs an address, but the socket is already connected.
            let greeted = client_async_with_config("ws://localhost/", stream, Some(config)).await;
            greeted.map_err(io::Error::other)
        });
        let silent =
            || io::Error::new(io::ErrorKind::TimedOut, "the WebSocket handshake timed out");
        let (stream, _) = greeted.await.map_err(|_| silent())??;
        Ok(Self { stream, unsent: VecDeque::new(), ended: None })
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.unsent.push_back(Message::text(message.to_string()));
    }

    pub(super) async fn receive(&mut self) -> PipeMessage {
        loop {
            if let Some(reason) = &self.ended {
                return PipeMessage::End { reason: reason.clone() };
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
        // A failure means that the server has already closed the connection.
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    }

    fn end(&mut self, reason: &str) {
        self.ended = Some(reason.to_owned());
    }

    /// Writes queued messages as far as possible, and reads.
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

    use super::CodexSocket;

    #[tokio::test]
    async fn a_link_with_a_path_too_long_for_an_address_is_resolved() {
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
        CodexSocket::connect(&folder.join("socket")).await.unwrap();
        server.await.unwrap();
    }
}
