//! The terminal is restored however the watch ends.

use std::process::Command;

use rawr_tests::{Terminal, TestHome, rawr};
use rustix::process::{Pid, Signal, kill_process};

use super::{RunningHost, THREAD, asking_host, watch};

/// The sidecar of this process.
fn child_of(process: u32) -> Option<Pid> {
    let path = format!("/proc/{process}/task/{process}/children");
    let children = std::fs::read_to_string(path).unwrap();
    Pid::from_raw(children.split_whitespace().next()?.parse().unwrap())
}

fn kill_the_sidecar(terminal: &Terminal) -> Pid {
    let sidecar = child_of(terminal.process_id()).unwrap();
    kill_process(sidecar, Signal::KILL).unwrap();
    sidecar
}

#[test]
fn a_signal_restores_the_terminal() {
    let home = TestHome::new();
    let running = RunningHost::on(&home, THREAD);
    for (signals, code) in [
        (&[Signal::TERM][..], 143),
        (&[Signal::HUP], 129),
        (&[Signal::INT], 130),
        (&[Signal::TERM, Signal::HUP], 0),
    ] {
        let mut terminal = Terminal::run(&watch(&home, &[]), 24, 80);
        terminal.wait_for(&["run by"]);
        signals.iter().for_each(|signal| terminal.signal(*signal));
        let status = terminal.wait_for_a_clean_end();
        // Where two come at once, either may be the first.
        assert!(code == 0 || status.code() == Some(code), "{status}");
    }
    running.leave();
}

#[test]
fn a_closed_terminal_ends_the_watch() {
    let home = TestHome::new();
    let running = RunningHost::on(&home, THREAD);
    let mut terminal = Terminal::run(&watch(&home, &[]), 24, 80);
    terminal.wait_for(&["run by"]);
    let sidecar = child_of(terminal.process_id()).unwrap();
    terminal.hang_up();
    terminal.signal(Signal::HUP);
    terminal.wait_for_the_end();
    assert!(rustix::process::test_kill_process(sidecar).is_err(), "the sidecar lives");
    running.leave();
}

#[test]
fn a_dead_sidecar_is_restarted_once() {
    let home = TestHome::new();
    let mut running = asking_host(&home);
    let mut terminal = Terminal::run(&watch(&home, &[]), 30, 120);
    terminal.wait_for(&["run by"]);
    kill_the_sidecar(&terminal);
    terminal.wait_for(&["it was restarted"]);
    running.turn_with_boundaries();
    terminal.wait_for(&["Waiting for your approval: t"]);
    kill_the_sidecar(&terminal);
    let status = terminal.wait_for_a_clean_end();
    assert_eq!(status.code(), Some(1));
    terminal.wait_for(&["rawr: the sidecar ended again after a restart"]);
    running.leave();
}

#[test]
fn ctrl_z_suspends_and_fg_resumes() {
    let home = TestHome::new();
    let running = RunningHost::on(&home, THREAD);
    let watch = watch(&home, &[]);
    let mut shell = Command::new("sh");
    shell.arg("-i").env("PS1", "AT-THE-SHELL> ").env_remove("ENV");
    shell.current_dir(home.work());
    for (name, value) in watch.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let mut terminal = Terminal::run(&shell, 24, 120);
    terminal.wait_for(&["AT-THE-SHELL>"]);
    terminal.enter(&format!("{} watch", rawr().display()), "watch");
    terminal.wait_for(&["run by"]);
    terminal.press("\x1a");
    terminal.wait_until_gone("run by");
    terminal.wait_for(&["Stopped"]);
    terminal.enter("echo IT-$((20 + 22))", "echo");
    terminal.wait_for(&["IT-42"]);
    terminal.enter("fg", "fg");
    terminal.wait_for(&["run by"]);
    terminal.press("q");
    terminal.wait_until_gone("run by");
    terminal.hang_up();
    terminal.signal(Signal::HUP);
    terminal.wait_for_the_end();
    running.leave();
}
