//! `rawr tune`, with its help text.

use std::path::PathBuf;

use clap::Args;
use rawr_analysis::tune::TuneTarget;

use super::sessions::SessionArgs;

const EXAMPLES: &str = "\
Examples:
  rawr tune --target \"at most 1 per hour\"
  rawr tune --target \"≤1 per hour, at a commit or a finished plan step\" --since 30d
  rawr tune --target \"at most 1 per hour\" --diff | patch ~/.codex/rawr.toml

Replays your sessions under up to 80 configurations and shows the change that comes before most compactions of the host and
before most emergencies within the target. An hour is one of work: pauses above ten minutes do not count.
Nothing is changed.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TuneArgs {
    /// Recorded sessions and folders of them [default: those of Codex and Claude Code]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// How often compactions may come, and where: "≤1 per hour, at a commit or a finished plan step"
    #[arg(long, value_name = "TEXT")]
    pub target: TuneTarget,

    /// Change this rawr.toml instead of your own
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub sessions: SessionArgs,

    /// Print the change alone, as a unified diff
    #[arg(long, conflicts_with = "json")]
    pub diff: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
