//! The peer that runs on Node: installs its locked dependencies on first use.
//! Fetches nothing if they are installed, and does not fail the run without Node.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::link::LaunchCommand;

const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/vscode-jsonrpc");

/// How to start the peer, or why it cannot be.
pub fn vscode_jsonrpc() -> Result<LaunchCommand, String> {
    for tool in ["node", "npm"] {
        if run(Command::new(tool).arg("--version")).is_err() {
            return Err(format!("{tool} is not on the PATH: install Node 20 or newer"));
        }
    }
    let peer = Path::new(PEER);
    if !peer.join("node_modules/vscode-jsonrpc").exists() {
        run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(peer))
            .map_err(|said| format!("npm ci failed in peers/vscode-jsonrpc: {said}"))?;
    }
    let args = vec![peer.join("server.js").into_os_string()];
    Ok(LaunchCommand { program: "node".into(), args, env: Vec::new() })
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}
