//! Parts that the fixtures of several topics share.

use rawr_tests::mock_responses::{RequestPurpose, TurnReply, call};
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
