//! Restoring the state before a compaction in the real Codex, in each way that it supports. The model is scripted.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rawr_tests::codex::{CodexHome, CodexTestConfig, binary};
use rawr_tests::mock_responses::{RequestPurpose, ResponsesRequest, TurnScript, call, reply};
use rawr_tests::{ExecOutput, MockModel, Repository, err, out, rawr};
use serde_json::{Value, json};

use crate::fixture::PACKET;

fn script() -> TurnScript {
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    TurnScript::default()
        .on(
            "WRITE-PARSER",
            [
                call("exec_command", json!({ "cmd": commit })).input_tokens(131_000),
                reply("The parser is written and committed.").input_tokens(143_000),
            ],
        )
        .on("packet_request]", [reply(PACKET).input_tokens(145_000)])
        .on(":handoff]", [reply("Writing the docs now.").input_tokens(20_000)])
        .on("WHERE-ARE-WE", [reply("Before the compaction.").input_tokens(146_000)])
        .on_compaction([reply("A summary by the model.").input_tokens(146_000)])
}

struct CodexCapsuleFixture {
    model: MockModel,
    home: CodexHome,
    repository: Repository,
}

impl CodexCapsuleFixture {
    /// A session that was compacted once.
    fn compacted() -> (Self, ExecOutput) {
        let model = MockModel::start(script());
        let home = CodexHome::new(&model, &CodexTestConfig::default());
        let lab = Self { model, home, repository: Repository::new() };
        let folder = lab.repository.path().display().to_string();
        let arguments =
            ["exec", "--host", "codex", "--cd", &folder, "WRITE-PARSER please", "WHERE-ARE-WE"];
        let done = ExecOutput::of(lab.output(&binary(), &arguments));
        done.expect_success();
        done.one("compaction", |event| event["status"] == "completed");
        (lab, done)
    }

    fn output(&self, codex: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(rawr());
        command
            .args(arguments)
            .args(["--json", "--codex"])
            .arg(codex)
            .envs(self.home.environment())
            .env_remove("RAWR_HOME")
            .stdin(Stdio::null());
        command.output().unwrap()
    }

    /// The history that was summarized, without the request for the summary.
    fn before_the_compaction(&self) -> Vec<String> {
        let requests = self.model.requests();
        let compaction = requests
            .iter()
            .find(|request| request.purpose == RequestPurpose::LocalCompaction)
            .unwrap();
        let mut history = compaction.transcript();
        history.pop();
        history
    }

    fn last_request(&self) -> ResponsesRequest {
        ResponsesRequest::clone(self.model.requests().last().unwrap())
    }

    fn rollouts(&self) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.home.path().join("sessions")]);
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { found.push(path) }
            }
        }
        found
    }
}

/// The machine-readable output of a command that succeeds.
fn events(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}{}", err(output), out(output));
    out(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn one<'e>(events: &'e [Value], name: &str) -> &'e Value {
    let found: Vec<_> = events.iter().filter(|event| event["event"] == name).collect();
    assert_eq!(found.len(), 1, "{events:?}");
    found[0]
}

#[test]
fn a_fork_has_the_history_from_before_the_compaction() {
    let (lab, compacted) = CodexCapsuleFixture::compacted();
    let old = compacted.one("session", |_| true)["threadId"].clone();
    let old_rollout = lab.rollouts().remove(0);
    let before = std::fs::read(&old_rollout).unwrap();
    let requests = lab.model.requests().len();
    let mut status = Command::new(rawr());
    status.args(["status", old.as_str().unwrap(), "--json"]).env("RAWR_HOME", lab.home.path());
    let status = status.env_remove("CODEX_HOME").output().unwrap();
    let shown: Value = serde_json::from_str(&out(&status)).unwrap();
    assert_eq!(shown["transcript"], old_rollout.display().to_string(), "{shown}");

    let done = events(&lab.output(&binary(), &["restore", "last"]));
    let restored = one(&done, "restored");
    assert_eq!((&restored["way"], &restored["tried"]), (&json!("fork"), &json!([])));
    assert_ne!(restored["threadId"], old);
    assert!(Path::new(restored["transcript"].as_str().unwrap()).is_file(), "{restored}");
    // No model was asked, and the old thread is unchanged.
    assert_eq!(lab.model.requests().len(), requests);
    assert_eq!(std::fs::read(&old_rollout).unwrap(), before);

    let arguments = ["restore", "last", old.as_str().unwrap(), "--prompt", "WHERE-ARE-WE"];
    let done = ExecOutput::of(lab.output(&binary(), &arguments));
    done.expect_success();
    let mut expected = lab.before_the_compaction();
    expected.push("user: WHERE-ARE-WE".to_owned());
    assert_eq!(lab.last_request().transcript(), expected);
}

