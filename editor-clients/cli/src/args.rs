//! What can be typed after `rawr`, and the help that goes with it. Does nothing.

mod codex;
mod files;
mod help;
mod hooks;
mod restore;
mod state;
mod threads;

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
pub use self::help::{command, for_completion};
pub use self::hooks::{HookArgs, HookHost, HooksArgs, HooksCommand, HooksInstallArgs};
pub use self::restore::{CapsulesArgs, RecallArgs, RestoreArgs};
pub use self::state::{
    StateArgs, StateCheckArgs, StateCommand, StateCompactArgs, StateExportArgs, StateListArgs,
    StateRepairArgs,
};
pub use self::threads::{
    CompactArgs, ExplainArgs, GuardArgs, MarkArgs, PinArgs, SnoozeArgs, StatusArgs, WatchArgs,
};
use rawr_host::host;

const EXAMPLES: &str = "\
Begin with:
  rawr demo                                    watch a whole compaction, no account needed
  rawr init                                    write a commented rawr.toml and the prompts
  rawr doctor                                  see whether everything is in place
  rawr codex                                   your own Codex, with rawr beside it
  rawr exec --host codex \"fix the tests\"       let Codex work, with rawr at its side

`rawr help COMMAND` tells more about one of them.
Files are kept in $RAWR_HOME, else $CODEX_HOME, else ~/.rawr or ~/.codex, whichever exists; --home comes first.";

/// Decides when a coding agent's context is compacted, and carries the agent across.
#[derive(Debug, Parser)]
#[command(name = "rawr", version, after_help = EXAMPLES, propagate_version = true)]
pub struct Cli {
    /// Keep configuration, prompts and state in this folder
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,

    /// Show the sidecar's log on standard error
    #[arg(long, short, global = true)]
    pub verbose: bool,

    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show a whole compaction on a scripted session: no network, no account
    Demo(DemoArgs),
    /// Let an agent work on prompts, with rawr deciding about its context
    Exec(ExecArgs),
    /// Run your own Codex, with rawr beside it
    Codex(CodexArgs),
    /// Stand between Codex's screen and its app-server
    #[command(hide = true)]
    Relay(RelayArgs),
    /// Own the app-server of `rawr codex`, and end it
    #[command(hide = true)]
    Lease(LeaseArgs),
    /// Stand beside the Codex sessions that run already
    Attach(AttachArgs),
    /// Leave every Codex that rawr is beside, also by `rawr codex`; Codex goes on
    Detach,
    /// Show where every thread stands, or one
    Status(StatusArgs),
    /// Watch all threads live, and step in by a key
    Watch(WatchArgs),
    /// Say why a compaction came, or why none did
    Explain(ExplainArgs),
    /// Forbid compaction until something happens
    Guard(GuardArgs),
    /// Keep an instruction word for word across every compaction
    Pin(PinArgs),
    /// Say that a phase of the work ends here
    Mark(MarkArgs),
    /// Put compaction off for a while
    Snooze(SnoozeArgs),
    /// Ask for a compaction, or answer the one that waits
    Compact(CompactArgs),
    /// List what was kept before each compaction of a thread
    Capsules(CapsulesArgs),
    /// Go back to before a compaction, in a new thread
    Restore(RestoreArgs),
    /// Find what was said, also before a compaction
    Recall(RecallArgs),
    /// Write a commented rawr.toml and the prompt files
    Init(InitArgs),
    /// Show the configuration and say what is wrong with it
    Config(ConfigArgs),
    /// List, edit, compare, reset and try out the prompts
    Prompts(PromptsArgs),
    /// Check that everything is in place, and say what to do where it is not
    Doctor(DoctorArgs),
    /// Let Claude Code or Codex sessions that rawr does not run call rawr
    Hooks(HooksArgs),
    /// Answer an agent's hook
    #[command(hide = true)]
    Hook(HookArgs),
    /// Look after what is stored: check, repair, compact, archive, export
    State(StateArgs),
    /// Run the sidecar on standard input and output; editors start this
    Serve(ServeArgs),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        /// The shell to complete in
        shell: Shell,
    },
}

const COMPLETIONS_HELP: &str = "\
Put the script where your shell looks for it, then start a new shell:
  rawr completions bash > ~/.local/share/bash-completion/completions/rawr
  rawr completions zsh > \"${fpath[1]}/_rawr\"
  rawr completions fish > ~/.config/fish/completions/rawr.fish
  rawr completions elvish > ~/.config/elvish/lib/rawr.elv     and `use rawr` in rc.elv
  rawr completions powershell >> $PROFILE";

const DEMO_EXAMPLES: &str = "\
Examples:
  rawr demo --pace               slow enough to read along
  rawr demo --keep ./demo        keep the repository and rawr's files
  rawr demo --json | jq .event   the same for programs";

#[derive(Debug, Args)]
#[command(after_help = DEMO_EXAMPLES)]
pub struct DemoArgs {
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,

    /// Keep the demo's repository and rawr's files in this new or empty folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,

