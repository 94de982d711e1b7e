//! The command line of `rawr` and its help texts.

mod codex;
mod files;
mod help;
mod hooks;
mod label;
mod replay;
mod restore;
mod sessions;
mod setting;
mod since;
mod state;
mod stats;
mod test;
mod threads;
mod tune;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use self::codex::AttachArgs;
pub use self::codex::{CodexArgs, LeaseArgs, RelayArgs};
#[cfg(test)]
pub use self::files::PROMPTS;
pub use self::files::{
    ConfigArgs, ConfigCheckArgs, ConfigCommand, ConfigSchemaArgs, ConfigShowArgs, PromptsArgs,
    PromptsCommand, PromptsDiffArgs, PromptsEditArgs, PromptsListArgs, PromptsRenderArgs,
    PromptsResetArgs,
};
pub use self::help::{command, visible_command};
pub use self::hooks::{HookArgs, HookHost, HooksArgs, HooksCommand, HooksInstallArgs};
pub use self::label::LabelArgs;
pub use self::replay::ReplayArgs;
pub use self::restore::{CapsulesArgs, RecallArgs, RestoreArgs};
use self::setting::parse_setting;
pub use self::setting::{ConfigSetting, is_setting_of_rawr, settings};
pub use self::state::{
    StateArgs, StateCheckArgs, StateCommand, StateCompactArgs, StateExportArgs, StateListArgs,
    StateRepairArgs,
};
pub use self::stats::StatsArgs;
pub use self::test::TestArgs;
pub use self::threads::{
    CompactArgs, ExplainArgs, GuardArgs, MarkArgs, PinArgs, SnoozeArgs, StatusArgs, WatchArgs,
};
pub use self::tune::TuneArgs;
use rawr_host::host;

const EXAMPLES: &str = "\
Get started:
  rawr demo                                    show a compaction, no account needed
  rawr init                                    write a commented rawr.toml and the prompts
  rawr doctor                                  check the installation
  rawr codex                                   Codex as usual, with rawr attached
  rawr exec --host codex \"fix the tests\"       run Codex on a prompt

`rawr help COMMAND` shows the details of a command.
Files are kept in $RAWR_HOME, else $CODEX_HOME, else ~/.rawr or ~/.codex, whichever exists; --home comes first.";

/// The heading of the options of every command.
const GLOBAL: &str = "Global options";

/// Decides when a coding agent's context is compacted, and carries the agent across.
#[derive(Debug, Parser)]
#[command(name = "rawr", version, after_help = EXAMPLES, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,

    #[command(subcommand)]
    pub command: CliCommand,
}

/// The command line of other programs, which wait for rawr. It has few commands because clap builds all of them at each start.
#[derive(Debug, Parser)]
#[command(name = "rawr")]
pub struct ProgramCli {
    #[command(flatten)]
    global: GlobalArgs,

    #[command(subcommand)]
    command: ProgramCommand,
}

impl From<ProgramCli> for Cli {
    fn from(ProgramCli { global, command }: ProgramCli) -> Self {
        Self { global, command: CliCommand::Program(command) }
    }
}

#[derive(Debug, Args)]
pub struct GlobalArgs {
    /// Keep configuration, prompts and state in this folder
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    pub home: Option<PathBuf>,

    /// Show the sidecar's log on standard error, and sessions in full
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub verbose: bool,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Show a compaction in a scripted session; needs no network or account
    Demo(DemoArgs),
    /// Run an agent on prompts and manage its context
    Exec(ExecArgs),
    /// Run Codex as usual, with rawr attached
    Codex(CodexArgs),
    /// Attach to running Codex sessions
    Attach(AttachArgs),
    /// Detach rawr from all Codex sessions, `rawr codex` included; Codex keeps running
    Detach,
    /// Show the state of all threads, or of one
    Status(StatusArgs),
    /// Watch all threads live and respond with a key
    Watch(WatchArgs),
    /// Explain why a compaction happened, or why none did
    Explain(ExplainArgs),
    /// Block compaction until a condition is met
    Guard(GuardArgs),
    /// Keep an instruction verbatim across every compaction
    Pin(PinArgs),
    /// Mark the end of a phase of work
    Mark(MarkArgs),
    /// Postpone compaction
    Snooze(SnoozeArgs),
    /// Request a compaction, or answer a pending one
    Compact(CompactArgs),
    /// List the capsules saved before each compaction of a thread
    Capsules(CapsulesArgs),
    /// Restore the state before a compaction, in a new thread
    Restore(RestoreArgs),
    /// Search the conversation, text before compactions included
    Recall(RecallArgs),
    /// Show when your configuration would have compacted in past sessions
    Replay(ReplayArgs),
    /// Propose a change of your configuration that reaches a target in past sessions
    Tune(TuneArgs),
    /// Say where work ended in past sessions, to measure a configuration by it
    Label(LabelArgs),
    /// Show how compaction went in your threads
    Stats(StatsArgs),
    /// Write a commented rawr.toml and the prompt files
    Init(InitArgs),
    /// Show and check the configuration
    Config(ConfigArgs),
    /// Run the policy tests of a repository
    Test(TestArgs),
    /// List, edit, diff, reset and render the prompts
    Prompts(PromptsArgs),
    /// Check the installation and suggest fixes
    Doctor(DoctorArgs),
    /// Install hooks for Claude Code or Codex sessions that rawr does not run
    Hooks(HooksArgs),
    /// Check, repair, compact, archive and export stored state
    State(StateArgs),
    #[command(flatten)]
    Program(ProgramCommand),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions { shell: Shell },
}

