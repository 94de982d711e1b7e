//! Which crates and modules may use which others. The list in ARCHITECTURE.md is generated from this file.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use rawr_records::profile::PROFILES;
use rawr_tests::{check_generated, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

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
    assert!(!files.is_empty(), "{folder} is missing");
    let named = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        (name, std::fs::read_to_string(path).unwrap())
    };
    files.into_iter().map(named).collect()
}

/// All dependencies of `package`, itself excluded.
fn dependencies(package: &str) -> BTreeSet<String> {
    tree(&["--package", package])
}

/// The direct dependencies of `package`, and itself.
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
    // Dependencies of proc macros are not linked into the core.
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

/// Unit tests may use more than their module.
fn shipped(folder: &str) -> Vec<(String, String)> {
    let tests = |file: &str| file.contains("/tests/") || file.ends_with("/tests.rs");
    sources(folder).into_iter().filter(|(file, _)| !tests(file)).collect()
}

/// The crates of the product, with those of them that they use.
const CRATES: [(&str, &[&str]); 9] = [
    ("sidecar", &["analysis", "host", "protocol", "records", "server", "settings", "storage"]),
    ("host", &["protocol", "records"]),
    ("server", &["analysis", "core", "protocol", "records", "settings", "storage"]),
    ("analysis", &["core", "protocol", "records", "settings", "storage"]),
    ("storage", &["core"]),
    ("settings", &["core", "records"]),
    ("records", &["core", "protocol"]),
    ("core", &[]),
    ("protocol", &[]),
];

/// The modules of the server with the modules that they use, from top to bottom: none uses one above it. A new arrow is
/// a new line here; `UPDATE=1` copies the list to ARCHITECTURE.md.
const ARROWS: [(&str, &[&str]); 19] = [
    ("connection", &["methods", "outbox", "trace"]),
    (
        "methods",
        &[
            "judge",
            "language",
            "notes",
            "outbox",
            "publish",
            "query",
            "recall",
            "registry",
            "repo",
            "tasks",
            "tokens",
            "trace",
            "watch",
            "wire",
            "workspace",
        ],
    ),
    ("publish", &["outbox", "query", "registry", "wire", "workspace"]),
    ("registry", &["jobs", "judge", "notes", "query", "recall", "tasks", "watch", "workspace"]),
    ("workspace", &["tasks", "watch"]),
    ("query", &["judge"]),
    ("jobs", &["judge", "repo"]),
    ("judge", &[]),
    ("language", &[]),
    ("notes", &[]),
    ("outbox", &[]),
    ("recall", &[]),
    ("repo", &[]),
    ("stdio", &[]),
    ("tasks", &[]),
    ("tokens", &[]),
    ("trace", &[]),
    ("watch", &[]),
    ("wire", &[]),
];

/// Like `ARROWS`, for the core.
const CORE_ARROWS: [(&str, &[&str]); 20] = [
    (
        "machine",
        &[
            "assess", "boundary", "compose", "coverage", "event", "judgment", "packet", "policy",
            "prompt", "rewrite", "rules", "sequence", "signal", "thread", "units",
        ],
    ),
    ("assess", &["boundary", "event", "judgment", "policy", "signal", "thread", "units", "words"]),
    (
        "sequence",
        &[
            "boundary", "compose", "coverage", "event", "packet", "policy", "rewrite", "rules",
            "thread", "units",
        ],
    ),
    ("compose", &["event", "excerpt", "policy", "prompt", "signal", "thread"]),
    ("coverage", &["event", "excerpt", "policy", "thread"]),
    (
        "judgment",
        &["boundary", "event", "excerpt", "policy", "prompt", "signal", "thread", "units", "words"],
    ),
    (
        "thread",
        &[
            "boundary", "event", "excerpt", "packet", "policy", "prompt", "scratch", "signal",
            "units",
        ],
    ),
    ("packet", &["event", "policy"]),
    ("event", &["boundary", "policy", "prompt", "signal", "units"]),
    ("rules", &["policy", "prompt"]),
    ("signal", &["boundary", "policy", "steps", "words"]),
    ("policy", &["boundary", "scratch", "units", "words"]),
    ("scratch", &["units"]),
    ("words", &["steps"]),
    ("boundary", &[]),
    ("excerpt", &[]),
    ("prompt", &[]),
    ("rewrite", &[]),
    ("steps", &[]),
    ("units", &[]),
];

/// Like `ARROWS`, for the hosts' crate.
const HOST_ARROWS: [(&str, &[&str]); 12] = [
    ("drive", &["event", "host", "sidecar", "stop"]),
    ("event", &["host", "session_files"]),
    ("host", &["posix", "private_fs", "text"]),
    ("presence", &["private_fs"]),
    ("sidecar", &["private_fs", "transport"]),
    ("stop", &["posix"]),
    ("posix", &[]),
    ("private_fs", &[]),
    ("relay", &[]),
    ("session_files", &[]),
    ("text", &[]),
    ("transport", &[]),
];

