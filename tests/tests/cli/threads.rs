//! The commands for people, on homes with threads that a host has left or still runs: what they show, what they record, what they refuse.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod respond;
mod show;

use std::process::{Command, Output};

use rawr_protocol::methods::{SequenceResponded, ThreadChanged};
use rawr_tests::{Home, Sidecar, StandIn, rawr};
use serde_json::Value;

fn run(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(rawr());
    command.args(arguments).env("RAWR_HOME", home.path()).env_remove("CODEX_HOME");
    command.current_dir(home.work()).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What a person reads: these words in this order, and no colours.
fn check(home: &Home, arguments: &[&str], words: &[&str]) -> String {
    let output = run(home, arguments);
    let text = out(&output);
    assert!(output.status.success(), "{arguments:?}: {}", err(&output));
    assert!(!text.contains('\u{1b}'), "{text}");
    let mut rest = text.as_str();
    for word in words {
        let at = rest.find(word).unwrap_or_else(|| panic!("{arguments:?}: {word:?} in\n{text}"));
        rest = &rest[at + word.len()..];
    }
    text
}

/// What a program reads.
fn events(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let output = run(home, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", err(&output));
    out(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn event(home: &Home, arguments: &[&str]) -> Value {
    let mut events = events(home, arguments);
    assert_eq!(events.len(), 1, "{events:?}");
    events.remove(0)
}

/// What is refused, with nothing on standard output.
fn refused(home: &Home, arguments: &[&str], code: i32, words: &[&str]) {
    let output = run(home, arguments);
    let error = err(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}{}", out(&output));
    assert_eq!(out(&output), "", "{arguments:?}");
    for word in words {
        assert!(error.contains(word), "{arguments:?}: {word:?} in\n{error}");
    }
}

/// A host at work on a thread, in a sidecar of its own.
struct Running {
    sidecar: Sidecar,
    host: StandIn,
}

impl Running {
    fn on(home: &Home, thread: &str) -> Self {
        Self::after(home, thread, 0)
    }

    /// A host that takes a conversation of so many turns up again.
    fn after(home: &Home, thread: &str, turns: u32) -> Self {
        let (mut sidecar, mut host) = (Sidecar::start(home), StandIn::new(thread));
        host.turns = turns;
        assert!(host.open(home, &mut sidecar));
        Self { sidecar, host }
    }

    fn turn(&mut self) {
        self.host.user_turn();
        assert!(self.host.run(&mut self.sidecar));
    }

    fn turn_with_boundaries(&mut self) {
        self.host.user_turn_with_boundaries();
        assert!(self.host.run(&mut self.sidecar));
    }

    fn owner(&self) -> String {
        format!("test for stand-in (process {})", self.sidecar.process_id())
    }

    fn last_reason(&self) -> String {
        self.host.verdicts.last().unwrap()["reason"].as_str().unwrap().to_owned()
    }

    fn leave(mut self) {
        self.sidecar.take_notes();
        // What a person has just said elsewhere may still be told.
        self.sidecar.allow::<SequenceResponded>();
        self.sidecar.allow::<ThreadChanged>();
        self.sidecar.leave();
    }
}

/// A home with one thread that was compacted and then left.
fn compacted(home: &Home, thread: &str) {
    let mut running = Running::on(home, thread);
    running.turn_with_boundaries();
    assert_eq!(running.host.performed, ["packet_request", "compact", "handoff"]);
    running.leave();
}

/// A home with one thread that is under pressure and has not been compacted.
fn pressed(home: &Home, thread: &str) {
    let mut running = Running::on(home, thread);
    running.turn();
    running.leave();
}

const NOBODY: &str = "Saved. Takes effect when the thread next runs.";
