//! The model never answers the request for the packet: rawr writes it, and the sequence goes on without that answer.

use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::{ExecOutput, wait_until};

use super::fixture::{ExecAgent, FIRST, NEXT, Step};
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;

fn goes_on<A: ExecAgent>() {
    let gate = ReplyGate::new();
    let agent = A::waiting(Step::Packet, &gate);
    let deadline = "rawr_auto_compaction.deadlines.packet_seconds=2";
    let session = agent.begin(Step::Packet, &["-c", deadline, FIRST, NEXT]);
    wait_until("the compaction", || agent.times(Step::Compaction) == 1);
    gate.open();
    let done = ExecOutput::of(session.wait_with_output().unwrap());
    done.expect_success();
    assert!(done.story().contains("[packet by watcher]"), "{}", done.dump());
    assert_eq!(agent.times(Step::Compaction), 1, "{}", done.dump());
    assert_eq!(agent.delivered(), [":handoff]", "AND-NOW"], "{}", done.dump());
}

#[test]
fn a_packet_that_codex_never_writes_keeps_no_message() {
    goes_on::<CodexExecFixture>();
}

#[test]
fn a_packet_that_claude_never_writes_keeps_no_message() {
    goes_on::<ClaudeExecFixture>();
}
