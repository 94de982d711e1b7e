//! The death of rawr and Escape at the handoff: the agent has it, and has not answered yet.

use rawr_tests::mock_responses::{ReplyGate, TurnScript, reply};
use rawr_tests::{Terminal, wait_until};

use super::deaths::{another_rawr, is_delivered_after_the_compaction, rawr, sidecar};
use super::fixture::{GOES_ON, HERE, ModFixture, NEXT, PACKET_REQUEST, agent, input_box};
use super::person::ESC;
use crate::processes::kill;

/// A message after the handoff.
pub const LATER: &str = "LAST-WORD of today";
pub const GOODBYE: &str = "Goodbye.";

/// An agent that waits with its first answer after this.
pub fn waiting_at(marker: &str, gate: &ReplyGate) -> TurnScript {
    let script = agent().behind(marker, 0, gate);
    script.on_first("LAST-WORD", [reply(GOODBYE).input_tokens(25_000)])
}

/// Everything of the sequence was done once, and the newest request still has one handoff, and the message of it once.
pub fn came_once(fixture: &ModFixture) {
    is_delivered_after_the_compaction(fixture);
    let last = fixture.requests().pop().unwrap();
    let told = last.reminders().concat();
    assert_eq!(told.matches(":handoff]").count(), 1, "{told}");
    let said = last.user_texts();
    let times = said.iter().filter(|text| text.trim_end() == NEXT).count();
    assert_eq!((times, said.last()), (1, Some(&LATER)), "{said:#?}");
    let asked = ["AND-NOW", "LAST-WORD", "[rawr:"].map(|marker| fixture.asked(marker));
    assert_eq!((asked, fixture.asked(PACKET_REQUEST)), ([1, 1, 0], 1));
    assert_eq!((fixture.rewritten(), fixture.compactions()), (1, 1));
}

fn handed_over(gate: &ReplyGate) -> (ModFixture, Terminal) {
    let fixture = ModFixture::new(waiting_at("AND-NOW", gate));
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    fixture.until_asked("AND-NOW");
    (fixture, terminal)
}

fn goes_on(fixture: &ModFixture, mut terminal: Terminal) {
    terminal.wait_for(&[HERE]);
    terminal.enter(LATER, LATER);
    terminal.wait_for(&[GOODBYE, "85% left"]);
    came_once(fixture);
}

#[test]
fn rawr_killed_at_the_handoff_hands_nothing_over_twice() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = handed_over(&gate);
    let dead = rawr(&terminal);
    kill(dead);
    another_rawr(&terminal, dead);
    gate.open();
    goes_on(&fixture, terminal);
}

#[test]
fn a_sidecar_killed_at_the_handoff_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = handed_over(&gate);
    kill(sidecar(&terminal));
    gate.open();
    goes_on(&fixture, terminal);
}

#[test]
fn rawr_and_its_sidecar_killed_at_the_handoff_hand_nothing_over_twice() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = handed_over(&gate);
    let (dead, sidecar) = (rawr(&terminal), sidecar(&terminal));
    kill(sidecar);
    kill(dead);
    another_rawr(&terminal, dead);
    gate.open();
    goes_on(&fixture, terminal);
}

/// A person compacts, so that the handoff begins a turn of its own.
fn in_its_own_turn(gate: &ReplyGate) -> (ModFixture, Terminal) {
    let fixture = ModFixture::new(waiting_at("[rawr:", gate));
    let terminal = fixture.proposed();
    fixture.says(&["compact", "last"]);
    fixture.until_asked("[rawr:");
    (fixture, terminal)
}

fn begins_once(fixture: &ModFixture) {
    let last = fixture.requests().pop().unwrap();
    let said = last.user_texts();
    let handoffs = said.iter().filter(|text| text.contains(":handoff]"));
    assert_eq!((handoffs.count(), said.last()), (1, Some(&LATER)), "{said:#?}");
    fixture.until_rewritten(1);
    let asked = ["[rawr:", "LAST-WORD"].map(|marker| fixture.asked(marker));
    assert_eq!((asked, fixture.compactions_by("rawr")), ([1, 1], 1));
}

#[test]
fn rawr_killed_in_the_turn_of_the_handoff_does_not_begin_it_again() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = in_its_own_turn(&gate);
    let dead = rawr(&terminal);
    kill(dead);
    another_rawr(&terminal, dead);
    gate.open();
    terminal.wait_for(&[GOES_ON, "88% left"]);
    terminal.enter(LATER, LATER);
    terminal.wait_for(&[GOODBYE]);
    begins_once(&fixture);
}

#[test]
fn escape_in_the_turn_of_the_handoff_ends_it_for_good() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = in_its_own_turn(&gate);
    terminal.press(ESC);
    terminal.wait_for(&["Interrupted"]);
    gate.open();
    terminal.enter(LATER, LATER);
    let screen = terminal.wait_for(&[GOODBYE]);
    assert!(!screen.contains(GOES_ON), "{screen}");
    begins_once(&fixture);
}

#[test]
fn escape_at_the_handoff_returns_the_message() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = handed_over(&gate);
    terminal.press(ESC);
    wait_until("the message in the input box", || input_box(&terminal.wait_for(&[])) == NEXT);
    gate.open();
    terminal.press("\r");
    terminal.wait_for(&[HERE, "86% left"]);
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    fixture.until_rewritten(1);
    assert_eq!((fixture.asked(PACKET_REQUEST), fixture.compactions_by("rawr")), (1, 1));
}
