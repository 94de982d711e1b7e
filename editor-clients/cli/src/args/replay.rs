//! `rawr replay`, with its help text.

use std::path::PathBuf;

use clap::Args;

use super::sessions::SessionArgs;

const EXAMPLES: &str = "\
Examples:
  rawr replay                              your own sessions of Codex and Claude Code
  rawr replay --since 30d --each           one line for each session of the last 30 days
  rawr replay --against calm.toml          your configuration beside another
  rawr replay session.jsonl --plot         context and compactions of one session over time
  rawr replay --html report.html           a page to look at and to share
  rawr replay --jsonl | jq 'select(.compactions > 0)'
  rawr replay - < rollout.jsonl            one session from standard input

Nothing is changed and no model is asked. After a compaction that the replay starts, 12% of the window counts as used.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReplayArgs {
    /// Recorded sessions and folders of them; `-` reads one from standard input [default: those of Codex and Claude Code]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Replay under this rawr.toml instead of your own
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Compare with this rawr.toml
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,

    #[command(flatten)]
    pub sessions: SessionArgs,

    /// What requests cost [default: prices.toml in the home, if there is one]
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,

    /// Count compactions without carrying them out: the context grows on as recorded
    #[arg(long)]
    pub first_order: bool,

    /// Show each session
    #[arg(long)]
    pub each: bool,

    /// Plot each session
    #[arg(long)]
    pub plot: bool,

    /// Write a page with everything, which needs no network
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "jsonl", "each", "plot"])]
    pub html: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["jsonl", "each", "plot"])]
    pub json: bool,

    /// Write the rows of `--jsonl` to a Parquet file
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["html", "json", "jsonl", "each", "plot"])]
    pub parquet: Option<PathBuf>,

    /// Compare with labels of turn ends, as `rawr label` writes them; adds the presets to the comparison
    #[arg(long, value_name = "FILE", conflicts_with_all = ["html", "jsonl"])]
    pub labels: Option<PathBuf>,

    /// Print one JSON object for each turn
    #[arg(long, conflicts_with_all = ["each", "plot"])]
    pub jsonl: bool,
}
