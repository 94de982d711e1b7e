//! A session is stopped with Ctrl-C, and the next one goes on where it was.

use rawr_tests::mock_responses::{ReplyGate, TurnScript, reply, stall};
use rawr_tests::wait_until;

use super::fixture::{ExecAgent, FIRST, NEXT, STEPS, Step};
use crate::fixture::interrupted;
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;

/// The handoff has the held prompt with it, so that both are in the conversation by then.
fn stopped_at_the_handoff<A: ExecAgent>() {
    let gate = ReplyGate::new();
    let agent = A::waiting(Step::Handoff, &gate);
    let session = agent.begin(Step::Handoff, &[FIRST, NEXT, "THIRD thing"]);
    let first = interrupted(session);
    let end = format!("rawr: handoff\nuser: {NEXT}\nturn interrupted\n[not sent: THIRD thing]\n");
    assert!(first.story().ends_with(&end), "{}", first.story());
    wait_until("the end of all", || agent.processes().is_empty());
    gate.open();
    let second = agent.exec(&["--resume", "last", "FOURTH thing"]);
    second.expect_success();
    let shown = format!("{}\n{}", first.story(), second.dump());
    assert_eq!(agent.delivered(), [":handoff]", "AND-NOW", "FOURTH"], "{shown}");
    for step in STEPS {
        assert_eq!(agent.times(step), 1, "{step:?} {shown}");
    }
}

fn stopped_in_a_turn<A: ExecAgent>() {
    let script = TurnScript::default().on("THIRD", [stall()]);
    let agent = A::start(script.on("FOURTH", [reply("Fourth.").input_tokens(26_000)]));
    let session = agent.command(&["THIRD thing", NEXT]).spawn().unwrap();
    wait_until("the question", || agent.asked().len() == 1);
    let first = interrupted(session);
    let story = format!("user: THIRD thing\nturn interrupted\n[not sent: {NEXT}]\n");
    assert_eq!(first.story(), story);
    wait_until("the end of all", || agent.processes().is_empty());
    let second = agent.exec(&["--resume", "last", "FOURTH thing"]);
    second.expect_success();
    assert_eq!(agent.delivered(), ["THIRD", "FOURTH"], "{}", second.dump());
}

#[test]
fn a_prompt_that_codex_has_with_the_handoff_is_not_said_again_on_resume() {
    stopped_at_the_handoff::<CodexExecFixture>();
}

#[test]
fn a_prompt_that_claude_has_with_the_handoff_is_not_said_again_on_resume() {
    stopped_at_the_handoff::<ClaudeExecFixture>();
}

#[test]
fn a_stopped_turn_of_codex_is_not_repeated_on_resume() {
    stopped_in_a_turn::<CodexExecFixture>();
}

#[test]
fn a_stopped_turn_of_claude_is_not_repeated_on_resume() {
    stopped_in_a_turn::<ClaudeExecFixture>();
}
