//! Which crate and module may use which others. ARCHITECTURE.md's list of modules is made from the one here.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir()
            && !["target", "node_modules"].contains(&name.as_str())
            && !name.starts_with('.')
        {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn sources(folder: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    rust_files(&root().join(folder), &mut files);
    assert!(!files.is_empty(), "{folder} is gone");
    let named = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        (name, std::fs::read_to_string(path).unwrap())
    };
    files.into_iter().map(named).collect()
}

/// Every crate that `package` is built with, itself left out.
fn dependencies(package: &str) -> BTreeSet<String> {
    tree(&["--package", package])
}

/// Those that it names itself, and itself.
fn direct_dependencies(package: &str) -> BTreeSet<String> {
    tree(&["--package", package, "--depth", "1"])
}

fn tree(of: &[&str]) -> BTreeSet<String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["tree", "--edges", "normal", "--prefix", "none", "--format", "{lib}"])
        .args(of)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .map(|line| line.trim_end_matches(" (*)").to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn the_core_depends_on_nothing_but_serde_and_data_crates() {
    const DATA: [&str; 10] = [
        "rawr_core",
        "serde",
        "serde_core",
        "serde_derive",
        "serde_json",
        "shlex",
        "itoa",
        "memchr",
        "zmij",
        "ryu",
    ];
    // What a derive is compiled with does not end up in the core.
    const AT_COMPILE_TIME: [&str; 4] = ["proc_macro2", "quote", "syn", "unicode_ident"];
    let others: Vec<_> = dependencies("rawr-core")
        .into_iter()
        .filter(|name| !DATA.contains(&name.as_str()) && !AT_COMPILE_TIME.contains(&name.as_str()))
        .collect();
    assert!(others.is_empty(), "rawr-core must not depend on {others:?}");
}

#[test]
fn the_core_reads_no_clock_no_file_and_writes_no_log() {
    const FORBIDDEN: [&str; 9] = [
        "std::fs",
        "std::net",
        "std::thread",
        "std::process",
        "SystemTime",
        "Instant::",
        "tokio",
        "tracing",
        "println!",
    ];
    for (file, text) in shipped("server/core/src") {
        for word in FORBIDDEN {
            assert!(!text.contains(word), "{file} names {word}");
        }
    }
}

/// A module's own tests may reach further than the module.
fn shipped(folder: &str) -> Vec<(String, String)> {
    let tests = |file: &str| file.contains("/tests/") || file.ends_with("/tests.rs");
    sources(folder).into_iter().filter(|(file, _)| !tests(file)).collect()
}

/// The modules of the server, each with those that it may use. ARCHITECTURE.md repeats the list; `UPDATE=1` rewrites it.
const ARROWS: [(&str, &[&str]); 24] = [
    ("connection", &["router", "outbox", "trace", "jobs", "watch", "workers"]),
    ("router", &[]),
    (
        "methods",
        &[
            "connection",
            "desk",
            "wire",
            "publish",
            "outbox",
            "trace",
            "jobs",
            "judge",
            "tokens",
            "watch",
            "repo",
            "capsule",
            "recall",
            "redact",
            "config",
            "prompts",
            "problem",
            "language",
            "store",
            "workers",
        ],
    ),
    // Text in, answers out: never the desk, a connection, or how answers are sent.
    ("language", &["config", "prompts", "problem"]),
    ("publish", &["config", "desk", "wire", "outbox", "store"]),
    ("wire", &["desk", "judge", "store", "problem"]),
    (
        "desk",
        &[
            "store", "watch", "jobs", "judge", "prompts", "config", "redact", "problem", "capsule",
            "recall", "workers",
        ],
    ),
    ("workers", &["store", "capsule"]),
    ("capsule", &["store"]),
    ("recall", &["capsule", "redact"]),
    ("jobs", &["judge", "repo", "config"]),
    ("judge", &["config", "redact"]),
    ("repo", &["config"]),
    ("config", &["prompts", "problem"]),
    ("prompts", &["problem"]),
    ("watch", &["store"]),
    ("store", &[]),
    ("state", &["store", "config", "prompts", "redact"]),
    ("problem", &[]),
    ("redact", &[]),
    ("outbox", &[]),
    ("stdio", &[]),
    ("tokens", &[]),
    ("trace", &[]),
];

fn room_of(file: &str) -> String {
    let inside = file.strip_prefix("server/src/").unwrap_or(file);
    inside.split(['/', '.']).next().unwrap_or_default().to_owned()
}

#[test]
fn architecture_md_lists_the_modules_and_what_they_may_use() {
    const OPEN: &str = "<!-- generated: modules; `UPDATE=1 cargo test -p rawr-tests --test layering` rewrites it -->\n";
    const CLOSE: &str = "<!-- end -->";
    let path = root().join("ARCHITECTURE.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(OPEN).unwrap();
    let (_, after) = rest.split_once(CLOSE).unwrap();
    let names =
        |used: &[&str]| used.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let rows = ARROWS.map(|(module, may_use)| format!("| `{module}` | {} |\n", names(may_use)));
    let table = format!("| module | may use |\n| --- | --- |\n{}", rows.concat());
    let made = format!("{before}{OPEN}{table}{CLOSE}{after}");
    if made != page && std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &made).unwrap();
        return;
    }
    assert!(
        made == page,
        "ARCHITECTURE.md is out of date: run `UPDATE=1 cargo test -p rawr-tests --test layering`"
    );
}

