//! The commands that go back and find again, and their help. Does nothing.

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::AgentArgs;

const CAPSULES_HELP: &str = "\
Examples:
  rawr capsules                 of the thread used last
  rawr capsules --json | jq .capsuleId

THREAD is a thread's name, the beginning of it, or `last` for the one used last; `rawr status` lists them.";

#[derive(Debug, Args)]
#[command(after_help = CAPSULES_HELP)]
pub struct CapsulesArgs {
    /// The thread [default: the one used last]
    #[arg(value_name = "THREAD")]
    pub thread: Option<String>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

const RESTORE_HELP: &str = "\
Examples:
  rawr restore last --dry-run            see what would be done
  rawr restore s2 last                   a new Codex thread; `codex resume` goes on with it
  rawr restore s2 --prompt \"now the docs\"

CAPSULE is a capsule's name, the beginning of it, or `last`; `rawr capsules` lists them. The thread that was compacted
stays as it is, and so do your files: where they are not what they were, it is said.";

#[derive(Debug, Args)]
#[command(after_help = RESTORE_HELP)]
pub struct RestoreArgs {
    /// What to go back to
    #[arg(value_name = "CAPSULE")]
    pub capsule: String,

    /// The thread that it is of [default: the first that has such a capsule]
    #[arg(value_name = "THREAD")]
    pub thread: Option<String>,

    /// Say this to the agent there, one turn each; the embedded agent reads standard input unless it is given
    #[arg(long = "prompt", value_name = "TEXT")]
    pub prompts: Vec<String>,

    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,

    /// Work in this folder [default: the one that the thread worked in]
    #[arg(long, value_name = "DIR")]
    pub cd: Option<PathBuf>,

    #[command(flatten)]
    pub agent: AgentArgs,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

const RECALL_HELP: &str = "\
Examples:
  rawr recall retry budget
  rawr recall --all --limit 10 \"cargo deny\"

All words must occur in one text, whatever their case. Searched are packets, handoffs, directives and scratch files, and
the host's own transcript, the latest first. Exit code 1 where nothing is found.
THREAD is a thread's name, the beginning of it, or `last` for the one used last; `rawr status` lists them.";

#[derive(Debug, Args)]
#[command(after_help = RECALL_HELP)]
pub struct RecallArgs {
    /// What to look for
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,

    /// In this thread [default: the one used last]
    #[arg(long, value_name = "THREAD", conflicts_with = "all")]
    pub thread: Option<String>,

    /// In every thread
    #[arg(long)]
    pub all: bool,

    /// Name so many places at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = value_parser!(u64).range(1..=1000))]
    pub limit: u64,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}
