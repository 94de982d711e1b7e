//! Interference by the user or Codex at critical moments: one compaction, one handoff, every message once and in order.

use rawr_tests::codex::binary;
use rawr_tests::mock_responses::{ReplyGate, TurnReply, TurnScript, http_error, reply, sse_failed};
use rawr_tests::{ExecOutput, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::fixture::{GOES_ON, LiveFixture, TASK, agent as typing_agent};
use super::person::Beside;

pub fn agent() -> TurnScript {
    typing_agent()
        .on("LAST-WORD", [reply("the end").input_tokens(22_000)])
        .on(":notice]", [reply("the end").input_tokens(22_000)])
        .on("AND-THEN", [reply("Then that.").input_tokens(21_500)])
}

/// The compaction takes until the gate opens.
pub fn compacting_behind(gate: &ReplyGate) -> TurnScript {
    let summary = reply("A summary by the model.").input_tokens(146_000).behind(gate);
    agent().on_compaction([summary])
}

#[tokio::test]
async fn without_interference() {
    let mut beside = Beside::new(agent()).await;
    beside.person.says(TASK).await.unwrap();
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

#[tokio::test]
async fn a_person_types_while_the_packet_is_written() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(agent().behind(":packet_request]", 0, &gate)).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(":packet_request]").await;
    beside.person.says("AND-NOW the docs").await.unwrap();
    gate.open();
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "AND-NOW", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

/// In the tags of a packet.
pub const TELLS_THE_TIME: &str = "<continuation_packet>\nState: done\nGoal: tell the time\nNext: nothing\n\
    </continuation_packet>";

/// What the agent says then is for the person, in whatever words: it is asked for its packet once more.
#[tokio::test]
async fn an_answer_to_the_user_in_the_packets_turn_is_not_the_packet() {
    let gate = ReplyGate::new();
    let script = agent()
        .behind(":packet_request]", 0, &gate)
        .on_first("AND-NOW", [reply(&format!("It is ten past nine.\n{TELLS_THE_TIME}"))]);
    let mut beside = Beside::new(script).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(":packet_request]").await;
    beside.person.says("AND-NOW the time").await.unwrap();
    gate.open();
    let packet = beside.tells("packet", |_| true).await;
    assert!(packet["packet"].as_str().unwrap().contains("a parser with docs"), "{packet}");
    assert_eq!(packet["author"], "agent", "{}", beside.dump());
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "AND-NOW", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

#[tokio::test]
async fn a_person_types_while_codex_compacts() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(compacting_behind(&gate)).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked("compaction").await;
    beside.person.says("AND-NOW the docs").await.unwrap_err();
    gate.open();
    types_and_is_handed_over(&mut beside).await;
}

/// Who comes first is settled within a millisecond; that nothing is lost or said twice is rawr's to see to.
async fn types_and_is_handed_over(beside: &mut Beside) {
    beside.person.says_as_soon_as_possible("AND-NOW the docs").await;
    beside.tells("handoff", |_| true).await;
    let said = beside.said_in_the_end().await;
    assert!(
        said == ["WRITE-PARSER", "HANDOFF", "AND-NOW", "LAST-WORD"]
            || said == ["WRITE-PARSER", "AND-NOW", "HANDOFF", "LAST-WORD"],
        "{said:?}\n{}",
        beside.dump()
    );
    beside.compacted(1);
}

/// rawr stands still from before the history is rewritten until the person has been answered.
#[tokio::test]
async fn a_person_types_between_compaction_and_handoff() {
    let (gate, answer) = (ReplyGate::new(), ReplyGate::new());
    let script = compacting_behind(&gate).behind("AND-NOW", 0, &answer);
    let mut beside = Beside::new(script).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked("compaction").await;
    let rawr = Pid::from_child(&beside.rawr);
    kill_process(rawr, Signal::STOP).unwrap();
    gate.open();
    beside.person.says_as_soon_as_possible("AND-NOW the docs").await;
    beside.model_is_asked("AND-NOW").await;
    kill_process(rawr, Signal::CONT).unwrap();
    // The handoff joins the person's turn.
    beside.tells("handoff", |_| true).await;
    answer.open();
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "AND-NOW", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

#[tokio::test]
async fn a_compaction_never_interrupts_a_turn() {
    let (packet, answer) = (ReplyGate::new(), ReplyGate::new());
    let script = agent().behind(":packet_request]", 0, &packet).behind("AND-NOW", 0, &answer);
    let mut beside = Beside::new(script).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(":packet_request]").await;
    // What rawr reads next is that its packet is there, and that a turn of the person's runs.
    let rawr = Pid::from_child(&beside.rawr);
    kill_process(rawr, Signal::STOP).unwrap();
    packet.open();
    beside.person.hears("Goal: a parser").await;
    beside.person.says("AND-NOW the docs").await.unwrap();
    beside.model_is_asked("AND-NOW").await;
    kill_process(rawr, Signal::CONT).unwrap();
    beside.tells("packet", |_| true).await;
    answer.open();
    beside.person.hears("Here you are.").await;
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "AND-NOW", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

#[tokio::test]
async fn a_person_compacts_by_hand() {
    let mut beside = Beside::new(agent()).await;
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.person.hears("Here you are.").await;
    let thread = json!({"threadId": beside.person.thread_id});
    beside.person.ask("thread/compact/start", thread).await.unwrap();
    beside.person.sees("turn/completed").await;
    beside.tells("compaction", |told| told["status"] == "completed").await;
    beside.check(&["AND-NOW", "LAST-WORD"]).await;
    beside.compacted(1);
}

const PIN: &str = "Always write tests in Dutch.";

async fn pin(beside: &mut Beside) {
    beside.tells("session", |_| true).await;
    let pinned = beside.fixture.rawr(&["pin", &beside.person.thread_id, PIN]);
    assert!(pinned.status.success(), "{pinned:?}");
}

/// The pin is handed over in the turn of the message that came next, which waits behind the gate.
async fn has_the_pin_after_one_compaction(mut beside: Beside, gate: ReplyGate) {
    beside.tells("handoff", |_| true).await;
    gate.open();
    beside.person.hears(GOES_ON).await;
    let rollouts = beside.fixture.home.rollouts();
    let compacted = rollouts.rfind("compacted").unwrap();
    assert!(rollouts[compacted..].contains(PIN), "{}", beside.dump());
    beside.compacted(1);
}

#[tokio::test]
async fn a_pin_survives_a_compaction_by_hand() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(agent().behind("AND-THEN", 0, &gate)).await;
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.person.hears("Here you are.").await;
    pin(&mut beside).await;
    let thread = json!({"threadId": beside.person.thread_id});
    beside.person.ask("thread/compact/start", thread).await.unwrap();
    beside.person.sees("turn/completed").await;
    beside.tells("compaction", |told| told["status"] == "completed").await;
    assert!(!beside.told().iter().any(|told| told["event"] == "handoff"), "{}", beside.dump());
    beside.person.says("AND-THEN that").await.unwrap();
    has_the_pin_after_one_compaction(beside, gate).await;
}

/// Codex compacts by itself for it, before the message goes out.
#[tokio::test]
async fn a_pin_survives_a_switch_to_a_model_with_a_smaller_window() {
    let gate = ReplyGate::new();
    let script = agent()
        .on("READ-ALL", [reply("All of it is read.").input_tokens(300_000)])
        .behind("AND-THEN", 0, &gate);
    let fixture = LiveFixture::of(script, |config| {
        // Codex holds its models to windows of their own: 872,000 tokens at most, and 272,000.
        "gpt-6.1-terra".clone_into(&mut config.model);
        config.context_window = 500_000;
    });
    let mut beside = Beside::in_fixture(fixture, &[]).await;
    beside.person.says("READ-ALL of it").await.unwrap();
    beside.person.hears("All of it is read.").await;
    pin(&mut beside).await;
    beside.person.says_with("AND-THEN that", json!({"model": "gpt-5.5"})).await.unwrap();
    has_the_pin_after_one_compaction(beside, gate).await;
}

#[tokio::test]
async fn a_person_compacts_by_hand_while_the_packet_is_written() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(agent().behind(":packet_request]", 0, &gate)).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(":packet_request]").await;
    // Codex throws the packet's turn away for it.
    let thread = json!({"threadId": beside.person.thread_id});
    beside.person.ask("thread/compact/start", thread).await.unwrap();
    gate.open();
    beside.model_is_asked("compaction").await;
    beside.tells("compaction", |told| told["status"] == "completed").await;
    beside
        .person
        .sees_that("turn/completed", |params| params["turn"]["status"] == "completed")
        .await;
    beside.compacted(1);
}

async fn a_compaction_fails(reply: TurnReply) {
    let mut beside = Beside::new(agent().on_compaction([reply])).await;
    beside.person.says(TASK).await.unwrap();
    beside.tells("compaction", |told| told["status"] == "failed").await;
    beside.check(&["WRITE-PARSER", "LAST-WORD"]).await;
    let handed_over = beside.told().iter().any(|told| told["event"] == "handoff");
    assert!(!handed_over, "{}", beside.dump());
}

#[tokio::test]
async fn a_compaction_fails_with_an_error() {
    a_compaction_fails(http_error(500)).await;
}

#[tokio::test]
async fn a_compaction_fails_because_the_context_is_too_long() {
    a_compaction_fails(sse_failed("context_length_exceeded", "too long")).await;
}

#[tokio::test]
async fn a_summary_is_empty() {
    let empty = reply("").input_tokens(146_000);
    let mut beside = Beside::new(agent().on_compaction([empty])).await;
    beside.person.says(TASK).await.unwrap();
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

#[tokio::test]
async fn codex_compacts_by_itself() {
    let work = [reply("All is read.").input_tokens(189_500)];
    let script = agent().on("READ-ALL", work);
    let off = ["-c", "rawr_auto_compaction.mode=suggest"];
    let mut beside = Beside::with(script, &off).await;
    beside.person.says("READ-ALL of it").await.unwrap();
    beside.person.hears("All is read.").await;
    // Codex compacts before it takes the next message in.
    beside.person.says("AND-NOW the docs").await.unwrap();
    beside.person.hears("Here you are.").await;
    beside.tells("compaction", |told| told["status"] == "completed").await;
    beside.check(&["AND-NOW", "LAST-WORD"]).await;
    beside.compacted(1);
}

/// What the window held before a compaction that runs already is not what it holds.
#[tokio::test]
async fn rawr_comes_while_codex_compacts_by_itself() {
    let gate = ReplyGate::new();
    let script =
        compacting_behind(&gate).on("READ-ALL", [reply("All is read.").input_tokens(189_500)]);
    let mut beside = Beside::new(script).await;
    beside.leave();
    beside.person.says("READ-ALL of it").await.unwrap();
    beside.person.hears("All is read.").await;
    beside.person.says("AND-NOW the docs").await.unwrap();
    beside.model_is_asked("compaction").await;
    beside.attach_again();
    beside.tells("session", |_| true).await;
    gate.open();
    beside.person.hears("Here you are.").await;
    beside.tells("compaction", |told| told["status"] == "completed").await;
    beside.check(&["AND-NOW", "LAST-WORD"]).await;
    beside.compacted(1);
}

#[tokio::test]
async fn two_people_on_one_thread() {
    let mut beside = Beside::new(agent()).await;
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.person.hears("Here you are.").await;
    let mut other = beside.another_person().await;
    other.says(TASK).await.unwrap();
    beside.person.hears(GOES_ON).await;
    other.hears(GOES_ON).await;
    other.says("AND-THEN that").await.unwrap();
    beside.person.hears("Then that.").await;
    beside.check(&["AND-NOW", "WRITE-PARSER", "HANDOFF", "AND-THEN", "LAST-WORD"]).await;
    beside.compacted(1);
}

/// What the window held before rawr came stands in Codex's own file of the thread.
#[tokio::test]
async fn a_resumed_thread_has_its_stored_usage() {
    let mut beside = Beside::new(agent()).await;
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.person.hears("Here you are.").await;
    beside.leave();
    beside.restart_the_server().await;
    beside.attach_again();
    let usage = beside.tells("usage", |_| true).await;
    assert_eq!(usage["usage"]["inputTokens"], 21_000, "{usage}");
    beside.person.says(TASK).await.unwrap();
    beside.person.hears(GOES_ON).await;
    beside.check(&["AND-NOW", "WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

#[tokio::test]
async fn a_sequence_continues_after_a_restart_of_the_app_server() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(agent().behind(":packet_request]", 0, &gate)).await;
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.person.hears("Here you are.").await;
    beside.tells("session", |_| true).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(":packet_request]").await;
    // The turn is in Codex's record, and has no end there.
    wait_until("the request in Codex's record", || {
        beside.fixture.home.rollouts().contains(":packet_request]")
    });
    beside.restart_the_server().await;
    gate.open();
    // The turn that wrote the packet is gone. What is owed is asked for again, and once.
    beside.person.hears(GOES_ON).await;
    beside.compacted(1);
    let said = |told: &&Value| told["event"] == "user_message" && told["text"] == TASK;
    assert_eq!(beside.told().iter().filter(said).count(), 1, "{}", beside.dump());
    beside.tells("notice", |told| told["message"] == "attached to Codex again").await;
    // A thread that starts later.
    let folder = beside.fixture.repository.path().to_owned();
    beside.person.opens_a_thread(&folder).await;
    let later = beside.person.thread_id.clone();
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.tells("session", |told| told["threadId"] == later.as_str()).await;
    assert!(beside.rawr.try_wait().unwrap().is_none(), "{}", beside.dump());
}

#[tokio::test]
async fn a_second_rawr_leaves_the_thread_to_the_first() {
    let mut beside = Beside::new(agent()).await;
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.tells("session", |_| true).await;
    let mut second = beside.another_rawr();
    beside.other_tells("another rawr is already attached to thread").await;
    beside.person.says(TASK).await.unwrap();
    beside.person.hears(GOES_ON).await;
    beside.check(&["AND-NOW", "WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
    second.kill().unwrap();
    second.wait().unwrap();
}

#[tokio::test]
async fn detaching_does_not_interrupt_the_turn() {
    let gate = ReplyGate::new();
    let mut beside = Beside::new(agent().behind("AND-NOW", 0, &gate)).await;
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.tells("session", |_| true).await;
    let mut second = beside.another_rawr_in_words(&[]);
    beside.other_tells("Ctrl-C detaches").await;
    let detached = beside.fixture.rawr(&["detach"]);
    assert!(detached.status.success(), "{detached:?}");
    assert_eq!(beside.rawr.wait().unwrap().code(), Some(0), "{}", beside.dump());
    assert_eq!(second.wait().unwrap().code(), Some(0), "{}", beside.dump());
    let why = "rawr was detached by `rawr detach` in another terminal; Codex continues without it";
    beside.other_tells(why).await;
    beside.tells("notice", |told| told["message"] == why).await;
    gate.open();
    beside.person.hears("Here you are.").await;
    let detached = beside.fixture.rawr(&["detach"]);
    assert_eq!(detached.status.code(), Some(1), "{detached:?}");
}

/// The signal comes from another program than `rawr detach`.
#[tokio::test]
async fn a_stopped_rawr_reports_that_it_detached() {
    let beside = Beside::new(agent()).await;
    let mut second = beside.another_rawr_in_words(&[]);
    beside.other_tells("Ctrl-C detaches").await;
    kill_process(Pid::from_child(&second), Signal::TERM).unwrap();
    assert_eq!(second.wait().unwrap().code(), Some(143), "{}", beside.dump());
    beside.other_tells("rawr detached; Codex continues without it").await;
}

/// Just when its compaction goes on.
async fn compacting_without_experimental_methods() -> Beside {
    let gate = ReplyGate::new();
    let mut beside = Beside::with(compacting_behind(&gate), &["--without-experimental"]).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked("compaction").await;
    gate.open();
    beside
}

/// Neither a line nor a sample: what is left is enough.
#[tokio::test]
async fn a_codex_without_experimental_methods() {
    let mut beside = compacting_without_experimental_methods().await;
    beside.person.hears(GOES_ON).await;
    beside.person.says("AND-NOW the docs").await.unwrap();
    beside.person.hears("Here you are.").await;
    beside.check(&["WRITE-PARSER", "HANDOFF", "AND-NOW", "LAST-WORD"]).await;
    beside.compacted(1);
}

#[tokio::test]
async fn a_person_types_while_a_codex_without_experimental_methods_compacts() {
    let mut beside = compacting_without_experimental_methods().await;
    types_and_is_handed_over(&mut beside).await;
}

/// What a first turn does before rawr has joined is not reported.
pub async fn is_joined(beside: &mut Beside) {
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.person.hears("Here you are.").await;
    beside.tells("session", |_| true).await;
}

#[tokio::test]
async fn only_the_named_thread_is_joined() {
    let mut beside = Beside::new(agent()).await;
    beside.leave();
    let other = stored_thread(&beside.fixture);
    beside.attach_with(&["--thread", &other]);
    beside.person.says("AND-NOW hello").await.unwrap();
    beside.person.hears("Here you are.").await;
    beside.leave();
    assert!(beside.told().is_empty(), "{}", beside.dump());
    let thread_id = beside.person.thread_id.clone();
    beside.attach_with(&["--thread", &thread_id]);
    beside.tells("session", |_| true).await;
    beside.person.says(TASK).await.unwrap();
    beside.person.hears(GOES_ON).await;
    beside.compacted(1);
}

#[tokio::test]
async fn a_thread_that_is_not_open_yet_is_awaited() {
    let beside = Beside::new(agent()).await;
    let stored = stored_thread(&beside.fixture);
    let mut second = beside.another_rawr_in_words(&["--thread", "last"]);
    let awaited = format!("as soon as thread {stored} is open there; Ctrl-C detaches");
    beside.other_tells(&awaited).await;
    second.kill().unwrap();
    second.wait().unwrap();
}

#[tokio::test]
async fn a_thread_that_codex_does_not_have_is_refused() {
    let beside = Beside::new(agent()).await;
    let unknown = "00000000-0000-7000-8000-000000000001";
    let mut second = beside.another_rawr_in_words(&["--thread", unknown]);
    assert_eq!(second.wait().unwrap().code(), Some(1), "{}", beside.dump());
    let why = format!("Codex has no thread {unknown}; `codex resume` lists its threads");
    assert!(beside.dump().contains(&why), "{}", beside.dump());
}

/// A thread that no running Codex has open.
fn stored_thread(fixture: &LiveFixture) -> String {
    let codex = binary();
    let exec = ["exec", "--host", "codex", "--json", "--codex", codex.to_str().unwrap()];
    let output = fixture.rawr(&[&exec[..], &["AND-NOW hello"]].concat());
    let session = ExecOutput::of(output);
    session.expect_success();
    session.one("session", |_| true)["threadId"].as_str().unwrap().to_owned()
}
