//! A proxy between a user's Codex screen and its app-server. It may hold a message that starts a turn until the driver
//! releases it, and forwards everything else byte for byte. It must never change, add or drop a byte.

mod held;
mod passage;
mod question;
mod stream;
mod units;

use std::path::Path;
use std::time::Duration;

pub use question::{PreflightEnd, PreflightQuestion, PreflightReply};
use tokio::net::UnixListener;
use tokio::time::sleep;

/// File name of the app-server's socket in the session's folder.
pub const CODEX: &str = "codex.sock";
/// File name of the socket that the screen connects to.
pub const SCREEN: &str = "screen.sock";
/// File name of the socket where the driver answers for held messages.
pub const DRIVER: &str = "driver.sock";

/// Interval of the check whether the folder still exists. It is removed when Codex ends.
const LOOK: Duration = Duration::from_secs(1);

/// Connects each accepted screen with the app-server, until the folder is removed.
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
                // The client hung up at once, or too many files are open. The next accept may succeed.
                Err(_) => sleep(LOOK).await,
            },
        }
    }
}

/// Resolves once the folder is removed.
pub async fn is_gone(folder: &Path) {
    while folder.is_dir() {
        sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests;
