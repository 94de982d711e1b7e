//! `rawr config` and `rawr prompts`, with their help texts.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, Subcommand};

use super::{OutputArgs, ThreadOption};

/// The names of the prompts, for shell completion.
pub const PROMPTS: [&str; 10] = [
    "auto-compact",
    "heads-up",
    "scratch-write",
    "judgment",
    "judgment-context",
    "watcher-packet",
    "handoff",
    "called-off",
    "compact",
    "summary-prefix",
];

const CONFIG_EXAMPLES: &str = "\
Examples:
  rawr config show                     which values are set, and where
  rawr config show --effective         every key with its value and the layer that set it
  rawr config check                    problems in the files, with line and column
  rawr config schema > rawr.schema.json

The files are rawr.toml and Codex's config.toml in the home folder, and .rawr.toml in the working folder.";

#[derive(Debug, Args)]
#[command(after_help = CONFIG_EXAMPLES)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the JSON Schema of rawr.toml for editors
    Schema(ConfigSchemaArgs),
    /// Show which values are set, and where
    Show(ConfigShowArgs),
    /// Check the configuration and the prompts
    Check(ConfigCheckArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr config schema > ~/.config/rawr.schema.json\n\nEditors with a TOML language server use it if this is the first line of rawr.toml:\n  #:schema /home/you/.config/rawr.schema.json"
)]
pub struct ConfigSchemaArgs {
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr config show --effective --model gpt-5.2 --json | jq -r 'select(.layer != \"built-in\") | .key'"
)]
pub struct ConfigShowArgs {
    /// All keys, unset ones included
    #[arg(long)]
    pub effective: bool,

    /// For a thread with this model
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// For a thread in this folder [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub cd: Option<PathBuf>,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr config check --json | jq 'select(.severity == \"error\")'\n\nExit code 1 if there is an error; warnings and hints do not count."
)]
pub struct ConfigCheckArgs {
    /// Include the .rawr.toml of this folder [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub cd: Option<PathBuf>,

    #[command(flatten)]
    pub output: OutputArgs,
}

const PROMPTS_EXAMPLES: &str = "\
Examples:
  rawr prompts list
  rawr prompts edit heads-up           in $VISUAL or $EDITOR; problems are reported afterwards
  rawr prompts diff                    what you changed
  rawr prompts render handoff          its text in the last thread, with the token count
  rawr prompts reset heads-up          restore the shipped text; yours is backed up

A running session uses an edited prompt as soon as it is saved. A compaction in progress keeps the prompts it started
with.";

#[derive(Debug, Args)]
#[command(after_help = PROMPTS_EXAMPLES)]
pub struct PromptsArgs {
    #[command(subcommand)]
    pub command: PromptsCommand,
}

#[derive(Debug, Subcommand)]
pub enum PromptsCommand {
    /// List the prompts with path and state
    List(PromptsListArgs),
    /// Open a prompt in your editor and check it afterwards
    Edit(PromptsEditArgs),
    /// Show your changes to the shipped prompts
    Diff(PromptsDiffArgs),
    /// Restore the shipped text and back up yours
    Reset(PromptsResetArgs),
    /// Render a prompt for a thread, with its token count
    Render(PromptsRenderArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr prompts list --json | jq -r 'select(.state == \"edited\") | .path'"
)]
pub struct PromptsListArgs {
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  VISUAL='code --wait' rawr prompts edit handoff\n\nThe editor is $VISUAL, else $EDITOR, else vi. It is split like a shell command line, but not run in a shell.\n\nExit code 1 if the editor fails, or if the text is invalid."
)]
pub struct PromptsEditArgs {
    /// The prompt
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(PROMPTS))]
    pub name: String,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rawr prompts diff heads-up")]
pub struct PromptsDiffArgs {
    /// The prompt [default: all]
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(PROMPTS))]
    pub name: Option<String>,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("which").required(true).args(["names", "all"]),
    after_help = "Example:\n  rawr prompts reset heads-up handoff\n\nYour text is backed up as `<file>.old`."
)]
pub struct PromptsResetArgs {
    /// The prompts
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(PROMPTS))]
    pub names: Vec<String>,

    /// All of them
    #[arg(long)]
    pub all: bool,

    /// Do not ask first
    #[arg(long, short)]
    pub yes: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr prompts render handoff --thread last --json | jq .tokens\n\nPlaceholders without a value yet are shown as their name in braces."
)]
pub struct PromptsRenderArgs {
    /// The prompt
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(PROMPTS))]
    pub name: String,

    #[command(flatten)]
    pub thread: ThreadOption,

    #[command(flatten)]
    pub output: OutputArgs,
}
