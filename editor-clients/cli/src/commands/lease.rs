//! `rawr lease`, started by `rawr codex`: the parent of the app-server. Once Codex, its shell and the driver have ended, or the
//! shell requests it, it interrupts the running turns and stops the app-server, so that Codex does not work unseen and the
//! thread can be resumed.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group, test_kill_process};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::args::LeaseArgs;
use rawr_host::host::codex::ThreadWatch;
use rawr_host::relay::CODEX;

/// The file with the app-server's process id. It exists until the app-server is stopped, and is locked while this process runs.
pub(super) const SERVER: &str = "server";

/// The file that is locked while a user of the app-server runs: `rawr codex`, the shell that it becomes, Codex, and the driver.
pub(super) const USERS: &str = "users";

/// Timeout for interrupting the turns.
const INTERRUPT: Duration = Duration::from_secs(5);

/// Timeout for ending after a signal. The app-server takes the first signal as "end when no turn runs".
const END: Duration = Duration::from_secs(5);

pub(super) async fn run(args: LeaseArgs) -> anyhow::Result<ExitCode> {
    let LeaseArgs { folder, server } = args;
    let mut asked = signal(SignalKind::terminate())?;
    // The terminal's signals are for Codex.
    let _ignored = [signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?];
    let mut users = AppServerUsers::of(&folder)?;
    let mut server = start(&server)?;
    let process = server.id().context("the app-server has ended")?;
    let mut kept = File::create(folder.join(SERVER))?;
    kept.lock()?;
    write!(kept, "{process}")?;
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
    // The folder is in use until then.
    users.are_gone().await;
    let _ = std::fs::remove_dir_all(&folder);
    Ok(ExitCode::SUCCESS)
}

/// Starts the app-server in its own process group, so that the child of an npm wrapper is stopped with it.
fn start(words: &[std::ffi::OsString]) -> anyhow::Result<Child> {
    let (program, arguments) = words.split_first().context("no app-server command")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    command.spawn().with_context(|| format!("failed to start {}", Path::new(program).display()))
}

/// Interrupts the turns, because a running command or an open approval would keep the app-server running.
async fn interrupt(socket: &Path) {
    let interrupt = async { ThreadWatch::reach(socket).await?.interrupt_all().await };
    // The app-server is stopped even if this fails.
    let _ = timeout(INTERRUPT, interrupt).await;
}

async fn end(server: &mut Child) {
    for _ in 0..2 {
        let process = server.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        if let Some(process) = process {
            // The process may have ended by itself.
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

/// The processes that use the app-server.
struct AppServerUsers {
    gone: Option<oneshot::Receiver<File>>,
}

impl AppServerUsers {
    fn of(folder: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).open(folder.join(USERS))?;
        let (tell, gone) = oneshot::channel();
        // A blocked thread does not keep the process from exiting.
        std::thread::spawn(move || {
            while file.lock().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
            let _ = tell.send(file);
        });
        Ok(Self { gone: Some(gone) })
    }

    /// Resolves once all users have ended. Cancel safe.
    async fn are_gone(&mut self) {
        if let Some(gone) = &mut self.gone {
            let _ = gone.await;
            self.gone = None;
        }
    }
}

/// Asks the owner of the app-server to stop it. False if the owner was killed.
pub(super) fn ask_to_end(folder: &Path, owner: u32) -> bool {
    let kept = File::open(folder.join(SERVER));
    let lives = kept.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
    // The process id is valid only while the owner runs.
    if let Some(owner) = owner.try_into().ok().and_then(Pid::from_raw).filter(|_| lives) {
        let _ = kill_process(owner, Signal::TERM);
    }
    lives
}

/// The folder of an app-server without users and without an owner. It stays locked, so that no other process finds it.
#[derive(Debug)]
pub(super) struct AbandonedFolder {
    _locked: [File; 2],
}

impl AbandonedFolder {
    pub(super) fn find(folder: &Path) -> Option<Self> {
        let locked = |name| {
            let file = File::options().read(true).write(true).open(folder.join(name)).ok()?;
            file.try_lock().ok().map(|()| file)
        };
        Some(Self { _locked: [locked(SERVER)?, locked(USERS)?] })
    }
}

/// Stops an app-server whose owner was killed, and removes its folder. The app-server is found by its socket, because a stored
/// process id may have been reused.
pub(super) async fn end_without_owner(folder: &Path) {
    let socket = folder.join(CODEX);
    if let Some((process, group)) = listener(&socket).await {
        interrupt(&socket).await;
        for _ in 0..2 {
            let _ = kill_process(process, Signal::TERM);
            if timeout(END, end_of(process, &socket)).await.is_ok() {
                break;
            }
        }
        // Mostly nothing is left in it.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// The process that listens on the socket, and its process group.
async fn listener(socket: &Path) -> Option<(Pid, Pid)> {
    let process = UnixStream::connect(socket).await.ok()?.peer_cred().ok()?.pid()?;
    let process = Pid::from_raw(process)?;
    Some((process, getpgid(Some(process)).ok()?))
}

/// Whether a process runs. A zombie counts as ended.
async fn end_of(process: Pid, socket: &Path) {
    const LOOK: Duration = Duration::from_millis(50);
    const FAREWELL: Duration = Duration::from_secs(1);
    while UnixStream::connect(socket).await.is_ok() {
        sleep(LOOK).await;
    }
    let gone = async {
        while test_kill_process(process).is_ok() {
            sleep(LOOK).await;
        }
    };
    let _ = timeout(FAREWELL, gone).await;
}
