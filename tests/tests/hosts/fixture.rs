//! Parts that the fixtures of several topics share.

use std::process::Command;

use rawr_tests::mock_responses::{ReplyGate, RequestPurpose, TurnReply, call};
use rawr_tests::{Terminal, wait_until};
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

/// What a person types while the agent writes its packet.
pub const TYPED: &str = "AND-NOW the user guide";

/// Runs this `rawr exec` on a terminal, where a person types a task and, before the agent has written its packet, [`TYPED`].
pub fn type_during_the_packet(
    exec: &Command,
    gate: &ReplyGate,
    packet_is_asked: impl Fn() -> bool,
) {
    let mut command = Command::new(exec.get_program());
    command.args(exec.get_args().filter(|argument| *argument != "--json"));
    for (name, value) in exec.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut terminal = Terminal::run(&command, 60, 120);
    terminal.press("WRITE-PARSER please\r");
    wait_until("a request for the packet", packet_is_asked);
    terminal.press(&format!("{TYPED}\r"));
    terminal.wait_for(&["held until the handoff"]);
    gate.open();
    let screen = terminal.wait_for(&["Writing the docs now."]);
    terminal.press("\u{4}");
    let end = terminal.wait_for_the_end();
    assert!(end.success(), "{end}: {screen}");
}
