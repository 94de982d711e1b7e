//! The death of any process at any moment: no message is lost or delivered twice, and the history is rewritten at most once.

use rawr_tests::mock_responses::{ReplyGate, TurnScript};
use rawr_tests::{Terminal, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use super::fixture::{
    AT_ONCE, GOES_ON, HERE, ModFixture, NEXT, TASK, WRITTEN, agent, held_for_the_packet, input_box,
    send_what_waited, summary,
};
use crate::processes::{kill, processes, with_environment};

pub fn rawr(terminal: &Terminal) -> Pid {
    processes(terminal.process_id(), &["rawr claude-mod"])[0]
}

pub fn sidecar(terminal: &Terminal) -> Pid {
    processes(terminal.process_id(), &["rawr serve"])[0]
}

pub fn claude(terminal: &Terminal) -> Pid {
    processes(terminal.process_id(), &["--plugin-dir"])[0]
}

pub fn behind_summary(gate: &ReplyGate) -> TurnScript {
    agent().on_compaction([summary().behind(gate)])
}

/// A message is held, and the compaction runs.
pub fn held_for_the_compaction(gate: &ReplyGate) -> (ModFixture, Terminal) {
    let fixture = ModFixture::new(behind_summary(gate));
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    fixture.until_compacting();
    (fixture, terminal)
}

/// The message is said at once, and nothing is compacted: rawr cannot know whether its author still waits.
pub fn passes_uncompacted(fixture: &ModFixture) {
    assert_eq!((fixture.asked("AND-NOW"), fixture.rewritten()), (1, 0));
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    wait_until("the end of the sequence", || fixture.events().contains(r#""ending":"cancelled""#));
}

/// The message is said after the one compaction, and the packet is with the agent before anything else of rawr.
pub fn is_delivered_after_the_compaction(fixture: &ModFixture) {
    wait_until("the handoff", || fixture.events().contains(r#""reason":"handed over""#));
    assert_eq!(fixture.asked("AND-NOW"), 1);
    // Claude Code writes its transcript behind what it shows.
    fixture.until_rewritten(1);
    assert_eq!(fixture.compactions_by("rawr"), 1, "{}", fixture.events());
}

pub fn another_rawr(terminal: &Terminal, dead: Pid) -> Pid {
    let alive = || {
        let found = processes(terminal.process_id(), &["rawr claude-mod"]);
        found.into_iter().find(|pid| *pid != dead)
    };
    wait_until("another rawr", || alive().is_some());
    alive().unwrap()
}

#[test]
fn a_message_passes_if_rawr_is_killed_during_the_packet() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_packet(&gate);
    let dead = rawr(&terminal);
    kill(dead);
    another_rawr(&terminal, dead);
    terminal.wait_for(&[HERE, "86% left"]);
    passes_uncompacted(&fixture);
    gate.open();
}

#[test]
fn rawr_killed_during_the_compaction_is_started_again() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_compaction(&gate);
    kill(rawr(&terminal));
    gate.open();
    terminal.wait_for(&[HERE]);
    is_delivered_after_the_compaction(&fixture);
}

#[test]
fn rawr_stalled_during_the_compaction_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_compaction(&gate);
    let stalled = rawr(&terminal);
    kill_process(stalled, Signal::STOP).unwrap();
    gate.open();
    terminal.wait_for(&[HERE]);
    is_delivered_after_the_compaction(&fixture);
    assert_ne!(another_rawr(&terminal, stalled), stalled);
}

/// A stall of the disk or of the machine.
#[test]
fn a_message_passes_if_all_of_rawr_is_stalled_and_rawr_runs_again_later() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_packet(&gate);
    let stalled = [rawr(&terminal), sidecar(&terminal)];
    for process in stalled {
        kill_process(process, Signal::STOP).unwrap();
    }
    terminal.wait_for(&[HERE]);
    assert_eq!((fixture.asked("AND-NOW"), fixture.rewritten()), (1, 0));
    for process in stalled {
        // The process may have been killed.
        let _ = kill_process(process, Signal::CONT);
    }
    gate.open();
    wait_until("the end of the sequence", || fixture.events().contains(r#""ending":"cancelled""#));
    terminal.wait_for(&["% left"]);
    assert_eq!((fixture.asked("AND-NOW"), fixture.rewritten()), (1, 0));
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
    terminal.wait_for(&[WRITTEN, GOES_ON, "88% left"]);
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.asked("[rawr:")), (1, 1));
}

/// As a program that ends at each start would.
#[test]
fn rawr_that_dies_twice_stays_off_and_its_messages_pass() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_packet(&gate);
    let first = rawr(&terminal);
    kill(first);
    kill(another_rawr(&terminal, first));
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
    terminal.wait_for(&[HERE, "86% left"]);
    fixture.handed_over_before(NEXT);
    assert_eq!(fixture.asked("AND-NOW"), 1);
    fixture.until_rewritten(1);
}

