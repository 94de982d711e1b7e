//! The connection to Codex's app-server, which is made again after that server ended. It lists the threads and joins none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rawr_host::host::HostError;
use rawr_host::host::codex::{ThreadFeedItem, ThreadWatch};
use tokio::time::{Instant, sleep_until, timeout};

/// What to do when the app-server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterServerEnd {
    /// Another one takes its place, such as after an update of Codex.
    Reconnect,
    /// The app-server served only this session.
    Leave,
}

/// A connection to the app-server at a socket.
#[derive(Debug)]
pub(super) struct ServerConnection {
    socket: PathBuf,
    after_end: AfterServerEnd,
    /// A server whose Codex warns the agent itself conflicts with rawr.
    is_token_budget_refused: bool,
    state: ConnectionState,
}

#[derive(Debug)]
enum ConnectionState {
    Open { threads: ThreadWatch, outage: Outage },
    Lost(Outage),
    Ended,
}

/// The time without a server. A server that ends soon after its start does not end it.
#[derive(Debug, Clone, Copy)]
struct Outage {
    began: Instant,
    pause: Duration,
    next_try: Instant,
    /// When the last connection was made.
    connected: Instant,
}

/// An item of the connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ServerEvent {
    /// The id of a thread.
    Thread(String),
    /// The server ended; a connection to the next one is tried.
    Lost {
        /// Why it ended.
        reason: String,
    },
    /// There is a server again, and all of its threads follow.
    Back,
    /// There is no server any more. Returned once.
    Ended,
    /// No server came in time. Returned once.
    GivenUp,
    /// Codex's own heads-up is on at the next server. Returned once.
    TokenBudget,
}

/// The first pause between two tries. Each pause is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How long to try.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// A server that ran for this long is stable: the next outage is a new one.
const STABLE: Duration = Duration::from_secs(10);

/// Timeout of one try.
const TRY: Duration = Duration::from_secs(10);

impl ServerConnection {
    pub(super) async fn open(
        socket: PathBuf,
        after_end: AfterServerEnd,
        is_token_budget_refused: bool,
    ) -> Result<Self, OpenError> {
        let threads = reach(&socket, is_token_budget_refused).await?;
        let state = ConnectionState::Open { threads, outage: Outage::at(Instant::now()) };
        Ok(Self { socket, after_end, is_token_budget_refused, state })
    }

    /// The threads, while there is a server.
    pub(super) fn threads(&mut self) -> Option<&mut ThreadWatch> {
        match &mut self.state {
            ConnectionState::Open { threads, .. } => Some(threads),
            ConnectionState::Lost(_) | ConnectionState::Ended => None,
        }
    }

    /// Waits for the next event. Cancel safe.
    pub(super) async fn next(&mut self) -> ServerEvent {
        loop {
            match &mut self.state {
                ConnectionState::Open { threads, outage } => match threads.next().await {
                    ThreadFeedItem::Thread(thread_id) => return ServerEvent::Thread(thread_id),
                    ThreadFeedItem::Gone { .. } if self.after_end == AfterServerEnd::Leave => {
                        self.state = ConnectionState::Ended;
                        return ServerEvent::Ended;
                    }
                    ThreadFeedItem::Gone { reason } => {
                        let now = Instant::now();
                        let is_new = now - outage.connected >= STABLE;
                        let outage = if is_new { Outage::at(now) } else { *outage };
                        self.state = ConnectionState::Lost(outage);
                        return ServerEvent::Lost { reason };
                    }
                },
                ConnectionState::Lost(outage) => {
                    sleep_until(outage.next_try).await;
                    let reached = timeout(TRY, reach(&self.socket, self.is_token_budget_refused));
                    match reached.await {
                        Ok(Ok(threads)) => {
                            let outage = Outage { connected: Instant::now(), ..outage.later() };
                            self.state = ConnectionState::Open { threads, outage };
                            return ServerEvent::Back;
                        }
                        Ok(Err(OpenError::TokenBudget)) => {
                            self.state = ConnectionState::Ended;
                            return ServerEvent::TokenBudget;
                        }
                        _ if outage.began.elapsed() >= LIMIT => {
                            self.state = ConnectionState::Ended;
                            return ServerEvent::GivenUp;
                        }
                        Ok(Err(OpenError::Host(_))) | Err(_) => *outage = outage.later(),
                    }
                }
                ConnectionState::Ended => std::future::pending().await,
            }
        }
    }

    /// Disconnects.
    pub(super) async fn close(self) {
        if let ConnectionState::Open { threads, .. } = self.state {
            threads.close().await;
        }
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error(transparent)]
    Host(#[from] HostError),
    #[error(
        "Codex's own heads-up is on, and rawr stands back: switch one of them off, [features.token_budget] in \
         Codex's config.toml or features.rawr_auto_compaction in rawr.toml"
    )]
    TokenBudget,
}

/// Codex's token budget also warns the agent and resets its history, so both must not be active.
async fn reach(socket: &Path, is_token_budget_refused: bool) -> Result<ThreadWatch, OpenError> {
    let mut threads = ThreadWatch::reach(socket).await?;
    if is_token_budget_refused && threads.has_token_budget().await? {
        threads.close().await;
        return Err(OpenError::TokenBudget);
    }
    Ok(threads)
}

impl Outage {
    fn at(now: Instant) -> Self {
        Self { began: now, pause: FIRST_PAUSE, next_try: now, connected: now }
    }

    /// After one more try.
    fn later(self) -> Self {
        let next_try = Instant::now() + self.pause;
        Self { pause: (self.pause * 2).min(LONGEST_PAUSE), next_try, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_does_not_start_again_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let began = Instant::now().checked_sub(LIMIT).unwrap();
        let mut server = ServerConnection {
            socket: folder.path().join("none"),
            after_end: AfterServerEnd::Reconnect,
            is_token_budget_refused: false,
            state: ConnectionState::Lost(Outage { began, ..Outage::at(Instant::now()) }),
        };
        assert_eq!(server.next().await, ServerEvent::GivenUp);
        assert!(server.threads().is_none());
    }

    #[test]
    fn the_pauses_between_tries_grow_to_a_limit() {
        let mut outage = Outage::at(Instant::now());
        let pauses: Vec<_> = std::iter::repeat_with(|| {
            outage = outage.later();
            outage.pause.as_millis()
        })
        .take(6)
        .collect();
        assert_eq!(pauses, [400, 800, 1600, 3200, 5000, 5000]);
    }
}
