//! The commands for the files that a person edits, configuration and prompts, and their help. Does nothing.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, Subcommand};

/// The prompts, so that a shell completes them.
pub const PROMPTS: [&str; 9] = [
    "auto-compact",
    "heads-up",
    "scratch-write",
    "judgment",
    "judgment-context",
    "watcher-packet",
    "handoff",
    "compact",
    "summary-prefix",
];

const CONFIG_EXAMPLES: &str = "\
Examples:
  rawr config show                     what is set, and where
  rawr config show --effective         every key with the value in force and the layer that set it
  rawr config check                    what is wrong with the files, with the place
  rawr config schema > rawr.schema.json

The files are rawr.toml and Codex's config.toml in the home, and .rawr.toml of the folder.";

#[derive(Debug, Args)]
#[command(after_help = CONFIG_EXAMPLES)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the JSON Schema of rawr.toml, for an editor that completes by one
    Schema(ConfigSchemaArgs),
    /// Show which values are set, and where
    Show(ConfigShowArgs),
    /// Say what is wrong with the configuration and the prompts
    Check(ConfigCheckArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr config schema > ~/.config/rawr.schema.json\n\nEditors with a TOML language server take it by a first line in rawr.toml:\n  #:schema /home/you/.config/rawr.schema.json"
)]
pub struct ConfigSchemaArgs {
    /// Print it on one line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr config show --effective --model gpt-5.2 --json | jq -r 'select(.layer != \"built-in\") | .key'"
)]
pub struct ConfigShowArgs {
    /// Every key, with those that nobody set
    #[arg(long)]
    pub effective: bool,

    /// As a thread with this model has it
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// As a thread in this folder has it [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub cd: Option<PathBuf>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr config check --json | jq 'select(.severity == \"error\")'\n\nExit code 1 if there is an error; warnings and hints do not count."
)]
pub struct ConfigCheckArgs {
    /// With the .rawr.toml of this folder [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub cd: Option<PathBuf>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

const PROMPTS_EXAMPLES: &str = "\
Examples:
  rawr prompts list
  rawr prompts edit heads-up           in $VISUAL or $EDITOR; what is wrong with it is said afterwards
  rawr prompts diff                    what you changed
  rawr prompts render handoff          what it says in the thread used last, and how many tokens that is
  rawr prompts reset heads-up          the shipped text again; yours is kept beside it

A session that runs takes up an edited prompt as it is saved. A compaction under way keeps those it began with.";

#[derive(Debug, Args)]
#[command(after_help = PROMPTS_EXAMPLES)]
pub struct PromptsArgs {
    #[command(subcommand)]
    pub command: PromptsCommand,
}

#[derive(Debug, Subcommand)]
pub enum PromptsCommand {
    /// List the prompts: where each is, and whether it is as shipped
    List(PromptsListArgs),
    /// Open a prompt in your editor, and say what is wrong with it afterwards
    Edit(PromptsEditArgs),
    /// Show what you changed in the shipped texts
    Diff(PromptsDiffArgs),
    /// Write the shipped text again, and keep yours beside it
    Reset(PromptsResetArgs),
    /// Show what a prompt says in a thread, with its number of tokens
    Render(PromptsRenderArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr prompts list --json | jq -r 'select(.state == \"edited\") | .path'"
)]
pub struct PromptsListArgs {
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  VISUAL='code --wait' rawr prompts edit handoff\n\nThe editor is $VISUAL, else $EDITOR, else vi. Its words are split as a shell splits them, and no shell runs.\n\nExit code 1 if the editor fails, or if the text cannot be used."
)]
pub struct PromptsEditArgs {
    /// The prompt
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(PROMPTS))]
    pub name: String,

    /// Say what came of it as one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rawr prompts diff heads-up")]
pub struct PromptsDiffArgs {
    /// The prompt [default: all]
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(PROMPTS))]
    pub name: Option<String>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("which").required(true).args(["names", "all"]),
    after_help = "Example:\n  rawr prompts reset heads-up handoff\n\nYour text is kept beside the file, as `<file>.old`."
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

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr prompts render handoff --thread last --json | jq .tokens\n\nWhat the thread does not know yet shows its own name in braces.\nTHREAD is a thread's name, the beginning of it, or `last` for the one used last; `rawr status` lists them."
)]
pub struct PromptsRenderArgs {
    /// The prompt
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(PROMPTS))]
    pub name: String,

    /// The thread
    #[arg(long, value_name = "THREAD", default_value = "last")]
    pub thread: String,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
