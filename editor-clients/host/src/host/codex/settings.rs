//! Where Codex is, and how one of ours is started: its process, its thread, and what is left to it. Opens no conversation.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::process::Command;

use super::NAME;
use crate::host::find::{self, Program};
use crate::host::{HostError, OwnCompaction};

/// How it is looked for.
const PROGRAM: Program = Program { name: NAME, option: "--codex" };

/// The binary to run: the one that a person named, else the first `codex` in the PATH.
pub fn find_codex(explicit: Option<&Path>) -> Result<PathBuf, HostError> {
    find::find(&PROGRAM, explicit)?.ok_or(HostError::CodexNotFound)
}

/// Codex's own folder, which need not be rawr's. None where there is no home folder at all.
pub fn codex_home() -> Option<PathBuf> {
    let named = std::env::var_os("CODEX_HOME").filter(|home| !home.is_empty());
    named.map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".codex")))
}

/// What `codex --version` says, without the program's name.
pub async fn version(binary: &Path) -> Result<String, HostError> {
    find::version(&PROGRAM, binary).await
}

/// The oldest Codex, by its first two numbers, that rawr can stand beside: older screens refuse a socket for `--remote`.
pub const LEAST_BESIDE: [u64; 2] = [0, 131];

/// A version that is none is taken for a new one: only what is known to fail is refused.
pub fn is_at_least(version: &str, [major, minor]: [u64; 2]) -> bool {
    let mut numbers = version.split(['.', '-', '+']).map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(its_major)), Some(Ok(its_minor))) => (its_major, its_minor) >= (major, minor),
        _ => true,
    }
}

/// How Codex is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodexSettings {
    pub binary: PathBuf,
    /// Absolute: Codex and rawr both resolve paths by it.
    pub cwd: PathBuf,
    /// Codex's configured one if absent.
    pub model: Option<String>,
    /// Codex's configured one if absent.
    pub sandbox: Option<Sandbox>,
    pub own_compaction: OwnCompaction,
    /// Further `-c key=value` settings; they give way to rawr's own.
    pub overrides: Vec<String>,
    /// Set beside the environment that rawr itself runs in.
    pub environment: Vec<(OsString, OsString)>,
}

/// What Codex's tools may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

/// As `-c key=value` settings.
pub fn left_to_codex(own_compaction: OwnCompaction) -> &'static [&'static str] {
    match own_compaction {
        OwnCompaction::EmergencyBrakeOnly => &EMERGENCY_BRAKE_ONLY,
        OwnCompaction::AsConfigured => &[],
    }
}

/// For [`CodexSettings::overrides`]: gives the agent its plan tool. Without it Codex sends no plan signals.
pub const PLAN_TOOL_ON: &str = "tools.update_plan.enabled=true";

/// Codex has no switch for its own compaction. These leave it only what it does when the window is full.
const EMERGENCY_BRAKE_ONLY: [&str; 3] = [
    "model_auto_compact_token_limit=9223372036854775807",
    "model_auto_compact_token_limit_scope=\"body_after_prefix\"",
    "model_post_turn_compact_threshold_percent=0",
];

impl CodexSettings {
    /// Codex as it is configured, in `cwd`.
    pub fn new(binary: PathBuf, cwd: PathBuf) -> Self {
        Self {
            binary,
            cwd,
            model: None,
            sandbox: None,
            own_compaction: OwnCompaction::default(),
            overrides: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// How a thread of it is opened.
    pub(super) fn thread(&self) -> Value {
        // Nobody is there to approve: a tool that needs it fails, and the agent sees why.
        let mut params = json!({"cwd": self.cwd, "approvalPolicy": "never"});
        if let Some(sandbox) = self.sandbox {
            params["sandbox"] = sandbox.name().into();
        }
        if let Some(model) = &self.model {
            params["model"] = model.as_str().into();
        }
        params
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("app-server");
        let brake = left_to_codex(self.own_compaction);
        for setting in self.overrides.iter().map(String::as_str).chain(brake.iter().copied()) {
            command.arg("-c").arg(setting);
        }
        command.current_dir(&self.cwd).envs(self.environment.iter().cloned());
        command
    }
}

impl Sandbox {
    fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_compared_by_its_numbers() {
        for (version, expected) in [
            ("0.9.1", false),
            ("0.100.0", false),
            ("0.143.0", true),
            ("0.169.0-alpha.3", true),
            ("1.0.0", true),
            ("unknown", true),
        ] {
            assert_eq!(is_at_least(version, [0, 143]), expected, "{version}");
        }
    }
}
