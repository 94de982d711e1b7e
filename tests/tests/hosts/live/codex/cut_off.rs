//! A session that ends while the agent writes its packet: the compaction was not cancelled, so it happens once the session is
//! resumed. A user who interrupts the packet cancels the compaction.

use std::process::{Command, Stdio};

use rawr_tests::codex::binary;
use rawr_tests::mock_responses::{ReplyGate, reply};
use rawr_tests::{Terminal, rawr, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use super::deaths::{close, nothing_is_left};
use super::fixture::{GOES_ON, LiveFixture, TASK, agent, leave, type_text};
use crate::processes::{kill, processes};

/// A session whose packet is being written.
struct Writing {
    gate: ReplyGate,
    fixture: LiveFixture,
    terminal: Terminal,
}

impl Writing {
    fn start() -> Self {
        let gate = ReplyGate::new();
        let script = agent()
            .behind(":packet_request]", 0, &gate)
            .on(":notice]", [reply("Here you are.").input_tokens(21_000)]);
        let fixture = LiveFixture::new(script);
        let mut terminal = fixture.on_a_terminal(&[]);
        type_text(&mut terminal, TASK);
        wait_until("a packet being written", || packets_asked_for(&fixture) == 1);
        Self { gate, fixture, terminal }
    }

    /// The compaction happens without another boundary, and once.
    fn goes_on_where_it_is_taken_up(self) {
        nothing_is_left(self.terminal.process_id());
        self.gate.open();
        let mut terminal = self.fixture.on_a_terminal(&["resume", "--last"]);
        terminal.wait_for(&["Context compacted", GOES_ON]);
        assert_eq!(
            (packets_asked_for(&self.fixture), self.fixture.compactions()),
            (2, 1),
            "{}",
            self.fixture.log()
        );
        leave(&mut terminal);
    }
}

fn packets_asked_for(fixture: &LiveFixture) -> usize {
    let asks = |marker: &Option<String>| marker.as_deref() == Some(":packet_request]");
    fixture.requests().iter().filter(|request| asks(&request.marker)).count()
}

#[test]
fn a_packet_is_requested_again_after_the_terminal_closed() {
    let mut session = Writing::start();
    close(&mut session.terminal);
    session.goes_on_where_it_is_taken_up();
}

#[test]
fn a_packet_is_requested_again_after_the_shell_was_killed() {
    let session = Writing::start();
    session.terminal.signal(Signal::KILL);
    session.goes_on_where_it_is_taken_up();
}

#[test]
fn a_packet_is_requested_again_after_the_user_quit() {
    let mut session = Writing::start();
    leave(&mut session.terminal);
    session.goes_on_where_it_is_taken_up();
}

#[test]
fn a_packet_is_requested_again_after_owner_and_shell_were_killed() {
    let session = Writing::start();
    kill(processes(session.terminal.process_id(), &[" lease "])[0]);
    session.terminal.signal(Signal::KILL);
    session.goes_on_where_it_is_taken_up();
}

#[test]
fn a_packet_interrupted_by_the_user_is_not_requested_again() {
    let mut session = Writing::start();
    session.terminal.press("\x1b");
    wait_until("the end of the turn", || session.fixture.log().contains("interrupted"));
    close(&mut session.terminal);
    nothing_is_left(session.terminal.process_id());
    session.gate.open();
    let mut terminal = session.fixture.on_a_terminal(&["resume", "--last"]);
    type_text(&mut terminal, "AND-NOW the docs");
    terminal.wait_for(&["Here you are."]);
    leave(&mut terminal);
    assert_eq!(
        (packets_asked_for(&session.fixture), session.fixture.compactions()),
        (1, 0),
        "{}",
        session.fixture.log()
    );
}

/// The driver itself interrupts there what runs, because it leaves.
fn goes_on_after_exec(
    fixture: &LiveFixture,
    gate: &ReplyGate,
    signal: Signal,
    is_cut_off: impl Fn() -> bool,
) {
    let mut exec = Command::new(rawr());
    exec.args(["exec", "--host", "codex", "--sandbox", "danger-full-access", "--codex"]);
    fixture.in_place(exec.arg(binary()).arg(TASK));
    let mut exec = exec.stdout(Stdio::null()).spawn().unwrap();
    wait_until("what is cut off", is_cut_off);
    kill_process(Pid::from_child(&exec), signal).unwrap();
    assert!(!exec.wait().unwrap().success());
    gate.open();
    let threads = fixture.home.path().join("rawr/auto_compaction/threads");
    let thread = std::fs::read_dir(threads).unwrap().next().unwrap().unwrap().file_name();
    let mut terminal = fixture.on_a_terminal(&["resume", thread.to_str().unwrap()]);
    terminal.wait_for(&["Context compacted", GOES_ON]);
    leave(&mut terminal);
}

#[test]
fn a_packet_is_requested_again_after_exec_was_interrupted() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let gate = ReplyGate::new();
        let fixture = LiveFixture::new(agent().behind(":packet_request]", 0, &gate));
        goes_on_after_exec(&fixture, &gate, signal, || packets_asked_for(&fixture) == 1);
        assert_eq!(
            (packets_asked_for(&fixture), fixture.compactions()),
            (2, 1),
            "{}",
            fixture.log()
        );
    }
}

#[test]
fn a_compaction_is_requested_again_after_exec_was_interrupted() {
    let gate = ReplyGate::new();
    let summary = reply("A summary by the model.").input_tokens(146_000);
    let fixture = LiveFixture::new(agent().on_compaction([summary.behind(&gate)]));
    goes_on_after_exec(&fixture, &gate, Signal::INT, || fixture.compactions() == 1);
    assert_eq!((packets_asked_for(&fixture), fixture.compactions()), (1, 2), "{}", fixture.log());
}
