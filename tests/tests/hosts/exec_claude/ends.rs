//! How sessions with Claude Code end before their time: it is missing, not logged in, dies or is interrupted.

use std::process::Command;

use rawr_tests::claude::binary;
use rawr_tests::mock_responses::{Script, say, stall};
use rawr_tests::{Session, rawr};

use super::lab::Lab;

fn refused(lab: &Lab, arguments: &[&str], edit: impl Fn(&mut Command)) -> String {
    let mut command = Command::new(rawr());
    command.args(["exec", "--host", "claude"]).args(arguments);
    lab.home.equip(&mut command);
    command.env("RAWR_HOME", lab.home.path());
    edit(&mut command);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_missing_claude_says_how_to_get_one() {
    let lab = Lab::new(Script::default());
    let empty = tempfile::tempdir().unwrap();
    let error = refused(&lab, &["hello"], |command| {
        command.env("PATH", empty.path());
    });
    assert!(error.contains("npm install -g @anthropic-ai/claude-code"), "{error}");
    assert!(error.contains("--claude PATH"), "{error}");
    let error = refused(&lab, &["--claude", "/no/such/claude", "hello"], |_| {});
    assert!(error.contains("/no/such/claude") && error.contains("--claude PATH"), "{error}");
}

#[test]
fn options_of_other_hosts_are_refused_by_name() {
    let lab = Lab::new(Script::default());
    for (option, value, host) in
        [("--sandbox", "read-only", "codex"), ("--base-url", "http://127.0.0.1", "embedded")]
    {
        let error = refused(&lab, &[option, value, "hello"], |_| {});
        assert!(error.contains(option) && error.contains(&format!("--host {host}")), "{error}");
    }
}

#[test]
fn who_is_not_logged_in_is_told_what_to_do_and_the_model_is_not_asked() {
    let lab = Lab::new(Script::default());
    let claude = binary().display().to_string();
    let error = refused(&lab, &["--claude", &claude, "hello"], |command| {
        command.env_remove("ANTHROPIC_API_KEY");
    });
    assert!(error.contains("/login") && error.contains("ANTHROPIC_API_KEY"), "{error}");
    assert!(lab.model.requests().is_empty());
}

#[test]
fn what_claude_says_when_it_does_not_start_is_handed_on() {
    let lab = Lab::new(Script::default());
    let done = lab.exec(&["--permission-mode", "no-such-mode", "hello"]);
    assert_eq!(done.output.status.code(), Some(1), "{}", done.dump());
    let error = String::from_utf8_lossy(&done.output.stderr).into_owned();
    assert!(error.contains("claude ended") && error.contains("no-such-mode"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_claude_that_dies_in_the_middle_is_told_and_nothing_of_the_thread_is_lost() {
    let lab = Lab::new(Script::default().on("HANG", [stall()]).on("HELLO", [say("Hi.")]));
    let rawr = lab.command(&["HELLO there", "HANG now"]).spawn().unwrap();
    lab.wait_for("HANG");
    signal(&agent_of(rawr.id()), "-9");
    let done = Session::of(rawr.wait_with_output().unwrap());
    assert_eq!(done.output.status.code(), Some(1), "{}", done.dump());
    let error = String::from_utf8_lossy(&done.output.stderr).into_owned();
    assert!(error.contains("claude ended (signal: 9"), "{error}");
    let events = events(&lab);
    assert!(events.ends_with('\n') && events.contains("turn_completed"), "{events}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interruption_ends_the_turn_and_leaves_nothing_running() {
    let lab = Lab::new(Script::default().on("HANG", [stall()]));
    let rawr = lab.command(&["HANG now", "NEVER said"]).spawn().unwrap();
    lab.wait_for("HANG");
    let agent = agent_of(rawr.id());
    signal(&rawr.id().to_string(), "-INT");
    let done = Session::of(rawr.wait_with_output().unwrap());
    assert_eq!(done.output.status.code(), Some(130), "{}", done.dump());
    assert!(done.story().ends_with("turn interrupted\n"), "{}", done.story());
    assert!(events(&lab).contains("\"interrupted\""), "{}", events(&lab));
    assert!(!std::path::Path::new(&format!("/proc/{agent}")).exists(), "claude still runs");
    assert_eq!(lab.model.requests().len(), 1);
}

#[cfg(target_os = "linux")]
fn events(lab: &Lab) -> String {
    let threads = lab.home.path().join(".rawr/rawr/auto_compaction/threads");
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
