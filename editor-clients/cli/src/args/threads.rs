//! The commands that show threads and respond to sequences, with their help texts.

use std::path::PathBuf;

use clap::{ArgGroup, Args, value_parser};

use super::{OneThread, OutputArgs, ThreadArg, ThreadFilter, ThreadOption};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rawr status\n  rawr status last --json | jq .percentRemaining"
)]
pub struct StatusArgs {
    #[command(flatten)]
    pub thread: ThreadFilter,

    /// List all threads, as --json does, not only those that run and the latest of the others
    #[arg(long, conflicts_with = "thread")]
    pub all: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}

const WATCH_HELP: &str = "\
Examples:
  rawr watch
  rawr watch last
  rawr watch --folder .
  rawr watch --json | jq -c 'select(.event == \"heads_up\")'

On a terminal it uses the full screen; `?` lists the keys, `q` quits. Otherwise, and with --json, it prints JSON, one
object per line, until interrupted: first the threads, then each new record.";

#[derive(Debug, Args)]
#[command(after_help = WATCH_HELP)]
pub struct WatchArgs {
    #[command(flatten)]
    pub thread: ThreadFilter,

    /// Only threads whose working folder is this one or below it
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    pub thread: ThreadArg,

    /// Decision id or the beginning of one [default: the latest]
    #[arg(long, value_name = "ID", conflicts_with = "list")]
    pub decision: Option<String>,

    /// List the recorded decisions, oldest first
    #[arg(long)]
    pub list: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}

const GUARD_USAGE: &str = "\
rawr guard <THREAD> (--turns N | --minutes N | --next-commit | --tests-pass | --until-released) [--note TEXT]
       rawr guard <THREAD> --list
       rawr guard <THREAD> --clear (ID | --all)";

const GUARD_HELP: &str = "\
Examples:
  rawr guard last --next-commit --note \"in the middle of a refactoring\"
  rawr guard last --clear g1

A guard blocks compaction in every tier except emergency: when the context is nearly full, rawr overrides the guard and
reports it.";

#[derive(Debug, Args)]
#[command(
    override_usage = GUARD_USAGE,
    after_help = GUARD_HELP,
    group(ArgGroup::new("end").args(["turns", "minutes", "next_commit", "tests_pass", "until_released"])),
    group(ArgGroup::new("what").required(true).args([
        "turns", "minutes", "next_commit", "tests_pass", "until_released", "list", "clear",
    ])),
)]
pub struct GuardArgs {
    #[command(flatten)]
    pub thread: ThreadArg,

    /// For this many of your turns
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub turns: Option<u32>,

    /// For this many minutes
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub minutes: Option<u32>,

    /// Until the next commit
    #[arg(long)]
    pub next_commit: bool,

    /// Until a test run passes
    #[arg(long)]
    pub tests_pass: bool,

    /// Until you clear it
    #[arg(long)]
    pub until_released: bool,

    /// A note that explains the guard
    #[arg(long, value_name = "TEXT", requires = "end")]
    pub note: Option<String>,

    /// List the active guards
    #[arg(long)]
    pub list: bool,

    /// Clear a guard, or all guards with --all
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub clear: Option<String>,

    /// With --clear: all guards
    #[arg(long, requires = "clear")]
    pub all: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}

const PIN_USAGE: &str = "\
rawr pin <THREAD> <TEXT>
       rawr pin <THREAD> --list
       rawr pin <THREAD> --remove <ID>";

const PIN_HELP: &str = "\
Examples:
  rawr pin last \"Never touch the main branch.\"
  rawr pin last --remove p1

The text is included verbatim in every handoff from now on; anything that looks like a key or token is redacted.";

#[derive(Debug, Args)]
#[command(
    override_usage = PIN_USAGE,
    after_help = PIN_HELP,
    group(ArgGroup::new("what").required(true).args(["text", "list", "remove"])),
)]
pub struct PinArgs {
    #[command(flatten)]
    pub thread: ThreadArg,

    /// The instruction to keep
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,

    /// List the standing instructions: pinned ones, and those heard in your messages
    #[arg(long)]
    pub list: bool,

    /// Remove one of them
    #[arg(long, value_name = "ID")]
    pub remove: Option<String>,

    #[command(flatten)]
    pub output: OutputArgs,
}

const MARK_HELP: &str = "\
Examples:
  rawr mark \"the parser is done\"
  rawr mark research --thread 019a

The end of a phase needs no words of the agent and no confirmation: if little context is left, rawr compacts at once, or at
the end of the running turn.";

#[derive(Debug, Args)]
#[command(after_help = MARK_HELP)]
pub struct MarkArgs {
    /// Name of the phase that ends here
    #[arg(value_name = "LABEL")]
    pub label: String,

    #[command(flatten)]
    pub thread: ThreadOption,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct SnoozeArgs {
    #[command(flatten)]
    pub thread: ThreadArg,

    /// For this many of your turns [default: 1]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), conflicts_with = "minutes")]
    pub turns: Option<u32>,

    /// For this many minutes
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub minutes: Option<u32>,

    #[command(flatten)]
    pub output: OutputArgs,
}

const COMPACT_USAGE: &str = "\
rawr compact <THREAD> [--now | --approve | --cancel]
       rawr compact --all-idle";

const COMPACT_HELP: &str = "\
Examples:
  rawr compact last
  rawr compact --all-idle        before a break: every session that waits for you";

#[derive(Debug, Args)]
#[command(
    override_usage = COMPACT_USAGE,
    after_help = COMPACT_HELP,
    group(ArgGroup::new("wish").args(["now", "approve", "cancel"])),
    group(ArgGroup::new("which").required(true).args(["thread", "all_idle"])),
)]
pub struct CompactArgs {
    #[command(flatten)]
    pub thread: OneThread,

    /// Compact every running thread in which no turn runs and no message waits
    #[arg(long, conflicts_with_all = ["approve", "cancel"])]
    pub all_idle: bool,

    /// Compact as soon as the agent is idle, regardless of the gates [default]
    #[arg(long)]
    pub now: bool,

    /// Approve the pending compaction
    #[arg(long)]
    pub approve: bool,

    /// Cancel the compaction in progress
    #[arg(long)]
    pub cancel: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}
