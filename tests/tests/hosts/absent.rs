//! Agents that are missing or do not start.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use rawr_host::host::HostError;
use rawr_host::host::codex::{Codex, CodexSettings, find_codex};
use rawr_tests::{rawr, wait_until};

use crate::processes::with_words;

/// What `rawr exec` reports where no agent is installed.
fn without_agents(host: &str, options: &[&str]) -> String {
    let empty = tempfile::tempdir().unwrap();
    let output = Command::new(rawr())
        .args(["exec", "--host", host])
        .args(options)
        .arg("hello")
        .env("RAWR_HOME", empty.path())
        .env("PATH", empty.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_missing_codex_is_an_error_with_an_install_hint() {
    let error = without_agents("codex", &[]);
    assert!(
        error.contains("npm install -g @openai/codex") && error.contains("--codex PATH"),
        "{error}"
    );
    let error = without_agents("codex", &["--codex", "/no/such/codex"]);
    assert!(error.contains("/no/such/codex"), "{error}");
}

#[test]
fn a_missing_claude_is_an_error_with_an_install_hint() {
    let error = without_agents("claude", &[]);
    assert!(error.contains("npm install -g @anthropic-ai/claude-code"), "{error}");
    assert!(error.contains("--claude PATH"), "{error}");
    let error = without_agents("claude", &["--claude", "/no/such/claude"]);
    assert!(error.contains("/no/such/claude") && error.contains("--claude PATH"), "{error}");
}

#[test]
fn options_of_other_hosts_are_refused_by_name() {
    for (option, value, host) in
        [("--sandbox", "read-only", "codex"), ("--base-url", "http://127.0.0.1", "embedded")]
    {
        let error = without_agents("claude", &[option, value]);
        assert!(error.contains(option) && error.contains(&format!("--host {host}")), "{error}");
    }
}

#[tokio::test]
async fn a_missing_binary_is_an_error_with_a_hint() {
    let absent = Path::new("/nowhere/codex");
    expect!["/nowhere/codex is not an executable; pass one with `--codex PATH`"]
        .assert_eq(&find_codex(Some(absent)).unwrap_err().to_string());
    let settings = CodexSettings::new(absent.to_owned(), std::env::temp_dir());
    assert!(matches!(Codex::start(&settings).await, Err(HostError::NotStarted { .. })));
}

/// As where npm's program has started the native one as a child, and has not become it.
#[test]
fn an_app_server_that_does_not_start_leaves_no_process() {
    let home = tempfile::tempdir().unwrap();
    let codex = home.path().join("codex");
    let script = "#!/bin/sh
        case $1 in
        app-server) \"$0\" stay & exit 3 ;;
        stay) while :; do sleep 1; done ;;
        esac
        echo codex runs";
    std::fs::write(&codex, script).unwrap();
    std::fs::set_permissions(&codex, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new(rawr());
    command.arg("codex").arg("--codex").arg(&codex).current_dir(home.path());
    command.env("HOME", home.path()).env("CODEX_HOME", home.path()).env_remove("RAWR_HOME");
    let output = command.env_remove("XDG_RUNTIME_DIR").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "codex runs\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("exit status: 3") && said.contains("Codex runs without it"), "{said}");
    let words = format!("{} stay", codex.display());
    wait_until("the end of what it started", || with_words(&words).is_empty());
}
