//! The Codex host adapter with the real Codex, without network or login.

mod fixture;
mod questions;

use expect_test::expect;
use fixture::{AdapterFixture, settings};
use rawr_host::host::codex::{Codex, CodexSettings, PLAN_TOOL_ON, probe, version};
use rawr_host::host::{AgentHost, CompactionOrder, HostError, HostEvent};
use rawr_tests::codex::{self, CodexHome, CodexTestConfig, PlanTool, binary, wrapper};
use rawr_tests::mock_responses::{
    RequestPurpose, TurnReply, TurnScript, call, custom_call, http_error, reply, stall,
};
use rawr_tests::{MockModel, Repository};
use serde_json::json;

use crate::fixture::codex_shell as shell;

/// Says "ok" to everything, at a stated price.
fn ok() -> TurnScript {
    TurnScript::default().otherwise([reply("ok").input_tokens(9_500)])
}

/// A command that runs until [`AdapterFixture::go`].
const WAIT_FOR_GO: &str = "until test -e go; do sleep 0.05; done";

fn plan(explanation: &str, steps: [(&str, &str); 2]) -> TurnReply {
    let steps: Vec<_> =
        steps.iter().map(|(step, status)| json!({"step": step, "status": status})).collect();
    call("update_plan", json!({"explanation": explanation, "plan": steps}))
}

