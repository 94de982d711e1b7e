//! The user names the conversation in Codex: rawr shows that name.

use rawr_tests::mock_responses::reply;
use serde_json::json;

use super::fixture::agent;
use super::person::Beside;

fn title(beside: &Beside) -> String {
    let shown = beside.fixture.rawr(&["status", "--json", &beside.person.thread_id]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    shown["title"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn the_name_in_codex_is_the_title() {
    let script = agent().on("HELLO", [reply("Hello to you.").input_tokens(20_000)]);
    let mut beside = Beside::new(script).await;
    beside.person.says("HELLO").await.unwrap();
    beside.tells("session", |_| true).await;
    beside.person.hears("Hello to you.").await;
    let name = json!({"threadId": beside.person.thread_id, "name": "The greeting"});
    beside.person.ask("thread/name/set", name).await.unwrap();
    beside.tells("title_changed", |told| told["title"] == "The greeting").await;
    assert_eq!(title(&beside), "The greeting");
    // What was renamed while rawr was away is learned when it joins again.
    beside.leave();
    let name = json!({"threadId": beside.person.thread_id, "name": "Another greeting"});
    beside.person.ask("thread/name/set", name).await.unwrap();
    beside.attach_again();
    beside.tells("title_changed", |told| told["title"] == "Another greeting").await;
    assert_eq!(title(&beside), "Another greeting");
}
