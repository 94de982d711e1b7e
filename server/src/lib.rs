//! The rawr sidecar: a JSON-RPC process on stdio around the decision system of `rawr-core`.
//!
//! Reading order: `connection` (frames in, answers out), `methods` (one file per method), `wire` (protocol to core and
//! back), `registry` (the open threads, each a task), `workspace` (configuration, prompts, watched files; a task),
//! `query`, `judge`. `publish` and `outbox` send notifications. `jobs` runs slow work such as a judgment or a look at the
//! repository (`repo`). `watch` reports files that other processes write, and `trace` reports the sidecar's own work to
//! the client. `recall` searches what was said, and `language` serves editors. What needs no sidecar lies in the crates
//! below: `rawr-settings`, `rawr-storage` and `rawr-analysis`.

#[cfg(not(unix))]
compile_error!("rawr runs on Linux and macOS");

pub mod connection;
mod jobs;
pub mod judge;
mod language;
mod methods;
mod notes;
mod outbox;
mod publish;
mod query;
pub mod recall;
pub mod registry;
mod repo;
mod stdio;
mod tasks;
pub mod tokens;
mod trace;
mod watch;
mod wire;
pub mod workspace;

use connection::{CloseReason, Connection, Router};
use methods::ClientSession;
use outbox::Outbox;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncWrite};
use trace::WorkTrace;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use watch::ChangeNotifier;

/// The limit of threads that wait for the disk, for locks or for searches. Each starts when it is needed and ends after
/// some idle seconds.
const WORKERS: usize = 16;

/// Options of `rawr serve`.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// The home folder, unless the client names one. With `None`, [`Home::resolve`](rawr_settings::config::Home::resolve) finds it.
    pub home: Option<PathBuf>,
    /// Where to log. With `None`, on standard error.
    pub log_file: Option<PathBuf>,
}

/// Serves one client on standard input and output until either side closes. The exit code is 0 if the client left
/// normally.
pub fn serve(options: ServeOptions) -> ExitCode {
    match start(options) {
        Ok(CloseReason::Normally) => ExitCode::SUCCESS,
        Ok(
            CloseReason::WithoutShutdown
            | CloseReason::Unreadable
            | CloseReason::GivenUp
            | CloseReason::Unfinished,
        ) => ExitCode::FAILURE,
        Err(error) => {
            tracing::error!(%error, "failed to start the sidecar");
            ExitCode::FAILURE
        }
    }
}

fn start(options: ServeOptions) -> io::Result<CloseReason> {
    let trace = WorkTrace::default();
    log_to(options.log_file, Some(&trace))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(WORKERS)
        .build()?;
    let closed = runtime.block_on(async {
        let (input, output) = stdio::open()?;
        // A task that is woken by another task costs no system call; what the runtime blocks on does.
        let serving = tokio::spawn(serve_traced(input, output, options.home, trace));
        serving.await.unwrap_or_else(|error| Err(io::Error::other(error)))
    });
    // A thread that reads standard input may still be blocked. Do not wait for it.
    runtime.shutdown_background();
    closed
}

/// Serves one client on any pair of streams. With `home` as `None`, the client or the environment names the home
/// folder.
pub async fn serve_on(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    home: Option<PathBuf>,
) -> io::Result<CloseReason> {
    serve_traced(input, output, home, WorkTrace::default()).await
}

async fn serve_traced(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    home: Option<PathBuf>,
    trace: WorkTrace,
) -> io::Result<CloseReason> {
    let (outbox, notifier) = (Outbox::default(), ChangeNotifier::default());
    let session = Arc::new(ClientSession::new(outbox.clone(), trace.clone(), notifier, home));
    let module = methods::module(Arc::clone(&session)).map_err(io::Error::other)?;
    let connection = Connection::new(Router::new(module), outbox, session).with_trace(trace);
    Ok(connection.run(input, output).await)
}

/// Logs to standard error if `RAWR_LOG` is set. For CLI commands.
pub fn log_if_asked() -> io::Result<()> {
    if std::env::var_os("RAWR_LOG").is_some() { log_to(None, None) } else { Ok(()) }
}

/// Never logs to standard output, which belongs to the protocol.
fn log_to(file: Option<PathBuf>, trace: Option<&WorkTrace>) -> io::Result<()> {
    let level = std::env::var("RAWR_LOG")
        .ok()
        .and_then(|level| level.parse().ok())
        .unwrap_or(LevelFilter::WARN);
    let base = tracing_subscriber::registry().with(trace.map(WorkTrace::layer));
    let log = tracing_subscriber::fmt::layer().with_target(false);
    let set = match file {
        Some(path) => {
            let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
            let log = log.with_ansi(false).with_writer(Mutex::new(file));
            base.with(log.with_filter(level)).try_init()
        }
        None => {
            let log = log.with_ansi(io::stderr().is_terminal()).with_writer(io::stderr);
            base.with(log.with_filter(level)).try_init()
        }
    };
    // If the process already has a subscriber, it stays.
    drop(set);
    Ok(())
}
