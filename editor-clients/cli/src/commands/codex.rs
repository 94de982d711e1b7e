//! `rawr codex`: a person's own Codex in the foreground, rawr beside it. This process becomes a shell that waits for Codex,
//! so that nothing of rawr's stands between Codex and its terminal.

mod abandoned;
mod lease;

use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep};

use self::lease::Lease;
use super::Common;
use super::attach::WIDTH;
use super::exec::Switches;
use super::written::Written;
use crate::args::CodexArgs;
use crate::host::HostError;
use crate::host::codex::{Threads, find_codex, left_to_codex};
use crate::relay::{CODEX, SCREEN};
use crate::render::one_line;

/// What of Codex has no conversation on the screen.
const NO_CONVERSATION: [&str; 31] = [
    "-V",
    "--version",
    "-h",
    "--help",
    "a",
    "agents",
    "app-server",
    "apply",
    "archive",
    "cloud",
    "completion",
    "debug",
    "delete",
    "doctor",
    "e",
    "exec",
    "exec-server",
    "features",
    "help",
    "login",
    "logout",
    "mcp",
    "migrate-nfs-db",
    "migrate-rollouts",
    "plugin",
    "queue",
    "remote-control",
    "review",
    "sandbox",
    "unarchive",
    "update",
];

/// Waits for Codex, has what ran beside it ended, and prints the one line that there may be. The signals are Codex's, and this
/// outlives them. Its arguments: the folder, the lease's process, the driver's process, the relay's process or nothing, and
/// Codex with its arguments. The driver leaves before a turn is interrupted, which it would take for a person's word; the
/// conversation is free once the app-server has ended.
const WAIT_FOR_CODEX: &str = r#"
folder=$1 lease=$2 driver=$3 relay=$4
shift 4
trap : INT QUIT HUP TERM
wait_while() {
  left=$1
  shift
  while [ "$left" -gt 0 ] && "$@" 2>/dev/null; do
    sleep 0.1
    left=$((left - 1))
  done
}
is_ending() {
  [ -e "$folder/server" ] && kill -0 "$lease"
}
: >"$folder/wanted"
"$@"
code=$?
if ! kill -0 "$driver" 2>/dev/null && [ -e "$folder/wanted" ] && ! [ -s "$folder/word" ]; then
  echo 'rawr: it ended early; Codex went on without it' >"$folder/word"
fi
kill "$driver" $relay 2>/dev/null
wait_while 50 kill -0 "$driver"
if [ -e "$folder/server" ]; then kill "$lease" 2>/dev/null; fi
wait_while 200 is_ending
if [ -e "$folder/server" ]; then kill -KILL -"$(cat "$folder/server")" 2>/dev/null; fi
if [ "$code" = 0 ]; then
  echo 'rawr: this session can be taken up again with: rawr codex resume --last' >&2
fi
if [ -s "$folder/word" ]; then cat "$folder/word" >&2; fi
rm -rf "$folder"
exit "$code"
"#;

/// How long the app-server may take until it listens: a machine may be busy.
const START: Duration = Duration::from_secs(30);

pub(super) async fn run(common: &Common, args: CodexArgs) -> anyhow::Result<ExitCode> {
    let codex = find_codex(args.codex.as_deref())?;
    let arguments = args.arguments.as_slice();
    if arguments
        .iter()
        .any(|argument| argument.to_str().is_some_and(|it| it.starts_with("--remote")))
    {
        bail!(
            "rawr codex brings an app-server of its own: leave --remote out, or use `rawr attach --socket PATH`"
        );
    }
    let first = arguments.first().and_then(|first| first.to_str());
    if first.is_some_and(|first| NO_CONVERSATION.contains(&first)) {
        return become_codex(&codex, arguments);
    }
    match start(common, &codex, &args).await {
        Ok(beside) => beside.become_the_one_who_waits(&codex, arguments),
        Err(error) => {
            let why = one_line(&format!("{error:#}"), WIDTH);
            // Codex is what was asked for.
            let _ = writeln!(anstream::stderr(), "rawr: {why}; Codex runs without it");
            become_codex(&codex, arguments)
        }
    }
}