/// Like `ARROWS`, for the crate that replays, tunes, tests and counts.
const ANALYSIS_ARROWS: [(&str, &[&str]); 9] = [
    ("tune", &["replay"]),
    ("replay", &["play", "prices", "report", "tokens"]),
    ("prices", &["tokens"]),
    ("policy_tests", &["play", "scenario"]),
    ("scenario", &["play", "report"]),
    ("play", &["report", "tokens"]),
    ("stats", &["report"]),
    ("report", &["tokens"]),
    ("tokens", &[]),
];

/// Like `ARROWS`, for the crate that keeps threads.
const STORAGE_ARROWS: [(&str, &[&str]); 4] =
    [("capsule", &["store"]), ("store", &["redact"]), ("parallel", &[]), ("redact", &[])];

/// Like `ARROWS`, for the crate that reads what people write.
const SETTINGS_ARROWS: [(&str, &[&str]); 3] =
    [("config", &["problem", "prompts"]), ("prompts", &["problem"]), ("problem", &[])];

/// Like `ARROWS`, for the crate that reads records.
const RECORDS_ARROWS: [(&str, &[&str]); 12] = [
    (
        "read",
        &["claude", "lenient", "lines", "moment", "plan", "profile", "time", "tokens", "turns"],
    ),
    ("said", &["lenient", "time"]),
    ("transcript", &["profile"]),
    ("claude", &["profile"]),
    ("profile", &["moment"]),
    ("moment", &["tokens"]),
    ("lenient", &[]),
    ("lines", &[]),
    ("plan", &[]),
    ("tokens", &[]),
    ("time", &[]),
    ("turns", &[]),
];

/// Like `ARROWS`, for the CLI.
const CLI_ARROWS: [(&str, &[&str]); 3] =
    [("commands", &["args", "render"]), ("args", &[]), ("render", &[])];

fn module_of(file: &str) -> &str {
    let inside = file.split_once("src/").map_or(file, |(_, inside)| inside);
    inside.split(['/', '.']).next().unwrap_or_default()
}

/// The modules of its own crate that a file uses, without its unit tests.
fn used_modules(text: &str) -> BTreeSet<&str> {
    let shipped = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let first = |path: &'_ str| path.trim().find(|letter| !is_of_name(letter));
    let mut used = BTreeSet::new();
    for rest in shipped.split("crate::").skip(1) {
        let group = rest.strip_prefix('{').and_then(|rest| rest.split('}').next());
        for path in group.unwrap_or(rest).split(',').take(if group.is_some() { 99 } else { 1 }) {
            let path = path.trim();
            let name = first(path).map_or(path, |end| &path[..end]);
            if name.starts_with(|letter: char| letter.is_lowercase()) {
                used.insert(name);
            }
        }
    }
    used
}

fn check_arrows(folder: &str, arrows: &[(&str, &[&str])]) {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let is_root = |file: &str| file.ends_with("src/lib.rs") || file.ends_with("src/main.rs");
    for (file, text) in shipped(folder).iter().filter(|(file, _)| !is_root(file)) {
        let module = module_of(file);
        let used = used_modules(text).into_iter().filter(|used| *used != module);
        found.entry(module.to_owned()).or_default().extend(used.map(str::to_owned));
    }
    let drawn = arrows.iter().map(|(module, uses)| {
        ((*module).to_owned(), uses.iter().map(|used| (*used).to_owned()).collect())
    });
    let drawn: BTreeMap<String, BTreeSet<String>> = drawn.collect();
    for (module, uses) in &found {
        assert_eq!(drawn.get(module), Some(uses), "{folder}/{module} must match its arrows");
    }
    assert_eq!(found.len(), drawn.len(), "{folder} lacks a module of the list");
    for (at, (module, uses)) in arrows.iter().enumerate() {
        let below = |used: &&str| arrows[at + 1..].iter().any(|(other, _)| *other == *used);
        assert!(uses.iter().all(below), "{module} uses a module above it");
    }
}

#[test]
fn architecture_md_lists_the_modules_and_what_they_may_use() {
    let names =
        |used: &[&str]| used.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let table = |title: &str, arrows: &[(&str, &[&str])]| {
        let row = |(module, uses): &(&str, &[&str])| format!("| `{module}` | {} |\n", names(uses));
        let rows: String = arrows.iter().map(row).collect();
        format!("| {title} | uses |\n| --- | --- |\n{rows}")
    };
    let table = [
        table("crate `rawr-…`", &CRATES),
        table("CLI", &CLI_ARROWS),
        table("hosts", &HOST_ARROWS),
        table("server", &ARROWS),
        table("analysis", &ANALYSIS_ARROWS),
        table("storage", &STORAGE_ARROWS),
        table("settings", &SETTINGS_ARROWS),
        table("records", &RECORDS_ARROWS),
        table("core", &CORE_ARROWS),
    ]
    .join("\n");
    let tests = "-p rawr-tests --test core layering";
    check_generated("ARCHITECTURE.md", "modules", tests, &table);
}

/// Files in which an agent's name is the name of a model or of a format on the wire.
const MAY_NAME_AGENTS: [&str; 3] =
    ["server/analysis/src/prices.rs", "server/src/tokens.rs", "server/src/wire.rs"];

