//! Conversations as data: every script in `tests/scripts` is a list of inputs, each followed by the core's answers.
//! Must use the core only through its public entry point. `UPDATE=1 cargo test -p rawr-tests --test core scripts`
//! rewrites the answers.
//!
//! A script's folder is its topic, its name is the rule in short. A comment `# rule: <id>` names a rule of `docs/spec`
//! that it shows; `rules` checks these comments.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod command;
mod config;
mod keys;
mod player;
mod policy;
mod print;
mod show;

use player::Player;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn tests() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All scripts of a folder, recursively.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(scripts(&path));
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_script_matches_the_core() {
    let scripts = scripts(&tests().join("scripts"));
    assert!(scripts.len() >= 380, "scripts are missing: {}", scripts.len());
    let mut different = String::new();
    for script in scripts {
        let stored = std::fs::read_to_string(&script).unwrap();
        let played = Player::default().play(&stored);
        if stored != played {
            let _ = writeln!(different, "{}:\n{}", script.display(), difference(&stored, &played));
            if std::env::var_os("UPDATE").is_some() {
                std::fs::write(&script, played).unwrap();
            }
        }
    }
    assert!(different.is_empty(), "run with UPDATE=1 and review the difference:\n{different}");
}

fn difference(stored: &str, played: &str) -> String {
    let mut text = String::new();
    for at in 0..stored.lines().count().max(played.lines().count()) {
        let line = |of: &str| of.lines().nth(at).unwrap_or_default().to_owned();
        let (before, after) = (line(stored), line(played));
        if before != after {
            let _ = writeln!(text, "  line {}\n  - {before}\n  + {after}", at + 1);
        }
    }
    text
}
