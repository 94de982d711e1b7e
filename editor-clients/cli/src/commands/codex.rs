//! `rawr codex`: runs Codex in the foreground with rawr attached. This process becomes a shell that waits for Codex, so that no
//! code of rawr is between Codex and its terminal.

mod abandoned;
mod arguments;
mod lease;
pub(super) mod profile;

use std::ffi::OsString;
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

use self::arguments::{CodexArguments, CodexRequest, beside_a_server, without_settings};
use self::lease::AppServerLease;
use super::attach::WIDTH;
use super::common::{CommonOptions, overrides};
use super::exec::FeatureSwitches;
use super::user_files::UserFiles;
use crate::args::{self, CodexArgs, ConfigSetting};
use crate::render::causes;
use rawr_host::host::HostError;
use rawr_host::host::codex::{
    LEAST_BESIDE, ThreadWatch, find_codex, is_at_least, left_to_codex, version,
};
use rawr_host::relay::{CODEX, SCREEN};
use rawr_host::text::one_line;

/// The shell script that waits for Codex, stops the helper processes, and prints at most one line. It ignores the signals that
/// are meant for Codex. Arguments: the folder, the process ids of lease, driver and relay (empty without a relay), and Codex's
/// command line. The driver stops before the turns are interrupted, because it would report an interrupt as a user's decision;
/// the thread can be resumed once the app-server has ended. The relay stops after the driver, which asks it for the message
/// that it held. A process id may have been reused after hours: a process of rawr
/// has the folder in its command line.
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
  [ -e "$folder/server" ] && [ -n "$lease" ] && kill -0 "$lease"
}
is_ours() {
  kill -0 "$1" 2>/dev/null || return 1
  case $(ps -ww -o args= -p "$1" 2>/dev/null) in
    '' | *"$folder"*) return 0 ;;
    *) return 1 ;;
  esac
}
: >"$folder/wanted"
"$@"
code=$?
is_ours "$driver" || driver=
is_ours "$lease" || lease=
if [ -z "$driver" ] && [ -e "$folder/wanted" ] && ! [ -s "$folder/word" ]; then
  echo 'rawr: rawr ended early; Codex continued without it' >"$folder/word"
fi
if [ -n "$driver" ]; then
  kill "$driver" 2>/dev/null
  wait_while 50 kill -0 "$driver"
fi
if [ -n "$relay" ] && is_ours "$relay"; then kill "$relay" 2>/dev/null; fi
if [ -e "$folder/server" ] && [ -n "$lease" ]; then kill "$lease" 2>/dev/null; fi
wait_while 200 is_ending
if [ -e "$folder/server" ]; then kill -KILL -"$(cat "$folder/server")" 2>/dev/null; fi
if [ "$code" = 0 ]; then
  thread=$(cat "$folder/thread" 2>/dev/null)
  echo "rawr: resume this session with: rawr codex resume ${thread:---last} (not codex --remote: that server has ended)" >&2
fi
if [ -s "$folder/word" ]; then cat "$folder/word" >&2; fi
rm -rf "$folder"
exit "$code"
"#;

/// Timeout for the app-server to listen, long enough for a busy machine.
const START: Duration = Duration::from_secs(30);

pub(super) async fn run(common: &CommonOptions, args: CodexArgs) -> anyhow::Result<ExitCode> {
    let codex = find_codex(args.codex.as_deref())?;
    let (settings, arguments) = without_settings(&args.arguments);
    let arguments = arguments.as_slice();
    let settings = match args::settings(&settings) {
        Ok(settings) => settings,
        Err(error) => {
            error.print()?;
            return Ok(ExitCode::from(2));
        }
    };
    let read = CodexArguments::read(arguments);
    if read.are_remote() {
        bail!(
            "`rawr codex` starts its own app-server; remove --remote, or use `rawr attach --socket PATH`"
        );
    }
    match read.request() {
        CodexRequest::Conversation => {}
        CodexRequest::RefusedBeside(option) => {
            run_without_rawr(&format!("Codex refuses {option} with --remote, which rawr needs"));
            return become_codex(&codex, arguments);
        }
        CodexRequest::Agent(command) => {
            let with_rawr = match command.as_str() {
                "e" | "exec" => "; `rawr exec --host codex` runs Codex with it",
                _ => "",
            };
            say(&format!("`codex {command}` runs without rawr{with_rawr}"));
            return become_codex(&codex, arguments);
        }
        CodexRequest::Other => return become_codex(&codex, arguments),
    }
    if let Some(too_old) = too_old(&codex).await {
        run_without_rawr(&too_old);
        return become_codex(&codex, arguments);
    }
    match start(common, &codex, &args, &read, &settings).await {
        Ok(beside) => beside.become_the_one_who_waits(&codex, arguments),
        Err(error) => {
            // A failure of rawr must not keep Codex from running.
            run_without_rawr(&causes(&error));
            become_codex(&codex, arguments)
        }
    }
}

