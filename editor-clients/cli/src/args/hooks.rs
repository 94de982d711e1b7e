//! The commands for hooks in agents that rawr does not run itself, and their help. Does nothing.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  rawr hooks install --claude                    for all your projects
  rawr hooks install --claude --project .        for this one
  rawr hooks install --codex --claude --uninstall

Where a phase of work ends under pressure, the agent writes its continuation packet, and you are told. Compact when you
like (/compact); the packet is handed back. What else stands in the files stays as it is.";

#[derive(Debug, Args)]
pub struct HooksArgs {
    #[command(subcommand)]
    pub command: HooksCommand,
}

#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// Put rawr's hooks into Claude Code's or Codex's configuration, or take them out
    Install(HooksInstallArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    group = ArgGroup::new("agents").args(["claude", "codex"]).multiple(true).required(true)
)]
pub struct HooksInstallArgs {
    /// Into Claude Code's settings.json; of a project, into its settings.local.json
    #[arg(long)]
    pub claude: bool,

    /// Into Codex's hooks.json
    #[arg(long)]
    pub codex: bool,

    /// For this project alone
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,

    /// Take rawr's hooks out again
    #[arg(long)]
    pub uninstall: bool,

    /// How many tokens Claude Code's model holds, which its hooks are not told [default: by the model's name]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub context_window: Option<u64>,

    /// Ask the agent in `claude -p` and `codex exec` as well; their output may then be its packet
    #[arg(long)]
    pub headless: bool,
}

/// What the agent calls; people have no use for it.
#[derive(Debug, Args)]
pub struct HookArgs {
    /// What happens in the agent
    pub event: String,

    /// The agent
    #[arg(long, value_enum)]
    pub host: HookHost,

    /// How many tokens its model holds, where it does not say
    #[arg(long, value_name = "TOKENS")]
    pub context_window: Option<u64>,

    /// Ask the agent where no person is there, too
    #[arg(long)]
    pub headless: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookHost {
    Claude,
    Codex,
}
