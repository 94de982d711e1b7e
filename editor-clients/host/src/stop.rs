//! The wish to end, from a person or the system. A second one ends the program where it stands.

use tokio::sync::watch;

use crate::posix::is_ignored;

/// Resolves once somebody asked to stop.
#[derive(Debug, Clone)]
pub struct Stop {
    ask: watch::Sender<Option<u8>>,
    asked: watch::Receiver<Option<u8>>,
}

/// What ends a program that a terminal's Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

/// What ends a program whose terminal is gone.
pub const HUNG_UP: u8 = 129;

impl Stop {
    /// Listens to the signals of this process, from here on.
    pub fn on_signals() -> std::io::Result<Self> {
        Self::on_signals_and(|| {})
    }

    /// The same, with what is owed to the world before a second signal ends the program.
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

    /// As a signal would ask; the program's exit code is to be this.
    pub fn ask(&self, code: u8) {
        self.ask.send_replace(Some(code));
    }

    /// Asked for by who holds the other end.
    #[cfg(test)]
    pub fn by_hand() -> (watch::Sender<Option<u8>>, Self) {
        let (ask, asked) = watch::channel(None);
        (ask.clone(), Self { ask, asked })
    }

    /// May be cancelled at any time.
    pub async fn asked(&mut self) {
        if self.asked.wait_for(Option::is_some).await.is_err() {
            // Nobody can ask any more.
            std::future::pending().await
        }
    }

    pub fn was_asked(&self) -> bool {
        self.asked.borrow().is_some()
    }

    /// The exit code that goes with what was asked.
    pub fn exit_code(&self) -> u8 {
        self.asked.borrow().unwrap_or(INTERRUPTED)
    }
}

/// Those that this process was not started to ignore.
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

    /// 128 and the signal's number, as shells tell it.
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