#[tokio::test]
async fn a_turn_reports_plans_commands_usage_and_messages() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch";
    let work = [
        reply("I will plan first.")
            .and(plan("start", [("write file", "in_progress"), ("commit", "pending")]))
            .input_tokens(121_000),
        custom_call("apply_patch", patch).input_tokens(128_000),
        plan("wrote it", [("write file", "completed"), ("commit", "in_progress")])
            .input_tokens(131_500),
        shell("git add -A && git commit -q -m 'add a.txt'").input_tokens(136_200),
        reply("Done: file written and committed.").input_tokens(143_100),
    ];
    let mut fixture = AdapterFixture::new(TurnScript::default().on("DO-WORK", work)).await;
    fixture.turn("DO-WORK please").await;
    fixture.check_events(expect![[r#"
        turn 1 started: Asked
        turn 1 says: I will plan first.
        turn 1 plans: write file in_progress, commit pending (Some("start"))
        turn 1 uses 121090 of Some(190000), goes on: true
        turn 1 calls apply_patch as call_2_0
        turn 1 has call_2_0
        turn 1 uses 128043 of Some(190000), goes on: true
        turn 1 plans: write file completed, commit in_progress (Some("wrote it"))
        turn 1 uses 131559 of Some(190000), goes on: true
        turn 1 calls shell as call_4_0
        turn 1 ran in $REPO, to 0: "git add -A && git commit -q -m 'add a.txt'"
        turn 1 has call_4_0
        turn 1 uses 136238 of Some(190000), goes on: true
        turn 1 says: Done: file written and committed.
        turn 1 uses 143136 of Some(190000), goes on: false
        turn 1 completed, last said: Done: file written and committed.
    "#]]);
    assert_eq!(fixture.repository.subjects(), ["add a.txt", "begin"]);
    assert_eq!(fixture.codex.thread().context_window, Some(190_000));
}

// rule: prompt.compact
// rule: host.summary-requested
// rule: built-in.next-request
#[tokio::test]
async fn after_a_compaction_the_model_gets_user_messages_and_a_summary() {
    let script = ok()
        .on(
            "DO-WORK",
            [shell("echo working").input_tokens(100_000), reply("worked").input_tokens(110_000)],
        )
        .on("NOTES", [reply("<packet>go on with step 2</packet>").input_tokens(120_000)])
        .on_compaction([reply("A summary of it all.").input_tokens(121_000)]);
    let mut fixture = AdapterFixture::new(script).await;
    fixture.turn("DO-WORK please").await;
    fixture.turn("NOTES please").await;
    fixture.forget_events();
    fixture.compaction().await;
    fixture.turn("HANDOFF: go on with step 2").await;
    fixture.check_events(expect![[r#"
        turn 3 started: Compaction
        turn 3 compacts for rawr
        turn 3 has compacted for rawr, with an estimate
        turn 3 completed, last said: nothing
        turn 4 started: Asked
        turn 4 says: ok
        turn 4 uses 9529 of Some(190000), goes on: false
        turn 4 completed, last said: ok
    "#]]);

    let requests = fixture.model.requests();
    let compaction = &requests[requests.len() - 2];
    assert_eq!(compaction.purpose, RequestPurpose::LocalCompaction);
    let handoff = &requests[requests.len() - 1];
    assert_eq!(handoff.messages("assistant"), Vec::<String>::new());
    assert_eq!(handoff.other_items(), Vec::<&str>::new());
    let users: Vec<_> = handoff
        .user_messages()
        .iter()
        .map(|text| text.chars().take(60).collect::<String>())
        .collect();
    expect![[r#"
        [
            "DO-WORK please",
            "NOTES please",
            "Another language model started to solve this problem and pro",
            "HANDOFF: go on with step 2",
        ]
    "#]]
    .assert_debug_eq(&users);
}

#[tokio::test]
async fn a_refused_compaction_fails_and_keeps_the_history() {
    let script = ok()
        .on("REMEMBER", [reply("remembered").input_tokens(9_000)])
        .on_compaction([http_error(500)]);
    let mut fixture = AdapterFixture::new(script).await;
    fixture.turn("REMEMBER this").await;
    fixture.forget_events();
    fixture.compaction().await;
    fixture.turn("next").await;
    fixture.check_events(expect![[r#"
        turn 2 started: Compaction
        turn 2 compacts for rawr
        turn 2 has not compacted for rawr
        turn 2 failed, with an error, last said: nothing
        turn 3 started: Asked
        turn 3 says: ok
        turn 3 uses 9529 of Some(190000), goes on: false
        turn 3 completed, last said: ok
    "#]]);
    let requests = fixture.model.requests();
    assert_eq!(requests[requests.len() - 1].messages("assistant"), ["remembered"]);
}

#[tokio::test]
async fn an_empty_summary_is_a_completed_compaction() {
    let mut fixture = AdapterFixture::new(
        ok().on("REMEMBER", [reply("remembered").input_tokens(9_000)]).on_compaction([reply("")]),
    )
    .await;
    fixture.turn("REMEMBER this").await;
    fixture.forget_events();
    fixture.compaction().await;
    fixture.turn("next").await;
    fixture.check_events(expect![[r#"
        turn 2 started: Compaction
        turn 2 compacts for rawr
        turn 2 has compacted for rawr, with an estimate
        turn 2 completed, last said: nothing
        turn 3 started: Asked
        turn 3 says: ok
        turn 3 uses 9529 of Some(190000), goes on: false
        turn 3 completed, last said: ok
    "#]]);
    let requests = fixture.model.requests();
    assert_eq!(requests[requests.len() - 1].messages("assistant"), Vec::<String>::new());
}

#[tokio::test]
async fn an_interrupted_compaction_has_failed() {
    let mut fixture = AdapterFixture::new(ok().on_compaction([stall()])).await;
    fixture.turn("hello").await;
    fixture.forget_events();
    fixture.codex.compact(&CompactionOrder::default()).await.unwrap();
    fixture.model.requests_after(2).await;
    fixture.until(|event| matches!(event, HostEvent::CompactionStarted { .. })).await;
    fixture.codex.interrupt().await.unwrap();
    fixture.until_turn_ends().await;
    fixture.check_events(expect![[r#"
        turn 2 started: Compaction
        turn 2 compacts for rawr
        turn 2 has not compacted for rawr
        turn 2 interrupted, last said: nothing
    "#]]);
}

#[tokio::test]
async fn a_running_turn_refuses_a_compaction_and_another_turn() {
    let mut fixture = AdapterFixture::new(ok().on("HANG", [stall()])).await;
    fixture.codex.start_turn(&["HANG"]).await.unwrap();
    assert!(matches!(
        fixture.codex.compact(&CompactionOrder::default()).await,
        Err(HostError::Busy)
    ));
    fixture.until(|event| matches!(event, HostEvent::TurnStarted { .. })).await;
    assert!(matches!(
        fixture.codex.compact(&CompactionOrder::default()).await,
        Err(HostError::Busy)
    ));
    assert!(matches!(fixture.codex.start_turn(&["more"]).await, Err(HostError::Busy)));
    fixture.codex.interrupt().await.unwrap();
    fixture.until_turn_ends().await;
    assert!(matches!(fixture.codex.interrupt().await, Err(HostError::NoTurn)));
    fixture.compaction().await;
    fixture.check_events(expect![[r#"
        turn 1 started: Asked
        turn 1 interrupted, last said: nothing
        turn 2 started: Compaction
        turn 2 compacts for rawr
        turn 2 has compacted for rawr, with an estimate
        turn 2 completed, last said: nothing
    "#]]);
}

#[tokio::test]
async fn codexs_own_compaction_inside_a_turn_has_the_origin_host() {
    // By itself Codex would compact at 90% of 20,000; what rawr sets leaves it the full window of 19,000.
    let work = [
        shell("echo one").input_tokens(18_000),
        shell("echo two").input_tokens(19_500),
        reply("done").input_tokens(8_000),
    ];
    let script = ok().on("DO-WORK", work);
    let mut fixture = AdapterFixture::configured(
        script,
        &CodexTestConfig { context_window: 20_000, ..CodexTestConfig::default() },
    )
    .await;
    fixture.turn("DO-WORK please").await;
    fixture.check_events(expect![[r#"
        turn 1 started: Asked
        turn 1 calls shell as call_1_0
        turn 1 ran in $REPO, to 0: 'echo one'
        turn 1 has call_1_0
        turn 1 uses 18029 of Some(19000), goes on: true
        turn 1 calls shell as call_2_0
        turn 1 ran in $REPO, to 0: 'echo two'
        turn 1 has call_2_0
        turn 1 uses 19529 of Some(19000), goes on: true
        turn 1 compacts for host
        turn 1 has compacted for host, with an estimate
        turn 1 says: ok
        turn 1 uses 9529 of Some(19000), goes on: false
        turn 1 completed, last said: ok
    "#]]);
}

#[tokio::test]
async fn a_steered_text_joins_the_running_turn() {
    let script = TurnScript::default()
        .on("WAIT", [shell(WAIT_FOR_GO).input_tokens(9_000), reply("waited")])
        .on("ALSO", [reply("that too").input_tokens(9_200)]);
    let mut fixture = AdapterFixture::new(script).await;
    let turn = fixture.codex.start_turn(&["WAIT"]).await.unwrap();
    fixture.until(|event| matches!(event, HostEvent::ToolStarted { .. })).await;
    assert_eq!(fixture.codex.steer("ALSO this").await.unwrap(), turn);
    fixture.go();
    fixture.until_turn_ends().await;
    fixture.check_events(expect![[r#"
        turn 1 started: Asked
        turn 1 calls shell as call_1_0
        turn 1 ran in $REPO, to 0: 'until test -e go; do sleep 0.05; done'
        turn 1 has call_1_0
        turn 1 uses 9036 of Some(190000), goes on: true
        turn 1 says: that too
        turn 1 uses 9230 of Some(190000), goes on: false
        turn 1 completed, last said: that too
    "#]]);
}

#[tokio::test]
async fn the_items_of_an_input_stay_separate_in_one_message() {
    let mut fixture = AdapterFixture::new(ok()).await;
    fixture.codex.start_turn(&["the handoff", "the input"]).await.unwrap();
    fixture.until_turn_ends().await;
    let requests = fixture.model.requests();
    let message = requests[0].input().last().unwrap();
    expect![[
        r#"[{"text":"the handoff","type":"input_text"},{"text":"the input","type":"input_text"}]"#
    ]]
    .assert_eq(&message["content"].to_string());
}

#[tokio::test]
async fn the_end_of_a_command_after_its_turn_is_reported() {
    let command = json!({"cmd": WAIT_FOR_GO, "yield_time_ms": 250});
    let serve =
        [call("exec_command", command).input_tokens(9_000), reply("it runs").input_tokens(9_100)];
    let mut fixture = AdapterFixture::new(TurnScript::default().on("SERVE", serve)).await;
    fixture.turn("SERVE").await;
    fixture.go();
    fixture.until(|event| matches!(event, HostEvent::ToolFinished { .. })).await;
    fixture.check_events(expect![[r#"
        turn 1 started: Asked
        turn 1 calls shell as call_1_0
        turn 1 uses 9042 of Some(190000), goes on: true
        turn 1 says: it runs
        turn 1 uses 9130 of Some(190000), goes on: false
        turn 1 completed, last said: it runs
        turn 1 ran in $REPO, to 0: 'until test -e go; do sleep 0.05; done'
        turn 1 has call_1_0
    "#]]);
}

#[tokio::test]
async fn a_turn_started_by_codex_is_the_hosts_own() {
    let goal = call("create_goal", json!({"objective": "Count to three."})).input_tokens(9_000);
    let script = TurnScript::default()
        .on("GOAL", [goal, reply("one").input_tokens(9_100)])
        .otherwise([stall()]);
    let mut fixture = AdapterFixture::new(script).await;
    fixture.turn("GOAL").await;
    fixture.model.requests_after(3).await;
    assert!(matches!(
        fixture.codex.compact(&CompactionOrder::default()).await,
        Err(HostError::Busy)
    ));
    fixture.forget_events();
    fixture.until(|event| matches!(event, HostEvent::TurnStarted { .. })).await;
    fixture.codex.interrupt().await.unwrap();
    fixture.until_turn_ends().await;
    fixture.check_events(expect![[r#"
        turn 2 started: Host
        turn 2 interrupted, last said: nothing
    "#]]);
}

#[tokio::test]
async fn a_killed_codex_is_gone_for_every_further_request() {
    let mut fixture = AdapterFixture::new(ok().on("HANG", [stall()])).await;
    fixture.codex.start_turn(&["HANG"]).await.unwrap();
    fixture.model.requests_after(1).await;
    let killed = std::process::Command::new("kill")
        .args(["-9", &fixture.process_id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    fixture.until(|event| matches!(event, HostEvent::Gone { .. })).await;
    assert!(matches!(fixture.codex.steer("more").await, Err(HostError::Gone { .. })));
    let HostEvent::Gone { reason } = fixture.codex.next_event().await else {
        panic!("only the end is told after the end")
    };
    assert!(reason.starts_with("codex ended (signal: 9 (SIGKILL))"), "{reason}");
    // Codex always says something about a home in a temporary folder.
    assert!(reason.contains("its last words: WARNING"), "{reason}");
}

#[tokio::test]
async fn an_invalid_codex_configuration_is_quoted() {
    let model = MockModel::start(TurnScript::default());
    let (home, repository) =
        (CodexHome::new(&model, &CodexTestConfig::default()), Repository::new());
    std::fs::write(home.path().join("config.toml"), "model = [").unwrap();
    let error = Codex::start(&settings(&home, &repository)).await.unwrap_err().to_string();
    assert!(error.contains("config.toml:1:10"), "{error}");
}

#[tokio::test]
async fn the_stderr_of_an_ended_codex_is_quoted() {
    let model = MockModel::start(TurnScript::default());
    let (home, repository) =
        (CodexHome::new(&model, &CodexTestConfig::default()), Repository::new());
    let mut settings = settings(&home, &repository);
    settings.environment = vec![("CODEX_HOME".into(), "/nowhere".into())];
    let error = Codex::start(&settings).await.unwrap_err();
    assert!(matches!(error, HostError::Gone { .. }));
    let text = error.to_string();
    assert!(text.starts_with("codex ended (exit status: 1)"), "{text}");
    assert!(
        text.ends_with(r#"Error: CODEX_HOME points to "/nowhere", but that path does not exist"#),
        "{text}"
    );
}

#[tokio::test]
async fn the_plan_tool_is_off_by_default() {
    let config = CodexTestConfig { plan_tool: PlanTool::Unset, ..CodexTestConfig::default() };
    for (overrides, expected) in [(vec![], false), (vec![PLAN_TOOL_ON.to_owned()], true)] {
        let model = MockModel::start(ok());
        let (home, repository) = (CodexHome::new(&model, &config), Repository::new());
        let settings = CodexSettings { overrides, ..settings(&home, &repository) };
        let mut codex = Codex::start(&settings).await.unwrap();
        codex.start_turn(&["hello"]).await.unwrap();
        let requests = model.requests_after(1).await;
        assert_eq!(requests[0].tools().contains(&"update_plan"), expected);
    }
}

#[tokio::test]
async fn a_cancelled_wait_loses_no_event() {
    let work = [shell("echo one").input_tokens(9_000), reply("done").input_tokens(9_100)];
    let mut fixture = AdapterFixture::new(ok().on("WORK", work)).await;
    fixture.codex.start_turn(&["WORK"]).await.unwrap();
    fixture.until_turn_ends_impatiently().await;
    fixture.check_events(expect![[r#"
        turn 1 started: Asked
        turn 1 calls shell as call_1_0
        turn 1 ran in $REPO, to 0: 'echo one'
        turn 1 has call_1_0
        turn 1 uses 9029 of Some(190000), goes on: true
        turn 1 says: done
        turn 1 uses 9129 of Some(190000), goes on: false
        turn 1 completed, last said: done
    "#]]);
}

#[tokio::test]
async fn the_wrapper_that_npm_installs_works_as_well() {
    let model = MockModel::start(ok());
    let (home, repository) =
        (CodexHome::new(&model, &CodexTestConfig::default()), Repository::new());
    let settings = CodexSettings { binary: wrapper(), ..settings(&home, &repository) };
    let mut codex = Codex::start(&settings).await.unwrap();
    codex.start_turn(&["hello"]).await.unwrap();
    while !matches!(codex.next_event().await, HostEvent::TurnCompleted { .. }) {}
    Box::new(codex).close().await;
}

#[tokio::test]
async fn the_pinned_version_is_what_runs() {
    assert_eq!(version(&binary()).await.unwrap(), codex::version());
    let fixture = AdapterFixture::new(ok()).await;
    assert_eq!(fixture.codex.thread().host.version, Some(codex::version()));
    Box::new(fixture.codex).close().await;
}

#[tokio::test]
async fn the_probe_reports_features_and_settings() {
    let model = MockModel::start(TurnScript::default());
    let repository = Repository::new();
    for (plan_tool, tables, expected) in [
        (PlanTool::On, "", (Some(true), Some(false))),
        (PlanTool::Unset, "[features.token_budget]\nenabled = true\n", (Some(false), Some(true))),
    ] {
        let config =
            CodexTestConfig { plan_tool, tables: tables.to_owned(), ..CodexTestConfig::default() };
        let home = CodexHome::new(&model, &config);
        let found = probe(&settings(&home, &repository)).await.unwrap();
        assert_eq!((found.update_plan, found.token_budget), expected);
        assert!(found.thread_sample && found.thread_queue);
    }
    assert!(model.requests().is_empty());
}
