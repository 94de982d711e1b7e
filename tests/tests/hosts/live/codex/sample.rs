//! A packet that is sampled outside the conversation; if that fails, it is requested in a turn.

use rawr_tests::mock_responses::{ReplyGate, TurnReply, TurnScript, http_error, reply};
use serde_json::json;

use super::fixture::{
    GOES_ON, HEADS_UP, LiveFixture, PACKET, TASK, agent as typing_agent, leave, type_text,
};
use super::person::Beside;

const SAMPLED: [&str; 2] = ["--config", r#"rawr_auto_compaction.packet_channel="sample""#];

/// What the request for a packet says, wherever it stands.
const ASKS: &str = "Write the continuation packet";

fn agent(sample: TurnReply) -> TurnScript {
    typing_agent()
        .on("LAST-WORD", [reply("the end").input_tokens(22_000)])
        .on(":notice]", [reply("the end").input_tokens(22_000)])
        .on(ASKS, [sample.input_tokens(145_000)])
}

impl Beside {
    /// Whether the person's conversation has a message with these words.
    async fn shows(&mut self, words: &str) -> bool {
        let params = json!({"threadId": self.person.thread_id, "includeTurns": true});
        let thread = self.person.ask("thread/read", params).await.unwrap();
        thread.to_string().contains(words)
    }
}

#[tokio::test]
async fn a_sampled_packet_leaves_no_trace_before_the_compaction() {
    let mut beside = Beside::with(agent(reply(PACKET)), &SAMPLED).await;
    beside.person.says(TASK).await.unwrap();
    beside.person.hears(GOES_ON).await;
    assert!(!beside.shows(HEADS_UP).await && beside.shows("Goal: a parser with docs").await);
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

async fn asks_in_a_turn_after_all(script: TurnScript, options: &[&str]) {
    let mut beside = Beside::with(script, options).await;
    beside.person.says(TASK).await.unwrap();
    beside.person.hears(GOES_ON).await;
    assert!(beside.shows(HEADS_UP).await);
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

#[tokio::test]
async fn a_refused_sample_becomes_a_turn() {
    asks_in_a_turn_after_all(agent(http_error(500)), &SAMPLED).await;
}

#[tokio::test]
async fn a_person_types_while_a_packet_is_sampled() {
    let gate = ReplyGate::new();
    let mut beside = Beside::with(agent(reply(PACKET)).behind(ASKS, 0, &gate), &SAMPLED).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(ASKS).await;
    beside.person.says("AND-NOW the docs").await.unwrap();
    beside.person.hears("Here you are.").await;
    gate.open();
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "AND-NOW", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

/// A goal's turns would outdate one sample after the other.
#[tokio::test]
async fn a_goal_is_paused_while_a_packet_is_sampled() {
    let (work, packet) = (ReplyGate::new(), ReplyGate::new());
    let script = agent(reply(PACKET)).behind("WRITE-PARSER", 0, &work);
    // Where the goal's turn was faster, the packet is asked for in a turn.
    let script = script.behind(ASKS, 0, &packet).behind(":packet_request]", 0, &packet);
    let mut beside = Beside::with(script, &SAMPLED).await;
    beside.person.says(TASK).await.unwrap();
    beside.tells("session", |_| true).await;
    let thread = json!({"threadId": beside.person.thread_id});
    let goal = json!({
        "threadId": beside.person.thread_id, "objective": "a parser with docs", "status": "active",
    });
    beside.person.ask("thread/goal/set", goal).await.unwrap();
    work.open();
    let is_paused = |params: &serde_json::Value| params["goal"]["status"] == "paused";
    beside.person.sees_that("thread/goal/updated", is_paused).await;
    packet.open();
    beside.person.hears(GOES_ON).await;
    beside.person.ask("thread/goal/clear", thread).await.unwrap();
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

#[test]
fn the_screen_shows_only_the_compaction_and_the_handoff() {
    let fixture = LiveFixture::new(agent(reply(PACKET)));
    fixture.set("[rawr_auto_compaction]\npacket_channel = \"sample\"\n");
    let mut terminal = fixture.on_a_terminal(&[]);
    type_text(&mut terminal, TASK);
    let screen = terminal.wait_for(&["Context compacted", "The compaction is done.", GOES_ON]);
    assert!(!screen.contains(HEADS_UP), "{screen}\n{}", fixture.log());
    assert_eq!(fixture.compactions(), 1);
    leave(&mut terminal);
}