/// What runs beside Codex. Each is in a process group of its own: the terminal's signals are Codex's.
struct Beside {
    folder: TempDir,
    socket: PathBuf,
    lease: Lease,
    driver: Child,
    /// In front of the app-server's socket, where a message may be held back.
    relay: Option<Child>,
}

async fn start(common: &Common, codex: &Path, args: &CodexArgs) -> anyhow::Result<Beside> {
    hang_ups_count()?;
    // It may hold the conversation that is wanted now.
    abandoned::end_all(places()).await;
    let folder = private_folder().context("there is no place for a socket")?;
    let socket = folder.path().join(CODEX);
    // First, so that it is none of those whom the app-server lives for. It ends with the folder.
    let relay = if args.preflight { relay(folder.path()).await } else { None };
    let server = app_server(common, codex, &args.arguments, &socket)?;
    let mut lease =
        Lease::take(folder.path(), server).context("the app-server cannot be started")?;
    let started = async {
        wait_until_it_listens(&mut lease, &socket, &folder.path().join("log")).await?;
        driver(common, folder.path(), &socket, &lease, args.preflight)
    };
    match started.await {
        Ok(driver) => Ok(Beside { folder, socket, lease, driver, relay }),
        Err(error) => {
            lease.give_up();
            Err(error)
        }
    }
}

/// Codex cannot go on without its terminal, also where hang-ups were ignored before, as under `nohup`: a signal that this
/// process listens to has its default effect in what it becomes and starts.
fn hang_ups_count() -> std::io::Result<()> {
    signal(SignalKind::hangup()).map(drop)
}

/// The address of a socket holds 104 bytes on macOS, 108 on Linux: what a folder's path may be, for `/rawr-XXXXXX/driver`.
const LONGEST_PATH: usize = 80;

/// Only the owner of the folder can reach the sockets in it.
fn private_folder() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).permissions(Permissions::from_mode(0o700));
    let made = places().find_map(|place| builder.tempdir_in(place).ok());
    made.ok_or_else(|| std::io::Error::other("no folder for temporary files can be written to"))
}

/// Of the folders of sockets.
const PREFIX: &str = "rawr-";

/// Stands in for a place whose path is too long.
const SHORT_PLACE: &str = "/tmp";

/// Where folders of sockets are made: in the first that can be written to.
fn places() -> impl Iterator<Item = PathBuf> {
    let run_time = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    let places = run_time.map(PathBuf::from).into_iter().chain([std::env::temp_dir()]);
    places.map(|place| match place.as_os_str().len() <= LONGEST_PATH {
        true => place,
        false => PathBuf::from(SHORT_PLACE),
    })
}

/// The command line of the app-server.
fn app_server(
    common: &Common,
    codex: &Path,
    arguments: &[OsString],
    socket: &Path,
) -> anyhow::Result<Vec<OsString>> {
    let cwd = std::env::current_dir().ok();
    let config = Written::read(&common.home()?, cwd.as_deref(), None).config;
    let own_compaction = Switches(config.effective()).own_compaction();
    let mut words: Vec<OsString> = vec![codex.into(), "app-server".into()];
    words.extend(of_the_server(arguments).into_iter().map(OsStr::to_owned));
    for setting in left_to_codex(own_compaction) {
        words.extend(["-c".into(), setting.into()]);
    }
    let mut address = OsString::from("unix://");
    address.push(socket);
    words.extend(["--listen".into(), address]);
    Ok(words)
}

/// Those of Codex's arguments that configure the app-server as well.
fn of_the_server(arguments: &[OsString]) -> Vec<&OsStr> {
    const WITH_VALUE: [&str; 4] = ["-c", "--config", "--enable", "--disable"];
    let mut taken = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let Some(text) = argument.to_str() else { continue };
        let glued = ["-c", "--config=", "--enable=", "--disable="];
        if WITH_VALUE.contains(&text) {
            taken.push(argument.as_os_str());
            taken.extend(rest.next().map(OsString::as_os_str));
        } else if text == "--" {
            break;
        } else if text == "--strict-config" || glued.iter().any(|flag| text.starts_with(flag)) {
            taken.push(argument.as_os_str());
        }
    }
    taken
}

