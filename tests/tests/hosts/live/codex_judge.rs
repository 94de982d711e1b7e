//! The real Codex as the judge, through `rawr exec`: in an ephemeral thread with an output schema, which adds nothing
//! to the user's thread and is not stored by Codex.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use rawr_core::judgment::OUTPUT_SCHEMA;
use rawr_tests::codex::{CodexHome, CodexTestConfig, binary};
use rawr_tests::mock_responses::{TurnReply, TurnScript, call, http_error, reply, stall};
use rawr_tests::{MockModel, Repository, rawr};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// Part of the judge's prompt, and of no prompt of the agent.
const CASE: &str = "Boundaries present:";
const PACKET: &str = "<continuation_packet>\nState: waiting_for_user\nGoal: a parser\nNext: the docs\n</continuation_packet>";

fn session(judgment: TurnReply) -> TurnScript {
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    TurnScript::default()
        .on_judgment([judgment])
        .on("packet_request]", [reply(PACKET).input_tokens(145_000)])
        .on(":handoff]", [reply("Which docs?").input_tokens(20_000)])
        .on(
            "WRITE-PARSER",
            [
                call("exec_command", json!({"cmd": commit})).input_tokens(140_000),
                reply("The parser is written and committed.").input_tokens(143_000),
            ],
        )
        .on("AND-NOW", [reply("Here they are.").input_tokens(145_500)])
        .on_compaction([reply("A summary by the model.").input_tokens(146_000)])
}

struct CodexRun {
    model: MockModel,
    home: CodexHome,
    events: Vec<Value>,
}

fn exec(judgment: TurnReply) -> CodexRun {
    let model = MockModel::start(session(judgment));
    let home = CodexHome::new(&model, &CodexTestConfig::default());
    let policy = "rawr_auto_compaction.policy.asap.decision_prompt_path=judgment.md";
    run(model, home, &["-c", policy, "WRITE-PARSER please", "AND-NOW the docs"])
}

/// With nothing configured, where each message of the person is held and asked about.
fn exec_by_default(script: TurnScript, message: &str) -> CodexRun {
    let model = MockModel::start(script);
    let home = CodexHome::new(&model, &CodexTestConfig::default());
    std::fs::remove_file(home.path().join("rawr.toml")).unwrap();
    run(model, home, &["WRITE-PARSER please", message])
}

fn run(model: MockModel, home: CodexHome, arguments: &[&str]) -> CodexRun {
    let repository = Repository::new();
    let output = Command::new(rawr())
        .args(["exec", "--host", "codex", "--json", "--codex"])
        .arg(binary())
        .arg("--cd")
        .arg(repository.path())
        .args(arguments)
        .envs(home.environment())
        .env_remove("RAWR_HOME")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    CodexRun { model, home, events }
}

impl CodexRun {
    fn all(&self, name: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["event"] == name).collect()
    }

    /// At the end of the first turn: the question and its outcome.
    fn verdicts(&self) -> [&Value; 2] {
        let at_end = |event: &&Value| event["entrance"] == "turn_complete";
        let verdicts: Vec<_> = self.all("verdict").into_iter().filter(at_end).collect();
        [verdicts[0], verdicts[1]]
    }

    fn outcomes(&self) -> [&str; 2] {
        self.verdicts().map(|verdict| verdict["outcome"].as_str().unwrap())
    }

    /// Asked once, in its own request with the schema, and no other request contains any of it.
    fn check_judged(&self) {
        let judged = self.model.judgments();
        assert_eq!(judged.len(), 1);
        let [case] = judged[0].user_messages().try_into().unwrap();
        assert!(case.starts_with("Tier: asap"), "{case}");
        assert_eq!(judged[0].body["text"]["format"]["schema"], json!(*OUTPUT_SCHEMA));
        assert!(judged[0].body.to_string().contains("You decide whether a coding agent's context"));
        for request in self.model.requests() {
            let text = request.body.to_string();
            for words in ["should_compact", CASE, "You decide whether"] {
                assert!(!text.contains(words), "{words}: {text}");
            }
        }
    }

    /// The ids of the threads that a Codex on this home lists.
    fn threads(&self) -> Vec<String> {
        let mut codex = Command::new(binary())
            .arg("app-server")
            .envs(self.home.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let client = json!({"clientInfo": {"name": "test", "version": "0"}});
        let calls = [
            json!({"id": 1, "method": "initialize", "params": client}),
            json!({"method": "initialized"}),
            json!({"id": 2, "method": "thread/list", "params": {}}),
        ];
        let mut input = codex.stdin.take().unwrap();
        for call in calls {
            writeln!(input, "{call}").unwrap();
        }
        let lines = BufReader::new(codex.stdout.take().unwrap()).lines();
        let mut answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        let listed = answers.find(|answer| answer["id"] == 2).unwrap();
        drop(input);
        codex.wait().unwrap();
        let threads = listed["result"]["data"].as_array().unwrap_or_else(|| panic!("{listed}"));
        threads.iter().map(|thread| thread["id"].as_str().unwrap().to_owned()).collect()
    }

    fn check_threads(&self) {
        let session = self.all("session")[0];
        let own = session["threadId"].as_str().unwrap_or_else(|| panic!("{session}"));
        assert_eq!(self.threads(), [own]);
    }
}

