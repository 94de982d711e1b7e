//! rawr's hooks in sessions of the real Codex that rawr does not run.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rawr_tests::codex::{CodexHome, CodexTestConfig, binary};
use rawr_tests::mock_responses::{RequestPurpose, TurnScript, call, reply};
use rawr_tests::{MockModel, Repository, rawr};
use serde_json::{Value, json};

use super::hands_over_once;
use crate::fixture::PACKET;

struct CodexHooksFixture {
    model: MockModel,
    home: CodexHome,
    repository: Repository,
}

impl CodexHooksFixture {
    fn new(script: TurnScript) -> Self {
        let (model, repository) = (MockModel::start(script), Repository::new());
        let home = CodexHome::new(&model, &CodexTestConfig::for_a_screen(repository.path()));
        Self { model, home, repository }
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.repository.path());
        command.envs(self.home.environment()).env_remove("RAWR_HOME");
        command
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        let output = self.command(program, arguments).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// One session after the other; Codex itself compacts at the end of a turn that leaves the window so full.
    fn exec(&self, arguments: &[&str]) {
        let options = [
            "exec",
            "--dangerously-bypass-hook-trust",
            "-c",
            "model_post_turn_compact_threshold_percent=30",
        ];
        self.run(&binary(), &[&options[..], arguments].concat());
    }
}

/// Works, commits under pressure, writes its packet, and goes on.
fn agent() -> TurnScript {
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    TurnScript::default()
        .on("packet_request]", [reply(PACKET).input_tokens(66_000)])
        .on("AND-NOW", [reply("The docs are written.").input_tokens(14_000)])
        .on(
            "WRITE-PARSER",
            [
                call("exec_command", json!({ "cmd": commit })).input_tokens(64_000),
                reply("The parser is written and committed.").input_tokens(65_000),
            ],
        )
        .on_compaction([reply("A summary by the model.").input_tokens(67_000)])
}

impl CodexHooksFixture {
    /// As a person does in Codex.
    fn trust_hooks(&self) {
        let mut server = self.command(&binary(), &["app-server"]);
        let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut ask = |id: u32, method: &str, params: Value| {
            let request = json!({"id": id, "method": method, "params": params});
            writeln!(server.stdin.as_mut().unwrap(), "{request}").unwrap();
            let answers = lines.by_ref().map(|line| serde_json::from_str(&line.unwrap()).unwrap());
            let answer: Value = { answers }.find(|answer: &Value| answer["id"] == id).unwrap();
            answer["result"].clone()
        };
        let client = json!({"name": "person", "title": "person", "version": "1"});
        ask(
            1,
            "initialize",
            json!({"clientInfo": client, "capabilities": {"experimentalApi": true}}),
        );
        let listed = ask(2, "hooks/list", json!({"cwds": [self.repository.path()]}));
        let hooks = listed["data"][0]["hooks"].as_array().unwrap();
        let trusted = hooks.iter().map(|hook| {
            let key = hook["key"].as_str().unwrap().to_owned();
            (key, json!({"trusted_hash": hook["currentHash"]}))
        });
        let trusted: Value = trusted.collect::<serde_json::Map<_, _>>().into();
        let edit = json!({"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"});
        let written =
            ask(3, "config/batchWrite", json!({"edits": [edit], "reloadUserConfig": true}));
        assert_eq!(written["status"], "ok", "{written}");
        server.kill().unwrap();
        server.wait().unwrap();
    }

    /// The packet came back once, before this message.
    fn was_handed_over_before(&self, message: &str) {
        let log = std::fs::read_to_string(self.home.path().join("rawr/hooks.log"));
        assert_eq!(log.unwrap_or_default(), "");
        let requests = self.model.requests();
        let says = |text: &String| text.contains(message);
        let own = || requests.iter().filter(|it| !it.asks_for_title());
        let saying = own().rfind(|it| it.user_messages().iter().any(says));
        hands_over_once(&saying.unwrap().messages("developer"));
        assert_eq!(own().filter(|it| it.purpose != RequestPurpose::Turn).count(), 1);
    }
}

