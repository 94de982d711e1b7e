//! Tests `tests/run` in a folder where every program is a script that records its call and fails on demand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use crate::root;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Writes a report of a test that passed on its second try, as nextest does.
const PROGRAM: &str = r#"#!/bin/sh
call="${0##*/bin/} $*"
echo "$call" >> "$CALLS"
case $call in
  "node -p"*) echo 22 ;;
  uname*) echo "${SYSTEM:-Linux}" ;;
  rustc*) echo "$TOOLCHAIN" ;;
  "cargo nextest run"*)
    mkdir -p target/nextest/default
    {
      echo '    <testcase name="a::test" classname="crate::file" time="0.1"/>'
      echo '    <testcase name="b::test" classname="crate::file" time="0.2">'
      [ -z "$FLAKY" ] || echo '      <flakyFailure timestamp="now" message="no"/>'
      echo '    </testcase>'
    } > target/nextest/default/junit.xml
    ;;
  *test:editor)
    [ -z "$RAWR_AGAIN" ] || echo "again $(cat "$RAWR_AGAIN")" >> "$CALLS"
    mkdir -p editor-clients/vscode/dist
    printf "$FAILED_GROUPS" > editor-clients/vscode/dist/failed-journeys
    ;;
esac
case $call in "$FAILS"*)
  if [ -n "$ONCE" ] && [ "$(grep -c "^$FAILS" "$CALLS")" -gt 1 ]; then exit 0; fi
  seq 1000
  exit "${CODE:-1}"
esac
"#;

/// Installed already, or not relevant for what is run.
const PROGRAMS: [&str; 17] = [
    "cargo", "cc", "chromium", "cmp", "g++", "git", "make", "node", "npm", "nvim", "patchelf",
    "pip3", "python3", "rustc", "rustup", "tmux", "uname",
];
const SCRIPTS: [&str; 14] = [
    "editor-clients/vscode/test/editor/get-editor.sh",
    "packaging/get-zig",
    "tests/claude/plugin",
    "tests/docs/run",
    "tests/fleets/run",
    "tests/language-clients/emacs/run",
    "tests/language-clients/helix/run",
    "tests/language-clients/kakoune/run",
    "tests/language-clients/neovim/get",
    "tests/neovim/run",
    "tests/newer",
    "tests/packaging/run",
    "tests/pictures/make",
    "tests/workflows/run",
];

/// A call of each suite, and the suite's name.
const QUICK: [(&str, &str); 5] = [
    ("cargo nextest run", "rust"),
    ("npm run --silent --prefix editor-clients/vscode check", "vscode"),
    ("npm run --silent --prefix editor-clients/vscode lint:claude-code", "vscode"),
    ("npm run --silent --prefix editor-clients/vscode test", "vscode"),
    ("tests/neovim/run", "neovim"),
];
const OTHERS: [(&str, &str); 15] = [
    ("cargo nextest run", "long"),
    ("cargo nextest run", "agents"),
    ("tests/claude/plugin", "claude-code"),
    ("tests/neovim/run --types", "neovim-types"),
    ("cargo check", "macos"),
    ("cargo test -p rawr-sidecar --lib --features parquet", "parquet"),
    ("tests/workflows/run", "workflows"),
    ("tests/docs/run", "guide"),
    ("tests/fleets/run", "fleets"),
    ("tests/pictures/make --check", "pictures"),
    ("tests/packaging/run", "packages"),
    ("tests/language-clients/helix/run", "helix"),
    ("tests/language-clients/emacs/run", "emacs"),
    ("tests/language-clients/kakoune/run", "kakoune"),
    (JOURNEYS, "vscode-editors"),
];

struct Run {
    /// One a line.
    calls: String,
    output: String,
    code: Option<i32>,
}

impl Run {
    fn has_passed(&self) -> bool {
        self.code == Some(0) && self.output.ends_with("== passed\n")
    }

    /// What a list at the end of the output says.
    fn list(&self, title: &str) -> Vec<&str> {
        let Some((_, list)) = self.output.rsplit_once(&format!("\n== {title}")) else {
            return Vec::new();
        };
        list.lines().skip(1).take_while(|line| line.starts_with("  ")).map(str::trim).collect()
    }

    fn times(&self, call: &str) -> usize {
        self.calls.lines().filter(|line| line.starts_with(call)).count()
    }
}

/// With no call that fails.
fn run(arguments: &[&str]) -> Run {
    run_with(arguments, &[])
}

/// With calls that fail if they begin like this.
fn run_failing(arguments: &[&str], fails: &str) -> Run {
    run_with(arguments, &[("FAILS", fails)])
}