#[test]
fn after_a_no_the_users_thread_contains_nothing_of_the_judgment() {
    let done = exec(reply(r#"{"should_compact": false, "reason": "half an edit"}"#));
    done.check_judged();
    assert_eq!(done.outcomes(), ["judge", "nothing"]);
    assert_eq!((done.all("injected").len(), done.all("compaction").len()), (0, 0));
    let requests = done.model.requests();
    let last = requests.last().unwrap();
    assert_eq!(last.user_messages(), ["WRITE-PARSER please", "AND-NOW the docs"]);
    assert_eq!(last.messages("assistant"), ["The parser is written and committed."]);
    done.check_threads();
}

#[test]
fn after_a_yes_packet_compaction_and_handoff_follow() {
    let done = exec(reply(r#"{"should_compact": true, "reason": "committed"}"#));
    done.check_judged();
    assert_eq!(done.outcomes(), ["judge", "compact"]);
    assert_eq!((done.all("packet").len(), done.all("handoff").len()), (1, 1));
    done.check_threads();
}

#[test]
fn a_failed_judgment_fails_nothing_else() {
    let done = exec(http_error(500));
    done.check_judged();
    assert_eq!(done.outcomes(), ["judge", "compact"]);
    let compact = done.verdicts()[1].to_string();
    assert!(compact.contains("host gave no answer"), "{compact}");
    assert_eq!(done.all("handoff").len(), 1);
    done.check_threads();
}

const NEXT: &str = "Great, that works. Next: AND-NOW write the docs of the lexer";

fn markers(done: &CodexRun) -> Vec<Option<String>> {
    done.model.requests().iter().map(|request| request.marker.clone()).collect()
}

#[test]
fn a_no_about_a_message_lets_it_go_at_once() {
    let no = reply(r#"{"should_compact": false, "reason": "It asks about the parser."}"#);
    let done = exec_by_default(session(no), NEXT);
    assert_eq!((done.model.judgments().len(), done.all("compaction").len()), (1, 0));
    let requests = done.model.requests();
    assert_eq!(requests.last().unwrap().user_messages(), ["WRITE-PARSER please", NEXT]);
    done.check_threads();
}

#[test]
fn without_an_answer_the_words_of_the_message_decide() {
    for judgment in [stall(), http_error(429), reply("I would rather talk about the weather.")] {
        let case = format!("{judgment:?}");
        let done = exec_by_default(session(judgment), NEXT);
        assert!(!done.model.judgments().is_empty(), "{case}");
        assert_eq!(done.all("handoff").len(), 1, "{case}");
        let requests = done.model.requests();
        let heard = requests.last().unwrap().user_messages();
        assert!(heard.last().unwrap().ends_with(NEXT), "{case}: {heard:?}");
        done.check_threads();
    }
}

#[test]
fn a_message_that_closes_is_carried_out_before_the_compaction() {
    let script = session(reply(r#"{"should_compact": true, "reason": "It closes."}"#))
        .on("PUSH-IT", [reply("Everything is committed and pushed.").input_tokens(144_000)]);
    let done = exec_by_default(script, "Great. PUSH-IT: commit the rest and push, please");
    let order = markers(&done);
    let at = |marker: &str| order.iter().position(|it| it.as_deref() == Some(marker));
    assert!(at("PUSH-IT").is_some() && at("PUSH-IT") < at("packet_request]"), "{order:?}");
    assert_eq!(done.all("handoff").len(), 1);
}
