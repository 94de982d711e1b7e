//! Stop requests from the user or the system. A second one exits the program at once.

use tokio::sync::watch;

use crate::posix::is_ignored;

/// A stop request that may come from a signal or from the program.
#[derive(Debug, Clone)]
pub struct StopRequest {
    ask: watch::Sender<Option<u8>>,
    asked: watch::Receiver<Option<u8>>,
}

/// Exit code after Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// Exit code after the terminal was closed.
pub const HUNG_UP: u8 = 129;

impl StopRequest {
    /// Listens for SIGINT, SIGTERM and SIGHUP, except those that this process was started to ignore.
    ///
    /// # Errors
    ///
    /// Fails if a signal handler cannot be installed.
    pub fn on_signals() -> std::io::Result<Self> {
        Self::on_signals_and(|| {})
    }

    /// As [`on_signals`](Self::on_signals); `at_once` runs before a second signal exits the program.
    ///
    /// # Errors
    ///
    /// As [`on_signals`](Self::on_signals).
    pub fn on_signals_and(at_once: impl FnOnce() + Send + 'static) -> std::io::Result<Self> {
        let (ask, asked) = watch::channel(None);
        let mut signals = Signals::new()?;
        let by_signal = ask.clone();
        tokio::spawn(async move {
            let code = signals.next().await;
            by_signal.send_replace(Some(code));
            let code = signals.next().await;
            at_once();
            std::process::exit(i32::from(code));
        });
        Ok(Self { ask, asked })
    }

    /// Requests a stop like a signal, with this exit code.
    pub fn ask(&self, code: u8) {
        self.ask.send_replace(Some(code));
    }

    /// A stop that a test requests.
    #[cfg(test)]
    pub fn by_hand() -> (watch::Sender<Option<u8>>, Self) {
        let (ask, asked) = watch::channel(None);
        (ask.clone(), Self { ask, asked })
    }

    /// Resolves when a stop is requested. Cancel safe.
    pub async fn asked(&mut self) {
        if self.asked.wait_for(Option::is_some).await.is_err() {
            // No request can come any more.
            std::future::pending().await
        }
    }

    /// Whether a stop was requested.
    pub fn was_asked(&self) -> bool {
        self.asked.borrow().is_some()
    }

    /// The exit code of the request; [`INTERRUPTED`] if there was none.
    pub fn exit_code(&self) -> u8 {
        self.asked.borrow().unwrap_or(INTERRUPTED)
    }
}

/// The signals that this process was not started to ignore.
struct Signals {
    interrupt: Option<tokio::signal::unix::Signal>,
    terminate: Option<tokio::signal::unix::Signal>,
    hang_up: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let heard = |kind: SignalKind| match is_ignored(kind.as_raw_value()) {
            true => Ok(None),
            false => signal(kind).map(Some),
        };
        Ok(Self {
            interrupt: heard(SignalKind::interrupt())?,
            terminate: heard(SignalKind::terminate())?,
            hang_up: heard(SignalKind::hangup())?,
        })
    }

    /// 128 plus the signal's number, as in shells.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            () = received(&mut self.interrupt) => INTERRUPTED,
            () = received(&mut self.terminate) => 143,
            () = received(&mut self.hang_up) => HUNG_UP,
        }
    }
}

async fn received(signal: &mut Option<tokio::signal::unix::Signal>) {
    if let Some(signal) = signal
        && signal.recv().await.is_some()
    {
        return;
    }
    std::future::pending().await
}
