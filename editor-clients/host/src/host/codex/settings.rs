//! Finds Codex, and the options for starting its app-server and a thread.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::NAME;
use crate::host::find::{self, HostProgram};
use crate::host::{HostError, OwnCompaction};

/// The program to look for.
const PROGRAM: HostProgram = HostProgram { name: NAME, option: "--codex" };

/// Finds the executable: the explicit one, otherwise the first `codex` in the PATH.
///
/// # Errors
///
/// [`HostError::NotAProgram`] if the explicit path is not executable, [`HostError::CodexNotFound`] without one.
pub fn find_codex(explicit: Option<&Path>) -> Result<PathBuf, HostError> {
    find::find(&PROGRAM, explicit)?.ok_or(HostError::CodexNotFound)
}

/// Codex's folder: `CODEX_HOME`, or `.codex` in the home folder. `None` without a home folder.
pub fn codex_home() -> Option<PathBuf> {
    let named = std::env::var_os("CODEX_HOME").filter(|home| !home.is_empty());
    named.map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".codex")))
}

/// The version that `codex --version` prints.
///
/// # Errors
///
/// Fails if the program does not start or prints no version.
pub async fn version(binary: &Path) -> Result<String, HostError> {
    find::version(&PROGRAM, binary).await
}

/// The oldest Codex version (major, minor) that rawr can attach to: older ones do not accept a socket for `--remote`.
pub const LEAST_BESIDE: [u64; 2] = [0, 131];

/// Whether a version is at least `major.minor`. True if it cannot be parsed.
pub fn is_at_least(version: &str, [major, minor]: [u64; 2]) -> bool {
    let mut numbers = version.split(['.', '-', '+']).map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(its_major)), Some(Ok(its_minor))) => (its_major, its_minor) >= (major, minor),
        _ => true,
    }
}

/// Options for starting Codex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodexSettings {
    /// The `codex` executable.
    pub binary: PathBuf,
    /// The working folder. Must be absolute: Codex and rawr both resolve paths against it.
    pub cwd: PathBuf,
    /// The model; `None` selects the one in Codex's configuration.
    pub model: Option<String>,
    /// The sandbox; `None` selects the one in Codex's configuration.
    pub sandbox: Option<Sandbox>,
    /// The stored thread to continue; `None` starts a new one.
    pub resume: Option<String>,
    /// Whether Codex may compact by itself.
    pub own_compaction: OwnCompaction,
    /// Further `-c key=value` settings. rawr's own settings override them.
    pub overrides: Vec<String>,
    /// Images for the first message.
    pub images: Vec<PathBuf>,
    /// Variables to set in addition to rawr's environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Codex's sandbox modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    /// Read files only.
    ReadOnly,
    /// Write in the working folder.
    WorkspaceWrite,
    /// No sandbox.
    DangerFullAccess,
}

/// The `-c key=value` settings for Codex's own compaction.
pub fn left_to_codex(own_compaction: OwnCompaction) -> &'static [&'static str] {
    match own_compaction {
        OwnCompaction::EmergencyBrakeOnly => &EMERGENCY_BRAKE_ONLY,
        OwnCompaction::AsConfigured => &[],
    }
}

/// A value for [`CodexSettings::overrides`] that enables the agent's plan tool. Without it Codex sends no plan signals.
pub const PLAN_TOOL_ON: &str = "tools.update_plan.enabled=true";

/// Codex has no setting that disables its compaction. These leave only the compaction of a full window.
const EMERGENCY_BRAKE_ONLY: [&str; 3] = [
    "model_auto_compact_token_limit=9223372036854775807",
    "model_auto_compact_token_limit_scope=\"body_after_prefix\"",
    "model_post_turn_compact_threshold_percent=0",
];

impl CodexSettings {
    /// Codex with its own configuration, in `cwd`.
    pub fn new(binary: PathBuf, cwd: PathBuf) -> Self {
        Self {
            binary,
            cwd,
            model: None,
            sandbox: None,
            resume: None,
            own_compaction: OwnCompaction::default(),
            overrides: Vec::new(),
            images: Vec::new(),
            environment: Vec::new(),
        }
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
    pub(super) fn name(self) -> &'static str {
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
