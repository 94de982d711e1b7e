//! Actions between the sampling requests of a turn.

use super::*;

/// Two requests with a tool call each, then the end; with answers to a packet request, a handoff and a heads-up.
fn worker(folder: &TempDir) -> Embedded {
    let work = || ScriptLine::does([shell("true")]);
    let scene = |cue, replies| Scene { cue, replies };
    let scenes = vec![
        scene(SceneCue::Summary, vec![ScriptLine::says("SUMMARY")]),
        scene(
            SceneCue::words("packet please"),
            vec![
                ScriptLine::says("First my notes.").and([shell("true")]),
                ScriptLine::says("the packet"),
            ],
        ),
        scene(
            SceneCue::words("packet back"),
            vec![work(), ScriptLine::says("done after the handoff")],
        ),
        scene(SceneCue::words("Go on with"), vec![ScriptLine::says("done in the end")]),
        scene(SceneCue::words("SUMMARY"), vec![ScriptLine::says("done after the summary")]),
        scene(SceneCue::Anything, vec![work(), work(), ScriptLine::says("done")]),
    ];
    start(folder, scenes, 1000)
}

fn steer(purpose: &str, text: &str) -> Value {
    json!({"kind": "inject_turn", "purpose": purpose, "text": text, "marker": "[m]", "viaSteer": true})
}

fn inline(more: Value) -> Value {
    let mut action =
        json!({"kind": "compact", "trigger": {"kind": "inline", "percentRemaining": 9}});
    action.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    action
}

/// Sets the sidecar's phase.
fn phase(thread: &Value, phase: &str) -> Do {
    let params = json!({"threadId": thread, "phase": phase, "guards": []});
    Do::Note("rawr/thread/changed", params)
}

/// A sequence inside the first turn, started after its first request. The test chooses the reaction to the compaction's end.
fn golden_path(mut after: impl FnMut(&Value) -> Vec<Do> + Send + 'static) -> Life {
    let mut begun = false;
    life(move |method, params| {
        let thread = &params["threadId"];
        let mut steps = match method {
            "rawr/turn/usage" if !std::mem::replace(&mut begun, true) => vec![
                phase(thread, "awaiting_packet"),
                perform(thread, "a1", steer("packet_request", "packet please")),
            ],
            "rawr/action/report"
                if params["actionId"] == "a1" && params["status"] == "completed" =>
            {
                vec![phase(thread, "compacting"), perform(thread, "a2", compact())]
            }
            "rawr/action/report" if params["actionId"] == "a3" => vec![phase(thread, "idle")],
            "rawr/compaction/report" if params["status"] != "started" => after(thread),
            _ => return None,
        };
        steps.push(Do::Answer(json!({})));
        Some(steps)
    })
}

async fn check_inside(lives: Vec<Life>, expected: Expect) -> Done {
    let folder = TempDir::new().unwrap();
    let done = run_on(worker(&folder), &["go"], lives, None).await;
    assert!(done.ended.is_ok(), "{:?}", done.ended);
    let heard: Vec<_> =
        done.heard.lines().filter(|line| !line.starts_with("signal/report")).collect();
    expected.assert_eq(&heard.join("\n"));
    done
}

fn said(done: &Done) -> Vec<&str> {
    events_of(done, "agent_message").iter().filter_map(|line| line["text"].as_str()).collect()
}

