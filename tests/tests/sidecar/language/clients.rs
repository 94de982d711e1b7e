//! Generic language clients on the shipped prompts: Neovim's built-in client, and VS Code's client library with a fake
//! editor.

use rawr_tests::{TestHome, TestSidecar, rawr};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("language-clients")
}

/// Where `tests/run` installs it.
fn neovim() -> PathBuf {
    let place = std::env::var_os("RAWR_TEST_NEOVIM").map(PathBuf::from);
    let place = place
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/neovim/bin/nvim"));
    assert!(place.exists(), "tests/language-clients/neovim/get target/neovim brings Neovim");
    place
}

/// The shipped prompts, as in a new home.
fn prompts(home: &TestHome) -> Vec<PathBuf> {
    TestSidecar::start(home).leave();
    let folder = std::fs::read_dir(home.path().join("auto-compact")).unwrap();
    let is_prompt = |path: &PathBuf| path.extension().is_some_and(|of| of == "md");
    let mut prompts: Vec<_> = folder.map(|entry| entry.unwrap().path()).filter(is_prompt).collect();
    prompts.sort();
    assert_eq!(prompts.len(), 10);
    prompts
}

/// Runs a client on all of them; it prints a line for each.
fn seen(home: &TestHome, client: &mut Command) -> Vec<Value> {
    let prompts = prompts(home);
    for folder in ["HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
        client.env(folder, home.work());
    }
    let server = [rawr().as_os_str(), "serve".as_ref(), "--".as_ref()];
    let output = client.args(server).args(&prompts).env("RAWR_HOME", home.path()).output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), prompts.len(), "{out}\n{err}");
    lines
}

fn has(list: &Value, wanted: &str) -> bool {
    list.as_array().unwrap().iter().any(|entry| entry == wanted)
}

/// What every client must show.
fn check(lines: &[Value]) {
    for line in lines {
        let lens = line["lenses"][0].as_str().unwrap();
        assert!(lens.starts_with("renders to ") && lens.ends_with(" tokens"), "{line}");
        assert_eq!(line["lenses"].as_array().unwrap().len(), 1, "{line}");
    }
    let of = |name: &str| {
        let is_it = |line: &&Value| line["file"].as_str().unwrap().ends_with(name);
        lines.iter().find(is_it).unwrap()
    };
    for (name, label, words) in [
        ("handoff.md", "{packet}", "`{author}`: who wrote the packet"),
        ("heads-up.md", "{reason}", "`{reason}`: why the compaction comes now"),
        ("judgment-context.md", "{planTrail}", "`{tier}`: early, ready, asap or emergency"),
        ("scratch-write.md", "{scratchFile}", "`{scratchFile}` (required): "),
        ("watcher-packet.md", "{goal}", "`{state}`: "),
    ] {
        let line = of(name);
        assert!(line["hover"].as_str().unwrap().starts_with(words), "{line}");
        assert!(has(&line["labels"], label), "{line}");
    }
}

// rule: client.json-rpc
#[test]
fn neovims_own_client_shows_problems_lenses_hovers_and_proposals() {
    let home = TestHome::new();
    let mut client = Command::new(neovim());
    client.args(["--clean", "--headless", "-l"]).arg(root().join("neovim/client.lua"));
    let lines = seen(&home, &mut client);
    check(&lines);
    for line in &lines {
        assert!(line["clean"].as_array().is_none_or(Vec::is_empty), "{line}");
        // Neovim counts bytes: `é 🦀 ` has eight.
        let slip = serde_json::json!([["unknown-placeholder", line["last"], 8, 25]]);
        assert_eq!(line["slip"], slip, "{line}");
    }
}

// rule: client.json-rpc
#[test]
fn vs_codes_own_client_shows_problems_lenses_hovers_and_proposals() {
    let home = TestHome::new();
    assert!(
        root().join("node/node_modules").exists(),
        "npm ci --prefix tests/language-clients/node"
    );
    let mut client = Command::new("node");
    client.arg(root().join("node/client.js"));
    let lines = seen(&home, &mut client);
    check(&lines);
    for line in &lines {
        assert_eq!((&line["clean"], &line["version"]), (&0.into(), &2.into()), "{line}");
        // The client counts UTF-16 units: `é 🦀 ` has five.
        assert_eq!(line["slip"], serde_json::json!([[0, 5, 22]]), "{line}");
    }
}
