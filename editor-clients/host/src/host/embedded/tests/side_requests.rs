//! Tests of questions outside the turn.

use expect_test::expect;
use serde_json::json;

use super::*;

fn question(text: &str) -> ModelQuestion {
    ModelQuestion {
        request_id: "q1".to_owned(),
        instructions: "You judge.".to_owned(),
        text: text.to_owned(),
        output_schema: json!({"type": "object"}),
        ahead: false,
    }
}

#[tokio::test]
async fn questions_are_answered_while_the_agent_is_idle_and_while_it_works() {
    let folder = TempDir::new().unwrap();
    let seen = Arc::default();
    let fenced = ScriptLine::says("```json\n{\"should_compact\": true}\n```");
    let scenes = vec![
        Scene { cue: SceneCue::Judgment, replies: vec![fenced] },
        Scene { cue: SceneCue::Aside, replies: vec![ScriptLine::says("what I know")] },
        on("go", vec![ScriptLine::does([shell("sleep 60")])]),
    ];
    let model = Spied { script: Script::new(scenes), seen: Arc::clone(&seen) };
    let mut host = Embedded::start(settings(&folder), model);
    host.judge(question("now?")).await.unwrap();
    expect![[r#"Answered { request_id: "q1", answer: Ok("{\"should_compact\": true}") }"#]]
        .assert_eq(&brief(&host.next_event().await));
    host.start_turn(&["go"]).await.unwrap();
    until(&mut host, "tool shell").await;
    host.sample(question("and?")).await.unwrap();
    expect![[r#"Answered { request_id: "q1", answer: Ok("what I know") }"#]]
        .assert_eq(&brief(&host.next_event().await));
    host.judge(question("now?")).await.unwrap();
    assert!(brief(&host.next_event().await).starts_with("Answered"));
    host.interrupt().await.unwrap();
    turn(&mut host).await;
    // The judge does not see the conversation; the sample sees all of it.
    let lengths: Vec<_> = seen.lock().unwrap().iter().map(Vec::len).collect();
    assert_eq!(lengths, [0, 2, 2, 0]);
}

#[tokio::test]
async fn a_failed_question_reports_its_error() {
    let folder = TempDir::new().unwrap();
    let failing = ScriptLine { fails: Some("no more credit".to_owned()), ..ScriptLine::default() };
    let scenes = vec![
        Scene { cue: SceneCue::Judgment, replies: vec![failing, ScriptLine::says("{}")] },
        Scene { cue: SceneCue::Aside, replies: vec![ScriptLine::says(" ")] },
    ];
    let mut host = agent(&folder, scenes);
    host.judge(question("now?")).await.unwrap();
    expect![[r#"Answered { request_id: "q1", answer: Err("no more credit") }"#]]
        .assert_eq(&brief(&host.next_event().await));
    host.sample(question("and?")).await.unwrap();
    expect![[r#"Answered { request_id: "q1", answer: Err("the model answered nothing") }"#]]
        .assert_eq(&brief(&host.next_event().await));
    host.judge(question("now?")).await.unwrap();
    expect![[r#"Answered { request_id: "q1", answer: Ok("{}") }"#]]
        .assert_eq(&brief(&host.next_event().await));
}
