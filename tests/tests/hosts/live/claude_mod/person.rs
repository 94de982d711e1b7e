//! What a person does while a sequence runs, and with the session.

use rawr_tests::mock_responses::{ReplyGate, reply};
use rawr_tests::wait_until;

use super::fixture::{
    AT_ONCE, HERE, ModFixture, NEXT, PACKET_REQUEST, PROPOSED, TASK, WRITTEN, agent,
    held_for_the_packet, input_box, summary,
};

pub const ESC: &str = "\x1b";

pub fn ends(fixture: &ModFixture, ending: &str) {
    let ended = format!(r#""ending":"{ending}""#);
    wait_until("the end of the sequence", || fixture.events().contains(&ended));
    assert_eq!(fixture.events().matches(r#""sequence_ended""#).count(), 1, "{}", fixture.events());
}

/// Escape says no: the message is in the input box again, and Enter sends it.
#[test]
fn escape_during_the_packet_returns_the_message() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = held_for_the_packet(&gate);
    terminal.press(ESC);
    wait_until("the message in the input box", || input_box(&terminal.wait_for(&[])) == NEXT);
    ends(&fixture, "cancelled");
    gate.open();
    assert_eq!((fixture.compactions(), fixture.asked("AND-NOW")), (0, 0));
    terminal.press("\r");
    terminal.wait_for(&[HERE]);
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (0, 1));
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
}

#[test]
fn escape_during_the_compaction_returns_the_message() {
    let gate = ReplyGate::new();
    let fixture = ModFixture::new(agent().on_compaction([summary().behind(&gate)]));
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    fixture.until_compacting();
    terminal.press(ESC);
    wait_until("the message in the input box", || input_box(&terminal.wait_for(&[])) == NEXT);
    ends(&fixture, "failed");
    gate.open();
    terminal.press("\r");
    terminal.wait_for(&[HERE]);
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (0, 1));
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
}

/// The first message since the end of the turn comes while the agent writes its packet.
#[test]
fn a_message_during_the_packet_comes_with_the_handoff() {
    let gate = ReplyGate::new();
    let script = agent().behind(PACKET_REQUEST, 0, &gate);
    let fixture = ModFixture::new(script).configured(AT_ONCE);
    let mut terminal = fixture.start(&[]);
    terminal.enter(TASK, TASK);
    fixture.until_asked(PACKET_REQUEST);
    // Before the turn has ended on the screen, Claude Code queues what is typed.
    terminal.wait_for(&[WRITTEN, "· done "]);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&["Compacting soon"]);
    gate.open();
    terminal.wait_for(&[HERE, "86% left"]);
    fixture.handed_over_before(NEXT);
    assert_eq!(fixture.asked("AND-NOW"), 1);
    // Claude Code writes its transcript behind what it shows.
    fixture.until_rewritten(1);
}

/// Claude Code itself keeps what is typed while it compacts, and lets it go when the compaction ends.
#[test]
fn a_message_during_the_compaction_is_delivered_once_and_with_the_handoff() {
    let gate = ReplyGate::new();
    let script = agent().on_compaction([summary().behind(&gate)]);
    let fixture = ModFixture::new(script).configured(AT_ONCE);
    let mut terminal = fixture.start(&[]);
    terminal.enter(TASK, TASK);
    fixture.until_compacting();
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&["Press up to edit queued messages"]);
    gate.open();
    terminal.wait_for(&[HERE, "86% left"]);
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (1, 1));
    // The agent reads both before it answers. The handoff is a note, or a message of its own, before this one or behind it.
    let last = fixture.requests().pop().unwrap();
    let said = last.user_texts();
    let reminders = last.reminders();
    let handoffs = said.iter().chain(&reminders).filter(|text| text.contains(":handoff]"));
    let delivered = said.iter().filter(|text| **text == NEXT);
    assert_eq!((handoffs.count(), delivered.count()), (1, 1), "{said:#?}");
}

