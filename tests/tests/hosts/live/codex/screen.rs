//! A compaction on the screen of the unmodified Codex.

use std::process::Command;

use rawr_host::presence::present;
use rawr_tests::codex::{self, binary};
use rawr_tests::{Terminal, rawr, wait_until};
use rustix::process::{Signal, kill_process};

use super::deaths::drivers;
use super::fixture::{GOES_ON, HANDOFF, HEADS_UP, LiveFixture, TASK, agent, leave, type_text};
use crate::processes::has_pending;

#[test]
fn a_session_on_the_screen_continues_after_a_compaction() {
    let fixture = LiveFixture::new(agent());
    let mut terminal = fixture.on_a_terminal(&[]);
    type_text(&mut terminal, TASK);
    let screen = terminal.wait_for(&[GOES_ON]);
    let mut rest = screen.as_str();
    for words in [
        TASK,
        "The parser is written.",
        HEADS_UP,
        "Goal: a parser with docs",
        "Context compacted",
        HANDOFF,
        "Next: write the docs of parser.txt",
        GOES_ON,
    ] {
        let Some((_, after)) = rest.split_once(words) else {
            panic!("{words:?} does not stand where it should:\n{screen}\n{}", fixture.log());
        };
        rest = after;
    }
    assert_eq!(fixture.repository.subjects()[0], "Add the parser");
    assert_eq!(fixture.compactions(), 1);
    leave(&mut terminal);
}

/// Codex draws the screen, and rawr writes nothing on it.
#[test]
fn a_question_alerts_the_person_at_the_terminal() {
    let fixture = LiveFixture::new(agent());
    fixture.set("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let mut terminal = fixture.on_a_terminal(&[]);
    type_text(&mut terminal, TASK);
    terminal.wait_for(&["The parser is written."]);
    let alert = "\u{7}\u{1b}]9;rawr: Waiting for your approval";
    wait_until(alert, || terminal.written().contains(alert));
    leave(&mut terminal);
}

#[test]
fn the_exit_code_and_the_arguments_are_codexs_own() {
    let fixture = LiveFixture::new(agent());
    let version = fixture.rawr_codex(&["--version"]).output().unwrap();
    let pinned = format!("codex-cli {}\n", codex::version());
    assert_eq!(String::from_utf8(version.stdout).unwrap(), pinned);
    let wrong = fixture.rawr_codex(&["--no-such-flag"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let error = String::from_utf8(wrong.stderr).unwrap();
    assert!(error.contains("unexpected argument '--no-such-flag'"), "{error}");
}

#[test]
fn a_session_can_be_resumed() {
    let fixture = LiveFixture::new(agent());
    let mut terminal = fixture.on_a_terminal(&[]);
    type_text(&mut terminal, "AND-NOW hello");
    terminal.wait_for(&["Here you are."]);
    leave(&mut terminal);
    terminal.wait_for(&["rawr codex resume 0"]);
    let mut terminal = fixture.on_a_terminal(&["resume", "--last"]);
    terminal.wait_for(&["Here you are."]);
    type_text(&mut terminal, TASK);
    terminal.wait_for(&["Context compacted", GOES_ON]);
    assert_eq!(fixture.compactions(), 1);
    leave(&mut terminal);
}

/// Before rawr has joined it.
#[test]
fn a_session_left_at_once_can_be_resumed() {
    let fixture = LiveFixture::new(agent());
    let mut terminal = fixture.on_a_terminal(&[]);
    // From then on it ends by itself when it is asked to.
    let attached = || present(fixture.home.path()).unwrap();
    wait_until("an attached driver", || !attached().is_empty());
    let driver = drivers(terminal.process_id())[0];
    kill_process(driver, Signal::STOP).unwrap();
    type_text(&mut terminal, "AND-NOW hello");
    terminal.wait_for(&["Here you are."]);
    terminal.enter("/quit", "/quit");
    wait_until("its signal", || has_pending(driver, Signal::TERM));
    kill_process(driver, Signal::CONT).unwrap();
    assert!(terminal.wait_for_the_end().success());
    terminal.wait_for(&["rawr codex resume 0"]);
}

#[test]
fn rawr_does_not_attach_with_codexs_token_budget() {
    let fixture = LiveFixture::configured(agent(), "[features.token_budget]\nenabled = true\n");
    let mut terminal = fixture.on_a_terminal(&[]);
    type_text(&mut terminal, TASK);
    terminal.wait_for(&["The parser is written."]);
    leave(&mut terminal);
    terminal.wait_for(&["rawr: Codex's own heads-up is on, and rawr stands back"]);
    assert_eq!(fixture.compactions(), 0);
}

/// What cannot be reached, or started, costs a line and nothing else.
#[test]
fn codex_runs_without_a_folder_for_the_socket() {
    let fixture = LiveFixture::new(agent());
    let mut command = fixture.rawr_codex(&["-c", "features.daemon_auto_start=false"]);
    command.env("TMPDIR", "/no/such/folder");
    let mut terminal = Terminal::that_answers(&command, 150, 120);
    terminal.wait_for(&["Ask Codex to do anything"]);
    assert!(terminal.written().contains("rawr: failed to create a folder for the sockets"));
    type_text(&mut terminal, "AND-NOW hello");
    terminal.wait_for(&["Here you are."]);
    leave(&mut terminal);
}

/// Codex as everybody starts it: its background server is where rawr finds the thread.
#[cfg(target_os = "linux")]
#[test]
fn attach_joins_a_plain_codex_in_another_terminal() {
    let fixture = LiveFixture::new(agent());
    let _background = Background { fixture: &fixture };
    let mut codex = Command::new(binary());
    fixture.in_place(&mut codex);
    let mut terminal = Terminal::that_answers(&codex, 150, 120);
    terminal.wait_for(&["Ask Codex to do anything"]);
    let socket = fixture.home.path().join("app-server-control/app-server-control.sock");
    wait_until("a background server", || socket.exists());
    let mut attach = Command::new(rawr());
    fixture.in_place(attach.arg("attach"));
    let mut beside = Terminal::run(&attach, 100, 120);
    beside.wait_for(&["attached to Codex at", "Ctrl-C detaches"]);
    type_text(&mut terminal, TASK);
    terminal.wait_for(&[HEADS_UP, "Context compacted", GOES_ON]);
    // The turn's beginning may have been before rawr could join.
    beside.wait_for(&["Compacting soon", "compacted", GOES_ON]);
    beside.press("\x03");
    assert_eq!(beside.wait_for_the_end().code(), Some(130));
    type_text(&mut terminal, "AND-NOW the docs");
    terminal.wait_for(&["Here you are."]);
    leave(&mut terminal);
    assert_eq!(fixture.compactions(), 1);
}

/// Codex's background server outlives the process that started it.
#[cfg(target_os = "linux")]
struct Background<'l> {
    fixture: &'l LiveFixture,
}

#[cfg(target_os = "linux")]
impl Drop for Background<'_> {
    fn drop(&mut self) {
        let mut stop = Command::new(binary());
        self.fixture.in_place(stop.args(["app-server", "daemon", "stop"]));
        drop(stop.output());
        // So does what keeps that server up to date.
        let home = self.fixture.home.path().display().to_string();
        crate::processes::with_words(&home).into_iter().for_each(|process| {
            let _ = kill_process(process, Signal::KILL);
        });
    }
}
