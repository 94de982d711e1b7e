//! Checks the plugin in Claude Code, by the files in which Claude Code keeps what is installed and enabled.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::claude::rawr_version;
use super::{CheckStatus, DoctorCheck};
use crate::args::HookHost;
use crate::commands::hooks::settings_file;
use crate::render::causes;
use rawr_host::host::find::in_path;

/// The first Claude Code that loads the plugin.
const LEAST: [u64; 3] = [2, 1, 287];

/// Where an organization's settings are, which no user can override.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode/managed-settings.json"
} else {
    "/etc/claude-code/managed-settings.json"
};

/// The plugin of any marketplace.
const NAME: &str = "rawr@";

/// Claude Code's list of installed plugins.
#[derive(Debug, Default, Deserialize)]
struct InstalledPlugins {
    #[serde(default)]
    plugins: BTreeMap<String, Vec<InstalledPlugin>>,
}

#[derive(Debug, Deserialize)]
struct InstalledPlugin {
    #[serde(default)]
    version: String,
}

/// What a settings file of Claude Code says of plugins.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PluginSettings {
    #[serde(default)]
    enabled_plugins: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    plugin_configs: BTreeMap<String, PluginConfig>,
    #[serde(default)]
    disable_all_hooks: bool,
    /// A setting of an organization, as the next one.
    #[serde(default)]
    allow_managed_hooks_only: bool,
    #[serde(default)]
    allow_managed_mods_only: bool,
}

impl PluginSettings {
    /// The key that keeps a user's plugin from running.
    fn forbids(&self, is_managed: bool) -> Option<&'static str> {
        let keys = [
            (self.disable_all_hooks, "disableAllHooks"),
            (self.allow_managed_hooks_only && is_managed, "allowManagedHooksOnly"),
            (self.allow_managed_mods_only && is_managed, "allowManagedModsOnly"),
        ];
        keys.into_iter().find_map(|(is_set, key)| is_set.then_some(key))
    }
}

#[derive(Debug, Default, Deserialize)]
struct PluginConfig {
    #[serde(default)]
    options: PluginOptions,
}

#[derive(Debug, Default, Deserialize)]
struct PluginOptions {
    path: Option<String>,
}

/// The plugin as the current folder's sessions have it.
#[derive(Debug)]
struct FoundPlugin {
    /// With its marketplace.
    id: String,
    version: String,
    is_enabled: bool,
    /// The key of the settings that forbid it, and what to do.
    forbidden: Option<(&'static str, String)>,
    /// The rawr that it starts.
    program: String,
}

/// `claude` is the version of the installed Claude Code, if there is one.
pub(super) async fn plugin(claude: Option<&str>) -> DoctorCheck {
    let check = |status, message: String| DoctorCheck::new("plugin", status, message);
    let is_too_old = claude.filter(|version| !is_at_least(version, LEAST));
    let found = match find() {
        Ok(Some(found)) => found,
        Ok(None) => {
            let message = "not installed in Claude Code; needed to compact in sessions that you start yourself";
            let check = check(CheckStatus::Absent, message.to_owned());
            return match is_too_old {
                _ if claude.is_none() => check,
                Some(version) => check.todo(format!(
                    "it needs Claude Code {}, and yours is {version}: run `claude update`, or use `rawr hooks install --claude`",
                    shown(LEAST)
                )),
                None => check
                    .todo("claude plugin marketplace add <owner>/<repo>")
                    .todo("claude plugin install rawr@rawr"),
            };
        }
        Err(error) => return check(CheckStatus::Warn, causes(&error)),
    };
    let FoundPlugin { id, version, program, .. } = &found;
    if !found.is_enabled {
        return check(CheckStatus::Absent, format!("{id} {version} is disabled"))
            .todo(format!("claude plugin enable {id}"));
    }
    if let Some(claude) = is_too_old {
        let message =
            format!("{id} {version} needs Claude Code {}, and yours is {claude}", shown(LEAST));
        return check(CheckStatus::Warn, message)
            .todo("run `claude update`, or use `rawr hooks install --claude`");
    }
    if let Some((key, todo)) = &found.forbidden {
        let message = format!("{id} {version} is not loaded: Claude Code's settings have {key}");
        return check(CheckStatus::Warn, message).todo(todo);
    }
    let path = match Path::new(program).components().count() {
        1 => in_path(program, std::env::var_os("PATH").as_deref()),
        _ => Some(PathBuf::from(program)),
    };
    let started = match &path {
        Some(path) => rawr_version(path).await.map(|version| (path, version)),
        None => None,
    };
    let Some((path, rawr)) = started else {
        let message = format!("{id} {version} starts {program}, which is not a working rawr");
        return check(CheckStatus::Warn, message)
            .todo("put rawr into the PATH of Claude Code, or name its path:")
            .todo(format!("claude plugin configure {id}"));
    };
    let message = format!("{id} {version} is enabled and starts rawr {rawr} in {}", path.display());
    if rawr != *version {
        return check(CheckStatus::Warn, format!("{message}; they should have the same version"))
            .todo(format!("claude plugin update {id}"));
    }
    check(CheckStatus::Ok, message)
}

fn find() -> anyhow::Result<Option<FoundPlugin>> {
    let Ok(user) = settings_file(HookHost::Claude, None) else { return Ok(None) };
    let installed: InstalledPlugins = read(&user.with_file_name("plugins/installed_plugins.json"))?;
    let ours = installed.plugins.into_iter().find(|(id, _)| id.starts_with(NAME));
    let Some((id, copies)) = ours else { return Ok(None) };
    let user: PluginSettings = read(&user)?;
    let here = std::env::current_dir().unwrap_or_default().join(".claude");
    // Later files override earlier ones, but only the user's may name a program.
    let project = [read(&here.join("settings.json"))?, read(&here.join("settings.local.json"))?];
    let program = user.plugin_configs.get(&id).and_then(|config| config.options.path.clone());
    let layers = || std::iter::once(&user).chain(&project);
    let mut enabled =
        layers().filter_map(|settings: &PluginSettings| settings.enabled_plugins.get(&id));
    Ok(Some(FoundPlugin {
        is_enabled: enabled
            .next_back()
            .is_some_and(|value| *value != serde_json::Value::Bool(false)),
        forbidden: forbidden(&read(Path::new(MANAGED))?, layers()),
        version: copies.last().map(|copy| copy.version.clone()).unwrap_or_default(),
        program: program.filter(|path| !path.is_empty()).unwrap_or_else(|| "rawr".to_owned()),
        id,
    }))
}

fn forbidden<'s>(
    managed: &PluginSettings,
    mut users: impl Iterator<Item = &'s PluginSettings>,
) -> Option<(&'static str, String)> {
    if let Some(key) = managed.forbids(true) {
        let todo = format!("ask your organization, which set it in {MANAGED}; `rawr exec` works");
        return Some((key, todo));
    }
    let key = users.find_map(|settings| settings.forbids(false))?;
    Some((key, format!("remove {key} from Claude Code's settings.json")))
}

