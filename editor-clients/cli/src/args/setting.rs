//! `-c KEY=VALUE`: a setting of rawr.toml for one run.

use rawr_settings::config::{check_overrides, is_ours};
use serde_json::json;

/// A configuration value with the path of its key.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigSetting {
    pub key: Vec<String>,
    pub value: toml::Value,
    /// As it was written.
    pub text: String,
}

/// The settings, or the usage error for the first one that is not one.
pub fn settings(texts: &[String]) -> Result<Vec<ConfigSetting>, clap::Error> {
    let parse = |text: &String| {
        parse_setting(text).map_err(|problem| {
            let message = format!("invalid value '{text}' for '--config <KEY=VALUE>': {problem}");
            super::command().error(clap::error::ErrorKind::ValueValidation, message)
        })
    };
    texts.iter().map(parse).collect()
}

/// Whether the key of KEY=VALUE is of rawr, and not of Codex, whose settings come in the same option.
pub fn is_setting_of_rawr(text: &str) -> bool {
    is_ours(text.split('=').next().unwrap_or_default().trim())
}

/// Parses KEY=VALUE, which must name a key and a value of rawr.toml. A value that is not TOML is a string, so that it
/// needs no quotes inside the shell's quotes.
pub(super) fn parse_setting(text: &str) -> Result<ConfigSetting, String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    let key = parse_key(key)?;
    let value = value.trim();
    let read = format!("value = {value}").parse::<toml::Table>();
    let read = read.ok().and_then(|mut table| table.remove("value"));
    let value = read.unwrap_or_else(|| toml::Value::String(value.to_owned()));
    let mut nested = serde_json::to_value(&value).map_err(|error| error.to_string())?;
    for part in key.iter().rev() {
        nested = json!({ part.as_str(): nested });
    }
    match check_overrides(&nested).first() {
        None => Ok(ConfigSetting { key, value, text: text.to_owned() }),
        Some(problem) => {
            let help = problem.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            Err(format!("{}{help}", problem.message))
        }
    }
}

/// The parts of a key, which are separated by dots and may be in quotes, as in the file.
fn parse_key(key: &str) -> Result<Vec<String>, String> {
    let mut rest = format!("{key} = 0")
        .parse::<toml::Table>()
        .map_err(|_| format!("`{}` is not a key", key.trim()))?;
    let mut parts = Vec::new();
    while let Some((part, inner)) = rest.into_iter().next() {
        parts.push(part);
        rest = match inner {
            toml::Value::Table(inner) => inner,
            _ => break,
        };
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_toml_or_a_string() {
        let check = |text: &str, key: &[&str], value: toml::Value| {
            let setting = parse_setting(text).expect(text);
            let key: Vec<_> = key.iter().map(|&part| part.to_owned()).collect();
            assert_eq!((setting.key, setting.value), (key, value));
        };
        let ours = "rawr_auto_compaction";
        check("auto_compact.threshold_percent=3", &["auto_compact", "threshold_percent"], 3.into());
        check("features.rawr_auto_compaction = true", &["features", ours], true.into());
        check("rawr_auto_compaction.mode=suggest", &[ours, "mode"], "suggest".into());
        let list = toml::Value::Array(vec!["commit".into()]);
        check(
            "rawr_auto_compaction.auto_requires_any_boundary=[\"commit\"]",
            &[ours, "auto_requires_any_boundary"],
            list,
        );
        check(
            "rawr_auto_compaction.models.\"gpt-5.2\".mode=ask",
            &[ours, "models", "gpt-5.2", "mode"],
            "ask".into(),
        );
    }

    // rule: configuration.fails-closed
    #[test]
    fn a_wrong_key_or_value_is_refused() {
        let check = |text: &str, expected: &str| {
            assert_eq!(parse_setting(text).expect_err(text), expected);
        };
        check("no value", "expected KEY=VALUE");
        check("a..b=1", "`a..b` is not a key");
        check("mode=ask", "unknown key `mode`; did you mean `rawr_auto_compaction.mode`?");
        check(
            "rawr_auto_compaction.mode=aks",
            "`rawr_auto_compaction.mode` cannot be `aks`; did you mean `ask`?",
        );
        check(
            "rawr_auto_compaction.mdoe=ask",
            "unknown key `mdoe` in `[rawr_auto_compaction]`; did you mean `mode`?",
        );
        check(
            "rawr_auto_compaction.cooldown_turns=\"5\"",
            "`rawr_auto_compaction.cooldown_turns` must be a whole number, but is a string; write 5 without quotes",
        );
    }
}
