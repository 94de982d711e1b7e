//! Two sessions in one home and one repository compact at the same time.

use rawr_tests::mock_responses::{ReplyGate, reply};
use rawr_tests::{ExecOutput, wait_until};

use super::fixture::{ExecAgent, FIRST, NEXT, STEPS, Step};
use crate::fixture::OTHER_PACKET;
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;

/// The agent of the other session; it has a packet of its own.
fn other<A: ExecAgent>(gate: &ReplyGate) -> A {
    let packet = reply(OTHER_PACKET).input_tokens(145_000).behind(gate);
    A::start(A::session().on_first("packet_request]", [packet]))
}

/// What one session told and its model was sent in the end.
fn check<A: ExecAgent>(of: &A, session: ExecOutput, own: &str, others: &str) -> String {
    session.expect_success();
    let packet = session.one("packet", |_| true);
    assert_eq!(packet["author"], "agent", "{}", session.dump());
    assert!(packet["packet"].as_str().unwrap().contains(own), "{packet}");
    for step in STEPS {
        assert_eq!(of.times(step), 1, "{step:?}: {}", session.dump());
    }
    assert_eq!(of.delivered(), [":handoff]", "AND-NOW"], "{}", session.dump());
    let sent = of.asked().pop().unwrap().messages.join("\n");
    assert!(sent.contains(own) && !sent.contains(others), "{sent}");
    session.one("session", |_| true)["threadId"].to_string()
}

fn at_once<A: ExecAgent>() {
    let gate = ReplyGate::new();
    let (agent, other) = (A::waiting(Step::Packet, &gate), other::<A>(&gate));
    // Git would refuse one of two commits at the same time.
    let first = agent.begin(Step::Packet, &[FIRST, NEXT]);
    let second = agent.command_by(&other, &[FIRST, NEXT]).spawn().unwrap();
    wait_until("the other packet", || other.times(Step::Packet) == 1);
    gate.open();
    let [first, second] =
        [first, second].map(|session| ExecOutput::of(session.wait_with_output().unwrap()));
    let first = check(&agent, first, "a parser with docs", "a lexer with tests");
    let second = check(&other, second, "a lexer with tests", "a parser with docs");
    assert_ne!(first, second);
}

#[test]
fn two_sessions_of_codex_compact_at_once() {
    at_once::<CodexExecFixture>();
}

#[test]
fn two_sessions_of_claude_compact_at_once() {
    at_once::<ClaudeExecFixture>();
}
