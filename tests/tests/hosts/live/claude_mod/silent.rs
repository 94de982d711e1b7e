//! Claude Code or the model does not answer: no message waits for it without end.

use rawr_tests::mock_responses::{ReplyGate, stall};
use rawr_tests::{Terminal, wait_until};
use rustix::process::{Signal, kill_process};

use super::apps::STALL;
use super::deaths::{
    claude, held_for_the_compaction, is_delivered_after_the_compaction, passes_uncompacted,
};
use super::fixture::{
    HERE, ModFixture, NEXT, PACKET_REQUEST, agent, held_for_the_packet, input_box, summary,
};
use super::person::ESC;

fn with_deadline(name: &str) -> String {
    format!("[rawr_auto_compaction.deadlines]\n{name} = 3\n")
}

/// rawr does not wait for an answer that may never come, and the message is still Claude Code's.
#[test]
fn a_sequence_ends_while_claude_code_is_stalled_during_the_packet() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_packet(&gate);
    let stalled = claude(&terminal);
    kill_process(stalled, Signal::STOP).unwrap();
    wait_until("the end of the sequence", || fixture.events().contains(r#""ending":"cancelled""#));
    kill_process(stalled, Signal::CONT).unwrap();
    gate.open();
    terminal.wait_for(&[HERE]);
    passes_uncompacted(&fixture);
}

#[test]
fn a_message_comes_once_if_claude_code_is_stalled_during_the_compaction() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_compaction(&gate);
    let stalled = claude(&terminal);
    kill_process(stalled, Signal::STOP).unwrap();
    gate.open();
    std::thread::sleep(STALL);
    kill_process(stalled, Signal::CONT).unwrap();
    terminal.wait_for(&[HERE]);
    is_delivered_after_the_compaction(&fixture);
}

#[test]
fn a_model_that_never_writes_its_packet_holds_no_message() {
    let script = agent().on_first(PACKET_REQUEST, [stall()]);
    let fixture = ModFixture::new(script).configured(&with_deadline("packet_seconds"));
    let mut terminal = fixture.proposed();
    fixture.until_asked(PACKET_REQUEST);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    is_delivered_after_the_compaction(&fixture);
    let last = fixture.requests().pop().unwrap();
    assert_eq!(last.user_texts().last(), Some(&NEXT));
    assert_eq!(last.reminders().concat().matches(":handoff]").count(), 1);
    wait_until("the end of the sequence", || fixture.events().contains(r#""ending":"completed""#));
}

/// The message waits in Claude Code's own compaction, and the deadline has passed.
fn given_up_during_the_compaction(gate: &ReplyGate) -> (ModFixture, Terminal) {
    let script = agent().on_compaction([summary().behind(gate)]);
    let fixture = ModFixture::new(script).configured(&with_deadline("compaction_seconds"));
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    fixture.until_compacting();
    wait_until("the end of the sequence", || fixture.events().contains(r#""ending":"failed""#));
    (fixture, terminal)
}

/// Claude Code still compacts before the message when rawr gives the sequence up.
#[test]
fn a_message_comes_once_if_its_compaction_ends_after_the_sequence() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = given_up_during_the_compaction(&gate);
    wait_until("the release", || fixture.events().contains("deliver_input"));
    gate.open();
    terminal.wait_for(&[HERE, "86% left"]);
    // The handoff comes before the message, or into its turn.
    wait_until("the handoff", || fixture.events().contains(r#""ending":"completed""#));
    is_delivered_after_the_compaction(&fixture);
}

#[test]
fn escape_returns_a_message_whose_compaction_never_ends() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = given_up_during_the_compaction(&gate);
    terminal.press(ESC);
    wait_until("the message in the input box", || input_box(&terminal.wait_for(&[])) == NEXT);
    terminal.press("\r");
    terminal.wait_for(&[HERE, "86% left"]);
    assert_eq!((fixture.asked("AND-NOW"), fixture.rewritten()), (1, 0), "{}", fixture.events());
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
}
