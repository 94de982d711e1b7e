//! What can come between the steps of a sequence: failures, commands that change the conversation, and other clients.

use rawr_tests::mock_responses::{ReplyGate, TurnReply, call, http_error, reply};
use rawr_tests::wait_until;
use serde_json::json;

use super::fixture::{
    AT_ONCE, COMMIT, GOES_ON, HERE, ModFixture, NEXT, PACKET_REQUEST, TASK, WRITTEN, agent,
    held_for_the_packet, input_box, send_what_waited, shell, summary,
};
use crate::live::codex::deaths::close;
use crate::processes::{kill, processes};

/// The message is delivered as if nothing had been tried.
fn a_failed_compaction_delivers_the_message(failure: TurnReply) {
    let fixture = ModFixture::new(agent().on_compaction([failure]));
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE]);
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (0, 1));
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    assert_eq!(fixture.compactions_by("rawr"), 0);
    wait_until("the end of the sequence", || fixture.events().contains(r#""ending":"failed""#));
}

#[test]
fn a_compaction_fails_with_an_error() {
    a_failed_compaction_delivers_the_message(http_error(400));
}

#[test]
fn a_summary_is_empty() {
    a_failed_compaction_delivers_the_message(reply("").input_tokens(103_000));
}

#[test]
fn a_compaction_cancelled_from_another_terminal_releases_the_message_unchanged() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_packet(&gate);
    fixture.says(&["snooze", "last"]);
    gate.open();
    terminal.wait_for(&[HERE]);
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (0, 1));
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
}

/// Claude Code runs the command after the turn of the message.
#[test]
fn a_person_compacts_by_hand_while_the_packet_is_written() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = held_for_the_packet(&gate);
    terminal.enter("/compact", "/compact");
    gate.open();
    terminal.wait_for(&[HERE, "Compacted"]);
    fixture.until_rewritten(2);
    assert_eq!(fixture.asked("AND-NOW"), 1);
    assert_eq!((fixture.compactions_by("rawr"), fixture.compactions_by("user")), (1, 1));
}

/// Claude Code clears the conversation after the turn of the message.
#[test]
fn a_message_held_at_clear_is_answered_in_its_own_conversation() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = held_for_the_packet(&gate);
    terminal.enter("/clear", "Start a new");
    gate.open();
    fixture.until_asked("AND-NOW");
    fixture.handed_over_before(NEXT);
    terminal.wait_until_gone(WRITTEN);
    wait_until("an empty input box", || input_box(&terminal.wait_for(&[])).is_empty());
    assert_eq!(fixture.asked("AND-NOW"), 1);
}