#[test]
fn the_rooms_of_the_server_use_only_what_the_drawing_allows() {
    let files = shipped("server/src");
    for (file, text) in files.iter().filter(|(file, _)| !file.ends_with("src/lib.rs")) {
        let room = room_of(file);
        let Some((_, may_use)) = ARROWS.iter().find(|(name, _)| *name == room) else {
            panic!("{file} belongs to no room of the drawing");
        };
        let closed = ARROWS.iter().filter(|(name, _)| *name != room && !may_use.contains(name));
        for (other, _) in closed {
            assert!(
                !text.contains(&format!("crate::{other}")),
                "{file} must not use crate::{other}"
            );
        }
    }
    for (file, text) in &files {
        let speaks =
            ["wire", "methods", "connection", "publish", "outbox", "router", "trace", "lib"];
        let may = speaks.iter().any(|room| file.starts_with(&format!("server/src/{room}")));
        assert!(may || !text.contains("rawr_protocol"), "{file} must not know the protocol");
    }
}

/// What the commands use of the server's crate without a sidecar, by file: what people wrote and what lies at rest is read,
/// checked and printed, and `rawr serve` is the sidecar itself. A new use is a line here and in ARCHITECTURE.md.
const OF_THE_SERVER: [(&str, &[&str]); 11] = [
    ("commands.rs", &["config", "log_if_asked", "serve", "ServeOptions"]),
    ("commands/attach/log.rs", &["redact"]),
    ("commands/codex/profile.rs", &["redact"]),
    ("commands/config.rs", &["config", "problem"]),
    ("commands/doctor.rs", &["config", "problem"]),
    ("commands/init.rs", &["config", "prompts"]),
    ("commands/prompts.rs", &["problem", "prompts"]),
    ("commands/state.rs", &["state", "store"]),
    ("commands/state/show.rs", &["state", "store"]),
    ("commands/watch/link.rs", &["config"]),
    ("commands/written.rs", &["config", "problem", "prompts"]),
];

/// What stands behind `start` up to the end of the path's first segment.
fn segments_behind<'t>(text: &'t str, start: &str) -> BTreeSet<&'t str> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let segment = |rest: &'t str| rest.split(|letter| !is_of_name(letter)).next();
    text.split(start).skip(1).filter_map(segment).collect()
}

#[test]
fn the_cli_reaches_the_core_over_the_protocol_only() {
    let direct = direct_dependencies("rawr");
    assert!(direct.contains("rawr_server"), "{direct:?}");
    assert!(!direct.contains("rawr_core"), "the CLI must not depend on the core");
    let allowed: BTreeSet<_> = OF_THE_SERVER
        .iter()
        .flat_map(|(file, uses)| uses.iter().map(move |used| format!("{file} uses {used}")))
        .collect();
    let mut used = BTreeSet::new();
    for (file, text) in shipped("editor-clients/cli/src") {
        let name = file.strip_prefix("editor-clients/cli/src/").unwrap();
        assert_eq!(
            text.matches("rawr_server").count(),
            text.matches("rawr_server::").count(),
            "{file} must write out what it uses of the server"
        );
        let rooms = segments_behind(&text, "rawr_server::");
        used.extend(rooms.iter().map(|room| format!("{name} uses {room}")));
    }
    let new: Vec<_> = used.difference(&allowed).collect();
    let gone: Vec<_> = allowed.difference(&used).collect();
    assert!(new.is_empty() && gone.is_empty(), "not allowed: {new:?}; no longer so: {gone:?}");
}

/// What decides is the core's machine, which only the desk runs; a worker reads a log into one for the desk. What the
/// commands use without a sidecar reaches neither.
#[test]
fn the_commands_cannot_ask_for_a_decision_without_a_sidecar() {
    const RUN_A_MACHINE: [&str; 2] = ["desk", "workers"];
    let machines: BTreeSet<_> = shipped("server/src")
        .into_iter()
        .filter(|(_, text)| segments_behind(text, "Machine").contains(""))
        .map(|(file, _)| room_of(&file))
        .collect();
    assert_eq!(machines, RUN_A_MACHINE.map(str::to_owned).into());
    let rooms = |used: &str| ARROWS.iter().find(|(room, _)| *room == used);
    let mut reached = BTreeSet::new();
    let mut next: Vec<_> = OF_THE_SERVER.iter().flat_map(|(_, uses)| *uses).collect();
    while let Some(room) = next.pop() {
        if reached.insert(*room) {
            next.extend(rooms(room).iter().flat_map(|(_, may_use)| *may_use));
        }
    }
    for room in RUN_A_MACHINE {
        assert!(
            !reached.contains(room),
            "a command reaches {room} by what it may use: {reached:?}"
        );
    }
}

/// It hands on what it does not understand, and can only be trusted with that while it is small.
#[test]
fn the_relay_uses_nothing_else_of_the_cli() {
    let of_relay = |file: &str| file.starts_with("editor-clients/cli/src/relay");
    let files = shipped("editor-clients/cli/src");
    for (file, text) in files.iter().filter(|(file, _)| of_relay(file)) {
        for word in ["crate::", "rawr_protocol", "tungstenite"] {
            assert!(!text.contains(word), "{file} must not use {word}");
        }
    }
}

#[test]
fn every_file_begins_by_saying_what_it_is_for() {
    for folder in ["protocol-schema", "server", "editor-clients", "tests"] {
        for (file, text) in sources(folder) {
            let first = text.lines().next().unwrap_or_default();
            assert!(first.starts_with("//! "), "{file} begins with {first:?}");
        }
    }
}
