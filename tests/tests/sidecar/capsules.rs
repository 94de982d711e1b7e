//! Capsules, restoring them, and recall: with a sidecar alone, the embedded agent and the real Codex.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod codex;
mod embedded;
mod kept;
mod killed;
mod recall;

use std::path::Path;
use std::process::{Command, Output};

use rawr_protocol::methods::{CapsuleGet, CapsuleList};
use rawr_protocol::{CapsuleGetParams, CapsuleGetResult, CapsuleListParams, CapsuleListResult};
use rawr_tests::{TestSidecar, rawr};
use serde_json::Value;

fn list(sidecar: &mut TestSidecar, thread: &str) -> CapsuleListResult {
    sidecar.call::<CapsuleList>(&CapsuleListParams { thread_id: thread.to_owned() })
}

fn get(sidecar: &mut TestSidecar, thread: &str, capsule: &str) -> CapsuleGetResult {
    sidecar.call::<CapsuleGet>(&CapsuleGetParams {
        thread_id: thread.to_owned(),
        capsule_id: capsule.to_owned(),
        with_history: true,
    })
}

/// A command on a home, with a clean environment.
fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(rawr());
    command.args(arguments).env("RAWR_HOME", home).env_remove("CODEX_HOME");
    command
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    command(home, arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The machine-readable output of a command that succeeds.
fn events(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}{}", err(output), out(output));
    out(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