/// What is known of single agents stands in the crate that reads their records.
#[test]
fn the_server_names_no_agent() {
    let product = [
        "server/src",
        "server/core/src",
        "server/analysis/src",
        "server/settings/src",
        "server/storage/src",
    ];
    let product = product.into_iter().flat_map(shipped);
    for (file, text) in
        product.filter(|(file, _)| !MAY_NAME_AGENTS.iter().any(|may| file.ends_with(may)))
    {
        let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default().to_lowercase();
        let named =
            text.lines().find(|line| PROFILES.iter().any(|agent| line.contains(agent.name)));
        assert_eq!(named, None, "{file} names an agent");
    }
}

#[test]
fn server_modules_use_only_what_the_list_allows() {
    check_arrows("server/src", &ARROWS);
    for (file, text) in &shipped("server/src") {
        let speaks = ["wire", "methods", "connection", "publish", "outbox", "trace"];
        let may = speaks.contains(&module_of(file));
        assert!(may || !text.contains("rawr_protocol"), "{file} must not know the protocol");
    }
}

#[test]
fn modules_below_the_server_use_only_what_the_list_allows() {
    check_arrows("server/core/src", &CORE_ARROWS);
    check_arrows("server/analysis/src", &ANALYSIS_ARROWS);
    check_arrows("server/storage/src", &STORAGE_ARROWS);
    check_arrows("server/settings/src", &SETTINGS_ARROWS);
    check_arrows("server/records/src", &RECORDS_ARROWS);
}

/// For each occurrence of `start`, the path segment after it.
fn segments_behind<'t>(text: &'t str, start: &str) -> BTreeSet<&'t str> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let segment = |rest: &'t str| rest.split(|letter| !is_of_name(letter)).next();
    text.split(start).skip(1).filter_map(segment).collect()
}

#[test]
fn host_and_cli_modules_use_only_what_the_list_allows() {
    check_arrows("editor-clients/host/src", &HOST_ARROWS);
    check_arrows("editor-clients/cli/src", &CLI_ARROWS);
}

/// Neither the CLI nor the hosts know the core.
// rule: decision.core-decides
#[test]
fn crates_use_only_what_the_list_allows() {
    for (name, uses) in CRATES {
        let package = format!("rawr-{name}");
        let direct = direct_dependencies(&package);
        // The library of `rawr-sidecar` is `rawr_cli`.
        let ours = direct.iter().filter_map(|found| found.strip_prefix("rawr_"));
        let ours: BTreeSet<_> = ours.filter(|found| ![name, "cli"].contains(found)).collect();
        assert_eq!(ours, BTreeSet::from_iter(uses.iter().copied()), "{package}");
    }
}

/// The commands take the server's crate for `rawr serve`, and to log as it does.
#[test]
fn commands_that_need_no_sidecar_do_not_take_the_server() {
    let mut used = BTreeSet::new();
    for (file, text) in shipped("editor-clients/cli/src") {
        assert_eq!(
            text.matches("rawr_server").count(),
            text.matches("rawr_server::").count(),
            "{file} must write out what it uses of the server"
        );
        let names = segments_behind(&text, "rawr_server::");
        used.extend(names.iter().map(|name| format!("{file} uses {name}")));
    }
    let allowed = ["log_if_asked", "serve", "ServeOptions"];
    let allowed = allowed.map(|name| format!("editor-clients/cli/src/commands.rs uses {name}"));
    assert_eq!(used, allowed.into());
}

/// Only the registry runs the core's machine; the crates below it, which commands use without a sidecar, play records
/// at most.
// rule: decision.core-decides
#[test]
fn commands_cannot_decide_without_a_sidecar() {
    let folders =
        ["server/src", "server/settings/src", "server/storage/src", "server/analysis/src"];
    let machines: BTreeSet<_> = folders
        .into_iter()
        .flat_map(shipped)
        .filter(|(_, text)| segments_behind(text, "Machine").contains(""))
        .map(|(file, _)| file)
        .collect();
    let may = ["server/src/registry", "server/analysis/src/play"];
    let outside: Vec<_> =
        machines.iter().filter(|file| !may.iter().any(|may| file.starts_with(may))).collect();
    assert!(!machines.is_empty() && outside.is_empty(), "{outside:?} run the machine");
}

/// The relay forwards what it does not understand, so it must stay small to be trusted with that.
#[test]
fn the_relay_is_independent_of_its_crate() {
    let files = shipped("editor-clients/host/src");
    let mut of_relay = files.iter().filter(|(file, _)| file.contains("/host/src/relay")).peekable();
    assert!(of_relay.peek().is_some(), "the relay is missing");
    for (file, text) in of_relay {
        for word in ["crate::", "rawr_protocol", "tungstenite"] {
            assert!(!text.contains(word), "{file} must not use {word}");
        }
    }
}

#[test]
fn every_file_starts_with_module_docs() {
    for folder in ["protocol-schema", "server", "editor-clients", "tests"] {
        for (file, text) in sources(folder) {
            let first = text.lines().next().unwrap_or_default();
            assert!(first.starts_with("//! "), "{file} begins with {first:?}");
        }
    }
}
