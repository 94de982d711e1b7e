//! What happens at a step of a sequence after the packet: the user presses Esc, or a process is killed.

use rawr_tests::mock_responses::{ReplyGate, TurnScript, reply};
use rawr_tests::{Terminal, wait_until};

use super::deaths::{leave_nothing, sidecars};
use super::fixture::{GOES_ON, LiveFixture, TASK, agent, type_text};
use super::once::{asked_for, compacting_behind, everything_happened_once};
use super::person::Beside;
use super::races;
use crate::processes::kill;

/// A session that waits for the model at a step.
fn waiting(script: TurnScript, is_asked: fn(&LiveFixture) -> bool) -> (LiveFixture, Terminal) {
    let fixture = LiveFixture::new(script);
    let mut terminal = fixture.on_a_terminal(&[]);
    type_text(&mut terminal, TASK);
    wait_until("the step", || is_asked(&fixture));
    (fixture, terminal)
}

fn compacting(gate: &ReplyGate) -> (LiveFixture, Terminal) {
    let told = reply("Here you are.").input_tokens(144_000);
    let script = compacting_behind(agent(), gate).on(":notice]", [told]);
    waiting(script, |fixture| fixture.compactions() == 1)
}

fn handing_over(gate: &ReplyGate) -> (LiveFixture, Terminal) {
    let script = agent().behind(":handoff]", 0, gate);
    waiting(script, |fixture| asked_for(fixture, ":handoff]") == 1)
}

/// Presses Esc, and goes on with another message, which the model answers.
fn interrupted(fixture: &LiveFixture, terminal: &mut Terminal, gate: &ReplyGate) {
    terminal.press("\x1b");
    wait_until("the end of the turn", || fixture.log().contains("interrupted"));
    gate.open();
    type_text(terminal, "AND-NOW the docs");
    terminal.wait_for(&["Here you are."]);
    leave_nothing(terminal);
}

#[test]
fn escape_during_the_compaction_leaves_the_conversation_as_it_was() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = compacting(&gate);
    interrupted(&fixture, &mut terminal, &gate);
    let asked = (fixture.compactions(), asked_for(&fixture, ":handoff]"));
    assert_eq!(asked, (1, 0), "{}", fixture.log());
    let last = fixture.requests().pop().unwrap();
    let kept = last.user_messages().iter().any(|text| text.contains(TASK));
    assert!(kept, "{last:?}");
}

#[test]
fn escape_during_the_handoff_ends_the_agents_turn_and_repeats_nothing() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = handing_over(&gate);
    interrupted(&fixture, &mut terminal, &gate);
    everything_happened_once(&fixture);
}

#[test]
fn a_sidecar_killed_during_the_compaction_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = compacting(&gate);
    kill(sidecars(terminal.process_id())[0]);
    gate.open();
    terminal.wait_for(&[GOES_ON]);
    everything_happened_once(&fixture);
    leave_nothing(&mut terminal);
}

#[test]
fn a_sidecar_killed_during_the_handoff_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = handing_over(&gate);
    kill(sidecars(terminal.process_id())[0]);
    gate.open();
    terminal.wait_for(&[GOES_ON]);
    leave_nothing(&mut terminal);
    everything_happened_once(&fixture);
}

#[tokio::test]
async fn a_compaction_that_died_with_the_app_server_is_requested_again() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(compacting_behind(races::agent(), &gate)).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked("compaction").await;
    beside.restart_the_server().await;
    gate.open();
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(2);
}

#[tokio::test]
async fn a_handoff_whose_answer_died_with_the_app_server_is_not_lost() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(races::agent().behind(":handoff]", 0, &gate)).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(":handoff]").await;
    beside.restart_the_server().await;
    gate.open();
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.person.hears("Here you are.").await;
    beside.check(&["WRITE-PARSER", "HANDOFF", "AND-NOW", "LAST-WORD"]).await;
    beside.compacted(1);
}
