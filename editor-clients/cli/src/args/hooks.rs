//! `rawr hooks` and the hidden `rawr hook`, with their help texts.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  rawr hooks install --claude                    for all your projects
  rawr hooks install --claude --project .        for this one
  rawr hooks install --codex --claude --uninstall

When a phase of work ends with little context left, the agent writes its continuation packet and you are notified.
Compact whenever you like (/compact); the packet is handed back. Other settings in these files are not changed.";

#[derive(Debug, Args)]
pub struct HooksArgs {
    #[command(subcommand)]
    pub command: HooksCommand,
}

#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// Add rawr's hooks to Claude Code's or Codex's configuration, or remove them
    Install(HooksInstallArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    group = ArgGroup::new("agents").args(["claude", "codex"]).multiple(true).required(true)
)]
pub struct HooksInstallArgs {
    /// In Claude Code's settings.json; with --project, in its settings.local.json
    #[arg(long)]
    pub claude: bool,

    /// In Codex's hooks.json
    #[arg(long)]
    pub codex: bool,

    /// Only for this project
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,

    /// Remove rawr's hooks
    #[arg(long)]
    pub uninstall: bool,

    /// Context window of Claude Code's model, in tokens [default: by the model's name]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub context_window: Option<u64>,

    /// Also request packets in `claude -p` and `codex exec`; their output may then be the packet
    #[arg(long)]
    pub headless: bool,
}

/// Arguments of the hidden `rawr hook`, which agents call.
#[derive(Debug, Args)]
pub struct HookArgs {
    /// The event in the agent
    pub event: String,

    /// The agent
    #[arg(long, value_enum)]
    pub host: HookHost,

    /// Context window of its model in tokens, if it does not report one
    #[arg(long, value_name = "TOKENS")]
    pub context_window: Option<u64>,

    /// Also ask the agent when no user is present
    #[arg(long)]
    pub headless: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookHost {
    Claude,
    Codex,
}