/// Nothing is left to compact.
#[test]
fn a_proposal_is_dropped_where_the_user_went_back_to_before_it() {
    let fixture = ModFixture::new(agent());
    let mut terminal = fixture.proposed();
    terminal.enter("/rewind", "/rewind");
    terminal.wait_for(&["Restore the code and/or conversation", "❯ (current)"]);
    terminal.press("\x1b[A");
    terminal.wait_until_gone("❯ (current)");
    terminal.press("\r");
    terminal.wait_for(&["❯ 1. Restore conversation"]);
    terminal.press("\r");
    wait_until("the message in the input box", || input_box(&terminal.wait_for(&[])) == TASK);
    terminal.press("\x15");
    wait_until("an empty input box", || input_box(&terminal.wait_for(&[])).is_empty());
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    assert_eq!((fixture.compactions(), fixture.asked(PACKET_REQUEST)), (0, 1));
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    let events = fixture.events();
    assert!(events.contains(r#""dropped":"100% left is above every tier""#), "{events}");
}

#[test]
fn an_image_goes_with_the_message_that_waited() {
    let fixture = ModFixture::new(agent());
    let image = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../editor-clients/claude-code/.claude-plugin/icon.png"
    );
    let mut terminal = fixture.proposed();
    terminal.press(&format!("\x1b[200~{image}\x1b[201~"));
    terminal.wait_for(&["[Image #1]"]);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    let last = fixture.requests().pop().unwrap();
    assert_eq!(serde_json::to_string(&last.body).unwrap().matches(r#""type":"image""#).count(), 1);
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (1, 1));
}

/// A sub-agent's result would come into a conversation that no longer knows why it was started.
#[test]
fn the_agent_waits_for_its_sub_agents() {
    let gate = ReplyGate::new();
    let task = json!({
        "description": "look at the lexer",
        "prompt": "SUB-WORK: look at the lexer",
        "subagent_type": "general-purpose",
        "run_in_background": true,
    });
    let script = agent()
        .on_first("SUB-WORK", [reply("The lexer is fine.").input_tokens(9_000).behind(&gate)])
        .on_first(
            "WRITE-PARSER",
            [
                shell(COMMIT).input_tokens(100_000),
                call("Agent", task).input_tokens(100_500),
                reply(WRITTEN).input_tokens(101_000),
            ],
        );
    let fixture = ModFixture::new(script).configured(AT_ONCE);
    let mut terminal = fixture.start(&[]);
    terminal.enter(TASK, TASK);
    terminal.wait_for(&[WRITTEN, "Waiting for 1 background agent"]);
    fixture.until_asked("SUB-WORK");
    let decided = r#""entrance":"turn_complete","outcome":"nothing""#;
    wait_until("the decision", || fixture.events().contains(decided));
    assert_eq!((fixture.asked(PACKET_REQUEST), fixture.compactions()), (0, 0));
    gate.open();
    terminal.wait_for(&[GOES_ON, "88% left"]);
    assert_eq!((fixture.asked(PACKET_REQUEST), fixture.compactions()), (1, 1));
}

/// As where a terminal that lost its connection comes back.
#[test]
fn another_rawr_leaves_the_session_to_the_first() {
    let fixture = ModFixture::new(agent());
    let mut terminal = fixture.proposed();
    let session = json!({"sessionId": fixture.session_id(), "cwd": fixture.repository.path()});
    let told = fixture.claude_mod(&session);
    assert!(told.contains("another rawr still runs this session"), "{told}");
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    fixture.handed_over_before(NEXT);
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (1, 1));
}

/// rawr comes back in the middle of the compaction.
#[test]
fn rawr_killed_during_a_compaction_by_hand_hands_over_with_the_next_message() {
    let gate = ReplyGate::new();
    let fixture = ModFixture::new(agent().on_compaction([summary().behind(&gate)]));
    let mut terminal = fixture.proposed();
    terminal.enter("/compact", "/compact");
    fixture.until_compacting();
    let dead = processes(terminal.process_id(), &["rawr claude-mod"])[0];
    kill(dead);
    wait_until("another rawr", || {
        processes(terminal.process_id(), &["rawr claude-mod"]).iter().any(|pid| *pid != dead)
    });
    gate.open();
    terminal.wait_for(&["Compacted"]);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    let last = fixture.requests().pop().unwrap();
    assert_eq!(last.reminders().concat().matches(":handoff]").count(), 1);
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (1, 1));
}

/// The author sends the message again, or does not.
#[test]
fn a_message_held_when_the_terminal_closed_is_not_lost() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = held_for_the_packet(&gate);
    let (session_id, process) = (fixture.session_id(), terminal.process_id());
    close(&mut terminal);
    wait_until("the end of all", || processes(process, &[]).is_empty());
    gate.open();
    let mut terminal = fixture.start_alone(&["--resume", &session_id]);
    send_what_waited(&mut terminal);
    terminal.wait_for(&[HERE, "86% left"]);
    assert_eq!(fixture.heard_with("AND-NOW")[0], NEXT);
    assert_eq!(fixture.rewritten(), 0);
}

#[test]
fn a_pin_survives_a_compaction_by_hand() {
    let fixture = ModFixture::new(agent());
    let mut terminal = fixture.proposed();
    fixture.says(&["pin", "last", "Never touch the lexer."]);
    terminal.enter("/compact", "/compact");
    terminal.wait_for(&["Compacted"]);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    let last = fixture.requests().pop().unwrap();
    let told = last.reminders().concat();
    assert_eq!(told.matches("Never touch the lexer.").count(), 1, "{told}");
}