fn run_with(arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    let folder = TempDir::new().unwrap();
    let place = |path: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let program = place("program");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for name in PROGRAMS.map(|name| format!("bin/{name}")).iter().map(String::as_str).chain(SCRIPTS)
    {
        symlink(&program, place(name)).unwrap();
    }
    fs::create_dir_all(place("target/neovim/bin")).unwrap();
    symlink(&program, place("toolchain/bin/clippy-driver")).unwrap();
    let script = place("tests/run");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("run"), &script).unwrap();
    let path = format!("{}:{}", place("bin").display(), std::env::var("PATH").unwrap());
    let calls = place("calls");
    let output = Command::new("bash")
        .arg(script)
        .args(arguments)
        .env_remove("CARGO_TARGET_DIR")
        .envs([("PATH", path.as_str()), ("CALLS", calls.to_str().unwrap())])
        .env("TOOLCHAIN", place("toolchain"))
        .envs([("FAILS", "nothing of this name"), ("FLAKY", "")])
        .env_remove("CI")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let calls = fs::read_to_string(calls).unwrap_or_default();
    Run { calls, output: String::from_utf8(output.stdout).unwrap(), code: output.status.code() }
}

#[test]
fn the_quick_suites_run_without_arguments_and_the_others_are_named() {
    let done = run(&[]);
    assert!(done.has_passed(), "{}", done.output);
    for (call, name) in QUICK {
        assert!(done.times(call) > 0, "{name}: {}", done.calls);
    }
    let left_out = done.list("left out");
    for (_, name) in OTHERS {
        let is_named = left_out.iter().any(|line| line.starts_with(&format!("{name}: ")));
        assert!(is_named, "{name}: {}", done.output);
    }
    assert_eq!(done.times("cargo nextest run"), 1, "{}", done.calls);
    assert!(!done.calls.contains("tests/codex"), "an agent is unpacked: {}", done.calls);
}

#[test]
fn all_suites_run_with_all() {
    let done = run(&["--all"]);
    assert!(done.has_passed(), "{}", done.output);
    for (call, name) in QUICK.into_iter().chain(OTHERS) {
        assert!(done.times(call) > 0, "{name}: {}", done.calls);
    }
    assert_eq!(done.times("cargo nextest run"), 3, "{}", done.calls);
    assert!(done.list("left out").is_empty(), "{}", done.output);
}

#[test]
fn only_the_named_suites_run() {
    let done = run(&["guide", "helix"]);
    assert!(done.has_passed(), "{}", done.output);
    for (call, name) in QUICK.into_iter().chain(OTHERS) {
        let times = usize::from(["guide", "helix"].contains(&name));
        assert_eq!(done.times(call), times, "{name}: {}", done.calls);
    }
}

#[test]
fn an_unknown_suite_runs_nothing_and_the_known_ones_are_listed() {
    for arguments in [&["guides"][..], &["guide", "--al"], &["--all", "guide"]] {
        let done = run(arguments);
        assert_eq!((done.code, done.calls.as_str()), (Some(2), ""), "{arguments:?}");
    }
    let done = run(&["--help"]);
    assert_eq!((done.code, done.calls.as_str()), (Some(0), ""));
    for (_, name) in QUICK.into_iter().chain(OTHERS) {
        assert!(done.output.contains(&format!("\n  {name} ")), "{name}: {}", done.output);
    }
}

#[test]
fn after_a_failed_suite_the_others_run_and_it_is_named_at_the_end() {
    for (fails, name) in QUICK.into_iter().chain(OTHERS) {
        let done = run_failing(&[name, "workflows", "guide"], fails);
        assert_eq!(done.code, Some(1), "{fails}: {}", done.output);
        for call in ["tests/workflows/run", "tests/docs/run"] {
            assert!(done.times(call) > 0, "{fails}: {}", done.calls);
        }
        let [failed] = done.list("failed")[..] else { panic!("{fails}: {}", done.output) };
        assert!(failed.starts_with(&format!("{name}: ")), "{fails}: {}", done.output);
    }
}

#[test]
fn the_last_lines_of_what_failed_are_shown_again() {
    for (code, reason) in [("1", "guide as a book"), ("77", "see above what is missing")] {
        let environment = [("FAILS", "tests/docs/run"), ("CODE", code), ("CI", "true")];
        let done = run_with(&["guide"], &environment);
        assert_eq!(done.list("failed"), [format!("guide: {reason}")], "{}", done.output);
        let (_, end) = done.output.rsplit_once("== the end of: guide\n").unwrap();
        let lines: Vec<_> = end.lines().filter(|line| line.parse::<u32>().is_ok()).collect();
        assert_eq!((lines[0], lines[lines.len() - 1]), ("801", "1000"), "{}", done.output);
    }
}