/// The second is typed while Claude Code compacts for the first.
#[test]
fn a_second_message_during_the_compaction_comes_after_the_first() {
    let gate = ReplyGate::new();
    let script = agent().on_compaction([summary().behind(&gate)]);
    let script = script.on_first("LAST-WORD", [reply("Goodbye.").input_tokens(25_000)]);
    let fixture = ModFixture::new(script);
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    fixture.until_compacting();
    terminal.enter("LAST-WORD of today", "LAST-WORD of today");
    terminal.wait_for(&["Press up to edit queued messages"]);
    gate.open();
    terminal.wait_for(&[HERE, "Goodbye."]);
    let last = fixture.requests().pop().unwrap();
    let said = last.user_texts();
    assert_eq!(said[said.len() - 2..], [NEXT, "LAST-WORD of today"], "{}", fixture.events());
    assert_eq!((fixture.asked("AND-NOW"), fixture.asked("LAST-WORD")), (1, 1));
    fixture.until_rewritten(1);
}

#[test]
fn two_messages_are_delivered_in_order() {
    let gate = ReplyGate::new();
    let script = agent().behind(PACKET_REQUEST, 0, &gate);
    let script = script.on_first("LAST-WORD", [reply("Goodbye.").input_tokens(25_000)]);
    let fixture = ModFixture::new(script);
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    fixture.until_asked(PACKET_REQUEST);
    terminal.wait_for(&["Compacting soon"]);
    terminal.enter("LAST-WORD of today", "LAST-WORD of today");
    terminal.wait_for(&["Press up to edit queued messages"]);
    gate.open();
    terminal.wait_for(&[HERE, "Goodbye."]);
    let last = fixture.requests().pop().unwrap();
    let said = last.user_texts();
    assert_eq!(said[said.len() - 2..], [NEXT, "LAST-WORD of today"]);
    assert_eq!((fixture.asked("AND-NOW"), fixture.asked("LAST-WORD")), (1, 1));
    fixture.until_rewritten(1);
}

#[test]
fn a_command_is_carried_out_while_a_sequence_runs() {
    let gate = ReplyGate::new();
    let fixture = ModFixture::new(agent().behind(PACKET_REQUEST, 0, &gate));
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&["Compacting soon"]);
    terminal.enter("/rawr status", "/rawr status");
    wait_until("an empty input box", || input_box(&terminal.wait_for(&[])).is_empty());
    gate.open();
    terminal.wait_for(&[HERE, "86% left", "run by     rawr claude-mod for claude"]);
    fixture.handed_over_before(NEXT);
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (1, 1));
}

#[test]
fn after_clear_rawr_runs_the_new_session() {
    let fixture = ModFixture::new(agent());
    let mut terminal = fixture.proposed();
    terminal.enter("/clear", "Start a new");
    terminal.wait_until_gone(PROPOSED);
    wait_until("an empty input box", || input_box(&terminal.wait_for(&[])).is_empty());
    terminal.enter("WRITE-PARSER again", "WRITE-PARSER again");
    terminal.wait_for(&[WRITTEN, PROPOSED]);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    fixture.handed_over_before(NEXT);
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.compactions_by("rawr")), (1, 1));
}

#[test]
fn a_proposal_outlives_the_end_of_claude_code() {
    let fixture = ModFixture::new(agent());
    let mut terminal = fixture.proposed();
    let session_id = fixture.session_id();
    terminal.enter("/exit", "/exit");
    assert!(terminal.wait_for_the_end().success());
    let mut terminal = fixture.start_alone(&["--resume", &session_id]);
    terminal.wait_for(&[PROPOSED]);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    fixture.handed_over_before(NEXT);
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.compactions_by("rawr")), (1, 1));
}

#[test]
fn two_sessions_in_one_repository_are_two_threads() {
    let fixture = ModFixture::new(agent());
    let mut first = fixture.proposed();
    let mut second = fixture.start(&[]);
    second.enter(NEXT, NEXT);
    second.wait_for(&[HERE, "86% left"]);
    assert_eq!(fixture.compactions(), 0);
    first.enter(NEXT, NEXT);
    first.wait_for(&[HERE, "86% left"]);
    fixture.handed_over_before(NEXT);
    assert_eq!((fixture.compactions(), fixture.asked("AND-NOW")), (1, 2));
}
