//! A person types at the terminal of `rawr exec`.

use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::wait_until;

use super::fixture::{ExecAgent, FIRST, NEXT, Step};
use crate::fixture::{end, on_a_terminal};
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;

/// The second message confirms the compaction, and the third is typed while the packet is written.
fn typed_during_the_packet<A: ExecAgent>() {
    let gate = ReplyGate::new();
    let agent = A::waiting(Step::Packet, &gate);
    let mut terminal = on_a_terminal(&agent.command(&[]));
    terminal.press(&format!("{FIRST}\r"));
    terminal.wait_for(&["The parser is written and committed."]);
    terminal.press(&format!("{NEXT}\r"));
    wait_until("a request for the packet", || agent.times(Step::Packet) == 1);
    terminal.press("THIRD thing\r");
    terminal.wait_for(&["held until the handoff: THIRD thing"]);
    gate.open();
    terminal.wait_for(&["Third."]);
    end(terminal);
    assert_eq!(agent.times(Step::Packet), 1);
    assert_eq!(agent.delivered(), [":handoff]", "AND-NOW", "THIRD"]);
}

#[test]
fn a_message_typed_to_codex_during_the_packet_comes_after_the_handoff() {
    typed_during_the_packet::<CodexExecFixture>();
}

#[test]
fn a_message_typed_to_claude_during_the_packet_comes_after_the_handoff() {
    typed_during_the_packet::<ClaudeExecFixture>();
}
