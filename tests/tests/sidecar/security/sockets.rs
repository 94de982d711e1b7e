//! No telemetry: the files that may open connections are listed, and no other does. Checks the source code.

use rawr_tests::root;
use std::path::{Path, PathBuf};

/// The files, what each may use, and for what.
const MAY: [(&str, &str); 18] = [
    ("server/src/judge/endpoint.rs", "reqwest"),
    ("server/src/judge/key.rs", "reqwest"),
    ("server/src/judge/retry.rs", "reqwest"),
    ("editor-clients/host/src/host/embedded/chat.rs", "reqwest"),
    ("editor-clients/host/src/host/embedded/chat/send.rs", "reqwest"),
    ("editor-clients/host/src/host/embedded/chat/stream.rs", "reqwest"),
    // The app-server of a person's own Codex, over a Unix socket.
    ("editor-clients/host/src/host/codex/transport/socket.rs", "tungstenite"),
    ("editor-clients/host/src/host/codex/transport/socket.rs", "UnixStream"),
    // Listens after the owner of that app-server was killed.
    ("editor-clients/cli/src/commands/lease.rs", "UnixStream"),
    // Between the screen and the app-server of `rawr codex --preflight`, and from there to the driver, over Unix
    // sockets.
    ("editor-clients/host/src/relay.rs", "UnixListener"),
    ("editor-clients/host/src/relay/stream.rs", "UnixStream"),
    ("editor-clients/host/src/relay/held.rs", "UnixStream"),
    ("editor-clients/cli/src/commands/relay.rs", "UnixListener"),
    ("editor-clients/cli/src/commands/attach/preflight_listener.rs", "UnixListener"),
    ("editor-clients/cli/src/commands/attach/preflight_listener.rs", "UnixStream"),
    // For the plugin in Claude Code, over a Unix socket.
    ("editor-clients/cli/src/commands/claude_mod/listener.rs", "hyper::"),
    ("editor-clients/cli/src/commands/claude_mod/listener.rs", "UnixListener"),
    // Standard input and output, if the parent process made them sockets.
    ("server/src/stdio.rs", "UnixStream"),
];

/// The APIs that can open a connection.
const WAYS: [&str; 12] = [
    "reqwest",
    "hyper::",
    "tungstenite",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "UnixStream",
    "UnixListener",
    "UnixDatagram",
    "TcpSocket",
    "rustix::net",
    "\"curl\"",
];

/// Crates that open connections on their own.
const REPORTERS: [&str; 6] =
    ["sentry", "opentelemetry", "posthog-rs", "segment", "tracing-opentelemetry", "mixpanel"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|name| name == "tests");
        if path.is_dir() && !is_test {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !is_test {
            found.push(path);
        }
    }
}

#[test]
fn only_the_judge_and_the_hosts_open_connections() {
    let mut files = Vec::new();
    for room in [
        "protocol-schema/src",
        "server/core/src",
        "server/src",
        "editor-clients/host/src",
        "editor-clients/cli/src",
    ] {
        sources(&root().join(room), &mut files);
    }
    let mut used = Vec::new();
    for path in files {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code = shipped.lines().filter(|line| !line.trim_start().starts_with("//"));
        for way in code.flat_map(|line| WAYS.iter().filter(|way| line.contains(**way))) {
            assert!(MAY.contains(&(&name, way)), "{name} must not use {way}");
            used.push(name.clone());
        }
    }
    for (name, way) in MAY {
        assert!(used.iter().any(|used| used == name), "{name} uses no {way}: take it off the list");
    }
}

#[test]
fn no_dependency_sends_telemetry() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for name in REPORTERS {
        assert!(!lock.contains(&format!("name = \"{name}\"")), "{name} is a dependency");
    }
}
