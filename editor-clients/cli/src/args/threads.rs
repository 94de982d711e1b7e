//! The commands by which a person looks at threads and steps in, and their help. Does nothing.

use std::path::PathBuf;

use clap::{ArgGroup, Args, value_parser};

const THREADS: &str = "\
THREAD is a thread's name, the beginning of it, or `last` for the one used last; `rawr status` lists them.";

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rawr status\n  rawr status last --json | jq .percentRemaining\n\nTHREAD is a thread's name, the beginning of it, or `last` for the one used last."
)]
pub struct StatusArgs {
    /// Only this thread [default: all]
    #[arg(value_name = "THREAD")]
    pub thread: Option<String>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

const WATCH_HELP: &str = "\
Examples:
  rawr watch
  rawr watch last
  rawr watch --folder .
  rawr watch --json | jq -c 'select(.event == \"heads_up\")'

On a terminal it fills the screen; `?` lists the keys, `q` leaves. Elsewhere, and with --json, it prints one JSON
object a line until it is interrupted: the threads first, then whatever is recorded.
THREAD is a thread's name, the beginning of it, or `last` for the one used last; `rawr status` lists them.";

#[derive(Debug, Args)]
#[command(after_help = WATCH_HELP)]
pub struct WatchArgs {
    /// Only this thread [default: all, also those to come]
    #[arg(value_name = "THREAD")]
    pub thread: Option<String>,

    /// Only threads that work in this folder or below it
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = THREADS)]
pub struct ExplainArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub thread: String,

    /// This decision, or the beginning of its name [default: the latest]
    #[arg(long, value_name = "ID", conflicts_with = "list")]
    pub decision: Option<String>,

    /// List the decisions on record, the latest last
    #[arg(long)]
    pub list: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

const GUARD_USAGE: &str = "\
rawr guard <THREAD> (--turns N | --minutes N | --next-commit | --tests-pass | --until-released) [--note TEXT]
       rawr guard <THREAD> --list
       rawr guard <THREAD> --clear (ID | --all)";

const GUARD_HELP: &str = "\
Examples:
  rawr guard last --next-commit --note \"in the middle of a refactoring\"
  rawr guard last --clear g1

A guard holds in every tier but emergency: with the context nearly full, rawr goes over it and says so.
THREAD is a thread's name, the beginning of it, or `last` for the one used last; `rawr status` lists them.";

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
    /// The thread
    #[arg(value_name = "THREAD")]
    pub thread: String,

    /// For so many turns of yours
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub turns: Option<u32>,

    /// For so many minutes
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub minutes: Option<u32>,

    /// Until the next commit
    #[arg(long)]
    pub next_commit: bool,

    /// Until a run of the tests passes
    #[arg(long)]
    pub tests_pass: bool,

    /// Until you clear it
    #[arg(long)]
    pub until_released: bool,

    /// Why, for whoever reads it later
    #[arg(long, value_name = "TEXT", requires = "end")]
    pub note: Option<String>,

    /// List the guards that hold
    #[arg(long)]
    pub list: bool,

    /// End a guard early, or with --all every one
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub clear: Option<String>,

    /// With --clear: every guard
    #[arg(long, requires = "clear")]
    pub all: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

const PIN_USAGE: &str = "\
rawr pin <THREAD> <TEXT>
       rawr pin <THREAD> --list
       rawr pin <THREAD> --remove <ID>";

const PIN_HELP: &str = "\
Examples:
  rawr pin last \"Never touch the main branch.\"
  rawr pin last --remove p1

The text is in every handoff from now on, word for word; what looks like a key or a token is taken out of it.
THREAD is a thread's name, the beginning of it, or `last` for the one used last; `rawr status` lists them.";

#[derive(Debug, Args)]
#[command(
    override_usage = PIN_USAGE,
    after_help = PIN_HELP,
    group(ArgGroup::new("what").required(true).args(["text", "list", "remove"])),
)]
pub struct PinArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub thread: String,

    /// The instruction that is to survive every compaction
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,

    /// List the instructions in force
    #[arg(long)]
    pub list: bool,

    /// Take an instruction back
    #[arg(long, value_name = "ID")]
    pub remove: Option<String>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

const MARK_HELP: &str = "\
Examples:
  rawr mark \"the parser is done\"
  rawr mark research --thread 019a

The end of a phase counts as a completed plan step: with little context left, rawr compacts at the end of the turn.
THREAD is a thread's name, the beginning of it, or `last` for the one used last; `rawr status` lists them.";

#[derive(Debug, Args)]
#[command(after_help = MARK_HELP)]
pub struct MarkArgs {
    /// What the phase that ends here is called
    #[arg(value_name = "LABEL")]
    pub label: String,

    /// The thread
    #[arg(long, value_name = "THREAD", default_value = "last")]
    pub thread: String,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = THREADS)]
pub struct SnoozeArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub thread: String,

    /// For so many turns of yours [default: 1]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), conflicts_with = "minutes")]
    pub turns: Option<u32>,

    /// For so many minutes
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub minutes: Option<u32>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = THREADS,
    group(ArgGroup::new("wish").args(["now", "approve", "cancel"])),
)]
pub struct CompactArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub thread: String,

    /// Compact as soon as the agent is idle, whatever the gates say [default]
    #[arg(long)]
    pub now: bool,

    /// Say yes to the compaction that waits for your answer
    #[arg(long)]
    pub approve: bool,

    /// Call off the compaction that is under way
    #[arg(long)]
    pub cancel: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}
