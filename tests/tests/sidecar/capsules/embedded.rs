//! Restoring the state before a compaction in the embedded agent: its model gets exactly the history from before the
//! compaction.

use crate::fixture::agent_shell;
use std::process::{Command, Output, Stdio};

use rawr_tests::mock_chat::{ChatPurpose, ChatRequest, ChatScript, reply};
use rawr_tests::{ExecOutput, MockChat, Repository, rawr};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{err, events, out, run};

const PACKET: &str = "<continuation_packet>\nState: working\nGoal: a parser with docs\n\
    Decisions: plain text\nNext: write the docs\n</continuation_packet>";

fn agent() -> ChatScript {
    ChatScript::default()
        .on_each(ChatPurpose::Summary, [reply("A SUMMARY.")])
        .on(":packet_request]", [reply(PACKET).input_tokens(3_200)])
        .on(":handoff]", [reply("The docs are written.").input_tokens(900)])
        .on(
            "the parser",
            [
                agent_shell(
                    "echo one > one.txt && git add -A && git commit -q -m 'Add the parser'",
                )
                .input_tokens(3_000),
                reply("The parser is written and committed.").input_tokens(3_100),
            ],
        )
        .on(
            "fill the window",
            [agent_shell("true").input_tokens(9_000), reply("All is read.").input_tokens(1_000)],
        )
        .on("where are we", [reply("Before the compaction.").input_tokens(1_000)])
}

struct EmbeddedCapsuleFixture {
    model: MockChat,
    home: TempDir,
    repository: Repository,
}

