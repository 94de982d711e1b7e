//! Output, exit codes and side effects of the `rawr` commands without hosts.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod completion;
mod doctor;
mod help;
mod label;
mod replay;
mod stats;
mod surroundings;
mod test;
mod tune;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use expect_test::expect;
use rawr_tests::{err, out, rawr};
use serde_json::Value;
use tempfile::TempDir;

/// Temporary folders for everything that a command may write.
struct CommandFixture {
    home: TempDir,
    temporary: TempDir,
}

impl CommandFixture {
    fn new() -> Self {
        Self { home: TempDir::new().unwrap(), temporary: TempDir::new().unwrap() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(rawr());
        command.args(arguments).env("RAWR_HOME", self.home.path()).env_remove("CODEX_HOME");
        command.env("TMPDIR", self.temporary.path()).current_dir(self.temporary.path());
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).spawn().unwrap()
    }

    fn leftovers(&self) -> Vec<String> {
        names(self.temporary.path())
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.home.path().join(name)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check_error(arguments: &[&str], code: i32, words: &[&str]) {
    let output = CommandFixture::new().run(arguments);
    let error = err(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    for word in words {
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}

/// The events of a compaction in order.
fn sequence(events: &[Value]) -> Vec<String> {
    let names = ["verdict", "heads_up", "packet", "compaction", "handoff"];
    let of_sequence = events.iter().filter(|event| {
        event["sequenceId"].is_string() && names.iter().any(|name| event["event"] == *name)
    });
    let brief = |event: &Value| {
        let detail = event["status"].as_str().or(event["outcome"].as_str()).unwrap_or_default();
        format!("{} {detail}", event["event"].as_str().unwrap()).trim_end().to_owned()
    };
    of_sequence.map(brief).collect()
}

const WHOLE: [&str; 6] = [
    "verdict compact",
    "heads_up",
    "packet",
    "compaction in_progress",
    "compaction completed",
    "handoff",
];

#[test]
fn the_demo_reports_one_compaction_as_json_and_leaves_no_files() {
    let fixture = CommandFixture::new();
    let output = fixture.run(&["demo", "--json"]);
    assert!(output.status.success(), "{}", err(&output));
    let events = events(&out(&output));
    assert_eq!(sequence(&events), WHOLE);
    let mut ids: Vec<_> = events
        .iter()
        .filter(|event| WHOLE.iter().any(|name| name.starts_with(event["event"].as_str().unwrap())))
        .filter_map(|event| event["sequenceId"].as_str())
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");

    let find = |name: &str| events.iter().rfind(|event| event["event"] == name).unwrap();
    let completed = find("compaction");
    assert!(completed["tokensBefore"].as_u64() > completed["tokensAfter"].as_u64(), "{completed}");
    assert_eq!(find("verdict")["outcome"], "nothing");
    let files: Vec<_> =
        find("saved")["files"].as_array().unwrap().iter().map(|file| &file["name"]).collect();
    assert!(files.contains(&&Value::from("events.jsonl")), "{files:?}");
    assert_eq!((fixture.leftovers(), names(fixture.home.path())), (vec![], vec![]));
}

#[test]
fn the_demo_has_no_colors_without_a_terminal() {
    let output = CommandFixture::new().run(&["demo"]);
    let text = out(&output);
    for words in [
        "› Now test it against every sample, and commit.",
        "Compaction decided:",
        "╭─ Compacting soon",
        "  Writing the packet…",
        "• Packet by the agent",
        "• Context compacted:",
        "  Handing the packet back…",
        "› rawr hands the packet back",
        "No compaction: 9",
        "the demo's files are removed",
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn the_demo_names_a_program_that_it_misses() {
    let fixture = CommandFixture::new();
    let programs = fixture.path("programs");
    std::fs::create_dir(&programs).unwrap();
    let run = || fixture.command(&["demo"]).env("PATH", &programs).output().unwrap();
    let without_shell = run();
    assert_eq!(without_shell.status.code(), Some(1));
    assert!(err(&without_shell).contains("runs `sh`, which is not in the PATH"));
    std::os::unix::fs::symlink("/bin/sh", programs.join("sh")).unwrap();
    let without_cat = run();
    assert!(err(&without_cat).contains("runs `cat`, which is not"), "{}", err(&without_cat));
    assert_eq!(fixture.leftovers(), Vec::<String>::new());
}

#[test]
fn the_kept_demo_is_a_real_repository() {
    let fixture = CommandFixture::new();
    let kept = fixture.path("kept");
    let keep = ["demo", "--keep", kept.to_str().unwrap()];
    assert!(fixture.run(&keep).status.success());
    assert_eq!(names(&kept), ["home", "repository"]);
    let log = Command::new("git")
        .args(["log", "--format=%s"])
        .current_dir(kept.join("repository"))
        .output()
        .unwrap();
    assert_eq!(out(&log), "Explain kv.sh\nPrint the value of a key\nBegin with samples\n");

    let again = fixture.run(&keep);
    assert_eq!(again.status.code(), Some(1));
    assert!(err(&again).contains("is not empty: name a new folder"), "{}", err(&again));
}

#[test]
fn a_demo_in_the_folder_of_an_editor_promises_nothing_about_its_files() {
    let fixture = CommandFixture::new();
    let lent = fixture.path("lent");
    let output = fixture.run(&["demo", "--lend", lent.to_str().unwrap()]);
    assert!(output.status.success(), "{}", err(&output));
    assert_eq!(names(&lent), ["home", "repository"]);
    let said = format!("{}{}", out(&output), err(&output));
    assert!(said.contains("the editor removes the demo's files"), "{said}");
    for promise in ["kept in", "--home"] {
        assert!(!said.contains(promise), "{promise}:\n{said}");
    }
}

/// Reads on until the event comes, and returns it.
fn wait_for(lines: &mut impl Iterator<Item = String>, name: &str) -> Value {
    let mut events = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    events.find(|event| event["event"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn signal(name: &str, process: u64) {
    let sent = Command::new("kill").args([format!("-{name}"), process.to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn ctrl_c_ends_the_demo_and_removes_its_files() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let fixture = CommandFixture::new();
        let mut child = fixture.start(&["demo", "--pace", "--json"]);
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut lines = stdout.lines().map(Result::unwrap);
        let sidecar = wait_for(&mut lines, "session")["sidecarProcessId"].as_u64().unwrap();
        wait_for(&mut lines, "tool_started");
        signal(name, child.id().into());
        let rest: Vec<_> = lines.collect();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{rest:?}");
        assert_eq!(fixture.leftovers(), Vec::<String>::new());
        assert!(!is_alive(sidecar), "the sidecar goes on");
    }
}

fn is_alive(process: u64) -> bool {
    Command::new("kill")
        .args(["-0", &process.to_string()])
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

#[test]
fn a_killed_sidecar_is_replaced_and_no_action_is_repeated() {
    let fixture = CommandFixture::new();
    let mut child = fixture.start(&["demo", "--json"]);
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let mut seen = Vec::new();
    for line in stdout.lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event["event"] == "session" && seen.is_empty() {
            signal("KILL", event["sidecarProcessId"].as_u64().unwrap());
        }
        seen.push(event);
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(seen.iter().filter(|event| event["event"] == "sidecar_restarted").count(), 1);
    assert_eq!(sequence(&seen), WHOLE);
    assert_eq!(fixture.leftovers(), Vec::<String>::new());
}

#[test]
fn a_reader_that_hangs_up_is_a_normal_end() {
    let fixture = CommandFixture::new();
    let mut child = fixture.start(&["demo", "--json"]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(fixture.leftovers(), Vec::<String>::new());
}

#[test]
fn a_usage_error_has_a_hint() {
    check_error(&["exec", "--host", "emacs", "hi"], 2, &["'emacs'", "codex, claude, embedded"]);
    check_error(&["exec", "hi"], 2, &["--host"]);
    check_error(&["exec", "--host", "embedded", "-c", "mode", "hi"], 2, &["KEY=VALUE"]);
    check_error(&["exec", "--host", "embedded"], 1, &["no prompt", "stdin"]);
    check_error(&["exec", "--host", "embedded", " "], 1, &["empty prompt"]);
    check_error(
        &["exec", "--host", "embedded", "--model", "m", "hi"],
        1,
        &["no endpoint for the model", "--base-url"],
    );
    check_error(
        &["exec", "--host", "embedded", "--cd", "/no/such", "hi"],
        1,
        &["/no/such is not a folder", "--cd DIR"],
    );
    check_error(&["demo", "--home", "/tmp/x"], 1, &["--keep DIR"]);
    check_error(&["--home", "/proc/nowhere", "init"], 1, &["--home DIR"]);
}

const EXEC: [&str; 4] = ["exec", "--host", "embedded", "--json"];

/// The agent's prompts with these options and this standard input.
fn prompts_of(options: &[&str], input: &[u8]) -> Vec<String> {
    let fixture = CommandFixture::new();
    let mut child = fixture
        .command(&[&EXEC[..], options].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let events = events(&out(&output));
    let prompts = events.iter().filter(|event| event["event"] == "user_message");
    prompts.map(|event| event["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn stdin_is_one_prompt_or_one_for_each_line() {
    let input = b"\n# Task\n\nWrite the parser.\n";
    assert_eq!(prompts_of(&[], input), ["# Task\n\nWrite the parser."]);
    assert_eq!(prompts_of(&["-"], input), ["# Task\n\nWrite the parser."]);
    assert_eq!(prompts_of(&["--lines"], input), ["# Task", "Write the parser."]);
}

#[test]
fn init_overwrites_files_only_with_force() {
    let fixture = CommandFixture::new();
    let first = out(&fixture.run(&["init"]));
    assert_eq!(first.lines().filter(|line| line.starts_with("wrote")).count(), 11, "{first}");
    let config = std::fs::read_to_string(fixture.path("rawr.toml")).unwrap();
    assert!(config.contains("#mode = \"auto\""), "{config}");

    let prompt = fixture.path("auto-compact/handoff.md");
    std::fs::write(&prompt, "mine: {packet}").unwrap();
    std::fs::remove_file(fixture.path("auto-compact/heads-up.md")).unwrap();
    let second = out(&fixture.run(&["init"]));
    assert!(!second.contains("wrote") && second.contains("it was deleted;"), "{second}");
    assert_eq!(std::fs::read_to_string(&prompt).unwrap(), "mine: {packet}");

    let forced = out(&fixture.run(&["init", "--force"]));
    assert_eq!(forced.lines().filter(|line| line.starts_with("replaced")).count(), 1, "{forced}");
    let old = fixture.path("auto-compact/handoff.md.old");
    assert_eq!(std::fs::read_to_string(old).unwrap(), "mine: {packet}");
    assert!(fixture.path("auto-compact/heads-up.md").exists());
}

#[test]
fn init_writes_the_preset_and_its_values() {
    let fixture = CommandFixture::new();
    let file = fixture.path("rawr.toml");
    for (arguments, preset, confirm) in [
        (&["init"][..], "preset = \"calm\"", "#confirm = \"message\""),
        (&["init", "--preset", "spec", "--force"], "preset = \"spec\"", "#confirm = \"none\""),
        (&["init", "--preset", "calm", "--force"], "preset = \"calm\"", "#confirm = \"message\""),
    ] {
        assert!(fixture.run(arguments).status.success(), "{arguments:?}");
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let at = lines.iter().position(|line| *line == preset);
        let at = at.unwrap_or_else(|| panic!("{arguments:?}: {preset} in\n{text}"));
        let above: Vec<_> =
            lines[..at].iter().rev().take_while(|line| line.starts_with("# ")).collect();
        let says = |word: &str| above.iter().any(|line| line.contains(word));
        assert!(says("`spec`") && says("`calm`"), "{above:?}");
        assert!(lines.contains(&confirm), "{arguments:?}: {confirm} in\n{text}");
        let shown = out(&fixture.run(&["config", "show"]));
        let value = preset.rsplit(' ').next().unwrap();
        assert!(shown.contains(value), "{arguments:?}: {value} in\n{shown}");
    }
    let kept = out(&fixture.run(&["init", "--preset", "spec"]));
    let hint = "the preset is not changed: set preset = \"spec\" in [rawr_auto_compaction]";
    assert!(kept.contains(hint), "{kept}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("\npreset = \"calm\"\n"));
    let unknown = fixture.run(&["init", "--preset", "loud"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(err(&unknown).contains("[possible values: calm, spec]"), "{}", err(&unknown));
}

/// A closed output must not look like success to a script.
#[test]
fn a_closed_output_is_not_a_success() {
    let fixture = CommandFixture::new();
    let mut child = fixture.start(&["exec", "--host", "embedded", "--json", "one", "two", "three"]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(141));
}
