//! The user leaves or is disconnected inside a turn: Codex does not keep working unseen, and the thread can be resumed at once.

use rawr_tests::mock_responses::call;
use rawr_tests::{Terminal, wait_until};
use rustix::process::Signal;
use serde_json::json;

use super::deaths::{close, drivers, nothing_is_left};
use super::fixture::{LiveFixture, agent, leave, type_text};
use crate::processes::{kill, processes};

/// What goes on when the person leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TurnAtExit {
    /// A command runs that takes longer than any test.
    Busy,
    /// Codex waits for an answer before it runs the command.
    Asking,
    /// The turn is over, and its command goes on.
    Background,
}

const TASK: &str = "TAKE-LONG please";

struct LiveSession {
    fixture: LiveFixture,
    terminal: Terminal,
    id: u32,
}

impl LiveSession {
    fn start(turn: TurnAtExit) -> Self {
        Self::start_on(turn, |fixture, arguments| fixture.on_a_terminal(arguments))
    }

    fn start_ignoring_hang_ups() -> Self {
        Self::start_on(TurnAtExit::Busy, |fixture, _| fixture.on_a_terminal_that_ignores_hang_ups())
    }

    fn start_on(turn: TurnAtExit, open: impl Fn(&LiveFixture, &[&str]) -> Terminal) -> Self {
        let command = "while :; do date >> ticks; sleep 0.2; done";
        let mut arguments = json!({ "cmd": command, "yield_time_ms": 30_000 });
        if turn == TurnAtExit::Background {
            arguments["yield_time_ms"] = json!(500);
        }
        if turn == TurnAtExit::Asking {
            arguments["sandbox_permissions"] = json!("require_escalated");
            arguments["justification"] = json!("it takes long");
        }
        let long = || call("exec_command", arguments.clone());
        let fixture = LiveFixture::new(match turn {
            TurnAtExit::Background => {
                agent().on("TAKE-LONG", [long(), rawr_tests::mock_responses::reply("It runs.")])
            }
            TurnAtExit::Busy | TurnAtExit::Asking => {
                agent().on("TAKE-LONG", [long(), long(), long()])
            }
        });
        let policy = ["-c", "approval_policy=\"on-request\"", "-c", "sandbox_mode=\"read-only\""];
        let mut terminal = match turn {
            TurnAtExit::Busy | TurnAtExit::Background => open(&fixture, &[]),
            TurnAtExit::Asking => open(&fixture, &policy),
        };
        let id = terminal.process_id();
        wait_until("a driver", || drivers(id).len() == 1);
        type_text(&mut terminal, TASK);
        match turn {
            TurnAtExit::Busy => {
                wait_until("the command", || fixture.repository.path().join("ticks").exists())
            }
            TurnAtExit::Asking => drop(terminal.wait_for(&["Would you like to run"])),
            TurnAtExit::Background => drop(terminal.wait_for(&["It runs."])),
        }
        Self { fixture, terminal, id }
    }

    fn kill_the_owner(&self) {
        kill(processes(self.id, &[" lease "])[0]);
    }

    fn kill_the_driver(&self) {
        kill(drivers(self.id)[0]);
    }

    fn close_the_terminal(&mut self) {
        close(&mut self.terminal);
    }

    /// The one that waits for Codex is the terminal's first process.
    fn kill_the_shell(&self) {
        self.terminal.signal(Signal::KILL);
    }

    fn nothing_goes_on(mut self) {
        nothing_is_left(self.id);
        // Codex's commands are in sessions of their own.
        let folder = self.fixture.repository.path().canonicalize().unwrap();
        wait_until("the end of its commands", || working_in(&folder).next().is_none());
        self.terminal = self.fixture.on_a_terminal(&["resume", "--last"]);
        type_text(&mut self.terminal, "AND-NOW the docs");
        self.terminal.wait_for(&["Here you are."]);
        leave(&mut self.terminal);
    }
}

/// The processes that have this folder for their own.
fn working_in(folder: &std::path::Path) -> impl Iterator<Item = std::path::PathBuf> {
    let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let folder = folder.to_owned();
    all.filter(move |process| {
        std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == folder)
    })
}

#[test]
fn nothing_keeps_running_after_the_terminal_closed() {
    for turn in [TurnAtExit::Busy, TurnAtExit::Asking] {
        let mut session = LiveSession::start(turn);
        session.close_the_terminal();
        session.nothing_goes_on();
    }
}

#[test]
fn nothing_keeps_running_after_the_user_quit_in_a_turn() {
    let mut session = LiveSession::start(TurnAtExit::Busy);
    leave(&mut session.terminal);
    session.terminal.wait_for(&["rawr codex resume 0"]);
    session.nothing_goes_on();
}

#[test]
fn no_command_keeps_running_after_its_turn_and_session() {
    let mut session = LiveSession::start(TurnAtExit::Background);
    leave(&mut session.terminal);
    session.nothing_goes_on();
    let mut session = LiveSession::start(TurnAtExit::Background);
    session.close_the_terminal();
    session.nothing_goes_on();
}

#[test]
fn nothing_keeps_running_after_the_shell_was_killed() {
    for turn in [TurnAtExit::Busy, TurnAtExit::Asking] {
        let session = LiveSession::start(turn);
        session.kill_the_shell();
        session.nothing_goes_on();
    }
}

#[test]
fn nothing_keeps_running_if_the_driver_was_killed_before() {
    let mut session = LiveSession::start(TurnAtExit::Busy);
    session.kill_the_driver();
    leave(&mut session.terminal);
    session.nothing_goes_on();
}

#[test]
fn nothing_keeps_running_after_driver_and_shell_were_killed() {
    for turn in [TurnAtExit::Busy, TurnAtExit::Asking] {
        let session = LiveSession::start(turn);
        session.kill_the_driver();
        session.kill_the_shell();
        session.nothing_goes_on();
    }
}

#[test]
fn nothing_keeps_running_if_the_owner_was_killed_before() {
    let mut session = LiveSession::start(TurnAtExit::Busy);
    session.kill_the_owner();
    leave(&mut session.terminal);
    session.nothing_goes_on();
}

#[test]
fn nothing_keeps_running_after_owner_and_shell_were_killed() {
    for turn in [TurnAtExit::Busy, TurnAtExit::Asking] {
        let session = LiveSession::start(turn);
        session.kill_the_owner();
        session.kill_the_shell();
        session.nothing_goes_on();
    }
}

/// No process is left that could end it: the next session does, before it takes the conversation up.
#[test]
fn the_next_session_stops_an_abandoned_app_server() {
    let mut session = LiveSession::start(TurnAtExit::Busy);
    session.kill_the_driver();
    session.kill_the_owner();
    session.kill_the_shell();
    session.terminal.hang_up();
    // While Codex's screen ends, its app-server still has a user.
    wait_until("the end of the screen", || processes(session.id, &["--remote"]).is_empty());
    let mut next = session.fixture.on_a_terminal(&[]);
    leave(&mut next);
    session.nothing_goes_on();
}

#[test]
fn nothing_keeps_running_after_a_suspended_session_lost_its_terminal() {
    let mut session = LiveSession::start(TurnAtExit::Busy);
    session.terminal.press("\x1a");
    session.close_the_terminal();
    session.nothing_goes_on();
}

/// As where it was started by `nohup`.
#[test]
fn nothing_keeps_running_under_nohup_after_the_terminal_closed() {
    let mut session = LiveSession::start_ignoring_hang_ups();
    session.close_the_terminal();
    session.nothing_goes_on();
}
