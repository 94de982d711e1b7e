//! The agent's process stands still: Ctrl-C ends the session all the same.

use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::wait_until;
use rustix::process::{Signal, kill_process};

use super::fixture::{ExecAgent, FIRST, NEXT, Step};
use crate::fixture::interrupted;
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;

fn stopped<A: ExecAgent>() {
    for step in [Step::Packet, Step::Compaction] {
        let gate = ReplyGate::new();
        let agent = A::waiting(step, &gate);
        let session = agent.begin(step, &[FIRST, NEXT]);
        kill_process(agent.process(A::PROCESS), Signal::STOP).unwrap();
        let first = interrupted(session);
        assert!(first.story().contains("[kept: Thanks"), "{step:?}: {}", first.story());
        assert!(!first.dump().contains("the host did not answer"), "{step:?}: {}", first.dump());
        wait_until("the end of all", || agent.processes().is_empty());
        gate.open();
        let second = agent.exec(&["--resume", "last", "FOURTH thing"]);
        second.expect_success();
        assert_eq!(agent.delivered(), [":handoff]", "AND-NOW", "FOURTH"], "{}", second.dump());
    }
}

#[test]
fn ctrl_c_ends_a_session_of_codex_that_stands_still() {
    stopped::<CodexExecFixture>();
}

#[test]
fn ctrl_c_ends_a_session_of_claude_that_stands_still() {
    stopped::<ClaudeExecFixture>();
}
