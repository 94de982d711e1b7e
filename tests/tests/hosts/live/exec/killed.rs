//! A process of a session is killed in the middle of a sequence, while the next prompt is held. Each message is said once, by
//! this session or by the next.

use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::{ExecOutput, wait_until};

use super::fixture::{ExecAgent, FIRST, NEXT, STEPS, Step};
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;
use crate::processes::kill;

/// A session that ends at this step, and the next one.
fn cut_off<A: ExecAgent>(step: Step, words: &str, code: Option<i32>) {
    let gate = ReplyGate::new();
    let agent = A::waiting(step, &gate);
    let session = agent.begin(step, &[FIRST, NEXT, "THIRD thing"]);
    kill(agent.process(words));
    let first = ExecOutput::of(session.wait_with_output().unwrap());
    assert_eq!(first.output.status.code(), code, "{step:?}: {}", first.dump());
    wait_until("the end of all", || agent.processes().is_empty());
    gate.open();
    let second = agent.exec(&["--resume", "last", "FOURTH thing"]);
    second.expect_success();
    let shown = format!("{step:?}:\n{}\n{}", first.story(), second.dump());
    assert_eq!(agent.delivered(), [":handoff]", "AND-NOW", "FOURTH"], "{shown}");
    for asked in [Step::Packet, Step::Compaction] {
        assert_eq!(agent.times(asked), 1 + usize::from(asked == step), "{asked:?} {shown}");
    }
}

fn driver_dies<A: ExecAgent>() {
    for step in [Step::Packet, Step::Compaction] {
        cut_off::<A>(step, "rawr exec", None);
    }
}

fn agent_dies<A: ExecAgent>() {
    for step in [Step::Packet, Step::Compaction] {
        cut_off::<A>(step, A::PROCESS, Some(1));
    }
}

/// The session goes on with another one.
fn sidecar_dies<A: ExecAgent>() {
    for step in STEPS {
        let gate = ReplyGate::new();
        let agent = A::waiting(step, &gate);
        let session = agent.begin(step, &[FIRST, NEXT, "THIRD thing"]);
        let sidecar = agent.process("rawr serve");
        kill(sidecar);
        gate.open();
        let done = ExecOutput::of(session.wait_with_output().unwrap());
        done.expect_success();
        let shown = format!("{step:?}: {}", done.dump());
        assert_eq!(agent.delivered(), [":handoff]", "AND-NOW", "THIRD"], "{shown}");
        for asked in STEPS {
            assert_eq!(agent.times(asked), 1, "{asked:?} {shown}");
        }
    }
}

#[test]
fn what_codex_owes_at_the_death_of_the_driver_is_done_once() {
    driver_dies::<CodexExecFixture>();
}

#[test]
fn what_claude_owes_at_the_death_of_the_driver_is_done_once() {
    driver_dies::<ClaudeExecFixture>();
}

#[test]
fn what_a_codex_that_died_owes_is_done_once() {
    agent_dies::<CodexExecFixture>();
}

#[test]
fn what_a_claude_that_died_owes_is_done_once() {
    agent_dies::<ClaudeExecFixture>();
}

#[test]
fn a_session_of_codex_goes_on_after_the_death_of_its_sidecar() {
    sidecar_dies::<CodexExecFixture>();
}

#[test]
fn a_session_of_claude_goes_on_after_the_death_of_its_sidecar() {
    sidecar_dies::<ClaudeExecFixture>();
}

#[test]
fn a_handoff_that_codex_has_is_not_repeated_after_the_death_of_the_driver() {
    cut_off::<CodexExecFixture>(Step::Handoff, "rawr exec", None);
}

#[test]
fn a_handoff_that_claude_has_is_not_repeated_after_the_death_of_the_driver() {
    cut_off::<ClaudeExecFixture>(Step::Handoff, "rawr exec", None);
}

#[test]
fn a_handoff_that_codex_has_is_not_repeated_after_its_death() {
    cut_off::<CodexExecFixture>(Step::Handoff, CodexExecFixture::PROCESS, Some(1));
}

#[test]
fn a_handoff_that_claude_has_is_not_repeated_after_its_death() {
    cut_off::<ClaudeExecFixture>(Step::Handoff, ClaudeExecFixture::PROCESS, Some(1));
}