#[test]
fn what_a_machine_lacks_is_skipped_and_fails_in_continuous_integration() {
    let missing = [("FAILS", "tests/docs/run"), ("CODE", "77")];
    let done = run_with(&["guide"], &missing);
    assert!(done.has_passed(), "{}", done.output);
    assert_eq!(done.list("skipped"), ["guide: see above what is missing"]);
    let done = run_with(&["guide"], &[&missing[..], &[("CI", "true")]].concat());
    assert_eq!(done.code, Some(1), "{}", done.output);
}

#[test]
fn macos_runs_the_suites_that_do_not_need_linux() {
    let done = run_with(&["--all"], &[("SYSTEM", "Darwin")]);
    assert!(done.has_passed(), "{}", done.output);
    for call in ["cargo nextest run --workspace --exclude rawr-bench", "tests/claude/plugin"] {
        assert!(done.times(call) > 0, "{}", done.calls);
    }
    assert_eq!(done.times("tests/neovim/run"), 0, "{}", done.calls);
    assert!(done.output.contains("on Linux only"), "{}", done.output);
}

const JOURNEYS: &str = "npm run --silent --prefix editor-clients/vscode test:editor";

#[test]
fn only_groups_of_journeys_are_retried() {
    for (fails, name) in QUICK.into_iter().chain(OTHERS) {
        let groups = ("FAILED_GROUPS", "newest: threads\\nfloor: week\\n");
        let done = run_with(&[name], &[("FAILS", fails), groups]);
        let expected = if fails == JOURNEYS { 2 } else { 1 };
        assert_eq!(done.times(fails), expected, "{fails}\n{}", done.calls);
        assert!(done.list("defects").is_empty(), "{}", done.output);
    }
}

#[test]
fn journeys_that_fail_outside_of_a_group_are_not_retried() {
    let done = run_failing(&["vscode-editors"], JOURNEYS);
    assert_eq!((done.times(JOURNEYS), done.code), (1, Some(1)), "{}", done.output);
}

#[test]
fn what_passed_on_a_second_try_is_listed_as_a_defect() {
    assert!(run(&["rust"]).list("defects").is_empty());
    let done = run_with(&["rust"], &[("FLAKY", "yes")]);
    assert!(done.has_passed(), "{}", done.output);
    assert_eq!(done.list("defects"), ["crate::file b::test"], "{}", done.output);
    let groups = ("FAILED_GROUPS", "newest: threads\\n");
    let once = [("FAILS", JOURNEYS), ("ONCE", "yes"), groups];
    let done = run_with(&["vscode-editors"], &once);
    assert!(done.has_passed(), "{}", done.output);
    assert!(done.calls.contains("again newest: threads\n"), "{}", done.calls);
    assert_eq!(done.list("defects"), ["vscode-editors: newest: threads"], "{}", done.output);
}

/// The report of pinned packages if the registry answers every request like this.
fn newer(answer: &str) -> String {
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("tests/newer");
    for pins in [
        "codex",
        "claude",
        "claude/sdk",
        "bench/peers/vscode-jsonrpc",
        "language-clients/node",
        "neovim",
        "workflows",
    ] {
        let to = folder.path().join("tests").join(pins);
        fs::create_dir_all(&to).unwrap();
        fs::copy(root().join("tests").join(pins).join("package.json"), to.join("package.json"))
            .unwrap();
    }
    fs::copy(root().join("tests/newer"), &script).unwrap();
    let npm = folder.path().join("npm");
    fs::write(&npm, format!("#!/bin/sh\n{answer}\n")).unwrap();
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash").arg(script).env("PATH", path).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn newer_versions_of_pinned_packages_are_named_and_not_an_error() {
    let said = newer("echo 99.0.0");
    assert!(said.contains("== newer versions published\n"), "{said}");
    for name in ["@openai/codex", "@anthropic-ai/claude-code", "vscode-languageclient"] {
        assert!(said.contains(&format!("  {name} 99.0.0 (pinned: ")), "{said}");
    }
    let said = newer("exit 1");
    assert!(said.contains("== not known whether") && said.contains("@openai/codex"), "{said}");
}

#[test]
fn a_failed_build_stops_the_run() {
    let done = run_failing(&[], "cargo build");
    assert!(done.code == Some(1) && done.times("cargo nextest") == 0, "{}", done.output);
}
