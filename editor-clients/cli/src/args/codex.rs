//! The commands that put rawr beside a person's own Codex, and their help. Does nothing.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{Setting, parse_setting};

const CODEX_HELP: &str = "\
Examples:
  rawr codex
  rawr codex resume --last
  rawr codex -m gpt-5.5 \"fix the tests\"
  rawr codex --preflight                       where rawr.toml asks for turn_complete
  rawr codex -- --help                         what Codex itself takes

From the first argument on that rawr does not know, everything is Codex's. The screen, the keys and the exit code are
Codex's, too. If rawr fails, Codex goes on without it, and one line says so in the end. Another says so at the beginning
where Codex refuses an option beside rawr (--add-dir, --worktree), and where an agent works without a screen (exec).
`rawr watch` in another terminal shows what rawr does, and lets you step in.";

#[derive(Debug, Args)]
#[command(after_help = CODEX_HELP, disable_version_flag = true)]
pub struct CodexArgs {
    /// The Codex binary [default: the first `codex` in the PATH]
    #[arg(long, value_name = "PATH")]
    pub codex: Option<PathBuf>,

    /// Hold your message back where a compaction is due before it; the screen stands still meanwhile
    #[arg(long)]
    pub preflight: bool,

    /// What Codex is started with
    #[arg(value_name = "CODEX ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

const ATTACH_HELP: &str = "\
Examples:
  rawr attach                                  beside whatever `codex` runs in other terminals
  rawr attach --thread 01a1fc61-5420-7321-81a3-d0c4e2e94ace
  rawr attach --json | jq .event

It goes on until Codex ends, or until Ctrl-C or `rawr detach`; Codex goes on in any case.
Codex's background server has its own settings: it may compact by itself before rawr does. `rawr codex` prevents that.

Exit codes: 0 Codex ended or `rawr detach`, 1 rawr failed, 2 wrong usage, 130 after Ctrl-C.";

#[derive(Debug, Args)]
#[command(after_help = ATTACH_HELP)]
pub struct AttachArgs {
    /// Only this thread of Codex's [default: all, also those to come]
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,

    /// Where Codex's app-server listens [default: its background server's socket, in CODEX_HOME or ~/.codex]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,

    /// A setting of rawr's for this run, as in rawr.toml; may be given more than once
    #[arg(long = "config", short = 'c', value_name = "KEY=VALUE", value_parser = parse_setting)]
    pub config: Vec<Setting>,

    /// For tests: ask Codex for nothing that it may still change
    #[arg(long, hide = true)]
    pub without_experimental: bool,

    /// For `rawr codex`: say nothing, write a log, and leave word in this folder when it fails
    #[arg(long, value_name = "DIR", hide = true, requires = "lease")]
    pub beside: Option<PathBuf>,

    /// For `rawr codex`: the process that ends the app-server when it is asked to
    #[arg(long, value_name = "PID", hide = true)]
    pub lease: Option<u32>,

    /// For `rawr codex`: be asked about messages before Codex gets them
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
