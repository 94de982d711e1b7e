//! `rawr watch` on a real terminal and as lines, with a host in another process.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod ends;
mod lines;
mod screen;

use std::process::Command;

use rawr_tests::{TestHome, rawr};

use crate::fixture::RunningHost;

const THREAD: &str = "t";

/// Nothing of the developer's; a terminal that knows colors.
fn watch(home: &TestHome, arguments: &[&str]) -> Command {
    let mut command = Command::new(rawr());
    command.arg("watch").args(arguments).current_dir(home.work());
    command.env("RAWR_HOME", home.path()).env("TERM", "xterm-256color");
    for name in ["CODEX_HOME", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

/// A host in mode `ask`.
fn asking_host(home: &TestHome) -> RunningHost {
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    RunningHost::on(home, THREAD)
}
