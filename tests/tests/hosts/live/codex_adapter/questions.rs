//! Questions to Codex's model outside the conversation: samples and judgments.

use expect_test::expect;
use rawr_host::host::{AgentHost, HostEvent, ModelQuestion};
use rawr_tests::mock_responses::{http_error, reply};
use serde_json::json;

use super::fixture::AdapterFixture;
use super::{WAIT_FOR_GO, ok, shell};

fn question(request_id: &str, text: &str) -> ModelQuestion {
    ModelQuestion {
        request_id: request_id.to_owned(),
        instructions: "You judge whether now is a good moment.".to_owned(),
        text: text.to_owned(),
        output_schema: json!({"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"],
            "additionalProperties": false}),
        ahead: false,
    }
}

// rule: judgment.not-in-history
#[tokio::test]
async fn a_sample_sees_the_conversation_and_does_not_change_it() {
    let script = ok().on("PACKET?", [reply("a packet").input_tokens(9_700)]);
    let mut fixture = AdapterFixture::new(script).await;
    assert!(fixture.codex.thread().host.capabilities.sample);
    fixture.turn("first").await;
    fixture.forget_events();
    fixture.codex.sample(question("s-1", "PACKET?")).await.unwrap();
    fixture.until(|event| matches!(event, HostEvent::Answered { .. })).await;
    fixture.turn("second").await;
    fixture.check_events(expect![[r#"
        s-1 answered: Ok("a packet")
        turn 2 started: Asked
        turn 2 says: ok
        turn 2 uses 9529 of Some(190000), goes on: false
        turn 2 completed, last said: ok
    "#]]);
    let requests = fixture.model.requests();
    assert!(requests[1].user_messages().contains(&"first".to_owned()));
    assert_eq!(requests[2].user_messages(), ["first", "second"]);
}

#[tokio::test]
async fn a_sample_can_be_taken_while_a_turn_runs() {
    let script = ok()
        .on("WORK", [shell(WAIT_FOR_GO).input_tokens(9_000), reply("worked").input_tokens(9_100)])
        .on("PACKET?", [reply("a packet")]);
    let mut fixture = AdapterFixture::new(script).await;
    fixture.codex.start_turn(&["WORK"]).await.unwrap();
    fixture.until(|event| matches!(event, HostEvent::ToolStarted { .. })).await;
    fixture.codex.sample(question("s-1", "PACKET?")).await.unwrap();
    fixture.until(|event| matches!(event, HostEvent::Answered { .. })).await;
    fixture.go();
    fixture.until_turn_ends().await;
    fixture.check_events(expect![[r#"
        turn 1 started: Asked
        turn 1 calls shell as call_1_0
        s-1 answered: Ok("a packet")
        turn 1 ran in $REPO, to 0: 'until test -e go; do sleep 0.05; done'
        turn 1 has call_1_0
        turn 1 uses 9036 of Some(190000), goes on: true
        turn 1 says: worked
        turn 1 uses 9130 of Some(190000), goes on: false
        turn 1 completed, last said: worked
    "#]]);
}

// rule: judgment.schema
#[tokio::test]
async fn a_judgment_runs_in_a_separate_thread_with_its_instructions_and_schema() {
    let script = ok().on("GOOD?", [reply(r#"{"yes": true}"#)]);
    let mut fixture = AdapterFixture::new(script).await;
    fixture.turn("first").await;
    fixture.forget_events();
    fixture.codex.judge(question("j-1", "GOOD?")).await.unwrap();
    fixture.until(|event| matches!(event, HostEvent::Answered { .. })).await;
    fixture.turn("second").await;
    fixture.check_events(expect![[r#"
        j-1 answered: Ok("{\"yes\": true}")
        turn 2 started: Asked
        turn 2 says: ok
        turn 2 uses 9529 of Some(190000), goes on: false
        turn 2 completed, last said: ok
    "#]]);
    let requests = fixture.model.requests();
    let judgment = &requests[1];
    assert_eq!(judgment.user_messages(), ["GOOD?"]);
    assert_eq!(judgment.body["text"]["format"]["schema"], question("", "").output_schema);
    assert!(judgment.body.to_string().contains("You judge whether now is a good moment."));
    assert_eq!(requests[2].user_messages(), ["first", "second"]);
}

#[tokio::test]
async fn a_judgment_without_an_answer_reports_the_error() {
    let script = ok().on("REFUSED?", [http_error(500)]).on("TOOLS?", [shell("echo hi"), reply("")]);
    let mut fixture = AdapterFixture::new(script).await;
    for text in ["REFUSED?", "TOOLS?"] {
        fixture.codex.judge(question(text, text)).await.unwrap();
        fixture.until(|event| matches!(event, HostEvent::Answered { .. })).await;
    }
    fixture.check_events(expect![[r#"
        REFUSED? answered: Err("We’re currently experiencing high demand, which may cause temporary errors.")
        TOOLS? answered: Err("the model gave no answer")
    "#]]);
}
