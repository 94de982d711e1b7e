//! Forwards one connection from the screen to the app-server and back. The two directions are independent.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{ReadHalf, WriteHalf};

use super::held::HeldMessages;
use super::passage::{ChunkTiming, HandshakeAnswer, RelayBuffer, RelayChunk};
use super::units::{self, FoundUnit};

const CHUNK: usize = 64 * 1024;

/// The side that hung up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HangUp {
    Screen,
    Codex,
}

/// Runs until one side hangs up. The driver keeps the messages that are held for a closed screen.
pub(super) async fn join(mut screen: UnixStream, codex: PathBuf, driver: PathBuf) {
    // Nothing to report: each side sees that the other hung up.
    let Ok(mut codex) = UnixStream::connect(codex).await else { return };
    let (welcome, mut held) = (OnceLock::new(), HeldMessages::new(driver));
    let (from_screen, to_screen) = screen.split();
    let (from_codex, to_codex) = codex.split();
    let by = tokio::select! {
        by = down(from_codex, to_screen, &welcome) => by,
        by = up(from_screen, to_codex, &welcome, &mut held) => by,
    };
    if by == HangUp::Screen {
        held.leave_to_driver().await;
    }
}

/// Forwards the app-server's bytes. Only the answer to the handshake is parsed.
async fn down(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    welcome: &OnceLock<HandshakeAnswer>,
) -> HangUp {
    let (mut chunk, mut head) = (vec![0; CHUNK], Vec::new());
    loop {
        let count = match from.read(&mut chunk).await {
            Ok(0) | Err(_) => return HangUp::Codex,
            Ok(count) => count,
        };
        if welcome.get().is_none() {
            head.extend_from_slice(&chunk[..count]);
            let found = match units::head(&head) {
                FoundUnit::NotYet => None,
                FoundUnit::Unit { bytes, .. } if units::is_plain_welcome(&head[..bytes]) => {
                    Some(HandshakeAnswer::Plain)
                }
                FoundUnit::Unit { .. } | FoundUnit::Oversized | FoundUnit::Foreign => {
                    Some(HandshakeAnswer::Other)
                }
            };
            if let Some(found) = found {
                welcome.get_or_init(|| found);
                head = Vec::new();
            }
        }
        if to.write_all(&chunk[..count]).await.is_err() {
            return HangUp::Screen;
        }
    }
}

async fn up(
    from: ReadHalf<'_>,
    to: WriteHalf<'_>,
    welcome: &OnceLock<HandshakeAnswer>,
    held: &mut HeldMessages,
) -> HangUp {
    match forward(from, to, welcome, held).await {
        // A screen that closed its writing half can still receive answers.
        Ok(()) => std::future::pending().await,
        Err(_) => HangUp::Codex,
    }
}

/// Forwards the screen's bytes until it closes. Fails where the app-server takes none.
async fn forward(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    welcome: &OnceLock<HandshakeAnswer>,
    held: &mut HeldMessages,
) -> io::Result<()> {
    let (mut chunk, mut passage) = (vec![0; CHUNK], RelayBuffer::default());
    loop {
        tokio::select! {
            // A message that is released as the screen closes must not start an unwatched turn.
            biased;
            count = from.read(&mut chunk) => {
                let count = count.unwrap_or(0);
                if count == 0 {
                    break;
                }
                let welcome = welcome.get().copied().unwrap_or(HandshakeAnswer::Other);
                for RelayChunk { bytes, turn } in passage.take(&chunk[..count], welcome) {
                    match turn {
                        ChunkTiming::AtOnce => to.write_all(&bytes).await?,
                        ChunkTiming::Asks(question) => held.add(question, bytes),
                        ChunkTiming::Unseen => {
                            for bytes in held.let_go() {
                                to.write_all(&bytes).await?;
                            }
                            to.write_all(&bytes).await?;
                        }
                    }
                }
            }
            bytes = held.next() => to.write_all(&bytes).await?,
        }
    }
    held.leave_to_driver().await;
    if let Some(bytes) = passage.rest() {
        to.write_all(&bytes).await?;
    }
    to.shutdown().await
}
