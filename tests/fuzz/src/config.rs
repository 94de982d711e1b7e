//! Configuration: any files give a configuration and problems with places, a project only narrows, and what is in force
//! can be sent back as a client's settings.

use super::front_matter::check_problems;
use rawr_settings::config::{Config, ConfigSources, Home};
use serde_json::{Map, Value};
use std::path::Path;

/// Between the layers, on a line of its own: `rawr.toml`, Codex's `config.toml`, the project's file, the client's JSON.
const NEXT_LAYER: &str = "%%%\n";
const MODEL: &str = "model-1";

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let layers: Vec<_> = text.splitn(4, NEXT_LAYER).collect();
    let layer = |at: usize| layers.get(at).copied().unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    let (home, project) = (folder.path().join("home"), folder.path().join("project"));
    let files = [
        (home.join("rawr.toml"), layer(0)),
        (home.join("config.toml"), layer(1)),
        (project.join(".rawr.toml"), layer(2)),
    ];
    for (path, text) in &files {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let client: Option<Value> = serde_json::from_str(layer(3)).ok();
    let (config, problems) = load(&home, Some(&project), client.as_ref());
    for problem in problems {
        let of_file = files.iter().find(|(path, _)| Some(path) == problem.file.as_ref());
        check_problems(of_file.map_or("", |(_, text)| text), &[problem]);
    }
    let (without, _) = load(&home, None, client.as_ref());
    only_narrows(&without.effective(), &config.effective());
    comes_back(folder.path(), &config);
}

fn load(
    home: &Path,
    project: Option<&Path>,
    client: Option<&Value>,
) -> (Config, Vec<rawr_settings::problem::FileProblem>) {
    let home = Home::at(home);
    let model = Some(MODEL);
    ConfigSources { project, model, overrides: client, ..ConfigSources::at(&home) }.load()
}

/// Settings that a cloned repository must never change.
fn only_narrows(without: &Map<String, Value>, with: &Map<String, Value>) {
    for (key, before) in without {
        let (before, after) = (&before["value"], &with[key]["value"]);
        if before == after {
            continue;
        }
        let narrower = if key.contains("judgment.") || key.contains("_path") || key.contains("url")
        {
            false
        } else if key.ends_with("percent_remaining_lt") {
            after.as_u64() < before.as_u64()
        } else if key.starts_with("features.") {
            after == false
        } else {
            true
        };
        assert!(narrower, "a project made `{key}` {after} of {before}");
    }
}

/// As one client's settings, on a home without files.
fn comes_back(empty: &Path, config: &Config) {
    let in_force = config.effective();
    let mut sent = Value::Object(Map::new());
    for (key, shown) in &in_force {
        if let Some(value) = shown.get("value") {
            let mut place = &mut sent;
            for part in key.split('.') {
                place = &mut place[part];
            }
            *place = value.clone();
        }
    }
    let (again, _) = load(empty, None, Some(&sent));
    let again = again.effective();
    for (key, shown) in &in_force {
        assert_eq!(shown.get("value"), again[key].get("value"), "`{key}` sent back");
    }
}
