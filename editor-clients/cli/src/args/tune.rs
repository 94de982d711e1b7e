//! `rawr tune`, with its help text.

use std::path::PathBuf;

use clap::Args;
use rawr_server::tune::TuneTarget;

use super::since::{SinceTime, parse_since};

const EXAMPLES: &str = "\
Examples:
  rawr tune --target \"at most 1 per hour\"
  rawr tune --target \"≤1 per hour, at a commit or a finished plan step\" --since 30d
  rawr tune --target \"at most 1 per hour\" --diff | patch ~/.codex/rawr.toml

Replays your sessions under some 50 configurations and shows the change that comes before most compactions of the host and
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

    /// Only sessions changed since: 12h, 7d, 4w, or a date such as 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub since: Option<SinceTime>,

    /// Only sessions whose model contains this text
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// Context window in tokens, instead of the recorded one [default for Claude Code: 200000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub window: Option<u64>,

    /// Print the change alone, as a unified diff
    #[arg(long, conflicts_with = "json")]
    pub diff: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
