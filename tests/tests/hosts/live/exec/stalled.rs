//! The agent's process stops in the middle of a sequence while the next prompt is held, and does not end or answer anything.

use std::process::Child;
use std::time::Duration;

use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::{ExecOutput, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use super::fixture::{ExecAgent, FIRST, NEXT, Step};
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;

/// Deadlines that a test can wait for, and that a slow machine keeps until the agent stops.
fn impatient(step: Step) -> &'static [&'static str] {
    match step {
        Step::Packet => &[
            "-c",
            "rawr_auto_compaction.deadlines.packet_seconds=10",
            "-c",
            "rawr_auto_compaction.deadlines.compaction_seconds=1",
        ],
        Step::Compaction | Step::Handoff => {
            &["-c", "rawr_auto_compaction.deadlines.compaction_seconds=10"]
        }
    }
}

/// Longer than rawr waits until it interrupts what it asked for.
const STALL: Duration = Duration::from_secs(4);

/// A session whose agent stops at this step.
fn stalled<A: ExecAgent>(agent: &A, step: Step, prompts: &[&str]) -> (Child, Pid) {
    let session = agent.begin(step, &[impatient(step), prompts].concat());
    let stalled = agent.process(A::PROCESS);
    kill_process(stalled, Signal::STOP).unwrap();
    (session, stalled)
}

fn never_goes_on<A: ExecAgent>(step: Step) {
    let gate = ReplyGate::new();
    let agent = A::waiting(step, &gate);
    let (session, _) = stalled(&agent, step, &[FIRST, NEXT, "THIRD thing"]);
    gate.open();
    let first = ExecOutput::of(session.wait_with_output().unwrap());
    let shown = format!("{step:?}: {}", first.dump());
    assert_eq!(first.output.status.code(), Some(1), "{shown}");
    let error = String::from_utf8_lossy(&first.output.stderr);
    assert!(error.contains("failed to deliver a message to the host"), "{shown}");
    assert!(error.contains(&format!("it starts with: {NEXT}")), "{shown}");
    assert!(first.story().ends_with("[not sent: THIRD thing]\n"), "{shown}");
    wait_until("the end of all", || agent.processes().is_empty());
    let second = agent.exec(&["--resume", "last", "FOURTH thing"]);
    second.expect_success();
    // The person was told, and says it again or not.
    assert_eq!(agent.delivered(), ["FOURTH"], "{shown}\n{}", second.dump());
}

fn goes_on<A: ExecAgent>(step: Step) {
    let gate = ReplyGate::new();
    let agent = A::waiting(step, &gate);
    let (session, stalled) = stalled(&agent, step, &[FIRST, NEXT]);
    let status = || {
        let status = agent.rawr(&["status", "last", "--json"]).stdout;
        String::from_utf8(status).unwrap()
    };
    wait_until("the end of the sequence", || status().contains(r#""status":"failed""#));
    std::thread::sleep(STALL);
    assert!(
        status().contains(&format!(r#""text":"{NEXT}""#)),
        "it is held no longer: {}",
        status()
    );
    let asked = agent.asked().len();
    kill_process(stalled, Signal::CONT).unwrap();
    wait_until("the next question", || agent.asked().len() > asked);
    gate.open();
    let done = ExecOutput::of(session.wait_with_output().unwrap());
    done.expect_success();
    let shown = format!("{step:?}: {}", done.dump());
    assert_eq!(agent.delivered(), ["AND-NOW"], "{shown}");
    done.one("injected", |event| event["purpose"] == "packet_request");
    assert_eq!(agent.times(Step::Compaction), usize::from(step == Step::Compaction), "{shown}");
    assert!(done.all("handoff").is_empty(), "{shown}");
}

/// All waits of the two steps take their time at once.
fn both(run: fn(Step)) {
    std::thread::scope(|scope| {
        for step in [Step::Packet, Step::Compaction] {
            scope.spawn(move || run(step));
        }
    });
}

#[test]
fn a_prompt_is_quoted_if_codex_never_goes_on() {
    both(never_goes_on::<CodexExecFixture>);
}

#[test]
fn a_prompt_is_quoted_if_claude_never_goes_on() {
    both(never_goes_on::<ClaudeExecFixture>);
}

#[test]
fn a_prompt_is_said_once_if_codex_goes_on_after_the_deadlines() {
    both(goes_on::<CodexExecFixture>);
}

#[test]
fn a_prompt_is_said_once_if_claude_goes_on_after_the_deadlines() {
    both(goes_on::<ClaudeExecFixture>);
}
