//! Parts that the fixtures of several topics share.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rawr_tests::mock_responses::{RequestPurpose, TurnReply, call};
use rawr_tests::{ExecOutput, Terminal, place_as};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// The agent's packet.
pub const PACKET: &str = "<continuation_packet>\nState: working\nGoal: a parser with docs\nDecisions: plain text, no macros\n\
    Next: write the docs of parser.txt\n</continuation_packet>";

/// A call of Codex's shell tool.
pub fn codex_shell(command: &str) -> TurnReply {
    call("exec_command", json!({ "cmd": command }))
}

/// A call of Claude Code's shell tool.
pub fn claude_shell(command: &str) -> TurnReply {
    call("Bash", json!({ "command": command }))
}

/// The name of a request's purpose in the text of a session.
pub fn purpose(purpose: RequestPurpose) -> &'static str {
    match purpose {
        RequestPurpose::Turn => "turn",
        RequestPurpose::Judgment => "judgment",
        RequestPurpose::LocalCompaction | RequestPurpose::RemoteCompaction => "compaction",
    }
}

/// The packet of an agent that works beside the other one.
pub const OTHER_PACKET: &str = "<continuation_packet>\nState: working\nGoal: a lexer with tests\nDecisions: no lookahead\n\
    Next: test the tokens\n</continuation_packet>";

/// This `rawr exec`, for a person at a terminal.
pub fn on_a_terminal(exec: &Command) -> Terminal {
    let mut command = Command::new(exec.get_program());
    command.args(exec.get_args().filter(|argument| *argument != "--json"));
    place_as(&mut command, exec);
    Terminal::run(&command, 60, 120)
}

/// The person ends the session.
pub fn end(mut terminal: Terminal) {
    terminal.press("\u{4}");
    let end = terminal.wait_for_the_end();
    assert!(end.success(), "{end}: {}", terminal.screen());
}

/// A program that is another one, except that `sed` edits what it prints where an argument holds `word`.
pub fn with_edited_output(folder: &Path, program: &Path, word: &str, edit: &str) -> PathBuf {
    let (wrapper, script) = (folder.join("edited"), folder.join("edited.sed"));
    std::fs::write(&script, edit).unwrap();
    let (program, script) = (program.display(), script.display());
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in *{word}*) '{program}' \"$@\" | sed -u -f '{script}';;\n*) exec '{program}' \"$@\";; esac\n"
    );
    std::fs::write(&wrapper, text).unwrap();
    std::fs::set_permissions(&wrapper, PermissionsExt::from_mode(0o755)).unwrap();
    wrapper
}

/// As [`with_edited_output`], with these lines behind each line that holds `line`.
pub fn with_noise(
    folder: &Path,
    program: &Path,
    word: &str,
    line: &str,
    noise: &[&[u8]],
) -> PathBuf {
    let file = folder.join("noise");
    let mut bytes = noise.join(&b'\n');
    bytes.push(b'\n');
    std::fs::write(&file, bytes).unwrap();
    with_edited_output(folder, program, word, &format!("\\|{line}|r {}\n", file.display()))
}

pub fn without_notices(session: &ExecOutput) -> String {
    let story = session.story();
    let lines = story.lines().filter(|line| !line.starts_with("[notice: "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Nothing else, and in each turn.
pub fn tells_once_a_turn(session: &ExecOutput, beginnings: &[&str]) {
    let (notices, turns) = (session.notices(), session.all("turn_completed").len());
    for beginning in beginnings {
        let times = notices.iter().filter(|notice| notice.starts_with(beginning)).count();
        assert_eq!(times, turns, "{beginning}: {}", session.dump());
    }
    assert_eq!(notices.len(), beginnings.len() * turns, "{}", session.dump());
}

/// Ends a session with Ctrl-C.
pub fn interrupted(session: Child) -> ExecOutput {
    kill_process(Pid::from_child(&session), Signal::INT).unwrap();
    let done = ExecOutput::of(session.wait_with_output().unwrap());
    assert_eq!(done.output.status.code(), Some(130), "{}", done.dump());
    done
}