/// Refuses an old Codex before it starts, because its own error is not helpful.
async fn too_old(codex: &Path) -> Option<String> {
    let version = version(codex).await.ok()?;
    let [major, minor] = LEAST_BESIDE;
    (!is_at_least(&version, LEAST_BESIDE)).then(|| {
        format!("Codex {version} is too old for rawr, which needs {major}.{minor} (npm install -g @openai/codex@latest)")
    })
}

fn run_without_rawr(why: &str) {
    say(&format!("{}; Codex runs without it", one_line(why, WIDTH)));
}

/// Prints a message. A closed terminal is ignored.
fn say(line: &str) {
    let _ = writeln!(anstream::stderr(), "rawr: {line}");
}

/// The helper processes of Codex. Each is in its own process group, because the terminal's signals are for Codex.
struct HelperProcesses {
    folder: TempDir,
    socket: PathBuf,
    lease: AppServerLease,
    driver: Child,
    /// The relay in front of the app-server's socket, which may hold messages.
    relay: Option<Child>,
}

async fn start(
    common: &CommonOptions,
    codex: &Path,
    args: &CodexArgs,
    read: &CodexArguments,
    settings: &[ConfigSetting],
) -> anyhow::Result<HelperProcesses> {
    hang_ups_count()?;
    // An abandoned app-server may still own the requested thread.
    abandoned::end_all(places()).await;
    let folder = private_folder().context("failed to create a folder for the sockets")?;
    let socket = folder.path().join(CODEX);
    // Started before the lease, so that it does not inherit the lock that keeps the app-server alive. It ends when the
    // folder is removed.
    let relay = if args.preflight { relay(folder.path()).await } else { None };
    let server = app_server(common, codex, read, settings, &socket)?;
    let mut lease =
        AppServerLease::take(folder.path(), server).context("failed to start the app-server")?;
    let started = async {
        wait_until_it_listens(&mut lease, &socket, &folder.path().join("log")).await?;
        driver(common, folder.path(), &socket, &lease, args.preflight, settings)
    };
    match started.await {
        Ok(driver) => Ok(HelperProcesses { folder, socket, lease, driver, relay }),
        Err(error) => {
            lease.give_up();
            Err(error)
        }
    }
}

/// Restores the default effect of SIGHUP, which may be ignored, as under `nohup`: Codex cannot continue without its terminal. A
/// signal with a handler gets its default effect in the programs that this process executes.
fn hang_ups_count() -> std::io::Result<()> {
    signal(SignalKind::hangup()).map(drop)
}

/// The longest path of the folder: a socket's address holds 104 bytes on macOS and 108 on Linux, minus `/rawr-XXXXXX/driver`.
const LONGEST_PATH: usize = 80;

/// Only the owner of the folder can reach the sockets in it.
fn private_folder() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).permissions(Permissions::from_mode(0o700));
    let made = places().find_map(|place| builder.tempdir_in(place).ok());
    made.ok_or_else(|| std::io::Error::other("no folder for temporary files can be written to"))
}

/// Prefix of the folders of sockets.
const PREFIX: &str = "rawr-";

/// Used instead of a folder whose path is too long.
const SHORT_PLACE: &str = "/tmp";

/// Candidates for the parent of the folder; the first writable one is used.
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
    common: &CommonOptions,
    codex: &Path,
    read: &CodexArguments,
    settings: &[ConfigSetting],
    socket: &Path,
) -> anyhow::Result<Vec<OsString>> {
    let cwd = std::env::current_dir().ok();
    let overrides = serde_json::Value::Object(overrides(settings)?);
    let home = common.home()?;
    let config = UserFiles::read_with(&home, cwd.as_deref(), None, Some(&overrides)).config;
    let own_compaction = FeatureSwitches(config.effective()).own_compaction();
    let mut words: Vec<OsString> = vec![codex.into(), "app-server".into()];
    let of_profile = read.profile().map(profile::settings).transpose()?.flatten();
    // Codex itself refuses a profile that does not exist.
    let of_profile = of_profile.unwrap_or_default();
    words.extend(of_profile.into_iter().flat_map(|setting| ["-c".into(), setting.into()]));
    words.extend(read.of_the_server().map(OsString::from));
    for setting in left_to_codex(own_compaction) {
        words.extend(["-c".into(), setting.into()]);
    }
    let mut address = OsString::from("unix://");
    address.push(socket);
    words.extend(["--listen".into(), address]);
    Ok(words)
}