async fn wait_until_it_listens(lease: &mut Lease, socket: &Path, log: &Path) -> anyhow::Result<()> {
    let give_up = Instant::now() + START;
    loop {
        if let Some(status) = lease.ended()? {
            let words = std::fs::read_to_string(log).unwrap_or_default();
            let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
            bail!("codex's app-server ended ({status}): {last}");
        }
        if socket.exists() {
            match Threads::reach(socket).await {
                Ok(threads) => {
                    threads.close().await;
                    return Ok(());
                }
                Err(error) if Instant::now() > give_up || can_never_be_reached(&error) => {
                    return Err(error.into());
                }
                Err(_) => {}
            }
        }
        if Instant::now() > give_up {
            bail!("codex's app-server did not listen within {} s", START.as_secs());
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// A path that is too long for a socket does not get shorter by waiting.
fn can_never_be_reached(error: &HostError) -> bool {
    matches!(error, HostError::NotReached { source, .. } if source.kind() == ErrorKind::InvalidInput)
}

fn driver(
    common: &Common,
    folder: &Path,
    socket: &Path,
    lease: &Lease,
    preflight: bool,
) -> anyhow::Result<Child> {
    let mut command = rawr_again()?;
    command.arg("--home").arg(common.home()?.dir).arg("attach");
    command.arg("--socket").arg(socket).arg("--beside").arg(folder);
    command.arg("--lease").arg(lease.process_id().to_string());
    command.args(preflight.then_some("--preflight"));
    command.spawn().context("rawr cannot be started a second time")
}

/// In a process group of its own, with nothing to read and nowhere to write.
fn rawr_again() -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("rawr does not know where it is itself")?;
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    Ok(command)
}

/// Codex runs without it, too.
async fn relay(folder: &Path) -> Option<Child> {
    let started = start_relay(folder).await;
    if let Err(error) = &started {
        let why = one_line(&format!("{error:#}"), WIDTH);
        let _ = writeln!(anstream::stderr(), "rawr: {why}; no message is held back");
    }
    started.ok()
}

async fn start_relay(folder: &Path) -> anyhow::Result<Child> {
    let mut command = rawr_again()?;
    let mut relay = command.arg("relay").arg(folder).spawn().context("the relay cannot start")?;
    let (socket, give_up) = (folder.join(SCREEN), Instant::now() + START);
    while !socket.exists() {
        if let Some(status) = relay.try_wait()? {
            bail!("the relay ended ({status})");
        }
        if Instant::now() > give_up {
            // It may have ended already.
            let _ = relay.kill();
            bail!("the relay did not listen within {} s", START.as_secs());
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(relay)
}

impl Beside {
    fn become_the_one_who_waits(
        self,
        codex: &Path,
        arguments: &[OsString],
    ) -> anyhow::Result<ExitCode> {
        let Self { folder, socket, lease, driver, relay } = self;
        let mut address = OsString::from("unix://");
        match &relay {
            Some(_) => address.push(folder.path().join(SCREEN)),
            None => address.push(&socket),
        }
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(WAIT_FOR_CODEX).arg("rawr codex").arg(folder.path());
        shell.arg(lease.process_id().to_string()).arg(driver.id().to_string());
        shell.arg(relay.as_ref().map(|relay| relay.id().to_string()).unwrap_or_default());
        shell.arg(codex).arg("--remote").arg(address).args(arguments);
        let error = shell.exec();
        // There is no shell: what was started for it is ended.
        for mut child in relay.into_iter().chain([driver]) {
            let _ = child.kill();
        }
        lease.give_up();
        Err(error).context("/bin/sh cannot be started")
    }
}

fn become_codex(codex: &Path, arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    let error = Command::new(codex).args(arguments).exec();
    Err(error).with_context(|| format!("{} cannot be started", codex.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::attach::{WANTED, WORD};
    use crate::commands::lease::SERVER;

    #[test]
    fn the_app_server_is_configured_as_codex_itself_is() {
        let given =
            ["-m", "x", "-c", "a=1", "--enable=b", "resume", "-cd=2", "--", "--disable", "c"];
        let given = given.map(OsString::from);
        assert_eq!(of_the_server(&given), ["-c", "a=1", "--enable=b", "-cd=2"]);
    }

    #[test]
    fn the_shell_reads_the_word_that_the_driver_leaves() {
        for file in [WORD, WANTED, SERVER] {
            assert!(WAIT_FOR_CODEX.contains(&format!("$folder/{file}\"")));
        }
    }
}
