//! Codex survives the death of any process of rawr, and all processes end with Codex.

use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::{Terminal, wait_until};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::fixture::{GOES_ON, HEADS_UP, LiveFixture, TASK, agent, leave, type_text};
use crate::processes::{kill, processes};

/// All of a session at once, as where the machine stops: nothing is left to tell of it.
pub fn kill_all(session: u32) {
    for process in drivers(session).into_iter().chain(processes(session, &[])) {
        // One that is gone already is no matter.
        let _ = kill_process(process, Signal::KILL);
    }
    wait_until("the end of all", || processes(session, &[]).is_empty());
}

/// The window is closed, as the system tells it to whatever runs in the foreground.
pub fn close(terminal: &mut Terminal) {
    kill_process_group(
        Pid::from_raw(terminal.process_id().try_into().unwrap()).unwrap(),
        Signal::HUP,
    )
    .unwrap();
    terminal.hang_up();
}

pub fn drivers(session: u32) -> Vec<Pid> {
    processes(session, &[" attach ", "--beside"])
}

pub fn sidecars(session: u32) -> Vec<Pid> {
    processes(session, &["rawr serve"])
}

/// Everything that was started is gone, the folder of the socket, too.
pub fn nothing_is_left(session: u32) {
    wait_until("the end of all", || processes(session, &[]).is_empty());
}

/// Leaves Codex as a person does, and every process ends with it.
pub fn leave_nothing(terminal: &mut Terminal) {
    leave(terminal);
    nothing_is_left(terminal.process_id());
}

#[test]
fn a_killed_sidecar_is_restarted_and_the_compaction_completes() {
    let gate = ReplyGate::new();
    let fixture = LiveFixture::new(agent().behind("WRITE-PARSER", 1, &gate));
    let mut terminal = fixture.on_a_terminal(&[]);
    let session = terminal.process_id();
    type_text(&mut terminal, TASK);
    // What it has not heard of before it dies cannot be known afterwards.
    wait_until("the commit", || fixture.log().contains("tool_finished"));
    kill(sidecars(session)[0]);
    gate.open();
    terminal.wait_for(&[HEADS_UP, "Context compacted", GOES_ON]);
    assert_eq!(fixture.compactions(), 1);
    leave_nothing(&mut terminal);
}

#[test]
fn a_killed_driver_leaves_codex_running_and_one_message_at_its_end() {
    let fixture = LiveFixture::new(agent());
    let mut terminal = fixture.on_a_terminal(&[]);
    let session = terminal.process_id();
    wait_until("a driver", || drivers(session).len() == 1);
    kill(drivers(session)[0]);
    type_text(&mut terminal, TASK);
    terminal.wait_for(&["The parser is written."]);
    type_text(&mut terminal, "AND-NOW the docs");
    terminal.wait_for(&["Here you are."]);
    assert_eq!(fixture.compactions(), 0);
    leave(&mut terminal);
    terminal.wait_for(&["rawr: rawr ended early; Codex continued without it"]);
    nothing_is_left(session);
}

#[test]
fn a_detached_driver_causes_no_message() {
    let fixture = LiveFixture::new(agent());
    let mut terminal = fixture.on_a_terminal(&[]);
    let session = terminal.process_id();
    wait_until("a driver", || fixture.rawr(&["detach"]).status.success());
    wait_until("its end", || drivers(session).is_empty());
    type_text(&mut terminal, "AND-NOW the docs");
    terminal.wait_for(&["Here you are."]);
    leave_nothing(&mut terminal);
    let said = terminal.wait_for(&["rawr: resume this session"]);
    assert!(!said.contains("rawr ended early"), "{said}");
}

#[test]
fn a_driver_killed_during_a_packet_leaves_the_answer_on_the_screen() {
    let gate = ReplyGate::new();
    let fixture = LiveFixture::new(agent().behind(":packet_request]", 0, &gate));
    let mut terminal = fixture.on_a_terminal(&[]);
    let session = terminal.process_id();
    type_text(&mut terminal, TASK);
    terminal.wait_for(&[HEADS_UP]);
    kill(drivers(session)[0]);
    gate.open();
    terminal.wait_for(&["Goal: a parser with docs"]);
    type_text(&mut terminal, "AND-NOW the docs");
    terminal.wait_for(&["Here you are."]);
    assert_eq!(fixture.compactions(), 0);
    leave_nothing(&mut terminal);
}

#[test]
fn all_processes_end_with_the_terminal() {
    let fixture = LiveFixture::new(agent());
    let mut terminal = fixture.on_a_terminal(&[]);
    let session = terminal.process_id();
    type_text(&mut terminal, TASK);
    terminal.wait_for(&[GOES_ON]);
    // The shell that waits for Codex cannot tidy up any more.
    terminal.signal(Signal::KILL);
    terminal.hang_up();
    nothing_is_left(session);
}

#[test]
fn the_app_server_ends_without_a_remaining_client() {
    let fixture = LiveFixture::new(agent());
    let mut terminal = fixture.on_a_terminal(&[]);
    let session = terminal.process_id();
    wait_until("a driver", || drivers(session).len() == 1);
    let driver = drivers(session)[0];
    // The shell would end it, and in its place the driver would.
    terminal.signal(Signal::STOP);
    kill(driver);
    terminal.signal(Signal::KILL);
    terminal.hang_up();
    nothing_is_left(session);
}

#[test]
fn the_socket_is_private_and_removed_with_codex() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = LiveFixture::new(agent());
    let mut terminal = fixture.on_a_terminal(&[]);
    let session = terminal.process_id();
    let server = processes(session, &["app-server", "--listen"]);
    let line = std::fs::read_to_string(format!("/proc/{}/cmdline", server[0])).unwrap();
    let socket = line.split("unix://").nth(1).unwrap().trim_end_matches('\0');
    let folder = std::path::Path::new(socket).parent().unwrap();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    leave_nothing(&mut terminal);
    assert!(!folder.exists());
}
