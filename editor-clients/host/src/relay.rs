//! Stands between the Codex on a person's screen and its app-server: it may hold back what begins a turn until the driver
//! says go, and hands on everything else, byte for byte. It changes, adds and drops nothing, and knows nothing of sequences.

mod held;
mod passage;
mod question;
mod stream;
mod units;

use std::path::Path;
use std::time::Duration;

pub use question::{PreflightReply, Question};
use tokio::net::UnixListener;
use tokio::time::sleep;

/// Names within the folder that the sockets are in.
pub const CODEX: &str = "codex.sock";
pub const SCREEN: &str = "screen.sock";
pub const DRIVER: &str = "driver.sock";

/// How often it is looked whether the folder is there. It goes when Codex has ended.
const LOOK: Duration = Duration::from_secs(1);

/// Joins whoever comes with the app-server, until there is no need for that any more.
pub async fn serve(listener: UnixListener, folder: &Path) {
    let mut gone = std::pin::pin!(is_gone(folder));
    loop {
        tokio::select! {
            () = &mut gone => return,
            accepted = listener.accept() => match accepted {
                Ok((screen, _)) => {
                    let (codex, driver) = (folder.join(CODEX), folder.join(DRIVER));
                    tokio::spawn(stream::join(screen, codex, driver));
                }
                // One that hung up at once, or too many open files: the next one may do better.
                Err(_) => sleep(LOOK).await,
            },
        }
    }
}

/// Resolves once the folder is not there.
pub async fn is_gone(folder: &Path) {
    while folder.is_dir() {
        sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests;
