//! The commands and their shared parts: the home folder, the sidecar, exit codes. A command must not contain compaction rules.

mod attach;
mod backup;
mod capsules;
mod codex;
mod compact;
mod config;
mod demo;
mod detach;
mod doctor;
mod exec;
mod explain;
mod guard;
mod hook;
mod hooks;
mod init;
mod lease;
mod mark;
mod pin;
mod prompts;
mod recall;
mod relay;
mod respond;
mod restore;
mod snooze;
mod state;
mod status;
mod threads;
mod user_files;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use clap::FromArgMatches;
use rawr_protocol::{PromptGetParams, methods};
use rawr_server::ServeOptions;
use rawr_server::config::Home;
use rawr_server::store::Store;
use serde_json::{Map, Value};

use crate::args::{self, Cli, CliCommand, ConfigSetting};
use crate::render::causes;
use rawr_host::drive::{DriveError, SessionEnd, SessionResult};
use rawr_host::host::embedded::CompactionPrompts;
use rawr_host::sidecar::{SidecarClient, SidecarLog, SidecarSettings};
use rawr_host::stop::StopRequest;
use rawr_host::text::sanitize_terminal;

/// Runs the program.
pub fn main() -> ExitCode {
    let (cli, command) = match parsed() {
        Ok(parsed) => parsed,
        Err(error) => return not_understood(&error),
    };
    let common = CommonOptions { command, home: cli.home, is_verbose: cli.verbose };
    // A hook's stderr is shown in the agent, a relay has none, and the sidecar configures its own log.
    if !matches!(cli.command, CliCommand::Serve(_) | CliCommand::Hook(_) | CliCommand::Relay(_))
        && let Err(error) = rawr_server::log_if_asked()
    {
        let _ = writeln!(anstream::stderr(), "rawr: logging is off: {error}");
    }
    let done = match cli.command {
        CliCommand::Serve(args) => {
            return rawr_server::serve(ServeOptions { home: common.home, log_file: args.log_file });
        }
        CliCommand::Demo(args) => on_runtime(demo::run(&common, args)),
        CliCommand::Exec(args) => on_runtime(exec::run(&common, args)),
        CliCommand::Codex(args) => on_runtime(codex::run(&common, args)),
        CliCommand::Relay(args) => on_runtime(relay::run(args)),
        CliCommand::Lease(args) => on_runtime(lease::run(args)),
        CliCommand::Attach(args) => on_runtime(attach::run(&common, args)),
        CliCommand::Detach => detach::run(&common),
        CliCommand::Doctor(args) => on_runtime(doctor::run(&common, args)),
        CliCommand::Status(args) => on_runtime(status::run(&common, args)),
        CliCommand::Watch(args) => on_runtime(watch::run(&common, args)),
        CliCommand::Explain(args) => on_runtime(explain::run(&common, args)),
        CliCommand::Guard(args) => on_runtime(guard::run(&common, args)),
        CliCommand::Pin(args) => on_runtime(pin::run(&common, args)),
        CliCommand::Mark(args) => on_runtime(mark::run(&common, args)),
        CliCommand::Snooze(args) => on_runtime(snooze::run(&common, args)),
        CliCommand::Compact(args) => on_runtime(compact::run(&common, args)),
        CliCommand::Capsules(args) => on_runtime(capsules::run(&common, args)),
        CliCommand::Restore(args) => on_runtime(restore::run(&common, args)),
        CliCommand::Recall(args) => on_runtime(recall::run(&common, args)),
        CliCommand::State(args) => on_runtime(state::run(&common, args)),
        CliCommand::Hooks(args) => hooks::run(&common, &args),
        CliCommand::Hook(args) => return hook::run(&common, &args),
        CliCommand::Config(args) => config::run(&common, &args),
        CliCommand::Prompts(args) => on_runtime(prompts::run(&common, args)),
        CliCommand::Init(args) => init::run(&common, &args),
        CliCommand::Completions { shell } => completions(shell),
    };
    done.unwrap_or_else(|error| {
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        // If stderr is closed, the exit code still reports the failure.
        let _ = writeln!(anstream::stderr(), "rawr: {}", sanitize_terminal(&causes(&error)));
        ExitCode::FAILURE
    })
}

/// The parsed arguments, and the command as the user typed it.
fn parsed() -> Result<(Cli, String), clap::Error> {
    let matches = args::command().try_get_matches()?;
    let command = format!("rawr {}", matches.subcommand_name().unwrap_or_default());
    let cli = Cli::from_arg_matches(&matches);
    Ok((cli.map_err(|error| error.format(&mut args::command()))?, command))
}