/// What other programs call.
#[derive(Debug, Subcommand)]
pub enum ProgramCommand {
    /// Run the sidecar on stdin and stdout (started by editors)
    Serve(ServeArgs),
    /// Answer an agent's hook
    #[command(hide = true)]
    Hook(HookArgs),
    /// Run a session of Claude Code with rawr, for rawr's plugin there
    #[command(hide = true)]
    ClaudeMod,
    /// Relay between Codex's screen and its app-server
    #[command(hide = true)]
    Relay(RelayArgs),
    /// Own the app-server of `rawr codex` and stop it
    #[command(hide = true)]
    Lease(LeaseArgs),
}

const COMPLETIONS_HELP: &str = "\
Save the script where your shell looks for completions, then start a new shell. It asks rawr at each TAB, so it stays valid
when rawr is updated:
  rawr completions bash > ~/.local/share/bash-completion/completions/rawr
  rawr completions zsh > \"${fpath[1]}/_rawr\"
  rawr completions fish > ~/.config/fish/completions/rawr.fish
  rawr completions elvish > ~/.config/elvish/lib/rawr.elv     and `use rawr` in rc.elv
  rawr completions powershell >> $PROFILE";

const DEMO_EXAMPLES: &str = "\
Examples:
  rawr demo --pace               slow enough to follow
  rawr demo --keep ./demo        keep the repository and rawr's files
  rawr demo --json | jq .event   JSON for programs";

#[derive(Debug, Args)]
#[command(after_help = DEMO_EXAMPLES)]
pub struct DemoArgs {
    #[command(flatten)]
    pub output: OutputArgs,

    /// Keep the demo's repository and rawr's files in this new or empty folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,

    /// For editors: the folder to use, which the editor removes
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "keep")]
    pub lend: Option<PathBuf>,

    /// Run slowly enough to follow
    #[arg(long)]
    pub pace: bool,
}

const EXEC_EXAMPLES: &str = "\
Examples:
  rawr exec --host codex \"write the parser\" \"now the docs\"
  rawr exec --host codex --cd ~/project --sandbox workspace-write < task.md
  rawr exec --host codex -c rawr_auto_compaction.mode=suggest \"fix the tests\"
  rawr exec --host claude --permission-mode acceptEdits \"fix the tests\"
  rawr exec --host embedded --model qwen3-coder --base-url http://127.0.0.1:8080/v1 \"fix the tests\"
  rawr exec --host embedded --json \"hello\"

Exit codes: 0 success, 1 the agent or rawr failed, 2 usage error, 130 interrupted with Ctrl-C, 141 the reader of the
output closed the pipe. One failed prompt is enough for 1; the prompts after it still run.";

#[derive(Debug, Args)]
#[command(after_help = EXEC_EXAMPLES)]
pub struct ExecArgs {
    /// The agent to run
    #[arg(long, value_enum)]
    pub host: HostName,

    /// Working folder [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub cd: Option<PathBuf>,

    #[command(flatten)]
    pub agent: AgentArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Continue this thread: its id, its beginning or end, or `last`; see `rawr status`
    #[arg(long, value_name = "THREAD")]
    pub resume: Option<String>,

    /// Take each line of stdin as a prompt of its own
    #[arg(long)]
    pub lines: bool,

    /// Prompts for the agent, one turn each [default: stdin, like `-`: one prompt, or on a terminal one for each line]
    #[arg(value_name = "PROMPT")]
    pub prompts: Vec<String>,
}

/// Output options.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Print JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

/// The thread of a command.
#[derive(Debug, Args)]
pub struct ThreadArg {
    /// Thread id, its beginning or end, or `last`; see `rawr status`
    #[arg(id = "thread", value_name = "THREAD")]
    pub id: String,
}

/// The thread of a command that can also name threads in another way.
#[derive(Debug, Args)]
pub struct OneThread {
    /// Thread id, its beginning or end, or `last`; see `rawr status`
    #[arg(id = "thread", value_name = "THREAD")]
    pub id: Option<String>,
}

