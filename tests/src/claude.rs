//! The real Claude Code for tests: its binary, and a home that uses a mock model.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, json};
use tempfile::TempDir;

use crate::{MockClaude, pinned_version};

/// The folder whose lock file pins Claude Code.
const INSTALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/claude");

/// The configured model.
pub const MODEL: &str = "claude-sonnet-4-5";

/// A key that no endpoint knows.
const API_KEY: &str = "sk-ant-none";

/// The folder of Claude Code's settings in a home.
const CONFIG: &str = ".claude";

/// The native binary of the newest release. Panics with the install command if it is missing.
pub fn binary() -> PathBuf {
    native("node_modules/@anthropic-ai")
}

/// The native binary of the previous release.
pub fn binary_before() -> PathBuf {
    native("node_modules/claude-code-before/node_modules/@anthropic-ai")
}

/// The pinned version of the newest release.
pub fn version() -> String {
    pinned_version(Path::new(INSTALL), "@anthropic-ai/claude-code")
}

fn native(modules: &str) -> PathBuf {
    let modules = Path::new(INSTALL).join(modules);
    let name = format!("claude{}", std::env::consts::EXE_SUFFIX);
    let mut candidates =
        platforms().into_iter().map(|of| modules.join(format!("claude-code-{of}")).join(&name));
    candidates.find(|binary| binary.is_file()).unwrap_or_else(|| {
        panic!("Claude Code is not installed for the tests. Run: npm ci --prefix tests/claude")
    })
}

/// The ends of the names of npm packages that hold its binary; npm installs the one that fits.
fn platforms() -> Vec<String> {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    ["", "-musl"].map(|libc| format!("{system}-{machine}{libc}")).to_vec()
}

/// A temporary home: no login, no network, the mock as the only endpoint.
#[derive(Debug)]
pub struct ClaudeHome {
    folder: TempDir,
    base_url: String,
}

impl ClaudeHome {
    pub fn new(model: &MockClaude) -> Self {
        let folder = TempDir::new().unwrap_or_else(|error| panic!("no folder for a home: {error}"));

        Self { folder, base_url: model.base_url() }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Answers what Claude Code asks on its first start, and in a folder that it does not know.
    pub fn has_been_used_in(&self, folders: &[&Path]) {
        let known = |folder: &&Path| {
            let folder = folder.canonicalize().unwrap_or_else(|error| panic!("{error}"));
            let answers = json!({
                "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
            });
            (folder.display().to_string(), answers)
        };
        let known = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
            "projects": folders.iter().map(known).collect::<Map<_, _>>(),
        });
        let folder = self.path().join(CONFIG);
        let written = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(folder.join(".claude.json"), known.to_string()));
        written.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    }

    /// The environment of a Claude Code that must not see the user's settings.
    pub fn environment(&self) -> Vec<(String, String)> {
        let home = self.path().display().to_string();
        let pairs = [
            ("CLAUDE_CONFIG_DIR", format!("{home}/{CONFIG}")),
            ("HOME", home),
            ("ANTHROPIC_BASE_URL", self.base_url.clone()),
            ("ANTHROPIC_API_KEY", API_KEY.to_owned()),
            ("ANTHROPIC_MODEL", MODEL.to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            // Claude Code asks for this where it runs as root, as in a container.
            ("IS_SANDBOX", "1".to_owned()),
        ];
        pairs.map(|(key, value)| (key.to_owned(), value)).to_vec()
    }

    /// Removes the variables of the user's Claude Code and rawr from a command.
    pub fn equip(&self, command: &mut Command) {
        for (key, _) in std::env::vars_os() {
            let name = key.to_string_lossy();
            let foreign = ["ANTHROPIC_", "CLAUDE", "CODEX_", "RAWR_", "AWS_", "DISABLE_"];
            if foreign.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(&key);
            }
        }
        command.envs(self.environment());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_lock_file_pins_one_version_and_names_no_registry() {
        let lock = std::fs::read_to_string(Path::new(INSTALL).join("package-lock.json")).unwrap();
        assert!(!lock.contains("://"));
        let lock: Value = serde_json::from_str(&lock).unwrap();
        let claude = &lock["packages"]["node_modules/@anthropic-ai/claude-code"];
        assert_eq!(claude["version"], version().as_str());
        let before = &lock["packages"]["node_modules/claude-code-before"]["version"];
        assert!(before.is_string() && *before != claude["version"], "{before}");
        assert!(claude["integrity"].is_string());
    }
}
