//! Without rawr, Claude Code works as if the plugin were not there.

use rawr_tests::wait_until;
use rustix::process::{Signal, kill_process};

use super::fixture::{HERE, ModFixture, NEXT, TASK, WRITTEN, agent};
use crate::processes::processes;

/// The session works, and rawr has seen nothing of it.
fn works_without_rawr(fixture: &ModFixture, expected: &str) {
    let mut terminal = fixture.start_alone(&[]);
    if !expected.is_empty() {
        terminal.wait_for(&[expected]);
    }
    terminal.enter(TASK, TASK);
    terminal.wait_for(&[WRITTEN]);
    terminal.enter(NEXT, NEXT);
    let screen = terminal.wait_for(&[HERE]);
    assert_eq!(screen.matches("⚠ rawr:").count(), usize::from(!expected.is_empty()), "{screen}");
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    assert_eq!((fixture.compactions(), fixture.events()), (0, String::new()));
    assert!(processes(terminal.process_id(), &["rawr claude-mod"]).is_empty());
}

#[test]
fn without_a_program_the_status_line_says_what_is_missing() {
    works_without_rawr(
        &ModFixture::without_rawr(agent()),
        "rawr: no rawr in the PATH, so it does not run",
    );
}

#[test]
fn a_program_that_prints_something_else_is_left_alone() {
    let script = "#!/bin/sh\necho 'no order'\nsleep 1000\n";
    let fixture = ModFixture::without_rawr(agent()).with_program(script);
    works_without_rawr(&fixture, "rawr: does not run:");
}

#[test]
fn a_variable_keeps_rawr_off() {
    let fixture = ModFixture::new(agent()).with_variable("RAWR_HOOKS", "off");
    works_without_rawr(&fixture, "");
}

#[test]
fn a_session_without_a_person_is_left_alone() {
    let fixture = ModFixture::new(agent());
    let output = fixture.command(&["-p", TASK]).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains(WRITTEN));
    assert_eq!(fixture.events(), "");
}

#[test]
fn a_message_passes_a_rawr_that_hangs() {
    let fixture = ModFixture::new(agent());
    let mut terminal = fixture.proposed();
    let session = terminal.process_id();
    let hung = processes(session, &["rawr claude-mod"])[0];
    kill_process(hung, Signal::STOP).unwrap();
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE]);
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    assert_eq!((fixture.asked("AND-NOW"), fixture.compactions()), (1, 0));
    wait_until("its end", || !processes(session, &["rawr claude-mod"]).contains(&hung));
}
