//! Sub-agents of a user's Codex: rawr names each, and does not change the answers that they give to their parents.

use rawr_tests::mock_responses::{ReplyGate, SUB_AGENT, TurnScript, call_in, reply};
use serde_json::{Value, json};

use super::fixture::{GOES_ON, HANDOFF, HEADS_UP, TASK, agent as typing_agent, shell};
use super::person::Beside;
use super::races::{self, is_joined};

const ANSWER: &str = "The docs are read.";

/// A parent that asks for the answer of a sub-agent whose window is full, and that can close it.
fn agent(gate: &ReplyGate) -> TurnScript {
    let to_child = json!({"message": "CHILD-WORK on the docs"});
    let wait = json!({"targets": [SUB_AGENT], "timeout_ms": 10_000});
    let of_agents = |name: &str, arguments: Value| call_in("multi_agent_v1", name, arguments);
    let asks =
        [of_agents("wait_agent", wait).input_tokens(20_600), reply("Asked.").input_tokens(20_700)];
    typing_agent()
        .on("LAST-WORD", [reply("the end").input_tokens(22_000)])
        .on(":notice]", [reply("the end").input_tokens(22_000)])
        .on(
            "CHILD-WORK",
            [
                shell("git commit -q --allow-empty -m 'Begin the docs'").input_tokens(175_000),
                reply(ANSWER).input_tokens(176_000),
            ],
        )
        .behind("CHILD-WORK", 0, gate)
        .on("MORE-DOCS", [reply("I said that they are read.").input_tokens(177_000)])
        .on(
            "SHARE-WORK",
            [
                of_agents("spawn_agent", to_child).input_tokens(20_000),
                reply("A sub-agent reads the docs.").input_tokens(20_500),
            ],
        )
        .on("ASK-CHILD", asks.clone())
        // Codex tells a parent by itself too, at a moment of its own.
        .on("<subagent_notification>", asks)
        .on(
            "CLOSE-CHILD",
            [
                of_agents("close_agent", json!({"target": SUB_AGENT})).input_tokens(20_800),
                reply("Closed.").input_tokens(20_900),
            ],
        )
}

/// A parent, and its sub-agent that has done its work, with a full window.
async fn with_a_child() -> (Beside, String) {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(agent(&gate)).await;
    is_joined(&mut beside).await;
    beside.person.says("SHARE-WORK please").await.unwrap();
    beside.person.hears("A sub-agent reads the docs.").await;
    let parent = beside.person.thread_id.clone();
    let of_child = |told: &Value| told["threadId"] != parent.as_str();
    let child = beside.tells("session", of_child).await["threadId"].as_str().unwrap().to_owned();
    gate.open();
    decides(&beside, &child, None).await;
    (beside, child)
}

/// As the parent's next request holds it.
async fn what_the_parent_is_answered(beside: &mut Beside) -> String {
    beside.person.says("ASK-CHILD for it").await.unwrap();
    beside.person.hears("Asked.").await;
    let last = beside.fixture.requests().pop().unwrap();
    let output = last.input().iter().rev().find(|item| item["type"] == "function_call_output");
    output.unwrap()["output"].as_str().unwrap().to_owned()
}

/// rawr added no text and compacted nothing.
fn nothing_was_done(beside: &Beside) {
    for request in beside.fixture.requests() {
        let body = request.body.to_string();
        assert!(!body.contains(HEADS_UP) && !body.contains(HANDOFF), "{body}");
    }
    beside.compacted(0);
}

/// What rawr decided of the sub-agent for the first time, or then, between its turns.
async fn decides(beside: &Beside, child: &str, after: Option<&Value>) -> Value {
    let of_child = |told: &Value| {
        told["threadId"] == child
            && told["entrance"] == "turn_complete"
            && after.is_none_or(|before| before["decisionId"] != told["decisionId"])
    };
    let verdict = beside.tells("verdict", of_child).await;
    assert_eq!((&verdict["outcome"], &verdict["tier"]), (&json!("nothing"), &json!("emergency")));
    assert!(verdict["reason"].as_str().unwrap().contains("cannot"), "{verdict}");
    verdict
}

#[tokio::test]
async fn a_sub_agent_has_its_own_name_and_its_answer_is_not_changed() {
    let (mut beside, child) = with_a_child().await;
    assert!(what_the_parent_is_answered(&mut beside).await.contains(ANSWER));
    nothing_was_done(&beside);

    let about = json!({"threadId": child, "includeTurns": false});
    let about = beside.person.ask("thread/read", about).await.unwrap();
    let name = about["thread"]["agentNickname"].as_str().unwrap().to_lowercase();
    let name = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let session = beside.tells("session", |told| told["threadId"] == child.as_str()).await;
    let scratch = session["scratchFile"].as_str().unwrap();
    assert!(scratch.starts_with(&format!(".scratch/agent-{name}-")), "{scratch}");
    let status = beside.fixture.rawr(&["status", &child, "--json"]);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["tier"], "emergency", "{status}");
    assert_eq!(status["subAgent"], about["thread"]["agentNickname"], "{status}");
}

