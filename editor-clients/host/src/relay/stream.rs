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

/// Runs until one side hangs up. Messages that are held for a closed screen are dropped; the screen reports that to its user.
pub(super) async fn join(mut screen: UnixStream, codex: PathBuf, driver: PathBuf) {
    // Nothing to report: each side sees that the other hung up.
    let Ok(mut codex) = UnixStream::connect(codex).await else { return };
    let welcome = OnceLock::new();
    let (from_screen, to_screen) = screen.split();
    let (from_codex, to_codex) = codex.split();
    let up = async {
        // A screen that closed its writing half can still receive answers.
        if up(from_screen, to_codex, &welcome, HeldMessages::new(driver)).await.is_ok() {
            std::future::pending().await
        }
    };
    tokio::select! {
        _ = down(from_codex, to_screen, &welcome) => {}
        () = up => {}
    }
}

/// Forwards the app-server's bytes. Only the answer to the handshake is parsed.
async fn down(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    welcome: &OnceLock<HandshakeAnswer>,
) -> io::Result<()> {
    let (mut chunk, mut head) = (vec![0; CHUNK], Vec::new());
    loop {
        let count = from.read(&mut chunk).await?;
        if count == 0 {
            return Ok(());
        }
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
        to.write_all(&chunk[..count]).await?;
    }
}

async fn up(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    welcome: &OnceLock<HandshakeAnswer>,
    mut held: HeldMessages,
) -> io::Result<()> {
    let (mut chunk, mut passage) = (vec![0; CHUNK], RelayBuffer::default());
    loop {
        tokio::select! {
            count = from.read(&mut chunk) => {
                let count = count?;
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
    if let Some(bytes) = passage.rest() {
        to.write_all(&bytes).await?;
    }
    to.shutdown().await
}
