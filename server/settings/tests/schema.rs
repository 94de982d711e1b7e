//! The committed schema of `rawr.toml` is what the table of keys gives, and says of a file what the reader says of it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../../../protocol-schema/tests/wire/validator.rs"]
mod validator;

use rawr_settings::config::{ConfigSources, Home, Preset, commented_default_toml, json_schema};
use rawr_settings::problem::ProblemSeverity;
use serde_json::Value;
use std::path::Path;

#[test]
fn the_committed_schema_is_current() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocol-schema/rawr.toml.schema.json");
    let text = format!("{:#}\n", json_schema());
    if std::env::var_os("UPDATE").is_some_and(|update| update == "1") {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "{} is out of date: run `UPDATE=1 cargo test -p rawr-server --test schema`",
        path.display()
    );
}

/// Whether the reader takes all of it, and why the schema does not.
fn opinions(text: &str) -> (bool, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rawr.toml"), text).unwrap();
    let home = Home::at(folder.path());
    let (_, problems) = ConfigSources::at(&home).load();
    let misread = ["unknown-key", "wrong-type", "unknown-value", "out-of-range"];
    let taken = !problems.iter().any(|problem| {
        problem.severity == ProblemSeverity::Error || misread.contains(&problem.code)
    });
    let value: Value = serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap();
    let schema = json_schema();
    (taken, validator::misfit(&schema, &schema, &value))
}

#[test]
fn the_default_file_fits_with_every_key_in_force() {
    let text: String = commented_default_toml(Preset::default())
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    assert_eq!(opinions(&text), (true, None), "{text}");
    assert!(text.contains("\nmode = "), "{text}");
}

#[test]
fn the_schema_says_what_the_reader_says() {
    let ours = |lines: &str| format!("[rawr_auto_compaction]\n{lines}\n");
    for good in [
        ours("mode = \"ask\""),
        ours("early_percent_remaining_lt = \"80%\""),
        ours("auto_requires_any_boundary = [\"commit\"]"),
        ours("models.\"gpt-5*\".mode = \"tag\""),
        ours("models.\"gpt-5*\".policy.ready.percent_remaining_lt = 50"),
        "[rawr_auto_compaction.semantic_signals]\nagent_done = [\"done\"]\n".to_owned(),
    ] {
        assert_eq!(opinions(&good), (true, None), "{good}");
    }
    for bad in [
        ours("mode = \"loud\""),
        ours("modus = \"ask\""),
        ours("cooldown_turns = \"one\""),
        ours("early_percent_remaining_lt = 101"),
        ours("auto_requires_any_boundary = [\"lunch\"]"),
        ours("models.\"gpt-5*\".retention_days = 3"),
        ours("scratch_write_enabled = 1"),
        "[auto_compact]\nenabled = true\nalso = 1\n".to_owned(),
        "[rawr]\n".to_owned(),
    ] {
        let (taken, misfit) = opinions(&bad);
        assert!(!taken && misfit.is_some(), "{bad}: {taken} {misfit:?}");
    }
}

#[test]
fn every_key_is_described() {
    fn check(schema: &Value, at: &str) {
        let Some(properties) = schema["properties"].as_object() else {
            assert!(schema["description"].is_string(), "{at}");
            return;
        };
        for (name, below) in properties {
            check(below, &format!("{at}.{name}"));
        }
    }
    check(&json_schema(), "");
}