#[tokio::test]
async fn a_request_to_compact_a_sub_agent_is_refused() {
    let (mut beside, child) = with_a_child().await;
    let before = decides(&beside, &child, None).await;
    assert!(beside.fixture.rawr(&["compact", &child]).status.success());
    decides(&beside, &child, Some(&before)).await;
    assert!(what_the_parent_is_answered(&mut beside).await.contains(ANSWER));
    nothing_was_done(&beside);
}

#[tokio::test]
async fn a_user_message_in_a_sub_agent_is_answered_there() {
    let (mut beside, child) = with_a_child().await;
    let before = decides(&beside, &child, None).await;
    let mut other = beside.a_person_in(&child).await;
    other.says("MORE-DOCS please").await.unwrap();
    other.hears("I said that they are read.").await;
    decides(&beside, &child, Some(&before)).await;
    let answer = what_the_parent_is_answered(&mut beside).await;
    assert!(answer.contains("I said that they are read."), "{answer}");
    nothing_was_done(&beside);
}

#[tokio::test]
async fn a_sub_agent_closed_by_its_parent_stays_closed() {
    let (mut beside, child) = with_a_child().await;
    what_the_parent_is_answered(&mut beside).await;
    beside.person.says("CLOSE-CHILD now").await.unwrap();
    beside.person.hears("Closed.").await;
    let is_loaded = async |beside: &mut Beside| {
        let loaded = beside.person.ask("thread/loaded/list", json!({})).await.unwrap();
        loaded["data"].as_array().unwrap().contains(&json!(child))
    };
    assert!(!is_loaded(&mut beside).await);
    // rawr has heard of it by the time that it has heard of a turn that came later.
    beside.person.says("LAST-WORD").await.unwrap();
    beside.person.hears("the end").await;
    beside.tells("agent_message", |told| told["text"] == "the end").await;
    assert!(!is_loaded(&mut beside).await, "{}", beside.dump());
    let sessions = beside.told().iter().filter(|told| told["event"] == "session").count();
    assert_eq!(sessions, 2, "{}", beside.dump());
}

/// Spawns a sub-agent that works until the gate opens, and commits.
fn parent(gate: &ReplyGate, tokens: u64) -> TurnScript {
    let child = json!({"message": "CHILD-WORK on the docs"});
    let commit = "git commit -q --allow-empty -m 'Begin the docs'";
    races::agent()
        .on("CHILD-WORK", [reply("The docs are read.").input_tokens(30_000)])
        .behind("CHILD-WORK", 0, gate)
        .on(
            "SHARE-WORK",
            [
                call_in("multi_agent_v1", "spawn_agent", child).input_tokens(120_000),
                shell(commit).input_tokens(tokens),
                reply("A sub-agent reads the docs.").input_tokens(tokens),
            ],
        )
}

#[tokio::test]
async fn a_parent_waits_for_its_sub_agents() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(parent(&gate, 143_000)).await;
    is_joined(&mut beside).await;
    beside.person.says("SHARE-WORK please").await.unwrap();
    beside.person.hears("A sub-agent reads the docs.").await;
    let of_turn = |told: &Value| told["entrance"] == "turn_complete" && told["tier"] == "asap";
    let verdict = beside.tells("verdict", of_turn).await;
    assert_eq!(verdict["outcome"], "nothing", "{verdict}");
    assert!(verdict["reason"].as_str().unwrap().contains("is running"), "{verdict}");
    let of_child = |told: &Value| {
        told["name"].as_str().is_some_and(|name| name.contains("CHILD-WORK on the docs"))
    };
    let child = beside.tells("tool_started", of_child).await["callId"].clone();
    gate.open();
    beside.tells("tool_finished", |told| told["callId"] == child).await;
    beside.person.says(TASK).await.unwrap();
    beside.person.hears(GOES_ON).await;
    beside.compacted(1);
}

#[tokio::test]
async fn in_an_emergency_sub_agents_are_named_in_the_handoff() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(parent(&gate, 176_000)).await;
    is_joined(&mut beside).await;
    beside.person.says("SHARE-WORK please").await.unwrap();
    beside.person.hears(GOES_ON).await;
    let handoff = beside.tells("handoff", |_| true).await;
    let text = handoff["text"].as_str().unwrap();
    assert!(text.contains("sub-agent") && text.contains("CHILD-WORK on the docs"), "{text}");
    beside.compacted(1);
    gate.open();
}
