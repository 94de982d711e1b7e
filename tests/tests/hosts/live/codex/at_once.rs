//! Two threads of one app-server compact at the same time.

use std::time::Duration;

use rawr_tests::MockModel;
use rawr_tests::mock_responses::{ReplyGate, RequestPurpose, reply};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::fixture::{GOES_ON, HANDOFF, TASK, shell};
use super::person::Beside;
use super::races::agent;
use crate::fixture::OTHER_PACKET;

#[tokio::test]
async fn two_threads_of_one_app_server_compact_at_once() {
    let gate = ReplyGate::new();
    let packet = reply(OTHER_PACKET).input_tokens(145_000).behind(&gate);
    let work = [
        shell("touch lexer.txt && git add -A && git commit -q -m 'Add the lexer'")
            .input_tokens(131_000),
        reply("The lexer is written.").input_tokens(143_000),
    ];
    let lexer =
        MockModel::start(agent().on_first(":packet_request]", [packet]).on("WRITE-LEXER", work));
    let mut beside = Beside::new(agent().behind(":packet_request]", 0, &gate)).await;
    let url = json!({"model_providers.mock.base_url": lexer.base_url()});
    let mut other = beside.a_person_apart(url).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(":packet_request]").await;
    other.says("WRITE-LEXER please").await.unwrap();
    let is_asked = |told: &&Value| told["purpose"] == "packet_request";
    while beside.told().iter().filter(is_asked).count() < 2 {
        sleep(Duration::from_millis(20)).await;
    }
    gate.open();
    beside.person.hears(GOES_ON).await;
    other.hears(GOES_ON).await;
    let told = beside.told();
    let sequence_of = |event: &str, words: &str| {
        let is_it = |told: &&Value| told["event"] == event && told.to_string().contains(words);
        let found: Vec<_> = told.iter().filter(is_it).collect();
        assert_eq!(found.len(), 1, "{event} {words}: {}", beside.dump());
        found[0]["sequenceId"].clone()
    };
    for goal in ["a parser with docs", "a lexer with tests"] {
        assert_eq!(sequence_of("packet", goal), sequence_of("handoff", goal));
    }
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
    let requests = lexer.requests();
    let compactions = requests.iter().filter(|it| it.purpose != RequestPurpose::Turn).count();
    let heard = requests.last().unwrap().user_messages();
    let handoffs: Vec<_> = heard.iter().filter(|text| text.contains(HANDOFF)).collect();
    assert_eq!((compactions, handoffs.len()), (1, 1), "{heard:?}");
    assert!(handoffs[0].contains("a lexer with tests"), "{handoffs:?}");
    assert!(!heard.join("\n").contains("a parser with docs"), "{heard:?}");
}
