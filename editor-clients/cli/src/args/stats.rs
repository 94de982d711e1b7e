//! `rawr stats`, with its help text.

use clap::Args;

use super::since::{SinceTime, parse_since};

const EXAMPLES: &str = "\
Examples:
  rawr stats                    the sums over all of your threads
  rawr stats last --each        and each compaction of the last thread
  rawr stats --since 7d         what happened in the last week
  rawr stats --json | jq '.threads[].runs[] | select(.handedOver | not)'

The figures come from what rawr recorded of its threads, archived ones included. Nothing is changed.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StatsArgs {
    /// Thread ids, beginnings of them, or `last` [default: all threads]
    #[arg(id = "thread", value_name = "THREAD")]
    pub threads: Vec<String>,

    /// Only what happened since: 12h, 7d, 4w, or a date such as 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub since: Option<SinceTime>,

    /// Show each thread with its compactions
    #[arg(long)]
    pub each: bool,

    /// Print one JSON object
    #[arg(long, conflicts_with = "each")]
    pub json: bool,
}
