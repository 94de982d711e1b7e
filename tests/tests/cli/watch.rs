//! `rawr watch` on a real terminal, and as lines: what a person sees and does while a host works in another process, and
//! that the terminal is as before, however it ends.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod ends;
mod lines;
mod screen;

use std::process::Command;

use rawr_protocol::methods::{
    ActionPerform, CompactionUpdate, DecisionRecorded, SequenceHeadsUp, SequenceResponded,
    ThreadChanged,
};
use rawr_tests::{Home, Sidecar, StandIn, rawr};
use serde_json::Value;

const THREAD: &str = "t";

/// Nothing of the developer's; a terminal that knows colours.
fn watch(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new(rawr());
    command.arg("watch").args(arguments).current_dir(home.work());
    command.env("RAWR_HOME", home.path()).env("TERM", "xterm-256color");
    for name in ["CODEX_HOME", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

/// A host at work on a thread, in a process of its own.
struct Running {
    sidecar: Sidecar,
    host: StandIn,
}

impl Running {
    fn on(home: &Home, thread: &str) -> Self {
        let (mut sidecar, mut host) = (Sidecar::start(home), StandIn::new(thread));
        assert!(host.open(home, &mut sidecar));
        Self { sidecar, host }
    }

    /// Everything is asked about first.
    fn that_asks(home: &Home) -> Self {
        home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
        Self::on(home, THREAD)
    }

    fn end_a_phase(&mut self) {
        self.host.user_turn_with_boundaries();
        assert!(self.host.run(&mut self.sidecar));
    }

    /// What the watch still records is told to it and looked at by nobody.
    fn leave(mut self) {
        self.sidecar.allow::<ActionPerform>();
        self.sidecar.allow::<CompactionUpdate>();
        self.sidecar.allow::<DecisionRecorded>();
        self.sidecar.allow::<SequenceHeadsUp>();
        self.sidecar.allow::<SequenceResponded>();
        self.sidecar.allow::<ThreadChanged>();
        self.sidecar.leave();
    }
}

/// The events of this kind in the thread's log.
fn recorded(home: &Home, kind: &str) -> Vec<Value> {
    let lines = home.lines(THREAD);
    let events = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter_map(|record| record["event"].get(kind).cloned()).collect()
}
