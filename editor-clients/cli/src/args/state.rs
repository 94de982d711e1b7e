//! The commands for what is stored of threads, and their help. Does nothing.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  rawr state check                       everything that is stored, read once
  rawr state repair last                 put right what the check found
  rawr state export last -o report.json  everything of one thread, to report a problem

THREAD is a thread's name, the beginning of it, or `last` for the one used last; `rawr state list` lists them.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StateArgs {
    #[command(subcommand)]
    pub command: StateCommand,
}

#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// List the threads that are stored, with their sizes
    List(StateListArgs),
    /// Read everything that is stored and say what is wrong with it; changes nothing
    Check(StateCheckArgs),
    /// Put right what the check finds, where nobody has the thread open
    Repair(StateRepairArgs),
    /// Drop old decisions, make the next start quick, and archive threads that rest
    Compact(StateCompactArgs),
    /// Write everything of one thread into one JSON file, without secrets
    Export(StateExportArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "An archived thread comes back when a host opens it again.")]
pub struct StateListArgs {
    /// Those that are archived instead of those in use
    #[arg(long)]
    pub archived: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr state check --json | jq '.findings[]? | select(.weight == \"wrong\")'\n\nExit code 1 if something is wrong; notes do not count."
)]
pub struct StateCheckArgs {
    /// Only this thread [default: all, archived ones too]
    #[arg(value_name = "THREAD")]
    pub thread: Option<String>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "No line that can be read is lost. A file that loses unreadable lines is kept as it was beside\nthe new one, as `<file>.<time>.bak`.\n\nExit code 1 if something is still wrong."
)]
pub struct StateRepairArgs {
    /// Only this thread [default: all, archived ones too]
    #[arg(value_name = "THREAD")]
    pub thread: Option<String>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Events are never dropped: they are what a thread is. Threads that rested for\nrawr_auto_compaction.retention_days are archived; `rawr state list --archived` lists them."
)]
pub struct StateCompactArgs {
    /// Only this thread, and archive nothing [default: all]
    #[arg(value_name = "THREAD")]
    pub thread: Option<String>,

    /// How many decisions of each thread are kept, the newest [default: 1000]
    #[arg(long, value_name = "N")]
    pub keep_decisions: Option<u64>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr state export last --output report.json\n\nWhat looks like a key or a token is taken out. The text of the conversation that rawr keeps is in it:\nlook through it before you pass it on."
)]
pub struct StateExportArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub thread: String,

    /// Write to this new file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Say where it was written as one JSON object
    #[arg(long, requires = "output")]
    pub json: bool,
}