/// The thread of a command, as an option.
#[derive(Debug, Args)]
pub struct ThreadOption {
    /// Thread id, its beginning or end, or `last`; see `rawr status`
    #[arg(id = "thread", long = "thread", value_name = "THREAD", default_value = "last")]
    pub id: String,
}

/// Limits a command to one thread.
#[derive(Debug, Args)]
pub struct ThreadFilter {
    /// Thread id, its beginning or end, or `last` [default: all threads]
    #[arg(id = "thread", value_name = "THREAD")]
    pub id: Option<String>,
}

/// Options of the agent.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// The Codex binary [default: the first `codex` in the PATH]
    #[arg(long, value_name = "PATH")]
    pub codex: Option<PathBuf>,

    /// The Claude Code binary [default: the first `claude` in the PATH]
    #[arg(long, value_name = "PATH")]
    pub claude: Option<PathBuf>,

    /// The model [default: the host's; without one the embedded agent follows a script]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// The OpenAI-compatible endpoint of the embedded agent's model, up to /v1
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// The environment variable with the endpoint's key [default: OPENAI_API_KEY, if it is set]
    #[arg(long, value_name = "VAR")]
    pub api_key_env: Option<String>,

    /// Context window of the embedded agent's model, in tokens [default: 128000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub context_window: Option<u64>,

    /// Compact with POST /responses/compact if the endpoint supports it
    #[arg(long)]
    pub remote_compaction: bool,

    /// For tests: what the embedded agent says and does, in TOML
    #[arg(long, value_name = "FILE", hide = true)]
    pub script: Option<PathBuf>,

    /// Codex's sandbox mode [default: Codex's configuration]
    #[arg(long, value_enum, value_name = "MODE")]
    pub sandbox: Option<SandboxName>,

    /// A profile of Codex
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// A setting of Codex's own config.toml; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub codex_config: Vec<String>,

    /// An image for the first prompt (Codex); repeatable
    #[arg(long = "image", value_name = "FILE")]
    pub images: Vec<PathBuf>,

    /// Settings of Claude Code: a file, or JSON
    #[arg(long, value_name = "FILE")]
    pub claude_settings: Option<String>,

    /// Claude Code's permission mode, such as acceptEdits [default: Claude Code's configuration]
    #[arg(long, value_name = "MODE")]
    pub permission_mode: Option<String>,

    /// Override a setting of rawr.toml for this run; repeatable
    #[arg(long = "config", short = 'c', value_name = "KEY=VALUE", value_parser = parse_setting)]
    pub config: Vec<ConfigSetting>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HostName {
    /// The Codex CLI, over its app-server
    Codex,
    /// Claude Code, over stream-json
    Claude,
    /// A small built-in agent for any OpenAI-compatible endpoint; without a model it follows a script
    Embedded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SandboxName {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

impl From<SandboxName> for host::codex::Sandbox {
    fn from(name: SandboxName) -> Self {
        match name {
            SandboxName::ReadOnly => Self::ReadOnly,
            SandboxName::WorkspaceWrite => Self::WorkspaceWrite,
            SandboxName::DangerFullAccess => Self::DangerFullAccess,
        }
    }
}

const INIT_EXAMPLES: &str = "\
Examples:
  rawr init                          existing files are not changed
  rawr init --preset spec --force    replace rawr.toml; the old file is kept as rawr.toml.old";

#[derive(Debug, Args)]
#[command(after_help = INIT_EXAMPLES)]
pub struct InitArgs {
    /// What the end of a turn does [default: calm]
    #[arg(long, value_enum)]
    pub preset: Option<PresetName>,

    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PresetName {
    /// Only proposes a compaction; your next message confirms or drops it
    Calm,
    /// Compacts as soon as a boundary of the tier is there
    Spec,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rawr doctor --json | jq 'select(.status != \"ok\")'\n  rawr doctor --report           read it, then paste it into an issue\n\nExit code 1 if a check failed; warnings do not count."
)]
pub struct DoctorArgs {
    /// Print one text for an issue, in Markdown, without secrets and words of conversations
    #[arg(long)]
    pub report: bool,

    /// With --report: add this text to it, also without secrets (`-`: standard input)
    #[arg(long, value_name = "FILE", requires = "report")]
    pub append: Option<PathBuf>,

    #[command(flatten)]
    pub output: OutputArgs,

    /// The Codex binary [default: the first `codex` in the PATH]
    #[arg(long, value_name = "PATH")]
    pub codex: Option<PathBuf>,

    /// The Claude Code binary [default: the first `claude` in the PATH]
    #[arg(long, value_name = "PATH")]
    pub claude: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Write the log to this file instead of standard error
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_argument_definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
