//! The real Codex for tests: its binary, and a `CODEX_HOME` that uses a mock model.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::{MockModel, configure_with_spec, pinned_version};

/// The folder whose lock file pins Codex.
const INSTALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/codex");

/// The native binary. Panics with the install command if it is missing.
pub fn binary() -> PathBuf {
    let (package, triple) = platform();
    let modules = Path::new(INSTALL).join("node_modules/@openai");
    let binary = modules.join(package).join("vendor").join(triple).join("bin/codex");
    assert!(
        binary.is_file(),
        "Codex is not installed for the tests. Run: npm ci --prefix tests/codex"
    );
    binary
}

/// The program that npm puts in the PATH: a script that starts the binary.
pub fn wrapper() -> PathBuf {
    // Panics where the binary would be missing.
    binary();
    Path::new(INSTALL).join("node_modules/.bin/codex")
}

/// The pinned version.
pub fn version() -> String {
    pinned_version(Path::new(INSTALL), "@openai/codex")
}

/// The npm package and the target triple of its binary.
fn platform() -> (&'static str, &'static str) {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => ("codex-linux-x64", "x86_64-unknown-linux-musl"),
        ("linux", "aarch64") => ("codex-linux-arm64", "aarch64-unknown-linux-musl"),
        ("macos", "x86_64") => ("codex-darwin-x64", "x86_64-apple-darwin"),
        ("macos", "aarch64") => ("codex-darwin-arm64", "aarch64-apple-darwin"),
        (os, arch) => panic!("there is no Codex for {os} on {arch}"),
    }
}

/// The configuration of a test's Codex.
#[derive(Debug, Clone)]
pub struct CodexTestConfig {
    /// Codex reports 95% of it.
    pub context_window: u64,
    /// A model that Codex knows gets its tools; any other name works, with a warning.
    pub model: String,
    /// Without it the agent has no plan tool, and Codex sends no plan signals.
    pub plan_tool: PlanTool,
    /// Further TOML tables.
    pub tables: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanTool {
    On,
    /// Codex's default.
    Unset,
}

impl Default for CodexTestConfig {
    fn default() -> Self {
        Self {
            context_window: 200_000,
            model: "gpt-5.5".to_owned(),
            plan_tool: PlanTool::On,
            tables: String::new(),
        }
    }
}

impl CodexTestConfig {
    /// For Codex on a screen: trusts the folder, and uses a model without an upgrade offer.
    pub fn for_a_screen(folder: &Path) -> Self {
        let folder = folder
            .canonicalize()
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .display()
            .to_string();
        let tables = format!("[projects.{folder:?}]\ntrust_level = \"trusted\"\n");
        Self { model: "any-model".to_owned(), tables, ..Self::default() }
    }
}

/// A temporary `CODEX_HOME`: no login, no network, the mock as the only provider.
#[derive(Debug)]
pub struct CodexHome {
    folder: TempDir,
}

impl CodexHome {
    /// Writes `config.toml` for `model`, and rawr's own file with the preset `spec`.
    pub fn new(model: &MockModel, config: &CodexTestConfig) -> Self {
        let folder =
            TempDir::new().unwrap_or_else(|error| panic!("no folder for CODEX_HOME: {error}"));
        let path = folder.path().join("config.toml");
        std::fs::write(&path, config_toml(model, config))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        configure_with_spec(folder.path(), "");
        Self { folder }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The rollout files of all threads.
    pub fn rollouts(&self) -> String {
        let mut text = String::new();
        let mut folders = vec![self.path().join("sessions")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.path() {
                    path if path.is_dir() => folders.push(path),
                    path => text.push_str(&std::fs::read_to_string(path).unwrap_or_default()),
                }
            }
        }
        text
    }

    /// The environment of a Codex that must not see the user's settings.
    pub fn environment(&self) -> Vec<(String, String)> {
        let home = self.path().display().to_string();
        vec![("CODEX_HOME".to_owned(), home.clone()), ("HOME".to_owned(), home)]
    }
}

fn config_toml(model: &MockModel, config: &CodexTestConfig) -> String {
    let CodexTestConfig { context_window, model: name, plan_tool, tables } = config;
    let name = quoted(name);
    let url = quoted(&model.base_url());
    let plan_tool = match plan_tool {
        PlanTool::On => "[tools.update_plan]\nenabled = true\n",
        PlanTool::Unset => "",
    };
    format!(
        r#"model = {name}
model_provider = "mock"
model_context_window = {context_window}
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = {url}
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[features]
plugins = false
apps = false

[analytics]
enabled = false

{plan_tool}
{tables}
"#
    )
}

/// A JSON string is a TOML basic string as well.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_pins_one_version_and_names_no_registry() {
        let lock = std::fs::read_to_string(Path::new(INSTALL).join("package-lock.json")).unwrap();
        assert!(!lock.contains("://"));
        let lock: Value = serde_json::from_str(&lock).unwrap();
        let codex = &lock["packages"]["node_modules/@openai/codex"];
        assert_eq!(codex["version"], version().as_str());
        assert!(codex["integrity"].is_string());
    }
}
