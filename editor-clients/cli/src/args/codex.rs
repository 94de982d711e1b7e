//! `codex`, `attach` and their hidden helpers, with their help texts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{ConfigSetting, OutputArgs, parse_setting};

const CODEX_HELP: &str = "\
Examples:
  rawr codex
  rawr codex resume --last
  rawr codex -m gpt-5.5 \"fix the tests\"
  rawr codex -c rawr_auto_compaction.mode=ask  ask before each compaction
  rawr codex --preflight                       let your next message confirm a compaction
  rawr codex -- --help                         Codex's own options

A turn in which the agent commits its work and says that it is done compacts when it ends, once the context is getting
full. After other ends of a phase, four minutes of silence confirm. `rawr explain last` says why.

Everything from the first argument that rawr does not know is passed to Codex, but settings of rawr (-c rawr…=). The screen, the keys and the exit code
are Codex's. If rawr fails, Codex continues without it, and a line at the end reports it. A line at the start reports
when rawr cannot attach: with an option that Codex refuses together with rawr (--add-dir, --worktree), or without a
screen (exec). `rawr watch` in another terminal shows what rawr does and lets you respond.";

#[derive(Debug, Args)]
#[command(after_help = CODEX_HELP, disable_version_flag = true)]
pub struct CodexArgs {
    /// The Codex binary [default: the first `codex` in the PATH]
    #[arg(long, value_name = "PATH")]
    pub codex: Option<PathBuf>,

    /// Hold your message if a compaction must come first; the screen freezes meanwhile
    #[arg(long)]
    pub preflight: bool,

    /// Arguments for Codex
    #[arg(value_name = "CODEX ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

const ATTACH_HELP: &str = "\
Examples:
  rawr attach                                  attach to each `codex` in other terminals
  rawr attach --thread 01a1fc61-5420-7321-81a3-d0c4e2e94ace
  rawr attach --json | jq .event

It runs until Ctrl-C or `rawr detach`. Detaching does not stop Codex. If Codex's server restarts, it connects again.
Codex's background server has its own settings and may compact before rawr does. `rawr codex` prevents that.

Exit codes: 0 `rawr detach`, 1 rawr failed or Codex's server did not start again within a minute, 2 usage error,
130 interrupted with Ctrl-C.";

#[derive(Debug, Args)]
#[command(after_help = ATTACH_HELP)]
pub struct AttachArgs {
    /// Only this Codex thread [default: all, new ones included]
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,

    /// Socket of Codex's app-server [default: the background server's, in CODEX_HOME or ~/.codex]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Override a setting of rawr.toml for this run; repeatable
    #[arg(long = "config", short = 'c', value_name = "KEY=VALUE", value_parser = parse_setting)]
    pub config: Vec<ConfigSetting>,

    /// For tests: do not use Codex's experimental methods
    #[arg(long, hide = true)]
    pub without_experimental: bool,

    /// For `rawr codex`: print nothing, write a log, and store an error in this folder
    #[arg(long, value_name = "DIR", hide = true, requires = "lease")]
    pub beside: Option<PathBuf>,

    /// For `rawr codex`: the process that stops the app-server on request
    #[arg(long, value_name = "PID", hide = true)]
    pub lease: Option<u32>,

    /// For `rawr codex`: decide about messages before Codex gets them
    #[arg(long, hide = true, requires = "beside")]
    pub preflight: bool,
}

/// For `rawr codex --preflight`.
#[derive(Debug, Args)]
pub struct RelayArgs {
    /// Where the sockets are
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Standard input is the socket to listen on
    #[arg(long)]
    pub on_stdin: bool,
}

/// For `rawr codex`.
#[derive(Debug, Args)]
pub struct LeaseArgs {
    /// Where the sockets are
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// The app-server with its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub server: Vec<OsString>,
}
