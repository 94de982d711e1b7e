//! A driver dies while Codex compacts or writes the packet: the next driver reads Codex's record and repeats no request.

use rawr_tests::mock_responses::{ReplyGate, RequestPurpose, TurnScript, reply};
use rawr_tests::wait_until;
use serde_json::Value;

use super::deaths::{drivers, leave_nothing};
use super::fixture::{GOES_ON, LiveFixture, TASK, agent as typing_agent, type_text};
use super::person::Beside;
use super::races::{TELLS_THE_TIME, agent};
use crate::processes::kill;

pub fn compacting_behind(script: TurnScript, gate: &ReplyGate) -> TurnScript {
    script.on_compaction([reply("A summary by the model.").input_tokens(146_000).behind(gate)])
}

pub fn asked_for(fixture: &LiveFixture, marker: &str) -> usize {
    let requests = fixture.requests();
    let asks = requests.iter().filter(|request| {
        request.purpose == RequestPurpose::Turn && request.marker.as_deref() == Some(marker)
    });
    asks.count()
}

pub fn everything_happened_once(fixture: &LiveFixture) {
    assert_eq!(fixture.compactions(), 1, "{}", fixture.log());
    assert_eq!(asked_for(fixture, ":packet_request]"), 1, "{}", fixture.log());
    assert_eq!(asked_for(fixture, ":handoff]"), 1, "{}", fixture.log());
}

/// The driver is killed when the model is asked; Codex goes on to `seen`, ends, and is resumed.
fn killed_and_resumed(
    script: TurnScript,
    gate: &ReplyGate,
    is_asked: fn(&LiveFixture) -> bool,
    seen: &str,
) {
    let fixture = LiveFixture::new(script);
    let mut terminal = fixture.on_a_terminal(&[]);
    let session = terminal.process_id();
    type_text(&mut terminal, TASK);
    wait_until("the request", || is_asked(&fixture));
    kill(drivers(session)[0]);
    gate.open();
    terminal.wait_for(&[seen]);
    leave_nothing(&mut terminal);
    let mut terminal = fixture.on_a_terminal(&["resume", "--last"]);
    terminal.wait_for(&[GOES_ON]);
    everything_happened_once(&fixture);
    leave_nothing(&mut terminal);
}

#[test]
fn a_compaction_finished_without_a_driver_is_not_repeated() {
    let gate = ReplyGate::new();
    let script = compacting_behind(typing_agent(), &gate);
    killed_and_resumed(script, &gate, |fixture| fixture.compactions() == 1, "Context compacted");
}

#[test]
fn a_packet_written_without_a_driver_is_not_requested_again() {
    let gate = ReplyGate::new();
    let script = typing_agent().behind(":packet_request]", 0, &gate);
    let is_asked = |fixture: &LiveFixture| asked_for(fixture, ":packet_request]") == 1;
    killed_and_resumed(script, &gate, is_asked, "Goal: a parser with docs");
}

#[test]
fn a_handoff_answered_without_a_driver_is_not_repeated() {
    let gate = ReplyGate::new();
    let script = typing_agent().behind(":handoff]", 0, &gate);
    killed_and_resumed(script, &gate, |fixture| asked_for(fixture, ":handoff]") == 1, GOES_ON);
}

/// As the sidecar was told it when its thread was opened last.
fn running_turn(beside: &Beside) -> Value {
    let threads = beside.fixture.home.path().join("rawr/auto_compaction/threads");
    let log = threads.join(&beside.person.thread_id).join("events.jsonl");
    let log = std::fs::read_to_string(log).unwrap();
    let mut events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let opened = events.rfind(|record| record["event"].get("thread_opened").is_some());
    opened.unwrap()["event"]["thread_opened"]["running_turn"].clone()
}

fn turn_that_runs(beside: &Beside) -> Value {
    let rollout = beside.fixture.home.rollouts();
    let mut lines = rollout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let started = lines.rfind(|line| line["payload"]["type"] == "task_started");
    started.unwrap()["payload"]["turn_id"].clone()
}

/// Another one joins while Codex is still at it.
async fn killed_and_joined(script: TurnScript, gate: &ReplyGate, asked: &str) {
    let mut beside = Beside::new(script).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(asked).await;
    beside.rawr.kill().unwrap();
    beside.rawr.wait().unwrap();
    beside.attach_again();
    beside.tells("session", |_| true).await;
    assert_eq!(running_turn(&beside), turn_that_runs(&beside), "{}", beside.dump());
    gate.open();
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    everything_happened_once(&beside.fixture);
}

#[tokio::test]
async fn a_running_packet_turn_is_awaited() {
    let gate = ReplyGate::new();
    let script = agent().behind(":packet_request]", 0, &gate);
    killed_and_joined(script, &gate, ":packet_request]").await;
}

#[tokio::test]
async fn a_running_compaction_is_awaited() {
    let gate = ReplyGate::new();
    let script = compacting_behind(agent(), &gate);
    killed_and_joined(script, &gate, "compaction").await;
}

/// They wrote into the packet's turn while no rawr was there to see it.
#[tokio::test]
async fn an_answer_to_the_user_without_a_driver_is_not_the_packet() {
    let answer = reply(&format!("It is ten past nine.\n{TELLS_THE_TIME}"));
    let gate = ReplyGate::new();
    let script = agent().behind(":packet_request]", 0, &gate).on_first("AND-THEN", [answer]);
    let mut beside = Beside::new(script).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(":packet_request]").await;
    beside.rawr.kill().unwrap();
    beside.rawr.wait().unwrap();
    beside.person.says("AND-THEN tell me the time").await.unwrap();
    gate.open();
    beside.person.hears("ten past nine").await;
    beside.attach_again();
    let packet = beside.tells("packet", |_| true).await;
    assert!(packet["packet"].as_str().unwrap().contains("a parser with docs"), "{packet}");
    assert_eq!(packet["author"], "agent", "{}", beside.dump());
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "AND-THEN", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}
