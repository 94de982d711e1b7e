//! What a user and Claude Code do while rawr waits for the packet.

use rawr_tests::mock_responses::{ReplyGate, reply};
use rawr_tests::{Terminal, wait_until};

use super::session;
use crate::hooks::fixture::HooksFixture;

const REQUEST: &str = "packet_request]";

/// A Claude Code that writes its packet for as long as the gate is closed.
fn writing(gate: &ReplyGate) -> (HooksFixture, Terminal) {
    // Claude Code sends an unanswered request and the next message as one.
    let script =
        session().on_first("AND-NOW", [reply("The docs are written.").input_tokens(24_000)]);
    let fixture = HooksFixture::new(script.behind(REQUEST, 0, gate));
    let mut terminal = fixture.on_a_screen();
    terminal.enter("WRITE-PARSER please", "WRITE-PARSER please");
    wait_until("the packet's request", || asked(&fixture, REQUEST) == 1);
    (fixture, terminal)
}

/// How many requests end in a message with this.
fn asked(fixture: &HooksFixture, words: &str) -> usize {
    let requests = fixture.model.requests();
    requests.iter().filter(|request| request.marker.as_deref() == Some(words)).count()
}

/// The message came to the model once, every sequence is over, and nothing is left of them.
fn check_answered(fixture: &HooksFixture) {
    wait_until("the end of the turn", || !fixture.is_open());
    assert_eq!(asked(fixture, "AND-NOW"), 1, "{}", fixture.sent());
    let last = fixture.model.requests().last().unwrap().user_messages();
    let next = last.iter().filter(|text| text.contains("AND-NOW the docs"));
    assert_eq!(next.count(), 1, "{last:#?}");
    let events = fixture.events();
    let [started, cancelled] = ["\"sequence_started\"", r#""ending":"cancelled""#]
        .map(|words| events.matches(words).count());
    assert!(started > 0 && started == cancelled, "{events}");
    assert_eq!(fixture.log(), "");
}

#[test]
fn a_message_sent_while_the_packet_is_written_is_answered_and_cancels_the_sequence() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = writing(&gate);
    terminal.enter("AND-NOW the docs", "AND-NOW the docs");
    gate.open();
    terminal.wait_for(&["The docs are written."]);
    check_answered(&fixture);
}

#[test]
fn an_agent_that_is_interrupted_while_it_writes_the_packet_is_not_asked_again() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = writing(&gate);
    terminal.press("\x1b");
    terminal.wait_for(&["Interrupted"]);
    gate.open();
    assert!(fixture.is_open());
    terminal.enter("AND-NOW the docs", "AND-NOW the docs");
    terminal.wait_for(&["The docs are written."]);
    check_answered(&fixture);
    assert_eq!(asked(&fixture, REQUEST), 1);
}
