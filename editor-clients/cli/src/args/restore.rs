//! `capsules`, `restore` and `recall`, with their help texts.

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::{AgentArgs, OutputArgs};

const CAPSULES_HELP: &str = "\
Examples:
  rawr capsules                 of the last thread
  rawr capsules --json | jq .capsuleId
";

#[derive(Debug, Args)]
#[command(after_help = CAPSULES_HELP)]
pub struct CapsulesArgs {
    /// Thread id, the beginning of one, or `last` [default: last]
    #[arg(value_name = "THREAD")]
    pub thread: Option<String>,

    #[command(flatten)]
    pub output: OutputArgs,
}

const RESTORE_HELP: &str = "\
Examples:
  rawr restore last --dry-run            show what would be done
  rawr restore s2 last                   a new Codex thread; continue it with `rawr codex resume`
  rawr restore s2 --prompt \"now the docs\"

CAPSULE is a capsule id, the beginning of one, or `last`; `rawr capsules` lists them. The compacted thread and your files
are not changed. Files that differ from then are reported. Threads of Claude Code cannot be restored: go back with `/rewind` there.";

#[derive(Debug, Args)]
#[command(after_help = RESTORE_HELP)]
pub struct RestoreArgs {
    /// The capsule to restore
    #[arg(value_name = "CAPSULE")]
    pub capsule: String,

    /// The capsule's thread: id, the beginning of one, or `last` [default: the first with such a capsule]
    #[arg(value_name = "THREAD")]
    pub thread: Option<String>,

    /// Prompt for the restored agent, one turn each; repeatable [default for the embedded agent: stdin]
    #[arg(long = "prompt", value_name = "TEXT")]
    pub prompts: Vec<String>,

    /// Only show what would be restored
    #[arg(long)]
    pub dry_run: bool,

    /// Working folder [default: the thread's]
    #[arg(long, value_name = "DIR")]
    pub cd: Option<PathBuf>,

    #[command(flatten)]
    pub agent: AgentArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

const RECALL_HELP: &str = "\
Examples:
  rawr recall retry budget
  rawr recall --all --limit 10 \"cargo deny\"

All words must occur in one text; case is ignored. Searches packets, handoffs, directives, scratch files and the host's
transcript, latest first. Exit code 1 if nothing is found.";

#[derive(Debug, Args)]
#[command(after_help = RECALL_HELP)]
pub struct RecallArgs {
    /// Words to search for
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,

    /// Thread id, the beginning of one, or `last` [default: last]
    #[arg(long, value_name = "THREAD", conflicts_with = "all")]
    pub thread: Option<String>,

    /// Search all threads
    #[arg(long)]
    pub all: bool,

    /// Maximum number of matches
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = value_parser!(u64).range(1..=1000))]
    pub limit: u64,

    #[command(flatten)]
    pub output: OutputArgs,
}
