//! The rawr sidecar: a JSON-RPC process on stdio around the decision system of `rawr-core`.
//!
//! Reading order: `connection` (frames in, answers out), `router`, `methods`, `wire` (protocol to core and back),
//! `registry` (the open threads), `workspace` (configuration, prompts, watched files), `query`, `store`, `judge`, `prompts`, `config`, `problem`; `publish` and `outbox` on the way out;
//! `jobs` for what is done outside, with `repo` among it; `workers` for what may wait for the disk; `watch` for what
//! other processes write; `trace` for what a client is told of the work itself; `state` for threads at rest. `capsule` keeps what was before a compaction, `recall` finds what
//! was said, `language` is what an editor shows.

#[cfg(not(unix))]
compile_error!("rawr runs on Linux and macOS");

pub mod capsule;
pub mod config;
pub mod connection;
mod jobs;
pub mod judge;
mod language;
mod methods;
mod notes;
mod outbox;
pub mod problem;
pub mod prompts;
mod publish;
mod query;
pub mod recall;
pub mod redact;
pub mod registry;
mod repo;
mod stdio;
pub mod store;
pub mod tokens;
mod trace;
mod watch;
mod wire;
pub mod workers;
pub mod workspace;

use connection::{Closed, Connection, Router};
use methods::Session;
use outbox::Outbox;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncWrite};
use trace::Trace;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use watch::ChangeNotifier;

/// How much may wait for the disk, for locks and for searches at once. Each is spawned on first need and ends when it has
/// had nothing to do for some seconds.
const WORKERS: usize = 16;

/// How `rawr serve` was started.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// The home folder, unless the client names one. `None`: as [`Home::resolve`](config::Home::resolve) finds it.
    pub home: Option<PathBuf>,
    /// Instead of standard error.
    pub log_file: Option<PathBuf>,
}

/// Serves one client on standard input and output until either ends.
pub fn serve(options: ServeOptions) -> ExitCode {
    match start(options) {
        Ok(Closed::Normally) => ExitCode::SUCCESS,
        Ok(Closed::WithoutShutdown | Closed::Unreadable | Closed::GivenUp | Closed::Unfinished) => {
            ExitCode::FAILURE
        }
        Err(error) => {
            tracing::error!(%error, "the sidecar could not start");
            ExitCode::FAILURE
        }
    }
}

fn start(options: ServeOptions) -> io::Result<Closed> {
    let trace = Trace::default();
    log_to(options.log_file, Some(&trace))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(WORKERS)
        .build()?;
    let closed = runtime.block_on(async {
        let (input, output) = stdio::open()?;
        serve_traced(input, output, options.home, trace).await
    });
    // A reading thread of standard input may still be blocked: nobody waits for it.
    runtime.shutdown_background();
    closed
}

/// The same on any pair of streams.
pub async fn serve_on(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    home: Option<PathBuf>,
) -> io::Result<Closed> {
    serve_traced(input, output, home, Trace::default()).await
}

async fn serve_traced(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    home: Option<PathBuf>,
    trace: Trace,
) -> io::Result<Closed> {
    let (outbox, notifier) = (Outbox::default(), ChangeNotifier::default());
    let session = Arc::new(Session::new(outbox.clone(), trace.clone(), notifier.clone(), home));
    let module = methods::module(Arc::clone(&session)).map_err(io::Error::other)?;
    let of_panics = Arc::clone(&session);
    let router = Router::new(module, move || of_panics.distrust_memory());
    let connection =
        Connection::new(router, outbox, notifier, Arc::clone(&session)).with_trace(trace);
    let closed = connection.run(input, output).await;
    // Else it would wait for the same disk.
    if closed != Closed::Unfinished {
        session.leave();
    }
    Ok(closed)
}

/// The log of a command, on standard error, where `RAWR_LOG` asks for one.
pub fn log_if_asked() -> io::Result<()> {
    if std::env::var_os("RAWR_LOG").is_some() { log_to(None, None) } else { Ok(()) }
}

/// Standard output belongs to the protocol.
fn log_to(file: Option<PathBuf>, trace: Option<&Trace>) -> io::Result<()> {
    let level = std::env::var("RAWR_LOG")
        .ok()
        .and_then(|level| level.parse().ok())
        .unwrap_or(LevelFilter::WARN);
    let base = tracing_subscriber::registry().with(trace.map(Trace::layer));
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
    // Where somebody else set a subscriber before, theirs stays.
    drop(set);
    Ok(())
}
