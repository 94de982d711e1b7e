//! `rawr lease`, started by `rawr codex`: the parent of its app-server. Once Codex, its shell and the driver are gone, or the
//! shell asks for it, it interrupts what runs in the app-server and ends it: no Codex works on unseen, and the conversation
//! can be resumed.

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
use rawr_host::host::codex::Threads;
use rawr_host::relay::CODEX;

/// Holds the app-server's process id for as long as this process has not ended it, and is locked for as long as it could.
pub(super) const SERVER: &str = "server";

/// Locked for as long as one of the processes lives that the app-server is there for: the lock passes from `rawr codex` to the
/// shell that it becomes, to Codex and to the driver.
pub(super) const USERS: &str = "users";

/// How long the app-server may take to interrupt its turns.
const INTERRUPT: Duration = Duration::from_secs(5);

/// How long it may take to end after a signal. It takes the first one for "end when no turn runs".
const END: Duration = Duration::from_secs(5);

pub(super) async fn run(args: LeaseArgs) -> anyhow::Result<ExitCode> {
    let LeaseArgs { folder, server } = args;
    let mut asked = signal(SignalKind::terminate())?;
    // Those of the terminal are meant for Codex.
    let _ignored = [signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?];
    let mut users = Users::of(&folder)?;
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
    // Until then the folder is in use.
    users.are_gone().await;
    let _ = std::fs::remove_dir_all(&folder);
    Ok(ExitCode::SUCCESS)
}

/// A process group of its own: what an npm wrapper started is ended with it.
fn start(words: &[std::ffi::OsString]) -> anyhow::Result<Child> {
    let (program, arguments) = words.split_first().context("no app-server command")?;
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

/// The processes that the app-server is there for.
struct Users {
    gone: Option<oneshot::Receiver<File>>,
}

impl Users {
    fn of(folder: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).open(folder.join(USERS))?;
        let (tell, gone) = oneshot::channel();
        // A thread that waits for a lock does not keep the process from ending.
        std::thread::spawn(move || {
            while file.lock().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
            let _ = tell.send(file);
        });
        Ok(Self { gone: Some(gone) })
    }

    /// May be cancelled at any time.
    async fn are_gone(&mut self) {
        if let Some(gone) = &mut self.gone {
            let _ = gone.await;
            self.gone = None;
        }
    }
}

/// Asks the process that owns the app-server to end it; false where that process was killed.
pub(super) fn ask_to_end(folder: &Path, owner: u32) -> bool {
    let kept = File::open(folder.join(SERVER));
    let lives = kept.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
    // Only while it lives is the number its own.
    if let Some(owner) = owner.try_into().ok().and_then(Pid::from_raw).filter(|_| lives) {
        let _ = kill_process(owner, Signal::TERM);
    }
    lives
}

/// A folder whose app-server is there for no process any more, and has no owner that would end it. While this is kept, no other
/// process finds the same.
#[derive(Debug)]
pub(super) struct Abandoned {
    _locked: [File; 2],
}

impl Abandoned {
    pub(super) fn find(folder: &Path) -> Option<Self> {
        let locked = |name| {
            let file = File::options().read(true).write(true).open(folder.join(name)).ok()?;
            file.try_lock().ok().map(|()| file)
        };
        Some(Self { _locked: [locked(SERVER)?, locked(USERS)?] })
    }
}

/// Ends an app-server whose owner was killed, with its folder. It is known by its socket: a number that was written down may be
/// another process's by now.
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

/// Who listens there, and its process group.
async fn listener(socket: &Path) -> Option<(Pid, Pid)> {
    let process = UnixStream::connect(socket).await.ok()?.peer_cred().ok()?.pid()?;
    let process = Pid::from_raw(process)?;
    Some((process, getpgid(Some(process)).ok()?))
}

/// A process that its parent has not asked about is still there by its number.
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