impl EmbeddedCapsuleFixture {
    fn new() -> Self {
        let (model, home) = (MockChat::start(agent()), TempDir::new().unwrap());
        rawr_tests::compact_at_turn_end(home.path());
        Self { model, home, repository: Repository::new() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(rawr());
        command
            .args(arguments)
            .args(["--json", "--model", "scripted-1", "--context-window", "10000", "--base-url"])
            .arg(self.model.base_url())
            .env("RAWR_HOME", self.home.path())
            .env("OPENAI_API_KEY", "sk-secret-of-the-test")
            .stdin(Stdio::null());
        for proxy in
            ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        {
            command.env_remove(proxy);
        }
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn exec(&self, prompt: &str) -> ExecOutput {
        let folder = self.repository.path().display().to_string();
        let done =
            ExecOutput::of(self.output(&["exec", "--host", "embedded", "--cd", &folder, prompt]));
        done.expect_success();
        done.one("compaction", |event| event["status"] == "completed");
        done
    }
}

fn messages(request: &ChatRequest) -> Vec<Value> {
    request.body["messages"].as_array().unwrap().clone()
}

/// The history that a compaction had to summarize, without the request for the summary.
fn before_the_compaction(lab: &EmbeddedCapsuleFixture) -> Vec<Value> {
    let requests = lab.model.requests();
    let summary = requests.iter().find(|request| request.purpose == ChatPurpose::Summary).unwrap();
    let mut history = messages(summary);
    history.pop();
    history
}

fn check(prompt: &str) {
    let lab = EmbeddedCapsuleFixture::new();
    let compacted = lab.exec(prompt);
    let history = before_the_compaction(&lab);
    let seen = lab.model.requests().len();
    let done = ExecOutput::of(lab.output(&["restore", "last", "--prompt", "where are we"]));
    done.expect_success();
    assert_eq!(done.said(), ["Before the compaction."], "{}", done.dump());
    let mut expected = history;
    expected.push(json!({ "role": "user", "content": "where are we" }));
    assert_eq!(messages(&lab.model.requests()[seen]), expected);

    // A standing instruction applies to the new thread as it did to the old one.
    let pins = run(lab.home.path(), &["pin", "last", "--list"]);
    assert!(out(&pins).contains("Never use tabs in this repository."), "{}", out(&pins));

    let old = compacted.one("session", |_| true)["threadId"].as_str().unwrap();
    let new = done.one("session", |_| true)["threadId"].as_str().unwrap();
    assert_ne!(old, new);
    let restoring = done.one("restoring", |_| true);
    assert_eq!((&restoring["way"], &restoring["threadId"]), (&json!("history"), &json!(old)));
}

#[test]
fn a_compaction_between_turns_is_restored_exactly() {
    check("Never use tabs in this repository. Now the parser.");
}

#[test]
fn a_compaction_inside_a_turn_is_restored_exactly() {
    check("Never use tabs in this repository. Now fill the window.");
}

#[test]
fn a_dry_run_shows_differences_and_files_are_never_changed() {
    let lab = EmbeddedCapsuleFixture::new();
    lab.exec("the parser");
    lab.repository.git(&["commit", "-q", "--allow-empty", "-m", "later"]);
    std::fs::write(lab.repository.path().join("one.txt"), "two\n").unwrap();
    let (head, status) = (lab.repository.git(&["rev-parse", "HEAD"]), "status --porcelain");
    let status = || lab.repository.git(&status.split(' ').collect::<Vec<_>>());
    let before = status();
    let threads = || {
        let folder = lab.home.path().join("rawr/auto_compaction/threads");
        folder.read_dir().unwrap().count()
    };
    assert_eq!(threads(), 1);

    let planned = events(&lab.output(&["restore", "last", "--dry-run"]));
    assert_eq!(planned.len(), 1, "{planned:?}");
    assert_eq!((&planned[0]["event"], &planned[0]["dryRun"]), (&json!("restoring"), &json!(true)));
    let differences = planned[0]["differences"].to_string();
    assert!(differences.contains("the commit was"), "{differences}");
    assert!(differences.contains(head.trim()), "{differences}");
    assert!(differences.contains("1 file is changed now: one.txt"), "{differences}");
    assert_eq!(threads(), 1);

    let done = ExecOutput::of(lab.output(&["restore", "last", "--prompt", "where are we"]));
    done.expect_success();
    assert_eq!(threads(), 2);
    assert_eq!((lab.repository.git(&["rev-parse", "HEAD"]), status()), (head, before));
}

#[test]
fn capsules_are_listed_and_failures_to_restore_are_reported() {
    let lab = EmbeddedCapsuleFixture::new();
    let home = lab.home.path();
    let none = run(home, &["capsules"]);
    assert!(err(&none).contains("there are no threads"), "{}", err(&none));
    lab.exec("the parser");
    let listed = run(home, &["capsules"]);
    assert!(
        out(&listed).starts_with("s1-") && out(&listed).contains("packet by the agent"),
        "{}",
        out(&listed)
    );
    let listed = events(&run(home, &["capsules", "last", "--json"]));
    assert_eq!((&listed[0]["event"], &listed[0]["hasHistory"]), (&json!("capsule"), &json!(true)));

    let nothing = lab.output(&["restore", "last"]);
    assert!(err(&nothing).contains("pass its task with --prompt"), "{}", err(&nothing));
    let unknown = lab.output(&["restore", "s7"]);
    assert!(err(&unknown).contains("no capsule `s7`"), "{}", err(&unknown));
    let unknown = lab.output(&["restore", "s7", "last"]);
    assert!(err(&unknown).contains("has no capsule `s7`"), "{}", err(&unknown));
}

#[test]
fn messages_before_the_compaction_are_found() {
    let lab = EmbeddedCapsuleFixture::new();
    lab.exec("the parser");
    let home = lab.home.path();
    let found = events(&run(home, &["recall", "COMMITTED", "parser", "--json"]));
    let (ended, places) = found.split_last().unwrap();
    assert_eq!(
        (&ended["event"], &ended["more"], &ended["unread"]),
        (&json!("recalled"), &json!(0), &json!([]))
    );
    let kinds: Vec<_> = places.iter().map(|place| place["kind"].as_str().unwrap()).collect();
    // Once, although it is in both the log and the stored history.
    assert_eq!(kinds.iter().filter(|kind| **kind == "agent_message").count(), 1, "{places:?}");
    for place in places {
        let (file, line) = (place["file"].as_str().unwrap(), place["line"].as_u64().unwrap());
        let text = std::fs::read_to_string(file).unwrap();
        let line = text.lines().nth(usize::try_from(line).unwrap() - 1).unwrap().to_lowercase();
        assert!(line.contains("committed") && line.contains("parser"), "{line}");
    }
    let nothing = run(home, &["recall", "unheard-of"]);
    assert_eq!(nothing.status.code(), Some(1));
    assert_eq!(out(&nothing), "");
}
