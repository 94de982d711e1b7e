//! `rawr state`, with its help texts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{OutputArgs, ThreadArg, ThreadFilter};

const EXAMPLES: &str = "\
Examples:
  rawr state check                       check all stored files
  rawr state repair last                 fix what the check found
  rawr state export last -o report.json  one thread's data, for a bug report";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StateArgs {
    #[command(subcommand)]
    pub command: StateCommand,
}

#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// List the stored threads and their sizes
    List(StateListArgs),
    /// Check all stored files without changing them
    Check(StateCheckArgs),
    /// Fix what the check finds in threads that are not open
    Repair(StateRepairArgs),
    /// Drop old decisions, rebuild caches and archive idle threads
    Compact(StateCompactArgs),
    /// Export one thread as a JSON file, with secrets redacted
    Export(StateExportArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "An archived thread is restored when a host opens it again.")]
pub struct StateListArgs {
    /// List archived threads instead of current ones
    #[arg(long)]
    pub archived: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr state check --json | jq '.findings[]? | select(.weight == \"wrong\")'\n\nExit code 1 if a problem is found; notes do not count."
)]
pub struct StateCheckArgs {
    #[command(flatten)]
    pub thread: ThreadFilter,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "No readable line is lost. Before unreadable lines are removed from a file, it is backed up as\n`<file>.<time>.bak`.\n\nExit code 1 if a problem remains."
)]
pub struct StateRepairArgs {
    #[command(flatten)]
    pub thread: ThreadFilter,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Events are never dropped. Threads idle for rawr_auto_compaction.retention_days are archived;\n`rawr state list --archived` lists them."
)]
pub struct StateCompactArgs {
    #[command(flatten)]
    pub thread: ThreadFilter,

    /// Keep the newest N decisions of each thread [default: 1000]
    #[arg(long, value_name = "N")]
    pub keep_decisions: Option<u64>,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr state export last --output report.json\n\nAnything that looks like a key or token is redacted. The export contains conversation text:\nreview it before you share it."
)]
pub struct StateExportArgs {
    #[command(flatten)]
    pub thread: ThreadArg,

    /// Write to this new file [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print the path as a JSON object
    #[arg(long, requires = "output")]
    pub json: bool,
}
