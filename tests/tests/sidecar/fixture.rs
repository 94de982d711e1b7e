//! Parts that several topics share: a thread's name, a key to redact, commands on a home, and what a thread has stored.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use rawr_protocol::Role;
use rawr_protocol::methods::{LogMessage, ThreadOpen};
use rawr_tests::mock_chat::{ChatModelReply, call};
use rawr_tests::{StandIn, TestHome, TestSidecar, rawr};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// The thread of a test that needs only one.
pub const THREAD: &str = "t";
/// What must be redacted.
pub const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// A command on a home, without the developer's Codex.
pub fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(rawr());
    command.args(arguments).env("RAWR_HOME", home).env_remove("CODEX_HOME");
    command
}

pub fn run(home: &Path, arguments: &[&str]) -> Output {
    command(home, arguments).output().unwrap()
}

/// A call of the embedded agent's shell tool.
pub fn agent_shell(command: &str) -> ChatModelReply {
    call("shell", json!({ "command": command }))
}

/// A thread as it is now.
pub fn get(sidecar: &mut TestSidecar, thread: &str) -> Value {
    sidecar.request("rawr/thread/get", &json!({ "threadId": thread })).unwrap().unwrap()
}

/// A thread as a new sidecar reads it, and what that sidecar logs.
pub fn look(home: &TestHome, thread: &str) -> (Value, Vec<String>) {
    let mut sidecar = TestSidecar::start(home);
    sidecar.call::<ThreadOpen>(&StandIn::new(thread).opening(home, Role::Observer));
    let seen = get(&mut sidecar, thread);
    let told = sidecar.take::<LogMessage>().into_iter().map(|line| line.message).collect();
    sidecar.kill();
    (seen, told)
}

/// The permissions of a file.
pub fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
