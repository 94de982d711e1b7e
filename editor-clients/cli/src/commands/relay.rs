//! `rawr relay`, started by `rawr codex --preflight`: one process keeps the listening socket, a second one forwards messages. If
//! the second one dies, it is replaced, and the screen reconnects to the same socket.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::process::{Child, Command};

use crate::args::RelayArgs;
use rawr_host::relay::{self, CODEX, SCREEN};
use rawr_host::stop::StopRequest;

pub(super) async fn run(args: RelayArgs) -> anyhow::Result<ExitCode> {
    let RelayArgs { folder, on_stdin } = args;
    if on_stdin {
        let listener = UnixListener::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        listener.set_nonblocking(true)?;
        relay::serve(tokio::net::UnixListener::from_std(listener)?, &folder).await;
    } else {
        keep(&folder).await?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The relay is not restarted after this many deaths in this time.
const LIVES: u32 = 5;
const SHORT: Duration = Duration::from_secs(10);

async fn keep(folder: &Path) -> anyhow::Result<()> {
    let path = folder.join(SCREEN);
    let mut stop = StopRequest::on_signals()?;
    let listener = UnixListener::bind(&path).with_context(|| path.display().to_string())?;
    let mut deaths = 0;
    while deaths < LIVES {
        let born = Instant::now();
        let Ok(mut worker) = start(&listener, folder) else { break };
        tokio::select! {
            () = stop.asked() => return end(worker).await,
            () = relay::is_gone(folder) => return end(worker).await,
            _ = worker.wait() => {}
        }
        deaths = if born.elapsed() < SHORT { deaths + 1 } else { 0 };
    }
    step_aside(folder, &path)
}

fn start(listener: &UnixListener, folder: &Path) -> anyhow::Result<Child> {
    let program =
        std::env::current_exe().context("cannot determine the path of the rawr executable")?;
    let socket = OwnedFd::from(listener.try_clone()?);
    let mut command = Command::new(program);
    command.arg("relay").arg("--on-stdin").arg(folder);
    command.stdin(Stdio::from(socket)).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.kill_on_drop(true).spawn()?)
}

async fn end(mut worker: Child) -> anyhow::Result<()> {
    Ok(worker.kill().await?)
}

/// Replaces the relay's socket by a link to the app-server's.
fn step_aside(folder: &Path, path: &Path) -> anyhow::Result<()> {
    let link = folder.join("aside");
    std::os::unix::fs::symlink(folder.join(CODEX).canonicalize()?, &link)?;
    Ok(std::fs::rename(link, path)?)
}