/// The file's content; the default if there is no file.
fn read<T: DeserializeOwned + Default>(path: &Path) -> anyhow::Result<T> {
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).with_context(|| path.display().to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(T::default()),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// Whether a version is this one or newer. An unknown format counts as new enough.
fn is_at_least(version: &str, least: [u64; 3]) -> bool {
    let numbers: Result<Vec<u64>, _> =
        version.split(['.', '-', '+']).take(3).map(str::parse).collect();
    numbers.map_or(true, |numbers| numbers >= least.to_vec())
}

fn shown([major, minor, patch]: [u64; 3]) -> String {
    format!("{major}.{minor}.{patch} or newer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organization_can_forbid_the_plugin_and_a_user_can_switch_hooks_off() {
        let settings = |text: &str| serde_json::from_str::<PluginSettings>(text).unwrap();
        for (managed, user, expected) in [
            ("{}", "{}", ""),
            ("{}", r#"{"allowManagedHooksOnly": true}"#, ""),
            ("{}", r#"{"disableAllHooks": true}"#, "disableAllHooks: remove disableAllHooks"),
            (r#"{"allowManagedHooksOnly": true}"#, "{}", "allowManagedHooksOnly: ask your org"),
            (r#"{"allowManagedModsOnly": true}"#, "{}", "allowManagedModsOnly: ask your org"),
            (r#"{"disableAllHooks": true}"#, "{}", "disableAllHooks: ask your org"),
        ] {
            let (managed, user) = (settings(managed), settings(user));
            let found = forbidden(&managed, std::iter::once(&user));
            let told = found.map(|(key, todo)| format!("{key}: {todo}")).unwrap_or_default();
            assert!(told.starts_with(expected) && told.is_empty() == expected.is_empty(), "{told}");
        }
    }

    #[test]
    fn versions_are_compared_by_number() {
        for (version, expected) in [
            ("2.1.287", true),
            ("2.1.330", true),
            ("2.2.0-dev.1", true),
            ("3.0.0", true),
            ("2.1.286", false),
            ("2.1.90", false),
            ("2.0.999", false),
            ("next", true),
        ] {
            assert_eq!(is_at_least(version, LEAST), expected, "{version}");
        }
    }
}
