//! Translates a Codex profile, `<CODEX_HOME>/NAME.config.toml`, to `-c` settings, because the app-server has no `--profile`.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, bail};
use rawr_storage::redact::{is_redacted, redact};
use toml::{Table, Value};

use rawr_host::host::codex::codex_home;

/// Suffixes of keys whose values are paths. Codex resolves paths in a file against the file's folder, and paths on the command
/// line against the current folder.
const PATHS: [&str; 6] = ["_dir", "_file", "_home", "_json", "_path", "writable_roots"];

/// Tables whose keys are names that users choose.
const FREE: [&str; 5] = ["env", "env_http_headers", "headers", "http_headers", "set"];

/// The profile's settings, each as `key=value`. `None` if there is no such profile.
pub(in crate::commands) fn settings(name: &str) -> anyhow::Result<Option<Vec<String>>> {
    if !is_plain(name) {
        return Ok(None);
    }
    let Some(home) = codex_home() else { return Ok(None) };
    let home = std::path::absolute(home)?;
    let file = home.join(format!("{name}.config.toml"));
    let shown = || file.display().to_string();
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(shown),
    };
    let mut table: Table = text.parse().with_context(shown)?;
    make_absolute(&mut table, &home);
    let mut settings = Vec::new();
    flatten("", &table, &mut settings);
    if settings.iter().any(|setting| is_redacted(&redact(setting))) {
        bail!(
            "the profile {name} contains a key, which a command line would expose to other users"
        );
    }
    Ok(Some(settings))
}

fn make_absolute(table: &mut Table, folder: &Path) {
    for (key, value) in table.iter_mut() {
        match value {
            Value::Table(table) if !FREE.contains(&key.as_str()) => make_absolute(table, folder),
            value if PATHS.iter().any(|ending| key.ends_with(ending)) => absolute(value, folder),
            Value::Array(values) => {
                let tables = values.iter_mut().filter_map(Value::as_table_mut);
                tables.for_each(|table| make_absolute(table, folder));
            }
            _ => {}
        }
    }
}

fn absolute(value: &mut Value, folder: &Path) {
    match value {
        // Codex expands `~` itself.
        Value::String(path) if !path.starts_with('~') => {
            *path = folder.join(&*path).to_string_lossy().into_owned();
        }
        Value::Array(values) => values.iter_mut().for_each(|value| absolute(value, folder)),
        _ => {}
    }
}

/// Flattens tables, because a whole table would replace the values of other options. A key that needs quotes ends the path,
/// because Codex does not support quotes in the path of a setting.
fn flatten(path: &str, table: &Table, settings: &mut Vec<String>) {
    for (key, value) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Value::Table(table) if !table.is_empty() && table.keys().all(|key| is_plain(key)) => {
                flatten(&path, table, settings);
            }
            value => settings.push(format!("{path}={value}")),
        }
    }
}

fn is_plain(key: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !key.is_empty() && key.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_is_a_valid_command_line_setting() {
        let text = r#"
model = "x"
model_instructions_file = "words.md"
log_dir = "~/logs"
limits = [1, 2.5]

[mcp_servers.tools]
command = "./run"
args = ["a \"b\""]
env = { LOG_FILE = "x", log_file = "y", "A.B" = "z" }

[sandbox_workspace_write]
writable_roots = ["/a", "b"]

[[hooks.Stop]]
script_path = "stop"

[projects."/a.b"]
trust_level = "trusted"
"#;
        let mut table: Table = text.parse().expect("TOML");
        make_absolute(&mut table, Path::new("/home"));
        let mut settings = Vec::new();
        flatten("", &table, &mut settings);
        settings.sort();
        assert_eq!(
            settings,
            [
                r#"hooks.Stop=[{ script_path = "/home/stop" }]"#,
                "limits=[1, 2.5]",
                r#"log_dir="~/logs""#,
                r#"mcp_servers.tools.args=['a "b"']"#,
                r#"mcp_servers.tools.command="./run""#,
                r#"mcp_servers.tools.env={ "A.B" = "z", LOG_FILE = "x", log_file = "y" }"#,
                r#"model="x""#,
                r#"model_instructions_file="/home/words.md""#,
                r#"projects={ "/a.b" = { trust_level = "trusted" } }"#,
                r#"sandbox_workspace_write.writable_roots=["/a", "/home/b"]"#,
            ]
        );
    }
}