async fn wait_until_it_listens(
    lease: &mut AppServerLease,
    socket: &Path,
    log: &Path,
) -> anyhow::Result<()> {
    let give_up = Instant::now() + START;
    loop {
        if let Some(status) = lease.ended()? {
            let words = std::fs::read_to_string(log).unwrap_or_default();
            let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
            bail!("codex's app-server ended ({status}): {last}");
        }
        if socket.exists() {
            match ThreadWatch::reach(socket).await {
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

/// Fails at once if the path is too long for a socket.
fn can_never_be_reached(error: &HostError) -> bool {
    matches!(error, HostError::NotReached { source, .. } if source.kind() == ErrorKind::InvalidInput)
}

fn driver(
    common: &CommonOptions,
    folder: &Path,
    socket: &Path,
    lease: &AppServerLease,
    preflight: bool,
    settings: &[ConfigSetting],
) -> anyhow::Result<Child> {
    let mut command = rawr_again()?;
    command.arg("--home").arg(common.home()?.dir).arg("attach");
    command.arg("--socket").arg(socket).arg("--beside").arg(folder);
    command.arg("--lease").arg(lease.process_id().to_string());
    command.args(preflight.then_some("--preflight"));
    for setting in settings {
        command.arg("-c").arg(&setting.text);
    }
    command.spawn().context("failed to start a second rawr process")
}

/// A second rawr in its own process group, with null stdin and stdout.
fn rawr_again() -> anyhow::Result<Command> {
    let program =
        std::env::current_exe().context("cannot determine the path of the rawr executable")?;
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    Ok(command)
}

/// Starts the relay. Codex also runs without it.
async fn relay(folder: &Path) -> Option<Child> {
    let started = start_relay(folder).await;
    if let Err(error) = &started {
        say(&format!("{}; no message is held", one_line(&causes(error), WIDTH)));
    }
    started.ok()
}

async fn start_relay(folder: &Path) -> anyhow::Result<Child> {
    let mut command = rawr_again()?;
    let mut relay =
        command.arg("relay").arg(folder).spawn().context("failed to start the relay")?;
    let (socket, give_up) = (folder.join(SCREEN), Instant::now() + START);
    while !socket.exists() {
        if let Some(status) = relay.try_wait()? {
            bail!("the relay ended ({status})");
        }
        if Instant::now() > give_up {
            // Fails if it has already ended.
            let _ = relay.kill();
            bail!("the relay did not listen within {} s", START.as_secs());
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(relay)
}

impl HelperProcesses {
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
        shell.arg(codex).arg("--remote").arg(address).args(beside_a_server(arguments));
        let error = shell.exec();
        // Without a shell, stop the helper processes.
        for mut child in relay.into_iter().chain([driver]) {
            let _ = child.kill();
        }
        lease.give_up();
        Err(error).context("failed to start /bin/sh")
    }
}

fn become_codex(codex: &Path, arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    let error = Command::new(codex).args(arguments).exec();
    Err(error).with_context(|| format!("failed to start {}", codex.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::attach::{THREAD, WANTED, WORD};
    use crate::commands::lease::SERVER;

    #[test]
    fn the_shell_signals_only_its_own_processes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(SERVER), "").unwrap();
        let mut others = [(); 3].map(|()| {
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
        });
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", WAIT_FOR_CODEX, "rawr codex"]).arg(folder.path());
        shell.args(others.iter().map(|other| other.id().to_string()));
        // Without a lease the shell stops the app-server itself; here there is none.
        let output = shell.args(["sh", "-c", "exit 3"]).output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("rawr ended early"), "{said}");
        for other in &mut others {
            drop(other.stdin.take());
            assert!(other.wait().unwrap().success());
        }
    }

    /// The last line of the script with these files of the driver.
    fn last_line(files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", WAIT_FOR_CODEX, "rawr codex"]).arg(folder.path());
        let output = shell.args(["", "", "", "true"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        said.lines().find(|line| line.contains("resume this session")).unwrap_or(&said).to_owned()
    }

    #[test]
    fn the_shell_prints_how_to_resume_the_session() {
        let line = "rawr: resume this session with: rawr codex resume";
        let ended = "(not codex --remote: that server has ended)";
        assert_eq!(last_line(&[(THREAD, "0199-a")]), format!("{line} 0199-a {ended}"));
        assert_eq!(last_line(&[]), format!("{line} --last {ended}"));
    }

    #[test]
    fn the_shell_prints_the_drivers_error() {
        for file in [WORD, WANTED, SERVER, THREAD] {
            assert!(WAIT_FOR_CODEX.contains(&format!("$folder/{file}\"")));
        }
    }
}
