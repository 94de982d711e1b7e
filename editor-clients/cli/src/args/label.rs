//! `rawr label`, with its help text.

use std::path::PathBuf;

use clap::Args;

use super::since::{SinceTime, parse_since};

const EXAMPLES: &str = "\
Examples:
  rawr label --since 30d             the turns of the last 30 days, one after the other
  rawr label --sample 50             50 turns, drawn at random
  rawr replay --labels ~/.codex/labels.jsonl

A label holds the session's id, the turn and your answers, no text. Answers are saved one by one: stop at any time.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LabelArgs {
    /// Recorded sessions and folders of them [default: those of Codex and Claude Code]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Add the labels to this file [default: labels.jsonl in the home]
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,

    /// Only sessions changed since: 12h, 7d, 4w, or a date such as 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub since: Option<SinceTime>,

    /// So many turns, drawn at random
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample: Option<u32>,
}
