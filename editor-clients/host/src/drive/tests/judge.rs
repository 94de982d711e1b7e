//! Judgments by the host's model.

use super::*;

/// Requests a judgment at the end of the first turn, and becomes idle after its answer.
fn asking() -> Life {
    let phase = |thread: &Value, phase: &str| {
        let params = json!({"threadId": thread, "phase": phase, "guards": []});
        Do::Note("rawr/thread/changed", params)
    };
    life(move |method, params| {
        let thread = &params["threadId"];
        match method {
            "rawr/turn/completed" => {
                let judge = json!({"kind": "judge", "requestId": "r1", "instructions": "i", "context": "c", "outputSchema": {}});
                Some(vec![
                    phase(thread, "awaiting_judgment"),
                    perform(thread, "a1", judge),
                    Do::Answer(json!({
                        "verdict": {"decisionId": "d1", "outcome": "judge", "reason": "full", "sequenceId": "s1"},
                    })),
                ])
            }
            "rawr/judgment/answer" => {
                Some(vec![phase(thread, "idle"), Do::Answer(json!({"accepted": true}))])
            }
            "rawr/action/report" => Some(vec![phase(thread, "idle"), Do::Answer(json!({}))]),
            _ => None,
        }
    })
}

async fn check_judged(judgment: Option<ScriptLine>, expected: Expect) {
    let folder = TempDir::new().unwrap();
    let mut scenes =
        vec![Scene { cue: SceneCue::Anything, replies: vec![ScriptLine::says("done")] }];
    scenes.extend(judgment.map(|line| Scene { cue: SceneCue::Judgment, replies: vec![line] }));
    let host = start(&folder, scenes, 1000);
    let done = run_on(host, &["hello"], vec![asking()], None).await;
    assert!(done.ended.is_ok(), "{:?}", done.ended);
    let heard: Vec<_> = done.heard.lines().filter(|line| !line.starts_with("turn/")).collect();
    expected.assert_eq(&heard.join("\n"));
}

#[tokio::test]
async fn the_hosts_judgment_is_reported_with_its_request_id() {
    let judgment = ScriptLine::says(r#"{"should_compact": true, "reason": "committed"}"#);
    check_judged(
        Some(judgment),
        expect![[r#"
        thread/open
        input/submit hello
        judgment/answer
        thread/close"#]],
    )
    .await;
}

#[tokio::test]
async fn a_failed_or_invalid_judgment_is_reported() {
    check_judged(
        None,
        expect![[r#"
        thread/open
        input/submit hello
        action/report failed a1 the script has no scene for this
        thread/close"#]],
    )
    .await;
    check_judged(Some(ScriptLine::says("perhaps")), expect![[r#"
        thread/open
        input/submit hello
        action/report failed a1 failed to parse the judge's answer: expected value at line 1 column 1
        thread/close"#]]).await;
}
