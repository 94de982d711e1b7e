//! Tests of texts and compactions between the sampling requests of a turn.

use expect_test::expect;

use super::*;
use crate::host::{CompactionTiming, Compactor, KeptHistory};

/// Works for three requests, and again after a handoff.
fn worker() -> Vec<Scene> {
    vec![
        summary("SUMMARY"),
        on("packet please", vec![ScriptLine::says("the packet")]),
        on("handoff", vec![ScriptLine::does([shell("true")]), ScriptLine::says("all done")]),
        on("Go on with", vec![ScriptLine::says("still done")]),
        on("SUMMARY", vec![ScriptLine::does([plan()]), ScriptLine::says("done after the summary")]),
        on(
            "go",
            vec![
                ScriptLine::does([shell("true")]),
                ScriptLine::does([plan()]),
                ScriptLine::says("done"),
            ],
        ),
    ]
}

fn at_once() -> CompactionOrder {
    CompactionOrder {
        keep: KeptHistory::Nothing,
        timing: CompactionTiming::AtOnce,
        ..CompactionOrder::default()
    }
}

#[tokio::test]
async fn a_text_that_is_added_in_a_pause_is_answered_next_and_a_compaction_comes_before_the_handoff()
 {
    let folder = TempDir::new().unwrap();
    let mut host = agent(&folder, worker());
    let turn_id = host.start_turn(&["go"]).await.unwrap();
    pause(&mut host).await;
    assert_eq!(host.steer("packet please").await.unwrap(), turn_id);
    host.resume_turn(&turn_id, NextRequest::AsAnswered).unwrap();
    expect![[r#"
        says the packet
        usage 43 follow-up false
    "#]]
    .assert_eq(&pause(&mut host).await.0);
    host.compact(&CompactionOrder::default()).await.unwrap();
    expect![[r#"
        compaction started
        compacted to Some(28)
    "#]]
    .assert_eq(&until(&mut host, "compacted").await);
    assert_eq!(host.steer("handoff").await.unwrap(), turn_id);
    host.resume_turn(&turn_id, NextRequest::AsAnswered).unwrap();
    expect![[r#"
        tool shell
        ran true: 0
        tool ended
        usage 51 follow-up true
        says all done
        usage 57 follow-up false
        ended completed None
    "#]]
    .assert_eq(&turn(&mut host).await);
}

#[tokio::test]
async fn a_turn_with_unfinished_work_is_continued() {
    let folder = TempDir::new().unwrap();
    let mut host = agent(&folder, worker());
    let turn_id = host.start_turn(&["go"]).await.unwrap();
    pause(&mut host).await;
    host.steer("packet please").await.unwrap();
    host.resume_turn(&turn_id, NextRequest::AsAnswered).unwrap();
    pause(&mut host).await;
    host.resume_turn(&turn_id, NextRequest::More).unwrap();
    expect![[r#"
        says still done
        usage 64 follow-up false
        ended completed None
    "#]]
    .assert_eq(&turn(&mut host).await);
}

#[tokio::test]
async fn a_text_added_while_a_tool_runs_is_answered_in_the_turn() {
    let folder = TempDir::new().unwrap();
    let scenes = vec![
        on("more", vec![ScriptLine::says("more it is")]),
        on("go", vec![ScriptLine::does([shell("sleep 0.05")]), ScriptLine::says("without more")]),
    ];
    let mut host = agent(&folder, scenes);
    let turn_id = host.start_turn(&["go"]).await.unwrap();
    until(&mut host, "tool shell").await;
    assert_eq!(host.steer("more").await.unwrap(), turn_id);
    expect![[r#"
        ran sleep 0.05: 0
        tool ended
        usage 30 follow-up true
        says more it is
        usage 42 follow-up false
        ended completed None
    "#]]
    .assert_eq(&turn(&mut host).await);
}

#[tokio::test]
async fn a_compaction_that_keeps_nothing_adds_no_message() {
    let folder = TempDir::new().unwrap();
    let seen = Arc::default();
    let model = Spied { script: Script::new(worker()), seen: Arc::clone(&seen) };
    let mut host = Embedded::start(settings(&folder), model);
    let turn_id = host.start_turn(&["go"]).await.unwrap();
    pause(&mut host).await;
    let order = CompactionOrder { keep: KeptHistory::Nothing, ..CompactionOrder::default() };
    host.compact(&order).await.unwrap();
    until(&mut host, "compacted").await;
    host.resume_turn(&turn_id, NextRequest::AsAnswered).unwrap();
    expect![[r#"
        tool update_plan
        plan of 0
        tool ended
        usage 34 follow-up true
        says done after the summary
        usage 44 follow-up false
        ended completed None
    "#]]
    .assert_eq(&turn(&mut host).await);
    // One request of the turn, one for the summary, and the following ones.
    let after = &seen.lock().unwrap()[2];
    let summary = AgentItem::Summary { text: "In short:\nSUMMARY".to_owned() };
    assert_eq!(after[..], [AgentItem::System { text: "12345678".to_owned() }, summary]);
}

#[tokio::test]
async fn a_compaction_that_fails_inside_a_turn_leaves_the_turn_as_it_was() {
    let folder = TempDir::new().unwrap();
    let scenes = vec![on("go", vec![ScriptLine::does([plan()]), ScriptLine::says("done")])];
    let mut host = agent(&folder, scenes);
    let turn_id = host.start_turn(&["go"]).await.unwrap();
    pause(&mut host).await;
    host.compact(&CompactionOrder::default()).await.unwrap();
    expect![[r#"
        compaction started
        not compacted: the script has no scene for this
    "#]]
    .assert_eq(&until(&mut host, "not compacted").await);
    host.resume_turn(&turn_id, NextRequest::AsAnswered).unwrap();
    expect![[r#"
        says done
        usage 35 follow-up false
        ended completed None
    "#]]
    .assert_eq(&turn(&mut host).await);
}

#[tokio::test]
async fn an_interrupt_ends_a_pause_and_a_compaction_inside_a_turn() {
    let folder = TempDir::new().unwrap();
    let hanging = ScriptLine { hangs: true, ..ScriptLine::default() };
    let scenes = vec![
        Scene { cue: SceneCue::Summary, replies: vec![hanging] },
        on("go", vec![ScriptLine::does([plan()])]),
    ];
    let mut host = agent(&folder, scenes);
    host.start_turn(&["go"]).await.unwrap();
    pause(&mut host).await;
    host.interrupt().await.unwrap();
    expect![[r#"
        ended interrupted None
    "#]]
    .assert_eq(&turn(&mut host).await);
    host.start_turn(&["go"]).await.unwrap();
    pause(&mut host).await;
    host.compact(&CompactionOrder::default()).await.unwrap();
    until(&mut host, "compaction started").await;
    host.interrupt().await.unwrap();
    expect![[r#"
        not compacted: the compaction was interrupted
        ended interrupted None
    "#]]
    .assert_eq(&turn(&mut host).await);
}

#[tokio::test]
async fn an_immediate_compaction_aborts_a_running_request() {
    let folder = TempDir::new().unwrap();
    let endless = ScriptLine { times: Some(100), hangs: true, ..ScriptLine::says("word ") };
    let scenes = vec![
        summary("SUMMARY"),
        on("SUMMARY", vec![ScriptLine::says("done after all")]),
        on("go", vec![endless]),
    ];
    let settings = EmbeddedSettings { estimate_every: Some(60), ..settings(&folder) };
    let mut host = Embedded::start(settings, Script::new(scenes));
    host.start_turn(&["go"]).await.unwrap();
    expect![[r#"
        started Asked
        estimate 75
    "#]]
    .assert_eq(&until(&mut host, "estimate 7").await);
    let patient = CompactionOrder::default();
    assert!(matches!(host.compact(&patient).await, Err(HostError::Busy)));
    host.compact(&at_once()).await.unwrap();
    let told = turn(&mut host).await.replace(&"word ".repeat(100), "(a hundred words)");
    expect![[r#"
        estimate 136
        says (a hundred words)
        compaction started
        compacted to Some(15)
        usage 15 follow-up true
        says done after all
        usage 23 follow-up false
        ended completed None
    "#]]
    .assert_eq(&told);
}

#[tokio::test]
async fn a_running_tool_is_not_aborted() {
    let folder = TempDir::new().unwrap();
    let mut host = agent(&folder, vec![on("go", vec![ScriptLine::does([shell("sleep 60")])])]);
    host.start_turn(&["go"]).await.unwrap();
    until(&mut host, "tool shell").await;
    assert!(matches!(host.compact(&at_once()).await, Err(HostError::Busy)));
    host.interrupt().await.unwrap();
}

#[tokio::test]
async fn the_provider_compacts_first_and_the_host_is_the_fallback() {
    let failing = ScriptLine { fails: Some("not today".to_owned()), ..ScriptLine::default() };
    let by_host = CompactionOrder { by: Compactor::Host, ..CompactionOrder::default() };
    let by_provider = CompactionOrder::default;
    let provider = |line: ScriptLine| Scene { cue: SceneCue::Provider, replies: vec![line] };
    for (line, order, expected) in [
        (
            ScriptLine::says("SEALED"),
            by_provider(),
            expect![[r#"
            started Compaction
            compaction started
            compacted to Some(12)
            ended completed None
        "#]],
        ),
        (
            ScriptLine::says("SEALED"),
            by_host,
            expect![[r#"
            started Compaction
            compaction started
            compacted to Some(19)
            ended completed None
        "#]],
        ),
        (
            failing,
            by_provider(),
            expect![[r#"
            started Compaction
            compaction started
            notice the provider's compaction failed; summarizing locally: not today
            compacted to Some(19)
            ended completed None
        "#]],
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let mut host = agent(&folder, vec![provider(line), summary("the model's own summary")]);
        host.compact(&order).await.unwrap();
        expected.assert_eq(&turn(&mut host).await);
    }
}

#[tokio::test]
async fn a_compaction_keeps_user_messages_and_the_summary() {
    let folder = TempDir::new().unwrap();
    let long = ScriptLine { times: Some(40), ..ScriptLine::says("a long answer ") };
    let mut host = agent(&folder, vec![summary("summary"), on("go", vec![long])]);
    host.start_turn(&["go"]).await.unwrap();
    let first = turn(&mut host).await;
    assert!(first.contains("usage 155 "), "{first}");
    host.compact(&CompactionOrder::default()).await.unwrap();
    expect![[r#"
        started Compaction
        compaction started
        compacted to Some(20)
        ended completed None
    "#]]
    .assert_eq(&turn(&mut host).await);
}

#[tokio::test]
async fn a_compaction_without_a_summary_leaves_the_history_alone() {
    let folder = TempDir::new().unwrap();
    for scenes in [vec![], vec![summary(" ")]] {
        let mut host = agent(&folder, scenes);
        host.compact(&CompactionOrder::default()).await.unwrap();
        let told = turn(&mut host).await;
        assert!(told.contains("\nnot compacted: ") && told.contains("\nended failed"), "{told}");
    }
}

#[tokio::test]
async fn a_too_long_history_is_summarized_in_its_newer_part() {
    let folder = TempDir::new().unwrap();
    let seen = Arc::default();
    let too_long = ScriptLine { too_long: true, ..ScriptLine::default() };
    let scenes = vec![
        Scene { cue: SceneCue::Summary, replies: vec![too_long, ScriptLine::says("of the rest")] },
        Scene { cue: SceneCue::Anything, replies: vec![ScriptLine::says("hm")] },
    ];
    let model = Spied { script: Script::new(scenes), seen: Arc::clone(&seen) };
    let mut host = Embedded::start(settings(&folder), model);
    for say in ["one", "two", "three"] {
        host.start_turn(&[say]).await.unwrap();
        turn(&mut host).await;
    }
    host.compact(&CompactionOrder::default()).await.unwrap();
    expect![[r#"
        started Compaction
        compaction started
        compacted to Some(32)
        ended completed None
    "#]]
    .assert_eq(&turn(&mut host).await);
    let lengths: Vec<_> = seen.lock().unwrap()[3..].iter().map(Vec::len).collect();
    assert_eq!(lengths, [7, 4]);
}
