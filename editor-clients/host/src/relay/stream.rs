//! One connection from the screen, joined with one to the app-server. Each direction goes at its own pace.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{ReadHalf, WriteHalf};

use super::held::Held;
use super::passage::{Passage, Piece, Turn, Welcome};
use super::units::{self, FoundUnit};

const CHUNK: usize = 64 * 1024;

/// Until one side hangs up. What a screen that has gone was still waiting to say is not said: it tells its person so.
pub(super) async fn join(mut screen: UnixStream, codex: PathBuf, driver: PathBuf) {
    // Neither has anybody else to tell: each sees that the other has hung up.
    let Ok(mut codex) = UnixStream::connect(codex).await else { return };
    let welcome = OnceLock::new();
    let (from_screen, to_screen) = screen.split();
    let (from_codex, to_codex) = codex.split();
    let up = async {
        // Whoever has said all may still be answered.
        if up(from_screen, to_codex, &welcome, Held::new(driver)).await.is_ok() {
            std::future::pending().await
        }
    };
    tokio::select! {
        _ = down(from_codex, to_screen, &welcome) => {}
        () = up => {}
    }
}

/// Of what comes from the app-server only the answer to the greeting is looked at.
async fn down(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    welcome: &OnceLock<Welcome>,
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
                    Some(Welcome::Plain)
                }
                FoundUnit::Unit { .. } | FoundUnit::Oversized | FoundUnit::Foreign => {
                    Some(Welcome::Other)
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
    welcome: &OnceLock<Welcome>,
    mut held: Held,
) -> io::Result<()> {
    let (mut chunk, mut passage) = (vec![0; CHUNK], Passage::default());
    loop {
        tokio::select! {
            count = from.read(&mut chunk) => {
                let count = count?;
                if count == 0 {
                    break;
                }
                let welcome = welcome.get().copied().unwrap_or(Welcome::Other);
                for Piece { bytes, turn } in passage.take(&chunk[..count], welcome) {
                    match turn {
                        Turn::AtOnce => to.write_all(&bytes).await?,
                        Turn::Asks(question) => held.add(question, bytes),
                        Turn::Unseen => {
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