    /// Go slowly enough to read along
    #[arg(long)]
    pub pace: bool,
}

const EXEC_EXAMPLES: &str = "\
Examples:
  rawr exec --host codex \"write the parser\" \"now the docs\"
  rawr exec --host codex --cd ~/project --sandbox workspace-write < prompts.txt
  rawr exec --host codex -c rawr_auto_compaction.mode=suggest \"fix the tests\"
  rawr exec --host claude --permission-mode acceptEdits \"fix the tests\"
  rawr exec --host embedded --model qwen3-coder --base-url http://127.0.0.1:8080/v1 \"fix the tests\"
  rawr exec --host embedded --json \"hello\"

Exit codes: 0 done, 1 the agent or rawr failed, 2 wrong usage, 130 after Ctrl-C, 141 ended because nothing reads the
output any more.";

#[derive(Debug, Args)]
#[command(after_help = EXEC_EXAMPLES)]
pub struct ExecArgs {
    /// The agent that does the work
    #[arg(long, value_enum)]
    pub host: HostName,

    /// Work in this folder [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub cd: Option<PathBuf>,

    #[command(flatten)]
    pub agent: AgentArgs,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,

    /// What to say to the agent, one turn each [default: standard input, one turn a line]
    #[arg(value_name = "PROMPT")]
    pub prompts: Vec<String>,
}

/// What the agent is and works with.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// The Codex binary [default: the first `codex` in the PATH]
    #[arg(long, value_name = "PATH")]
    pub codex: Option<PathBuf>,

    /// The Claude Code binary [default: the first `claude` in the PATH]
    #[arg(long, value_name = "PATH")]
    pub claude: Option<PathBuf>,

    /// The model to work with [default: the host's own; the embedded agent follows a script]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// The OpenAI-compatible endpoint of the embedded agent's model, up to /v1
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// The environment variable with the endpoint's key [default: OPENAI_API_KEY, if it is set]
    #[arg(long, value_name = "VAR")]
    pub api_key_env: Option<String>,

    /// How many tokens the embedded agent's model holds [default: 128000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub context_window: Option<u64>,

    /// Let the endpoint compact by POST /responses/compact, where it can give messages back
    #[arg(long)]
    pub remote_compaction: bool,

    /// For tests: what the embedded agent says and does, in TOML
    #[arg(long, value_name = "FILE", hide = true)]
    pub script: Option<PathBuf>,

    /// What Codex's commands may touch [default: as Codex is configured]
    #[arg(long, value_enum, value_name = "MODE")]
    pub sandbox: Option<SandboxName>,

    /// What Claude Code may do unasked, by its own word: acceptEdits, bypassPermissions, … [default: as Claude Code is configured]
    #[arg(long, value_name = "MODE")]
    pub permission_mode: Option<String>,

    /// A setting of rawr's for this run, as in rawr.toml; may be given more than once
    #[arg(long = "config", short = 'c', value_name = "KEY=VALUE", value_parser = parse_setting)]
    pub config: Vec<Setting>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HostName {
    /// The Codex CLI, through its app-server
    Codex,
    /// Claude Code, through its stream of JSON
    Claude,
    /// A small agent inside rawr, on any OpenAI-compatible endpoint; without a model it follows a script
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

/// A configuration value, by the path to its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub key: Vec<String>,
    pub value: toml::Value,
}

/// Whatever is not TOML is taken for a string, so that a shell's quotes need no second pair.
fn parse_setting(text: &str) -> Result<Setting, String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    let key: Vec<_> = key.trim().split('.').map(|part| part.trim().to_owned()).collect();
    if key.iter().any(String::is_empty) {
        return Err("the key has an empty part".to_owned());
    }
    let value = value.trim();
    let read = format!("value = {value}").parse::<toml::Table>();
    let read = read.ok().and_then(|mut table| table.remove("value"));
    Ok(Setting { key, value: read.unwrap_or_else(|| toml::Value::String(value.to_owned())) })
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rawr init            what is there already stays as it is")]
pub struct InitArgs {
    /// Write files anew that are there already
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rawr doctor --json | jq 'select(.status != \"ok\")'\n\nExit code 1 if a check failed; warnings alone do not count."
)]
pub struct DoctorArgs {
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,

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
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn settings_are_toml_or_else_strings() {
        let check = |text: &str, key: &[&str], value: toml::Value| {
            let setting = parse_setting(text).expect(text);
            assert_eq!(
                (setting.key, setting.value),
                (key.iter().map(|&part| part.to_owned()).collect(), value)
            );
        };
        check("a.b=3", &["a", "b"], toml::Value::Integer(3));
        check("a = true", &["a"], toml::Value::Boolean(true));
        check("mode=suggest", &["mode"], toml::Value::String("suggest".to_owned()));
        check("x=[\"y\"]", &["x"], toml::Value::Array(vec!["y".into()]));
        assert!(parse_setting("no value").is_err());
        assert!(parse_setting("a..b=1").is_err());
    }
}