/// Codex without rawr beside it, on a screen.
#[test]
fn the_user_is_told_when_to_compact_and_the_packet_is_returned() {
    let fixture = CodexHooksFixture::new(agent());
    fixture.run(rawr(), &["hooks", "install", "--codex"]);
    let alone = ["--dangerously-bypass-hook-trust", "-c", "features.daemon_auto_start=false"];
    let mut codex = fixture.command(&binary(), &alone);
    codex.env("TERM", "xterm-256color");
    let mut terminal = rawr_tests::Terminal::that_answers(&codex, 150, 120);
    terminal.wait_for(&["Ask Codex to do anything"]);
    terminal.enter("WRITE-PARSER please", "WRITE-PARSER please");
    // Codex takes `/compact` only once the turn is over, a moment after its hooks have spoken.
    terminal.wait_for(&["Type /compact now", "Worked for"]);
    terminal.enter("/compact", "summarize conversation");
    terminal.wait_for(&["Context compacted"]);
    terminal.enter("AND-NOW the docs", "AND-NOW the docs");
    terminal.wait_for(&["The docs are written."]);
    fixture.was_handed_over_before("AND-NOW the docs");
}

/// Codex says nothing of hooks that it passes over.
#[test]
fn the_doctor_reports_untrusted_hooks() {
    let fixture = CodexHooksFixture::new(agent());
    let doctor = || {
        let binary = binary();
        let mut doctor = fixture.command(rawr(), &["doctor", "--codex"]);
        String::from_utf8(doctor.arg(binary).output().unwrap().stdout).unwrap()
    };
    fixture.run(rawr(), &["hooks", "install", "--codex"]);
    let said = doctor();
    assert!(said.contains("! hooks      Codex skips those in "), "{said}");
    assert!(said.contains("not trusted yet") && said.contains("type /hooks and trust"), "{said}");
    fixture.trust_hooks();
    let said = doctor();
    assert!(said.contains("✓ hooks      in "), "{said}");
}

/// Compares a run of `codex exec` with and without rawr's hooks.
#[test]
fn a_non_interactive_codex_run_is_not_changed() {
    let run = |with_hooks: bool| {
        let fixture = CodexHooksFixture::new(agent());
        if with_hooks {
            fixture.run(rawr(), &["hooks", "install", "--codex"]);
        }
        let last = fixture.repository.path().join("last.txt");
        let arguments = ["exec", "--dangerously-bypass-hook-trust", "-o"];
        let file = last.display().to_string();
        let output =
            fixture.run(&binary(), &[&arguments[..], &[&file, "WRITE-PARSER please"]].concat());
        let said = (output.stdout, std::fs::read_to_string(last).unwrap());
        (said, fixture.model.requests().len(), fixture)
    };
    let (said, requests, _) = run(false);
    let (said_with_hooks, requests_with_hooks, fixture) = run(true);
    assert_eq!(said.1, "The parser is written and committed.");
    assert_eq!((said_with_hooks, requests_with_hooks), (said, requests));
    let threads = fixture.home.path().join("rawr/auto_compaction/threads");
    let thread = std::fs::read_dir(threads).unwrap().next().unwrap().unwrap().path();
    let decisions = std::fs::read_to_string(thread.join("decisions.jsonl")).unwrap();
    assert!(decisions.contains("the host cannot compact"), "{decisions}");
}

#[test]
fn a_packet_from_before_the_end_of_codex_is_delivered_on_resume() {
    let fixture = CodexHooksFixture::new(agent());
    fixture.run(rawr(), &["hooks", "install", "--codex", "--headless"]);
    fixture.exec(&["WRITE-PARSER please"]);
    fixture.exec(&["resume", "--last", "AND-NOW the docs"]);
    fixture.was_handed_over_before("AND-NOW the docs");
}
