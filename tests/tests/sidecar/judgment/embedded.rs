//! The embedded host as the judge, through `rawr exec`: its own model is asked outside of the conversation.

use crate::fixture::agent_shell;
use rawr_tests::mock_chat::{ChatModelReply, ChatPurpose, ChatRequest, ChatScript, reply};
use rawr_tests::{MockChat, Repository, rawr};
use serde_json::Value;
use std::process::{Command, Stdio};

const PACKET: &str = "<continuation_packet>\nState: waiting_for_user\nGoal: a parser\nNext: the docs\n</continuation_packet>";
const YES: &str = r#"{"should_compact": true, "reason": "all is committed"}"#;
const NO: &str = r#"{"should_compact": false, "reason": "half an edit"}"#;

fn commit() -> ChatModelReply {
    agent_shell("git commit -q --allow-empty -m x")
}

/// A window under pressure at the end of the turn, or from its first request on.
fn session(judgment: ChatModelReply) -> ChatScript {
    ChatScript::default()
        .on_each(ChatPurpose::Summary, [reply("A SUMMARY")])
        .on_each(ChatPurpose::Judgment, [judgment])
        .on("packet_request]", [reply(PACKET).input_tokens(3_500)])
        .on(":handoff]", [reply("Which docs?").input_tokens(1_000)])
        .on(
            "commit it",
            [commit().input_tokens(900), reply("It is committed now.").input_tokens(3_100)],
        )
        .on(
            "work on",
            [
                commit().input_tokens(3_000),
                agent_shell("true").input_tokens(3_100),
                reply("I have looked at everything.").input_tokens(3_200),
            ],
        )
        .on("and the docs", [reply("Here they are.").input_tokens(3_300)])
}

struct EmbeddedRun {
    model: MockChat,
    events: Vec<Value>,
}

fn exec(judgment: ChatModelReply, policy: &str, prompts: &[&str]) -> EmbeddedRun {
    let model = MockChat::start(session(judgment));
    let (home, repository) = (tempfile::tempdir().unwrap(), Repository::new());
    let prompt = "policy.ready.decision_prompt_path = \"judgment.md\"";
    let config = format!("[rawr_auto_compaction]\n{prompt}\n{policy}\n");
    rawr_tests::compact_at_turn_end(home.path());
    std::fs::write(home.path().join("rawr.toml"), config).unwrap();
    let output = Command::new(rawr())
        .args(["exec", "--host", "embedded", "--json", "--cd"])
        .arg(repository.path())
        .args(["--model", "scripted-1", "--base-url", &model.base_url()])
        .args(["--context-window", "10000"])
        .args(prompts)
        .env("RAWR_HOME", home.path())
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    EmbeddedRun { model, events }
}

impl EmbeddedRun {
    fn count(&self, event: &str) -> usize {
        self.events.iter().filter(|found| found["event"] == event).count()
    }

    fn purposes(&self) -> Vec<ChatPurpose> {
        self.model.requests().iter().map(|request| request.purpose).collect()
    }

    /// The judge gets its instructions and the case, and nothing else.
    fn check_judged(&self, times: usize) {
        let requests = self.model.requests();
        let judged: Vec<_> = of(ChatPurpose::Judgment, &requests).collect();
        assert_eq!(judged.len(), times);
        for request in judged {
            let [instructions, case] = request.transcript().try_into().unwrap();
            assert!(instructions.starts_with("system: You decide whether"), "{instructions}");
            assert!(case.starts_with("user: Tier: ready"), "{case}");
        }
        for request in requests.iter().filter(|request| request.purpose != ChatPurpose::Judgment) {
            let text = request.transcript().join("\n");
            for words in ["should_compact", "You decide whether", "Tier: ready", "half an edit"] {
                assert!(!text.contains(words), "{words}: {text}");
            }
        }
    }
}

fn of(purpose: ChatPurpose, requests: &[ChatRequest]) -> impl Iterator<Item = &ChatRequest> {
    requests.iter().filter(move |request| request.purpose == purpose)
}

// rule: judgment.not-in-history
#[test]
fn after_a_no_the_conversation_contains_nothing_of_the_judgment() {
    let done = exec(reply(NO), "", &["commit it", "and the docs"]);
    done.check_judged(1);
    let (turn, judgment) = (ChatPurpose::Turn, ChatPurpose::Judgment);
    assert_eq!(done.purposes(), [turn, turn, judgment, turn]);
    let requests = done.model.requests();
    let turns: Vec<_> = of(turn, &requests).map(ChatRequest::transcript).collect();
    let said = ["assistant: It is committed now.", "user: and the docs"].map(str::to_owned);
    assert_eq!(turns[2], [turns[1].as_slice(), &said].concat());
    assert_eq!((done.count("injected"), done.count("handoff")), (0, 0));
}

#[test]
fn after_a_yes_packet_compaction_and_handoff_follow() {
    let done = exec(reply(YES), "", &["commit it"]);
    done.check_judged(1);
    assert_eq!((done.count("packet"), done.count("handoff")), (1, 1));
}

#[test]
fn an_answer_in_prose_is_not_a_judgment() {
    let done = exec(reply("I would say yes."), "", &["commit it", "and the docs"]);
    done.check_judged(1);
    assert_eq!(done.count("packet"), 0);
    let deferred = |event: &&Value| event["event"] == "verdict" && event["outcome"] == "defer";
    let reason = done.events.iter().find(deferred).unwrap()["reason"].to_string();
    assert!(reason.contains("failed to parse the judge's answer"), "{reason}");
}

#[test]
fn inside_a_turn_the_agent_waits_for_the_judge_and_continues_after_a_no() {
    let done = exec(reply(NO), "mid_turn = \"policy\"", &["work on"]);
    done.check_judged(1);
    let (turn, judgment) = (ChatPurpose::Turn, ChatPurpose::Judgment);
    assert_eq!(done.purposes(), [turn, judgment, turn, turn]);
    assert_eq!(done.count("injected"), 0);
}

#[test]
fn without_compaction_inside_turns_no_judge_is_asked_there() {
    for policy in ["", "mid_turn = \"off\""] {
        let done = exec(reply(NO), policy, &["work on"]);
        done.check_judged(1);
        let (turn, judgment) = (ChatPurpose::Turn, ChatPurpose::Judgment);
        assert_eq!(done.purposes(), [turn, turn, turn, judgment], "{policy}");
    }
}
