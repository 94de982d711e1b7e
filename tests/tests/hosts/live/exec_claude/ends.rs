//! Sessions with Claude Code that end early: it is not logged in, dies or is interrupted.

use std::process::Command;

use rawr_tests::claude::binary;
use rawr_tests::mock_responses::{TurnScript, reply, stall};
use rawr_tests::{ExecOutput, rawr};

use super::fixture::ClaudeExecFixture;

fn refused(fixture: &ClaudeExecFixture, arguments: &[&str], edit: impl Fn(&mut Command)) -> String {
    let mut command = Command::new(rawr());
    command.args(["exec", "--host", "claude"]).args(arguments);
    fixture.home.equip(&mut command);
    command.env("RAWR_HOME", fixture.home.path());
    edit(&mut command);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_missing_login_is_an_error_with_a_hint() {
    let fixture = ClaudeExecFixture::new(TurnScript::default());
    let claude = binary().display().to_string();
    let error = refused(&fixture, &["--claude", &claude, "hello"], |command| {
        command.env_remove("ANTHROPIC_API_KEY");
    });
    assert!(error.contains("/login") && error.contains("ANTHROPIC_API_KEY"), "{error}");
    assert!(fixture.model.requests().is_empty());
}

#[test]
fn the_stderr_of_a_claude_that_fails_to_start_is_shown() {
    let fixture = ClaudeExecFixture::new(TurnScript::default());
    let done = fixture.exec(&["--permission-mode", "no-such-mode", "hello"]);
    assert_eq!(done.output.status.code(), Some(1), "{}", done.dump());
    let error = String::from_utf8_lossy(&done.output.stderr).into_owned();
    assert!(error.contains("claude ended") && error.contains("no-such-mode"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_death_of_claude_is_reported_and_the_thread_is_stored() {
    let fixture = ClaudeExecFixture::new(
        TurnScript::default().on("HANG", [stall()]).on("HELLO", [reply("Hi.")]),
    );
    let rawr = fixture.command(&["HELLO there", "HANG now"]).spawn().unwrap();
    fixture.wait_for("HANG");
    signal(&agent_of(rawr.id()), "-9");
    let done = ExecOutput::of(rawr.wait_with_output().unwrap());
    assert_eq!(done.output.status.code(), Some(1), "{}", done.dump());
    let error = String::from_utf8_lossy(&done.output.stderr).into_owned();
    assert!(error.contains("claude ended (signal: 9"), "{error}");
    let events = events(&fixture);
    assert!(events.ends_with('\n') && events.contains("turn_completed"), "{events}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_turn_and_all_processes() {
    let fixture = ClaudeExecFixture::new(TurnScript::default().on("HANG", [stall()]));
    let rawr = fixture.command(&["HANG now", "NEVER said"]).spawn().unwrap();
    fixture.wait_for("HANG");
    let agent = agent_of(rawr.id());
    signal(&rawr.id().to_string(), "-INT");
    let done = ExecOutput::of(rawr.wait_with_output().unwrap());
    assert_eq!(done.output.status.code(), Some(130), "{}", done.dump());
    assert!(
        done.story().ends_with("turn interrupted\n[not sent: NEVER said]\n"),
        "{}",
        done.story()
    );
    assert!(events(&fixture).contains("\"interrupted\""), "{}", events(&fixture));
    assert!(!std::path::Path::new(&format!("/proc/{agent}")).exists(), "claude still runs");
    assert_eq!(fixture.model.requests().len(), 1);
}

#[cfg(target_os = "linux")]
fn events(fixture: &ClaudeExecFixture) -> String {
    let threads = fixture.home.path().join(".rawr/rawr/auto_compaction/threads");
    let thread = std::fs::read_dir(threads).unwrap().next().unwrap().unwrap().path();
    std::fs::read_to_string(thread.join("events.jsonl")).unwrap()
}

/// The sidecar is a child, too.
#[cfg(target_os = "linux")]
fn agent_of(rawr: u32) -> String {
    let list = std::fs::read_to_string(format!("/proc/{rawr}/task/{rawr}/children")).unwrap();
    let is_agent = |child: &&str| {
        let line = std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap();
        line.contains("stream-json")
    };
    list.split_whitespace().find(is_agent).unwrap().to_owned()
}

#[cfg(target_os = "linux")]
fn signal(process: &str, signal: &str) {
    assert!(Command::new("kill").args([signal, process]).status().unwrap().success());
}
