//! Tests `tests/run` in a folder where every program is a script that records its call and fails on demand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use crate::root;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const PROGRAM: &str = r#"#!/bin/sh
call="${0##*/bin/} $*"
echo "$call" >> "$CALLS"
case $call in "node -p"*) echo 22 ;; uname*) echo "${SYSTEM:-Linux}" ;; esac
case $call in "$FAILS"*) seq 1000; exit "${CODE:-1}" ;; esac
"#;

/// Installed already, or not relevant for what is run.
const PROGRAMS: [&str; 15] = [
    "cargo", "cc", "chromium", "cmp", "g++", "git", "make", "node", "npm", "nvim", "patchelf",
    "pip3", "python3", "tmux", "uname",
];
const SCRIPTS: [&str; 14] = [
    "editor-clients/vscode/test/editor/get-editor.sh",
    "packaging/get-zig",
    "tests/claude/plugin",
    "tests/docs/run",
    "tests/fleets/run",
    "tests/language-clients/emacs/run",
    "tests/language-clients/helix/run",
    "tests/language-clients/kakoune/run",
    "tests/language-clients/neovim/get",
    "tests/neovim/run",
    "tests/newer",
    "tests/packaging/run",
    "tests/pictures/make",
    "tests/workflows/run",
];

const SUITES: [(&str, &str); 14] = [
    ("cargo nextest run", "tests in Rust"),
    ("tests/workflows/run", "the workflows"),
    ("tests/docs/run", "the guide as a book"),
    ("tests/fleets/run", "the queries of the docs"),
    ("tests/pictures/make --check", "the pictures of the docs"),
    ("tests/neovim/run", "the plugin for Neovim"),
    ("tests/claude/plugin", "the plugin for Claude Code"),
    ("tests/packaging/run", "the packages"),
    ("tests/language-clients/helix/run", "Helix as its page configures it"),
    ("tests/language-clients/emacs/run", "Emacs as its page configures it"),
    ("tests/language-clients/kakoune/run", "Kakoune as its page configures it"),
    (
        "npm run --silent --prefix editor-clients/vscode check",
        "the extension for VS Code: types, lints, format, generated files",
    ),
    (
        "npm run --silent --prefix editor-clients/vscode test",
        "the extension for VS Code: unit tests",
    ),
    (
        "npm run --silent --prefix editor-clients/vscode test:editor",
        "the packaged extension in real editors",
    ),
];

/// The calls when those with this prefix fail, the output, and whether it passes.
fn run(fails: &str) -> (String, String, bool) {
    run_with(&[("FAILS", fails)])
}

fn run_with(environment: &[(&str, &str)]) -> (String, String, bool) {
    let folder = TempDir::new().unwrap();
    let place = |path: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let program = place("program");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for name in PROGRAMS.map(|name| format!("bin/{name}")).iter().map(String::as_str).chain(SCRIPTS)
    {
        symlink(&program, place(name)).unwrap();
    }
    fs::create_dir_all(place("target/neovim/bin")).unwrap();
    let script = place("tests/run");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("run"), &script).unwrap();
    let path = format!("{}:{}", place("bin").display(), std::env::var("PATH").unwrap());
    let calls = place("calls");
    let output = Command::new("bash")
        .arg(script)
        .env_remove("CARGO_TARGET_DIR")
        .envs([("PATH", path.as_str()), ("CALLS", calls.to_str().unwrap())])
        .env_remove("CI")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let calls = fs::read_to_string(calls).unwrap();
    (calls, String::from_utf8(output.stdout).unwrap(), output.status.success())
}

#[test]
fn after_a_failed_suite_the_others_run_and_it_is_named_at_the_end() {
    for (fails, name) in SUITES {
        let (calls, said, has_passed) = run(fails);
        for (call, _) in SUITES {
            let is_made = calls.lines().any(|line| line.starts_with(call));
            assert!(is_made, "{fails}: no {call} in\n{calls}");
        }
        assert!(!has_passed, "{fails}: {said}");
        let (_, failed) = said.rsplit_once("== failed\n").unwrap();
        assert!(failed.contains(name), "{fails}: {said}");
    }
}

#[test]
fn the_last_lines_of_what_failed_are_shown_again() {
    for (code, reason) in [("1", ""), ("77", ": it says above what is missing")] {
        let environment = [("FAILS", "tests/docs/run"), ("CODE", code), ("CI", "true")];
        let (_, said, has_passed) = run_with(&environment);
        let (before, failed) = said.rsplit_once("== failed\n").unwrap();
        let named = format!("  the guide as a book{reason}\n");
        assert!(!has_passed && failed.contains(&named), "{said}");
        let (_, end) = before.rsplit_once("== the end of: the guide as a book\n").unwrap();
        let lines: Vec<_> = end.lines().filter(|line| line.parse::<u32>().is_ok()).collect();
        assert_eq!((lines[0], lines[lines.len() - 1]), ("801", "1000"), "{said}");
    }
}

#[test]
fn suites_that_pass_are_not_named() {
    let (_, said, has_passed) = run("nothing of this name");
    assert!(has_passed && said.ends_with("== passed\n"), "{said}");
}

#[test]
fn macos_runs_the_suites_that_do_not_need_linux() {
    let (calls, said, has_passed) =
        run_with(&[("FAILS", "nothing of this name"), ("SYSTEM", "Darwin")]);
    assert!(has_passed && said.ends_with("== passed\n"), "{said}");
    for call in ["cargo nextest run --workspace --exclude rawr-bench", "tests/claude/plugin"] {
        assert!(calls.contains(call), "{calls}");
    }
    assert!(
        !calls.contains("tests/neovim/run") && said.contains("Neovim: on Linux only"),
        "{said}"
    );
}

#[test]
fn only_the_journeys_are_retried() {
    for (fails, _) in SUITES {
        let (calls, _, _) = run(fails);
        let made = calls.lines().filter(|line| line.starts_with(fails));
        // The call of the journeys has the same prefix as that of the unit tests.
        let times = match fails {
            _ if fails.ends_with(" test") => 3,
            _ if fails.ends_with(":editor") => 2,
            _ => 1,
        };
        assert_eq!(made.count(), times, "{fails}\n{calls}");
    }
}

/// The report of pinned packages if the registry answers every request like this.
fn newer(answer: &str) -> String {
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("tests/newer");
    for pins in [
        "codex",
        "claude",
        "bench/peers/vscode-jsonrpc",
        "language-clients/node",
        "neovim",
        "workflows",
    ] {
        let to = folder.path().join("tests").join(pins);
        fs::create_dir_all(&to).unwrap();
        fs::copy(root().join("tests").join(pins).join("package.json"), to.join("package.json"))
            .unwrap();
    }
    fs::copy(root().join("tests/newer"), &script).unwrap();
    let npm = folder.path().join("npm");
    fs::write(&npm, format!("#!/bin/sh\n{answer}\n")).unwrap();
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash").arg(script).env("PATH", path).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn newer_versions_of_pinned_packages_are_named_and_not_an_error() {
    let said = newer("echo 99.0.0");
    assert!(said.contains("== newer versions published\n"), "{said}");
    for name in ["@openai/codex", "@anthropic-ai/claude-code", "vscode-languageclient"] {
        assert!(said.contains(&format!("  {name} 99.0.0 (pinned: ")), "{said}");
    }
    let said = newer("exit 1");
    assert!(said.contains("== not known whether") && said.contains("@openai/codex"), "{said}");
}

#[test]
fn failed_lints_stop_the_run() {
    let (calls, said, has_passed) = run("cargo clippy");
    assert!(!has_passed && !calls.contains("nextest"), "{said}");
}
