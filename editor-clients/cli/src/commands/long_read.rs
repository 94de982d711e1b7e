//! What commands share that read many files without a sidecar: progress on a terminal, and Ctrl-C.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::bail;
use rawr_host::stop::StopRequest;

/// How long interrupted work may take to end.
const STOPS_WITHIN: Duration = Duration::from_secs(2);

/// Runs the work. On Ctrl-C its flag is set, and it returns what it has so far.
pub(super) async fn until_stopped<T: Send + 'static>(
    stop: &mut StopRequest,
    work: impl FnOnce(&AtomicBool) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let stopped = Arc::new(AtomicBool::new(false));
    let stops = Arc::clone(&stopped);
    let mut work = tokio::task::spawn_blocking(move || work(&stops));
    tokio::select! {
        done = &mut work => done?,
        () = stop.asked() => {
            stopped.store(true, Ordering::Relaxed);
            match tokio::time::timeout(STOPS_WITHIN, work).await {
                Ok(done) => done?,
                // The work waits for standard input, or for a slow disk.
                Err(_) => bail!("interrupted"),
            }
        }
    }
}

/// One line on a terminal that says how far the work has come.
#[derive(Debug)]
pub(super) struct ReadProgress {
    things: &'static str,
    is_shown: bool,
}

impl ReadProgress {
    /// Shows nothing where stderr is no terminal, and for programs.
    pub(super) fn of(things: &'static str, is_for_people: bool) -> Self {
        Self { things, is_shown: is_for_people && io::stderr().is_terminal() }
    }

    /// So many are done. A failure to show it is ignored.
    pub(super) fn show(&self, done: usize, of: usize) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r{done} of {of} {}\x1b[K", self.things);
        }
    }

    /// Removes the line.
    pub(super) fn clear(&self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