/// A Codex that does not support the field yet.
fn older(folder: &Path) -> PathBuf {
    let wrapper = folder.join("older-codex");
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in app-server) sed -u 's/\"lastTurnId\":\"[^\"]*\"/\"older\":true/' | '{0}' \"$@\";;\n*) exec '{0}' \"$@\";; esac\n",
        binary().display()
    );
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, PermissionsExt::from_mode(0o755)).unwrap();
    wrapper
}

#[test]
fn a_fork_of_a_whole_thread_is_rolled_back_to_the_compaction() {
    let (lab, _) = CodexCapsuleFixture::compacted();
    let older = older(lab.home.path());
    let done = ExecOutput::of(lab.output(&older, &["restore", "last", "--prompt", "WHERE-ARE-WE"]));
    done.expect_success();
    assert_eq!(done.one("restored", |_| true)["way"], "fork_reverted", "{}", done.dump());
    let mut expected = lab.before_the_compaction();
    expected.push("user: WHERE-ARE-WE".to_owned());
    assert_eq!(lab.last_request().transcript(), expected);
}

// rule: capsule.new-thread
#[test]
fn without_a_transcript_a_new_thread_gets_the_packet() {
    let (lab, _) = CodexCapsuleFixture::compacted();
    for rollout in lab.rollouts() {
        std::fs::remove_file(rollout).unwrap();
    }
    let done =
        ExecOutput::of(lab.output(&binary(), &["restore", "last", "--prompt", "WHERE-ARE-WE"]));
    done.expect_success();
    let restored = done.one("restored", |_| true);
    assert_eq!(restored["way"], "message");
    assert!(restored["tried"][0].as_str().unwrap().starts_with("thread/fork: "), "{restored}");
    let messages = lab.last_request().user_messages();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].contains("Next: write the docs of parser.txt"), "{messages:?}");
    assert_eq!(messages[1], "WHERE-ARE-WE");
    // Codex's own transcript is gone, which is reported.
    let recalled = lab.output(&binary(), &["capsules"]);
    assert!(!recalled.status.success());
}

#[test]
fn what_was_said_is_found_in_the_rollout() {
    let (lab, compacted) = CodexCapsuleFixture::compacted();
    let recall = |words: &[&str]| {
        let mut command = Command::new(rawr());
        command.args(["recall", "--json"]).args(words).envs(lab.home.environment());
        let output = command.env_remove("RAWR_HOME").output().unwrap();
        assert!(output.status.success(), "{}{}", err(&output), out(&output));
        events(&output)
    };
    let found = recall(&["parser", "written"]);
    let place = found.iter().find(|place| place["kind"] == "agent_message").unwrap();
    let file = place["file"].as_str().unwrap();
    assert!(file.contains("/sessions/") && file.contains("rollout-"), "{place}");
    assert_eq!(place["snippet"], "The parser is written and committed.");
    let tool = recall(&[
        "printf",
        "--thread",
        compacted.one("session", |_| true)["threadId"].as_str().unwrap(),
    ]);
    assert_eq!(tool[0]["kind"], "tool_call", "{tool:?}");
    let packet = recall(&["no", "macros", "--all"]);
    let kinds: Vec<_> = packet.iter().filter_map(|place| place["kind"].as_str()).collect();
    assert!(kinds.contains(&"packet") && !kinds.contains(&"handoff"), "{kinds:?}");
}
