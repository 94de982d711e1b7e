//! The commands and their shared parts: the home folder, the sidecar, exit codes. A command must not contain compaction rules.

mod attach;
mod backup;
mod capsules;
mod claude_mod;
mod codex;
mod common;
mod compact;
mod complete;
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
mod label;
mod lease;
mod long_read;
mod mark;
mod pin;
mod prompts;
mod recall;
mod relay;
mod replay;
mod respond;
mod restore;
mod snooze;
mod state;
mod stats;
mod status;
mod stored;
mod test;
mod threads;
mod tune;
mod user_files;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write};
use std::pin::Pin;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use rawr_server::ServeOptions;

use crate::args::{self, Cli, CliCommand, ProgramCli, ProgramCommand};
use crate::render::causes;
use common::CommonOptions;
use rawr_host::text::sanitize_terminal;

/// Runs the program.
pub fn main() -> ExitCode {
    if let Some(answered) = complete::answer() {
        return answered;
    }
    let (cli, command) = match parsed() {
        Ok(parsed) => parsed,
        Err(error) => return not_understood(&about_updates(error)),
    };
    let common = CommonOptions { command, home: cli.global.home, is_verbose: cli.global.verbose };
    // A hook's stderr is shown in the agent, a relay has none, and the sidecar configures its own log.
    let logs_itself = matches!(
        cli.command,
        CliCommand::Program(
            ProgramCommand::Serve(_) | ProgramCommand::Hook(_) | ProgramCommand::Relay(_)
        )
    );
    if !logs_itself && let Err(error) = rawr_server::log_if_asked() {
        let _ = writeln!(anstream::stderr(), "rawr: logging is off: {error}");
    }
    let done = match cli.command {
        CliCommand::Program(ProgramCommand::Serve(args)) => {
            return rawr_server::serve(ServeOptions { home: common.home, log_file: args.log_file });
        }
        CliCommand::Program(ProgramCommand::Hook(args)) => return hook::run(&common, &args),
        CliCommand::Program(ProgramCommand::ClaudeMod) => on_runtime(claude_mod::run(&common)),
        CliCommand::Program(ProgramCommand::Relay(args)) => on_runtime(relay::run(args)),
        CliCommand::Program(ProgramCommand::Lease(args)) => on_runtime(lease::run(args)),
        CliCommand::Demo(args) => on_runtime(demo::run(&common, args)),
        CliCommand::Exec(args) => on_runtime(exec::run(&common, args)),
        CliCommand::Codex(args) => on_runtime(codex::run(&common, args)),
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
        CliCommand::Replay(args) => on_runtime(replay::run(&common, args)),
        CliCommand::Tune(args) => on_runtime(tune::run(&common, args)),
        CliCommand::Label(args) => label::run(&common, &args),
        CliCommand::Stats(args) => on_runtime(stats::run(&common, args)),
        CliCommand::State(args) => on_runtime(state::run(&common, args)),
        CliCommand::Hooks(args) => hooks::run(&common, &args),
        CliCommand::Config(args) => config::run(&common, &args),
        CliCommand::Test(args) => return test::run(&common, &args),
        CliCommand::Prompts(args) => on_runtime(prompts::run(&common, args)),
        CliCommand::Init(args) => init::run(&common, &args),
        CliCommand::Completions { shell } => complete::script(shell),
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
    if let Ok(matches) = ProgramCli::command().try_get_matches()
        && let Ok(cli) = ProgramCli::from_arg_matches(&matches)
    {
        return Ok((cli.into(), command_of(&matches)));
    }
    // The text of the help is made only where something is printed.
    let matches =
        Cli::command().try_get_matches().or_else(|_| args::command().try_get_matches())?;
    let cli = Cli::from_arg_matches(&matches);
    Ok((cli.map_err(|error| error.format(&mut args::command()))?, command_of(&matches)))
}

fn command_of(matches: &ArgMatches) -> String {
    format!("rawr {}", matches.subcommand_name().unwrap_or_default())
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

/// Says who updates rawr, to those who know the command of other programs.
fn about_updates(error: clap::Error) -> clap::Error {
    const TEXT: &str =
        "rawr does not update itself: use what installed it, such as cargo or your package manager";
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) if UPDATES.contains(&name.as_str()) => {
            args::command().error(error.kind(), TEXT)
        }
        _ => error,
    }
}

/// Commands with which other programs update themselves.
const UPDATES: [&str; 3] = ["update", "upgrade", "self-update"];

/// Whether these are the arguments of an installed hook: `[--home DIR] hook EVENT --host HOST`.
fn is_installed_hook(words: &[OsString]) -> bool {
    let words = match words {
        [flag, _, rest @ ..] if flag == "--home" => rest,
        words => words,
    };
    matches!(words, [hook, _, host, ..] if hook == "hook" && host == "--host")
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

fn on_runtime(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    on_new_runtime(Box::pin(work))
}

/// Not generic, so that the runtime's loop is compiled once.
fn on_new_runtime(
    work: Pin<Box<dyn Future<Output = anyhow::Result<ExitCode>> + '_>>,
) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // No remaining task is worth waiting for.
    runtime.shutdown_background();
    done
}
