//! The user changes the model: rawr's rules for the new model apply from then on.

use rawr_tests::mock_responses::reply;
use serde_json::{Value, json};

use super::fixture::{LiveFixture, TASK, agent};
use super::person::Beside;

const CHOSEN: &str = "another-model";

fn fixture() -> LiveFixture {
    let fixture =
        LiveFixture::new(agent().on("HELLO", [reply("Hello to you.").input_tokens(20_000)]));
    fixture.set(&format!("[rawr_auto_compaction.models.{CHOSEN:?}]\nmode = \"tag\"\n"));
    fixture
}

/// The mode in force, as its gate says it.
fn mode(verdict: &Value) -> String {
    let gates = verdict["gates"].as_array().unwrap();
    let gate = gates.iter().find(|gate| gate["gate"] == "mode").unwrap();
    gate["evidence"].as_str().unwrap().to_owned()
}

/// Whether the verdict is of the turn in which a phase ends under pressure.
fn at_its_end(verdict: &Value) -> bool {
    verdict["tier"] == "asap" && verdict["entrance"] == "turn_complete"
}

/// As `/model` sends it: with the next message.
#[tokio::test]
async fn a_model_set_with_a_message_applies_its_rules() {
    let mut beside = Beside::in_fixture(fixture(), &[]).await;
    beside.person.says("HELLO").await.unwrap();
    beside.tells("session", |_| true).await;
    beside.person.hears("Hello to you.").await;
    beside.person.says_with(TASK, json!({"model": CHOSEN})).await.unwrap();
    beside.person.hears("The parser is written.").await;
    let verdict = beside.tells("verdict", at_its_end).await;
    assert!(mode(&verdict).starts_with("tag"), "{verdict}");
    beside.compacted(0);
}

/// As it is said without a message.
#[tokio::test]
async fn a_model_set_between_two_messages_applies_its_rules() {
    let mut beside = Beside::in_fixture(fixture(), &[]).await;
    beside.person.says("HELLO").await.unwrap();
    beside.tells("session", |_| true).await;
    beside.person.hears("Hello to you.").await;
    let chosen = json!({"threadId": beside.person.thread_id, "model": CHOSEN});
    beside.person.ask("thread/settings/update", chosen).await.unwrap();
    beside.person.says(TASK).await.unwrap();
    beside.person.hears("The parser is written.").await;
    let verdict = beside.tells("verdict", at_its_end).await;
    assert!(mode(&verdict).starts_with("tag"), "{verdict}");
    beside.compacted(0);
}