#[tokio::test]
async fn packet_compaction_and_handoff_run_inside_the_turn() {
    let life = golden_path(|thread| {
        vec![
            phase(thread, "awaiting_handoff"),
            perform(thread, "a3", steer("handoff", "packet back")),
        ]
    });
    let done = check_inside(
        vec![life],
        expect![[r#"
        thread/open
        input/submit go
        turn/started user turn-1 go
        turn/usage turn-1
        action/report accepted a1 turn-1
        turn/usage turn-1
        turn/usage turn-1
        action/report completed a1 turn-1 the packet
        capsule/attach
        packet/get
        action/report accepted a2
        compaction/report rawr started a2 62
        compaction/report rawr completed a2 62 23
        action/report completed a2 turn-1
        action/report accepted a3 turn-1
        turn/usage turn-1
        turn/usage turn-1
        turn/completed completed turn-1
        action/report completed a3 turn-1 done after the handoff
        thread/close"#]],
    )
    .await;
    assert_eq!(said(&done), ["First my notes.", "the packet", "done after the handoff"]);
}

#[tokio::test]
async fn a_turn_continues_after_a_failed_compaction() {
    let life = golden_path(|thread| vec![phase(thread, "idle")]);
    let done = check_inside(
        vec![life],
        expect![[r#"
        thread/open
        input/submit go
        turn/started user turn-1 go
        turn/usage turn-1
        action/report accepted a1 turn-1
        turn/usage turn-1
        turn/usage turn-1
        action/report completed a1 turn-1 the packet
        capsule/attach
        packet/get
        action/report accepted a2
        compaction/report rawr started a2 62
        compaction/report rawr completed a2 62 23
        action/report completed a2 turn-1
        turn/usage turn-1
        turn/completed completed turn-1
        thread/close"#]],
    )
    .await;
    assert_eq!(said(&done), ["First my notes.", "the packet", "done in the end"]);
}

#[tokio::test]
async fn a_text_for_an_ended_turn_starts_a_turn() {
    let lives = vec![at_turn_end(|thread| {
        vec![perform(thread, "a1", steer("packet_request", "packet please"))]
    })];
    check_inside(
        lives,
        expect![[r#"
        thread/open
        input/submit go
        turn/started user turn-1 go
        turn/usage turn-1
        turn/usage turn-1
        turn/usage turn-1
        turn/completed completed turn-1
        action/report accepted a1 turn-6
        turn/started synthetic a1 turn-6
        turn/usage turn-6
        turn/usage turn-6
        turn/completed completed turn-6
        action/report completed a1 turn-6 the packet
        thread/close"#]],
    )
    .await;
}

#[tokio::test]
async fn an_inline_compaction_has_no_packet_and_adds_no_message() {
    let mut begun = false;
    let life = life(move |method, params| {
        let first = method == "rawr/turn/usage" && !std::mem::replace(&mut begun, true);
        first.then(|| {
            let compact = perform(&params["threadId"], "a1", inline(json!({"local": true})));
            vec![compact, Do::Answer(json!({}))]
        })
    });
    let done = check_inside(
        vec![life],
        expect![[r#"
        thread/open
        input/submit go
        turn/started user turn-1 go
        turn/usage turn-1
        action/report accepted a1
        compaction/report rawr started a1 26
        compaction/report rawr completed a1 26 10
        action/report completed a1 turn-1
        turn/usage turn-1
        turn/completed completed turn-1
        thread/close"#]],
    )
    .await;
    assert_eq!(said(&done), ["done after the summary"]);
}

#[tokio::test]
async fn a_running_request_is_aborted_for_a_compaction() {
    let folder = TempDir::new().unwrap();
    let scene = |cue, line: ScriptLine| Scene { cue, replies: vec![line] };
    let scenes = vec![
        scene(SceneCue::Summary, ScriptLine::says("SUMMARY")),
        scene(SceneCue::words("SUMMARY"), ScriptLine::says("done after the summary")),
        scene(
            SceneCue::Anything,
            ScriptLine { times: Some(300), hangs: true, ..ScriptLine::says("word ") },
        ),
    ];
    let mut settings = settings(&folder, 1000);
    settings.estimate_every = Some(250);
    let host = Embedded::start(settings, Script::new(scenes));
    let mut begun = false;
    let life = life(move |method, params| {
        let first = method == "rawr/turn/usage" && !std::mem::replace(&mut begun, true);
        first.then(|| {
            let compact = perform(&params["threadId"], "a1", inline(json!({"interrupt": true})));
            vec![compact, Do::Answer(json!({}))]
        })
    });
    let done = run_on(host, &["go"], vec![life], None).await;
    assert!(done.ended.is_ok(), "{:?}", done.ended);
    expect![[r#"
        thread/open
        input/submit go
        turn/started user turn-1 go
        turn/usage turn-1
        capsule/attach
        action/report accepted a1
        compaction/report rawr started a1 265
        compaction/report rawr completed a1 265 10
        action/report completed a1 turn-1
        turn/usage turn-1
        turn/usage turn-1
        turn/completed completed turn-1
        thread/close
    "#]]
    .assert_eq(&done.heard);
    assert_eq!(said(&done).len(), 2);
}

#[tokio::test]
async fn stopping_a_session_interrupts_its_compaction() {
    let folder = TempDir::new().unwrap();
    let hanging = ScriptLine { hangs: true, ..ScriptLine::default() };
    let scenes = vec![
        Scene { cue: SceneCue::Summary, replies: vec![hanging] },
        Scene { cue: SceneCue::Anything, replies: vec![ScriptLine::does([shell("true")])] },
    ];
    let host = start(&folder, scenes, 1000);
    let life = life(|method, params| {
        let thread = &params["threadId"];
        let update = json!({"threadId": thread, "status": "in_progress", "origin": "rawr"});
        match method {
            "rawr/turn/usage" => {
                Some(vec![perform(thread, "a1", compact()), Do::Answer(json!({}))])
            }
            "rawr/compaction/report" if params["status"] == "started" => {
                Some(vec![Do::Note("rawr/compaction/update", update), Do::Answer(json!({}))])
            }
            _ => None,
        }
    });
    let done = run_on(host, &["go"], vec![life], Some("in_progress")).await;
    assert_eq!(done.ended.unwrap().ended, SessionEnd::Stopped);
    expect![[r#"
        thread/open
        input/submit go
        turn/started user turn-1 go
        signal/report tool_started turn-1
        signal/report command_finished turn-1
        signal/report tool_finished turn-1
        turn/usage turn-1
        capsule/attach
        packet/get
        action/report accepted a1
        compaction/report rawr started a1 26
        compaction/report rawr failed a1 the compaction was interrupted 26
        action/report failed a1 turn-1 the compaction was interrupted
        turn/completed interrupted turn-1
        thread/close
    "#]]
    .assert_eq(&done.heard);
}