/// Agents read the exit code of a usage error as a hook's request not to stop. Hooks installed by another release must never
/// send that.
fn not_understood(error: &clap::Error) -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if error.use_stderr() && is_installed_hook(&words) {
        // A failure to print is ignored.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    error.exit()
}

/// Whether these are the arguments of an installed hook: `[--home DIR] hook EVENT --host HOST`.
fn is_installed_hook(words: &[OsString]) -> bool {
    let words = match words {
        [flag, _, rest @ ..] if flag == "--home" => rest,
        words => words,
    };
    matches!(words, [hook, _, host, ..] if hook == "hook" && host == "--host")
}

/// The options that all commands accept.
#[derive(Debug)]
struct CommonOptions {
    /// The name under which the sidecar records this client's requests, such as `rawr compact`.
    command: String,
    home: Option<PathBuf>,
    is_verbose: bool,
}

impl CommonOptions {
    /// The folder of rawr's files, resolved by the same rule as in the sidecar.
    fn home(&self) -> anyhow::Result<Home> {
        let home = Home::resolve(self.home.as_deref(), None::<PathBuf>)
            .map_err(|problem| anyhow!("{}: pass one with --home DIR", problem.message))?;
        // Texts of the protocol are UTF-8, so the sidecar would use another folder.
        if home.dir.to_str().is_none() {
            let dir = home.dir.display();
            return Err(anyhow!("the home {dir} is not valid UTF-8; pass another with --home DIR"));
        }
        Ok(home)
    }

    /// How a command starts its sidecar.
    fn sidecar(&self, config: Map<String, Value>) -> anyhow::Result<SidecarSettings> {
        let home = self.home()?.dir;
        let log = if self.is_verbose {
            SidecarLog::Terminal
        } else {
            SidecarLog::File(home.join("rawr").join("sidecar.log"))
        };
        let program =
            std::env::current_exe().context("cannot determine the path of the rawr executable")?;
        let (client, home) = (self.command.clone(), Some(home));
        Ok(SidecarSettings { program, client, home, config, log })
    }
}

/// The folder that contains all threads, by the store's own rule.
fn threads_folder(home: &Path) -> PathBuf {
    Store::new(home).root().to_owned()
}

fn thread_folder(home: &Path, thread_id: &str) -> PathBuf {
    threads_folder(home).join(thread_id)
}

/// The settings as nested tables for the sidecar. Of two settings for one key the later wins.
fn overrides(settings: &[ConfigSetting]) -> anyhow::Result<Map<String, Value>> {
    let mut root = Map::new();
    for ConfigSetting { key, value } in settings {
        let mut table = &mut root;
        let Some((last, path)) = key.split_last() else { continue };
        for part in path {
            let inner = table.entry(part.as_str()).or_insert_with(|| Value::Object(Map::new()));
            table = inner.as_object_mut().with_context(|| {
                format!("--config {}: {part} is already set to a value", key.join("."))
            })?;
        }
        table.insert(last.clone(), serde_json::to_value(value)?);
    }
    Ok(root)
}

/// The exit code of a session. A closed output pipe is a normal end.
fn exit_code(
    done: Result<SessionResult, DriveError>,
    stop: &StopRequest,
) -> anyhow::Result<ExitCode> {
    Ok(match done?.ended {
        SessionEnd::Finished => ExitCode::SUCCESS,
        SessionEnd::Unfinished => ExitCode::FAILURE,
        SessionEnd::Stopped => ExitCode::from(stop.exit_code()),
    })
}

/// The current prompts of the embedded host's compactor.
async fn compaction_prompts(sidecar: &mut SidecarClient) -> anyhow::Result<CompactionPrompts> {
    Ok(CompactionPrompts {
        compact: prompt(sidecar, "compact").await?,
        summary_prefix: prompt(sidecar, "summary-prefix").await?,
    })
}

async fn prompt(sidecar: &mut SidecarClient, name: &str) -> anyhow::Result<String> {
    let params = PromptGetParams { name: name.to_owned() };
    let got = sidecar.call::<methods::PromptGet>(params).await;
    got.map(|got| got.text).with_context(|| format!("failed to load the prompt {name}"))
}

/// The current time in Unix milliseconds.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

fn on_runtime(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // No remaining task is worth waiting for.
    runtime.shutdown_background();
    done
}

fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::for_completion(), "rawr", &mut script);
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
