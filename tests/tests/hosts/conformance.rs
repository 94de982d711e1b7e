//! What each host is shown to do: `conformance/rows.toml` names, for each promise and host, the tests that show it and what they
//! lack. The table of the docs is made of it: `UPDATE=1 cargo test -p rawr-tests --test hosts conformance` rewrites it. A host is
//! added with a column, a promise with a row; a cell without a test is a "no" on the page.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::{BTreeMap, HashSet};
use std::process::Command;

use rawr_tests::{check_generated, root};
use serde::Deserialize;

/// The hosts, with the titles of their columns.
const HOSTS: [(&str, &str); 8] = [
    ("embedded", "`exec --host embedded`"),
    ("codex_exec", "`exec --host codex`"),
    ("codex_screen", "`codex`, `attach`"),
    ("claude_exec", "`exec --host claude`"),
    ("plugin", "plugin, in a terminal"),
    ("plugin_sdk", "plugin, in an app"),
    ("hooks_codex", "hooks of Codex"),
    ("hooks_claude", "hooks of Claude Code"),
];

#[derive(Deserialize)]
struct Rows {
    row: Vec<Row>,
}

/// A promise, and how each host is shown to keep it.
#[derive(Deserialize)]
struct Row {
    promise: String,
    #[serde(flatten)]
    hosts: BTreeMap<String, Cell>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Cell {
    real: Vec<String>,
    scripted: Vec<String>,
    lacks: Option<String>,
    never: Option<String>,
}

impl Cell {
    fn mark(&self) -> &'static str {
        match self {
            Self { never: Some(_), .. } => "n/a",
            Self { real, lacks: None, .. } if !real.is_empty() => "yes",
            Self { real, .. } if !real.is_empty() => "in part",
            Self { scripted, .. } if !scripted.is_empty() => "scripted",
            Self { .. } => "no",
        }
    }

    /// What the page says below the table.
    fn remark(&self) -> Option<String> {
        let lacks = self.lacks.as_ref().map(|lacks| format!("not shown: {lacks}"));
        lacks.or_else(|| self.never.clone())
    }
}

fn rows() -> Vec<Row> {
    let rows: Rows = toml::from_str(include_str!("conformance/rows.toml")).unwrap();
    rows.row
}

/// The tests of this binary.
fn tests() -> HashSet<String> {
    let list = Command::new(std::env::current_exe().unwrap()).arg("--list").output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// Whether `rawr-host` has a test of this path.
fn is_in_the_host_crate(test: &str) -> bool {
    let Some((module, name)) = test.rsplit_once("::") else { return false };
    let file = format!("editor-clients/host/src/{}.rs", module.replace("::", "/"));
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
    text.contains(&format!("fn {name}("))
}

#[test]
fn each_promise_names_tests_that_exist() {
    let tests = tests();
    for Row { promise, hosts } in rows() {
        for (host, cell) in hosts {
            let at = format!("{host} in \"{promise}\"");
            assert!(HOSTS.iter().any(|(name, _)| *name == host), "{at}: no such host");
            let missing: Vec<_> = cell.real.iter().filter(|name| !tests.contains(*name)).collect();
            assert!(missing.is_empty(), "{at}: no such test: {missing:?}");
            let is_missing = |name: &&String| !is_in_the_host_crate(name);
            let missing: Vec<_> = cell.scripted.iter().filter(is_missing).collect();
            assert!(missing.is_empty(), "{at}: no such test of rawr-host: {missing:?}");
            let is_empty = cell.real.is_empty() && cell.scripted.is_empty();
            assert_eq!(is_empty, cell.never.is_some(), "{at}: either tests, or why there are none");
        }
    }
}

#[test]
fn the_page_says_what_each_host_is_shown_to_do() {
    let tests = "-p rawr-tests --test hosts conformance";
    check_generated("docs/src/internals/hosts.md", "conformance", tests, &table(&rows()));
}

fn table(rows: &[Row]) -> String {
    let titles: Vec<_> = HOSTS.iter().map(|(_, title)| *title).collect();
    let mut table =
        format!("| | {} |\n|{}\n", titles.join(" | "), " --- |".repeat(HOSTS.len() + 1));
    let mut remarks = String::new();
    let none = Cell::default();
    for Row { promise, hosts } in rows {
        let cell = |host: &str| hosts.get(host).unwrap_or(&none);
        let marks: Vec<_> = HOSTS.iter().map(|(host, _)| cell(host).mark()).collect();
        table.push_str(&format!("| {promise} | {} |\n", marks.join(" | ")));
        // Hosts of which the same is said stand together.
        let mut said: Vec<(String, Vec<&str>)> = Vec::new();
        for (host, title) in HOSTS {
            let Some(remark) = cell(host).remark() else { continue };
            match said.iter_mut().find(|(known, _)| *known == remark) {
                Some((_, titles)) => titles.push(title),
                None => said.push((remark, vec![title])),
            }
        }
        let said = said.iter().map(|(remark, titles)| format!("{}: {remark}", titles.join(", ")));
        let said: Vec<_> = said.collect();
        if !said.is_empty() {
            remarks.push_str(&format!("- **{promise}**: {}.\n", said.join("; ")));
        }
    }
    format!("{table}\n{remarks}")
}
