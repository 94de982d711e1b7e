//! A Codex goal, which starts a turn whenever none runs: rawr pauses it for a compaction and resumes it.

use rawr_tests::mock_responses::{ReplyGate, TurnScript};
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use super::fixture::{GOES_ON, TASK};
use super::missed::sidecar;
use super::person::Beside;
use super::races::{agent, compacting_behind};

async fn about(beside: &mut Beside, method: &str, mut params: Value) -> Value {
    params["threadId"] = json!(beside.person.thread_id);
    beside.person.ask(method, params).await.unwrap()["goal"].clone()
}

async fn sets(beside: &mut Beside, status: &str) {
    let goal = json!({"objective": "a parser with docs", "status": status});
    about(beside, "thread/goal/set", goal).await;
}

/// And is taken back, so that the thread comes to rest.
async fn goes_on(beside: &mut Beside) {
    let is_active = |params: &Value| params["goal"]["status"] == "active";
    beside.person.sees_that("thread/goal/updated", is_active).await;
    about(beside, "thread/goal/clear", json!({})).await;
}

/// Without rawr the goal would never leave a quiet moment.
#[tokio::test]
async fn a_goal_starts_a_turn_at_once() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(agent().behind("WRITE-PARSER", 0, &gate)).await;
    beside.person.says(TASK).await.unwrap();
    beside.tells("session", |_| true).await;
    sets(&mut beside, "active").await;
    gate.open();
    beside.person.hears(GOES_ON).await;
    // The goal goes on where it was stopped.
    goes_on(&mut beside).await;
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

/// rawr is killed while the packet is written. Its goal is paused, and its compaction owed.
async fn killed_in_a_sequence(script: TurnScript) -> Beside {
    let (gate, packet) = (ReplyGate::new(), ReplyGate::new());
    let script = script.behind("WRITE-PARSER", 0, &gate).behind(":packet_request]", 0, &packet);
    let mut beside = Beside::new(script).await;
    beside.person.says(TASK).await.unwrap();
    beside.tells("session", |_| true).await;
    sets(&mut beside, "active").await;
    gate.open();
    beside.model_is_asked(":packet_request]").await;
    beside.rawr.kill().unwrap();
    beside.rawr.wait().unwrap();
    packet.open();
    beside.person.hears("Goal: a parser").await;
    assert_eq!(about(&mut beside, "thread/goal/get", json!({})).await["status"], "paused");
    beside
}

#[tokio::test]
async fn a_goal_paused_by_an_earlier_driver_resumes_after_its_compaction() {
    let mut beside = killed_in_a_sequence(agent()).await;
    beside.attach_again();
    beside.person.hears(GOES_ON).await;
    goes_on(&mut beside).await;
    beside.compacted(1);
}

/// The handoff that this rawr has put in line stands in Codex's record before its arbiter asks for it.
#[tokio::test]
async fn a_goal_resumes_after_a_handoff_that_ran_without_a_driver() {
    let (compaction, handoff) = (ReplyGate::new(), ReplyGate::new());
    let script = compacting_behind(&compaction).behind(":handoff]", 0, &handoff);
    let mut beside = killed_in_a_sequence(script).await;
    beside.attach_again();
    beside.model_is_asked("compaction").await;
    let sidecar = sidecar(&beside).unwrap();
    kill_process(sidecar, Signal::STOP).unwrap();
    compaction.open();
    beside.model_is_asked(":handoff]").await;
    kill_process(sidecar, Signal::CONT).unwrap();
    beside.tells("handoff", |_| true).await;
    handoff.open();
    beside.person.hears(GOES_ON).await;
    goes_on(&mut beside).await;
    beside.compacted(1);
}

#[tokio::test]
async fn a_goal_changed_by_the_user_is_not_resumed() {
    let mut beside = killed_in_a_sequence(agent()).await;
    let changed = json!({"objective": "something else", "status": "paused"});
    about(&mut beside, "thread/goal/set", changed).await;
    beside.attach_again();
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    assert_eq!(about(&mut beside, "thread/goal/get", json!({})).await["status"], "paused");
    beside.compacted(1);
}
