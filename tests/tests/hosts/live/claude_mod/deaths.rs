//! The death of any process at any moment: no message is lost or delivered twice, and the history is rewritten at most once.

use rawr_tests::mock_responses::{ReplyGate, TurnScript};
use rawr_tests::{Terminal, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use super::fixture::{
    AT_ONCE, GOES_ON, HERE, ModFixture, NEXT, TASK, WRITTEN, agent, held_for_the_packet, summary,
};
use crate::processes::{kill, processes};

fn rawr(terminal: &Terminal) -> Pid {
    processes(terminal.process_id(), &["rawr claude-mod"])[0]
}

fn sidecar(terminal: &Terminal) -> Pid {
    processes(terminal.process_id(), &["rawr serve"])[0]
}

fn claude(terminal: &Terminal) -> Pid {
    processes(terminal.process_id(), &["--plugin-dir"])[0]
}

fn behind_summary(gate: &ReplyGate) -> TurnScript {
    agent().on_compaction([summary().behind(gate)])
}

/// A message is held, and the compaction runs.
fn held_for_the_compaction(gate: &ReplyGate) -> (ModFixture, Terminal) {
    let fixture = ModFixture::new(behind_summary(gate));
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    fixture.until_compacting();
    (fixture, terminal)
}

fn is_delivered_once(fixture: &ModFixture, terminal: &Terminal) {
    terminal.wait_for(&[HERE, "88% left"]);
    assert_eq!(fixture.asked("AND-NOW"), 1);
    fixture.handed_over_before(NEXT);
    assert_eq!(fixture.rewritten(), 1);
    assert_eq!(fixture.compactions_by("rawr"), 1, "{}", fixture.events());
}

#[test]
fn rawr_killed_during_the_packet_is_started_again() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_packet(&gate);
    let dead = rawr(&terminal);
    kill(dead);
    wait_until("another rawr", || {
        processes(terminal.process_id(), &["rawr claude-mod"]).iter().any(|pid| *pid != dead)
    });
    gate.open();
    is_delivered_once(&fixture, &terminal);
    assert_eq!(fixture.asked(":packet_request]"), 1, "{}", fixture.events());
}

#[test]
fn rawr_killed_during_the_compaction_is_started_again() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_compaction(&gate);
    kill(rawr(&terminal));
    gate.open();
    is_delivered_once(&fixture, &terminal);
}

#[test]
fn rawr_killed_before_the_handoff_is_started_again() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_compaction(&gate);
    let rawr = rawr(&terminal);
    kill_process(rawr, Signal::STOP).unwrap();
    gate.open();
    wait_until("the compaction", || fixture.rewritten() == 1);
    kill(rawr);
    is_delivered_once(&fixture, &terminal);
}

#[test]
fn without_a_message_the_agent_continues_after_the_death_of_rawr() {
    let gate = ReplyGate::new();
    let fixture = ModFixture::new(behind_summary(&gate)).configured(AT_ONCE);
    let mut terminal = fixture.start(&[]);
    terminal.enter(TASK, TASK);
    fixture.until_compacting();
    kill(rawr(&terminal));
    gate.open();
    terminal.wait_for(&[WRITTEN, GOES_ON, "90% left"]);
    assert_eq!((fixture.rewritten(), fixture.asked("[rawr:")), (1, 1));
}

/// As a program that ends at each start would.
#[test]
fn rawr_that_dies_twice_stays_off_and_its_messages_pass() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_packet(&gate);
    let first = rawr(&terminal);
    kill(first);
    let mut second = None;
    wait_until("another rawr", || {
        second = processes(terminal.process_id(), &["rawr claude-mod"])
            .into_iter()
            .find(|pid| *pid != first);
        second.is_some()
    });
    kill(second.unwrap());
    terminal.wait_for(&["rawr: ended twice; this session continues without it"]);
    gate.open();
    terminal.wait_for(&[HERE]);
    assert_eq!((fixture.asked("AND-NOW"), fixture.rewritten()), (1, 0));
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    assert!(processes(terminal.process_id(), &["rawr claude-mod"]).is_empty());
}

#[test]
fn a_sidecar_killed_during_the_packet_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_packet(&gate);
    kill(sidecar(&terminal));
    gate.open();
    is_delivered_once(&fixture, &terminal);
}

#[test]
fn a_sidecar_killed_during_the_compaction_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_compaction(&gate);
    kill(sidecar(&terminal));
    gate.open();
    is_delivered_once(&fixture, &terminal);
}

fn all_end(session: u32) {
    wait_until("the end of all", || processes(session, &["rawr"]).is_empty());
}

fn dies_and_is_resumed(fixture: &ModFixture, terminal: Terminal) -> Terminal {
    let session_id = fixture.session_id();
    kill(claude(&terminal));
    all_end(terminal.process_id());
    drop(terminal);
    fixture.start_alone(&["--resume", &session_id])
}

#[test]
fn a_message_outlives_claude_code_killed_during_the_packet() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_packet(&gate);
    gate.open();
    let terminal = dies_and_is_resumed(&fixture, terminal);
    is_delivered_once(&fixture, &terminal);
}

#[test]
fn a_message_outlives_claude_code_killed_during_the_compaction() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_compaction(&gate);
    let session_id = fixture.session_id();
    kill(claude(&terminal));
    all_end(terminal.process_id());
    gate.open();
    drop(terminal);
    let terminal = fixture.start_alone(&["--resume", &session_id]);
    is_delivered_once(&fixture, &terminal);
}