#[test]
fn a_sidecar_killed_during_the_compaction_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_compaction(&gate);
    kill(sidecar(&terminal));
    gate.open();
    terminal.wait_for(&[HERE]);
    is_delivered_after_the_compaction(&fixture);
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
fn a_message_is_in_the_input_box_after_claude_code_was_killed_during_the_packet() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_packet(&gate);
    gate.open();
    let mut terminal = dies_and_is_resumed(&fixture, terminal);
    wait_until("the message in the input box", || input_box(&terminal.wait_for(&[])) == NEXT);
    assert_eq!(fixture.asked("AND-NOW"), 0);
    terminal.press("\r");
    terminal.wait_for(&[HERE]);
    assert_eq!(fixture.asked("AND-NOW"), 1);
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
}

/// Claude Code's own command, which ends the session here and goes on with a copy of it under another id.
#[test]
fn a_message_that_waited_is_in_the_input_box_of_the_session_in_the_background() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = held_for_the_packet(&gate);
    terminal.enter("/background", "/background");
    assert!(terminal.wait_for_the_end().success());
    gate.open();
    let written = terminal.written();
    let (_, rest) = written.rsplit_once("claude attach ").unwrap();
    let id: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    let mut there = Terminal::that_answers(&fixture.bare_command(&["attach", &id]), 150, 120);
    wait_until("the message in the input box", || input_box(&there.wait_for(&[])) == NEXT);
    there.press("\r");
    there.wait_for(&[HERE]);
    let requests = fixture.requests();
    let said = requests.iter().filter(|request| request.user_texts().last() == Some(&NEXT));
    assert_eq!(said.count(), 1);
    drop(there);
    for (process, _) in with_environment(&fixture.home.path().display().to_string()) {
        // Another one may have ended it.
        let _ = kill_process(process, Signal::KILL);
    }
}

/// Claude Code has it in its transcript, stamped before it waited.
#[test]
fn a_message_is_said_once_if_claude_code_is_killed_in_its_turn() {
    let gate = ReplyGate::new();
    let fixture = ModFixture::new(agent().behind("AND-NOW", 0, &gate));
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    fixture.until_asked("AND-NOW");
    fixture.until_rewritten(1);
    let mut terminal = dies_and_is_resumed(&fixture, terminal);
    gate.open();
    terminal.wait_for(&["rawr: "]);
    let again = "AND-NOW once more";
    terminal.enter(again, again);
    terminal.wait_for(&[HERE]);
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT, again], "{}", fixture.events());
}

/// The agent does not go on without the message.
#[test]
fn a_message_is_not_lost_with_claude_code_killed_during_the_compaction() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_compaction(&gate);
    let mut terminal = dies_and_is_resumed(&fixture, terminal);
    gate.open();
    send_what_waited(&mut terminal);
    terminal.wait_for(&[HERE]);
    assert_eq!(fixture.heard_with("AND-NOW")[0], NEXT);
    assert_eq!((fixture.rewritten(), fixture.asked("[rawr:")), (0, 0));
}

/// What is in the conversation and not answered is not compacted away.
#[test]
fn a_recorded_message_is_read_as_it_was_with_claude_code_killed_during_the_compaction() {
    let gate = ReplyGate::new();
    let (fixture, terminal) = held_for_the_compaction(&gate);
    fixture.until_recorded(NEXT);
    let mut terminal = dies_and_is_resumed(&fixture, terminal);
    gate.open();
    terminal.wait_for(&[NEXT, "% left"]);
    let again = "AND-NOW once more";
    terminal.enter(again, again);
    terminal.wait_for(&[HERE]);
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT, again]);
    assert_eq!((fixture.rewritten(), fixture.asked("[rawr:")), (0, 0));
}
