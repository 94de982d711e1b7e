//! `rawr lease`, started by `rawr codex`: the parent of its app-server. Once Codex, its shell and the driver are gone, or the
//! shell asks for it, it interrupts what runs in the app-server and ends it: no Codex works on unseen, and the conversation
//! can be resumed.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use crate::args::LeaseArgs;
use crate::host::codex::Threads;
use crate::relay::CODEX;

/// Holds the app-server's process id for as long as this process has not ended it.
pub(super) const SERVER: &str = "server";

/// How long the app-server may take to interrupt its turns.
const INTERRUPT: Duration = Duration::from_secs(5);

/// How long it may take to end after a signal. It takes the first one for "end when no turn runs".
const END: Duration = Duration::from_secs(5);

pub(super) async fn run(args: LeaseArgs) -> anyhow::Result<ExitCode> {
    let LeaseArgs { folder, server } = args;
    let mut asked = signal(SignalKind::terminate())?;
    // Those of the terminal are meant for Codex.
    let _ignored = [signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?];
    let mut users = Users::on_stdin()?;
    let mut server = start(&server)?;
    let process = server.id().context("the app-server has ended")?;
    std::fs::write(folder.join(SERVER), process.to_string())?;
    let ended = tokio::select! {
        ended = server.wait() => Some(ended?),
        _ = asked.recv() => None,
        () = users.are_gone() => None,
    };
    if ended.is_none() {
        interrupt(&folder.join(CODEX)).await;
        end(&mut server).await;
    }
    kill_group(process);
    let _ = std::fs::remove_file(folder.join(SERVER));
    if let Some(status) = ended {
        return Ok(exit_code(status));
    }
    // Until then the folder is in use.
    users.are_gone().await;
    let _ = std::fs::remove_dir_all(&folder);
    Ok(ExitCode::SUCCESS)
}

/// A process group of its own: what an npm wrapper started is ended with it.
fn start(words: &[std::ffi::OsString]) -> anyhow::Result<Child> {
    let (program, arguments) = words.split_first().context("no app-server is named")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    command.spawn().with_context(|| format!("cannot start {}", Path::new(program).display()))
}

/// Commands that a turn runs would otherwise keep the app-server, and an open approval would wait for ever.
async fn interrupt(socket: &Path) {
    let interrupt = async { Threads::reach(socket).await?.interrupt_all().await };
    // Where it cannot be interrupted, it is ended all the same.
    let _ = timeout(INTERRUPT, interrupt).await;
}

async fn end(server: &mut Child) {
    for _ in 0..2 {
        let process = server.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        if let Some(process) = process {
            // It may have ended by itself.
            let _ = kill_process(process, Signal::TERM);
        }
        if timeout(END, server.wait()).await.is_ok() {
            return;
        }
    }
    let _ = server.kill().await;
}

fn kill_group(leader: u32) {
    if let Some(leader) = leader.try_into().ok().and_then(Pid::from_raw) {
        // Mostly nothing is left in it.
        let _ = kill_process_group(leader, Signal::KILL);
    }
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The processes that the app-server is there for. Each holds the other end of standard input.
struct Users {
    end: Receiver,
}

impl Users {
    fn on_stdin() -> io::Result<Self> {
        let end: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self { end: Receiver::from_owned_fd(end)? })
    }

    /// May be cancelled at any time.
    async fn are_gone(&mut self) {
        let mut nothing = [0; 64];
        while matches!(self.end.read(&mut nothing).await, Ok(1..)) {}
    }
}
