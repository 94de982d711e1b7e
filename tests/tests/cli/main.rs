//! The `rawr` command line as people and programs meet it: output, exit codes, what is left behind. Hosts have tests of their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod surroundings;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use expect_test::{Expect, expect};
use rawr_tests::rawr;
use serde_json::Value;
use tempfile::TempDir;

/// Folders of its own for everything that a command may write to.
struct Desk {
    home: TempDir,
    temporary: TempDir,
}

impl Desk {
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

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check_error(arguments: &[&str], code: i32, words: &[&str]) {
    let output = Desk::new().run(arguments);
    let error = err(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    for word in words {
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}

/// What a compaction is for a program, in order.
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
fn the_demo_tells_programs_of_one_compaction_and_leaves_nothing_behind() {
    let desk = Desk::new();
    let output = desk.run(&["demo", "--json"]);
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
    assert_eq!((desk.leftovers(), names(desk.home.path())), (vec![], vec![]));
}

#[test]
fn the_demo_is_readable_and_without_colours_where_there_is_no_terminal() {
    let output = Desk::new().run(&["demo"]);
    let text = out(&output);
    for words in [
        "› Now test it against every sample, and commit.",
        "compaction decided:",
        "✓ boundary        commit",
        "╭─ compaction ahead",
        "  writing packet…",
        "• Packet by the agent",
        "• Context compacted:",
        "  handing over…",
        "› rawr hands the packet back",
        "no compaction: 9",
        "events.jsonl",
        "the demo's files are removed",
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn what_the_demo_keeps_is_a_real_repository() {
    let desk = Desk::new();
    let kept = desk.path("kept");
    let keep = ["demo", "--keep", kept.to_str().unwrap()];
    assert!(desk.run(&keep).status.success());
    assert_eq!(names(&kept), ["home", "repository"]);
    let log = Command::new("git")
        .args(["log", "--format=%s"])
        .current_dir(kept.join("repository"))
        .output()
        .unwrap();
    assert_eq!(out(&log), "Explain kv.sh\nPrint the value of a key\nBegin with samples\n");

    let again = desk.run(&keep);
    assert_eq!(again.status.code(), Some(1));
    assert!(err(&again).contains("is not empty: name a new folder"), "{}", err(&again));
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
fn ctrl_c_ends_the_demo_with_nothing_left() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let desk = Desk::new();
        let mut child = desk.start(&["demo", "--pace", "--json"]);
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut lines = stdout.lines().map(Result::unwrap);
        let sidecar = wait_for(&mut lines, "session")["sidecarProcessId"].as_u64().unwrap();
        wait_for(&mut lines, "tool_started");
        signal(name, child.id().into());
        let rest: Vec<_> = lines.collect();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{rest:?}");
        assert_eq!(desk.leftovers(), Vec::<String>::new());
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
fn a_sidecar_that_is_killed_is_replaced_and_nothing_happens_twice() {
    let desk = Desk::new();
    let mut child = desk.start(&["demo", "--json"]);
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
    assert_eq!(desk.leftovers(), Vec::<String>::new());
}

#[test]
fn a_reader_that_hangs_up_is_a_normal_end() {
    let desk = Desk::new();
    let mut child = desk.start(&["demo", "--json"]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(desk.leftovers(), Vec::<String>::new());
}

#[test]
fn wrong_usage_says_what_is_right() {
    check_error(&["exec", "--host", "emacs", "hi"], 2, &["'emacs'", "codex, claude, embedded"]);
    check_error(&["exec", "hi"], 2, &["--host"]);
    check_error(&["exec", "--host", "embedded", "-c", "mode", "hi"], 2, &["KEY=VALUE"]);
    check_error(&["exec", "--host", "embedded"], 1, &["there is no prompt", "standard input"]);
    check_error(&["exec", "--host", "embedded", " "], 1, &["a prompt is empty"]);
    check_error(
        &["exec", "--host", "embedded", "--model", "m", "hi"],
        1,
        &["where is the model?", "--base-url"],
    );
    check_error(
        &["exec", "--host", "embedded", "--cd", "/no/such", "hi"],
        1,
        &["/no/such is not a folder", "--cd DIR"],
    );
    check_error(&["demo", "--home", "/tmp/x"], 1, &["--keep DIR"]);
    check_error(&["--home", "/proc/nowhere", "init"], 1, &["--home DIR"]);
}

/// What the agent is told where this is standard input.
fn prompts_of(input: &[u8]) -> Vec<String> {
    let desk = Desk::new();
    let mut child = desk
        .command(&["exec", "--host", "embedded", "--json"])
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
fn prompts_come_as_lines_too() {
    assert_eq!(prompts_of(b"one\n\ntwo\n"), ["one", "two"]);
}

#[test]
fn init_writes_once_and_replaces_only_by_force() {
    let desk = Desk::new();
    let first = out(&desk.run(&["init"]));
    assert_eq!(first.lines().filter(|line| line.starts_with("wrote")).count(), 10, "{first}");
    let config = std::fs::read_to_string(desk.path("rawr.toml")).unwrap();
    assert!(config.contains("#mode = \"auto\""), "{config}");

    let prompt = desk.path("auto-compact/handoff.md");
    std::fs::write(&prompt, "mine: {packet}").unwrap();
    std::fs::remove_file(desk.path("auto-compact/heads-up.md")).unwrap();
    let second = out(&desk.run(&["init"]));
    assert!(!second.contains("wrote") && second.contains("it was deleted once"), "{second}");
    assert_eq!(std::fs::read_to_string(&prompt).unwrap(), "mine: {packet}");

    let forced = out(&desk.run(&["init", "--force"]));
    assert_eq!(forced.lines().filter(|line| line.starts_with("replaced")).count(), 1, "{forced}");
    let old = desk.path("auto-compact/handoff.md.old");
    assert_eq!(std::fs::read_to_string(old).unwrap(), "mine: {packet}");
    assert!(desk.path("auto-compact/heads-up.md").exists());
}

#[test]
fn the_doctor_finds_what_is_broken_and_where() {
    let desk = Desk::new();
    let config = "[rawr_auto_compaction]\nmode = \"sometimes\"\n";
    std::fs::write(desk.path("rawr.toml"), config).unwrap();
    let doctor = |arguments: &[&str]| desk.command(arguments).env("PATH", "").output().unwrap();

    let output = doctor(&["doctor"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for words in ["✓ home", "✗ config     1 problem", "rawr.toml:2:8", "! codex      not installed"]
    {
        assert!(text.contains(words), "{words}:\n{text}");
    }

    let checks = events(&out(&doctor(&["doctor", "--json"])));
    let config = checks.iter().find(|check| check["name"] == "config").unwrap();
    assert_eq!(config["status"], "fail");
    assert_eq!(config["problems"][0]["range"]["start"]["line"], 1, "{config}");
    assert!(checks.iter().any(|check| check["name"] == "sidecar" && check["status"] == "ok"));
    assert_eq!(names(desk.home.path()), ["rawr.toml"], "looking changes nothing");

    std::fs::remove_file(desk.path("rawr.toml")).unwrap();
    let well = doctor(&["doctor"]);
    assert!(well.status.success(), "{}", out(&well));
}

#[test]
fn the_doctor_asks_for_one_agent_and_treats_all_alike() {
    let desk = Desk::new();
    let claude = desk.path("claude");
    std::fs::write(&claude, "#!/bin/sh\necho '2.1.330 (Claude Code)'\n").unwrap();
    std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755)).unwrap();
    let doctor = |options: &[&str]| {
        let mut command = desk.command(&["doctor"]);
        out(&command.args(options).env("PATH", "").output().unwrap())
    };
    let none = doctor(&[]);
    let one = doctor(&["--claude", claude.to_str().unwrap()]);
    for (mark, agents, text) in [("!", &["codex", "claude"][..], none), ("✓", &["codex"], one)] {
        for agent in agents {
            let line = format!("{mark} {agent:<11}not installed; `rawr ");
            assert!(text.contains(&line), "{line}:\n{text}");
        }
    }
}

#[test]
fn the_doctor_names_the_file_that_was_just_made() {
    let desk = Desk::new();
    assert!(desk.run(&["init"]).status.success());
    let text = out(&desk.run(&["doctor"]));
    let line =
        format!("built-in values; {} changes none of them", desk.path("rawr.toml").display());
    assert!(text.contains(&line), "{line}:\n{text}");
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = out(&Desk::new().run(&["completions", shell]));
        assert!(script.contains("doctor"), "{shell}");
        for hidden in ["relay", "Own the app-server", "Answer an agent"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
    }
    let help = out(&Desk::new().run(&["completions", "--help"]));
    assert!(help.contains("bash-completion/completions/rawr"), "{help}");
}

#[test]
fn every_command_tells_its_help_and_its_version() {
    let desk = Desk::new();
    let (help, asked) = (desk.run(&["help", "status"]), desk.run(&["status", "--help"]));
    assert!(help.status.success(), "{}", err(&help));
    assert_eq!(out(&help), out(&asked));
    for command in [&["status", "--version"][..], &["prompts", "list", "-V"]] {
        let output = desk.run(command);
        assert!(output.status.success(), "{}", err(&output));
        assert!(out(&output).contains(env!("CARGO_PKG_VERSION")), "{}", out(&output));
    }
}

/// A script would take it for done.
#[test]
fn work_that_ends_because_nothing_reads_its_output_is_no_success() {
    let desk = Desk::new();
    let mut child = desk.start(&["exec", "--host", "embedded", "--json", "one", "two", "three"]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(141));
}

/// Codex tells it when it starts; who checks wants to know before.
#[test]
fn a_broken_file_of_codexs_is_told() {
    let desk = Desk::new();
    std::fs::write(desk.path("config.toml"), "model = \"x\n").unwrap();
    let checked = desk.run(&["config", "check"]);
    assert_eq!(checked.status.code(), Some(1));
    let said = out(&checked);
    assert!(said.contains("config.toml:1:") && said.contains("Codex does not start"), "{said}");
    let doctor = out(&desk.run(&["doctor"]));
    assert!(doctor.contains("✗ config"), "{doctor}");
}

#[test]
fn the_doctor_misses_a_decision_prompt() {
    let desk = Desk::new();
    let tier = "[rawr_auto_compaction.policy.asap]\ndecision_prompt_path = \"no-such.md\"\n";
    std::fs::write(desk.path("rawr.toml"), tier).unwrap();
    let doctor = out(&desk.run(&["doctor"]));
    assert!(doctor.contains("! prompts") && doctor.contains("no-such.md"), "{doctor}");
}

/// Said before anything is started, and Codex runs all the same.
#[test]
fn a_codex_that_is_too_old_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let codex = desk.path("codex");
    std::fs::write(&codex, "#!/bin/sh\necho codex-cli 0.100.0 \"$@\"\n").unwrap();
    std::fs::set_permissions(&codex, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = desk.run(&["codex", "--codex", codex.to_str().unwrap(), "hello"]);
    let error = err(&ran);
    assert!(error.contains("Codex 0.100.0 is too old"), "{error}");
    assert!(error.contains("npm install -g @openai/codex"), "{error}");
    assert!(error.contains("Codex runs without it"), "{error}");
    assert_eq!(out(&ran).trim(), "codex-cli 0.100.0 hello");
}

#[test]
fn attach_says_which_codex_it_can_join() {
    let desk = Desk::new();
    let output = desk.command(&["attach"]).env("CODEX_HOME", desk.path("codex")).output().unwrap();
    let error = err(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    for words in ["no Codex to stand beside", "`codex exec`", "rawr codex resume"] {
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(error.matches("os error").count(), 1, "the cause is told once: {error}");
}

fn check_help(arguments: &[&str], expected: Expect) {
    let help = out(&Desk::new().run(arguments));
    let lines: Vec<_> = help.lines().map(str::trim_end).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn the_help_begins_with_what_to_do() {
    check_help(
        &["--help"],
        expect![[r#"
            Decides when a coding agent's context is compacted, and carries the agent across

            Usage: rawr [OPTIONS] <COMMAND>

            Start here:
              demo         Show a whole compaction on a scripted session: no network, no account
              init         Write a commented rawr.toml and the prompt files
              doctor       Check that everything is in place, and say what to do where it is not

            Run an agent:
              codex        Run your own Codex, with rawr beside it
              exec         Let an agent work on prompts, with rawr deciding about its context
              attach       Stand beside the Codex sessions that run already
              detach       Leave every Codex that rawr is beside, also by `rawr codex`; Codex goes on
              hooks        Let Claude Code or Codex sessions that rawr does not run call rawr

            See what happens:
              status       Show where every thread stands, or one
              watch        Watch all threads live, and step in by a key
              explain      Say why a compaction came, or why none did

            Step in:
              compact      Ask for a compaction, or answer the one that waits
              snooze       Put compaction off for a while
              guard        Forbid compaction until something happens
              pin          Keep an instruction word for word across every compaction
              mark         Say that a phase of the work ends here

            Look back:
              capsules     List what was kept before each compaction of a thread
              restore      Go back to before a compaction, in a new thread
              recall       Find what was said, also before a compaction

            Settings and files:
              config       Show the configuration and say what is wrong with it
              prompts      List, edit, compare, reset and try out the prompts
              state        Look after what is stored: check, repair, compact, archive, export

            For programs:
              serve        Run the sidecar on standard input and output; editors start this
              completions  Print a completion script for a shell

            Options:
                  --home <DIR>  Keep configuration, prompts and state in this folder
              -v, --verbose     Show the sidecar's log on standard error
              -h, --help        Print help
              -V, --version     Print version

            Begin with:
              rawr demo                                    watch a whole compaction, no account needed
              rawr init                                    write a commented rawr.toml and the prompts
              rawr doctor                                  see whether everything is in place
              rawr codex                                   your own Codex, with rawr beside it
              rawr exec --host codex "fix the tests"       let Codex work, with rawr at its side

            `rawr help COMMAND` tells more about one of them.
            Files are kept in $RAWR_HOME, else $CODEX_HOME, else ~/.codex; --home goes before all of them.
        "#]],
    );
    check_help(
        &["exec", "--help"],
        expect![[r#"
            Let an agent work on prompts, with rawr deciding about its context

            Usage: rawr exec [OPTIONS] --host <HOST> [PROMPT]...

            Arguments:
              [PROMPT]...
                      What to say to the agent, one turn each [default: standard input, one turn a line]

            Options:
                  --home <DIR>
                      Keep configuration, prompts and state in this folder

                  --host <HOST>
                      The agent that does the work

                      Possible values:
                      - codex:    The Codex CLI, through its app-server
                      - claude:   Claude Code, through its stream of JSON
                      - embedded: A small agent inside rawr, on any OpenAI-compatible endpoint; without a model it follows a script

                  --cd <DIR>
                      Work in this folder [default: the current one]

              -v, --verbose
                      Show the sidecar's log on standard error

                  --codex <PATH>
                      The Codex binary [default: the first `codex` in the PATH]

                  --claude <PATH>
                      The Claude Code binary [default: the first `claude` in the PATH]

                  --model <MODEL>
                      The model to work with [default: the host's own; the embedded agent follows a script]

                  --base-url <URL>
                      The OpenAI-compatible endpoint of the embedded agent's model, up to /v1

                  --api-key-env <VAR>
                      The environment variable with the endpoint's key [default: OPENAI_API_KEY, if it is set]

                  --context-window <TOKENS>
                      How many tokens the embedded agent's model holds [default: 128000]

                  --remote-compaction
                      Let the endpoint compact by POST /responses/compact, where it can give messages back

                  --sandbox <MODE>
                      What Codex's commands may touch [default: as Codex is configured]

                      [possible values: read-only, workspace-write, danger-full-access]

                  --permission-mode <MODE>
                      What Claude Code may do unasked, by its own word: acceptEdits, bypassPermissions, … [default: as Claude Code is configured]

              -c, --config <KEY=VALUE>
                      A setting of rawr's for this run, as in rawr.toml; may be given more than once

                  --json
                      Print one JSON object a line

              -h, --help
                      Print help (see a summary with '-h')

              -V, --version
                      Print version

            Examples:
              rawr exec --host codex "write the parser" "now the docs"
              rawr exec --host codex --cd ~/project --sandbox workspace-write < prompts.txt
              rawr exec --host codex -c rawr_auto_compaction.mode=suggest "fix the tests"
              rawr exec --host claude --permission-mode acceptEdits "fix the tests"
              rawr exec --host embedded --model qwen3-coder --base-url http://127.0.0.1:8080/v1 "fix the tests"
              rawr exec --host embedded --json "hello"

            Exit codes: 0 done, 1 the agent or rawr failed, 2 wrong usage, 130 after Ctrl-C, 141 ended because nothing reads the
            output any more.
        "#]],
    );
}
