//! The Codex host adapter against the real Codex. Each case is a rule of the adapter; none reaches a network or a login.

mod lab;
mod questions;

use std::path::Path;

use expect_test::expect;
use lab::{Lab, settings};
use rawr_host::host::codex::{Codex, CodexSettings, PLAN_TOOL_ON, find_codex, probe, version};
use rawr_host::host::{CompactionOrder, Host, HostError, HostEvent};
use rawr_tests::codex::{CodexHome, Config, PlanTool, binary, wrapper};
use rawr_tests::mock_responses::{
    Purpose, Reply, Script, call, custom_call, http_error, say, stall,
};
use rawr_tests::{MockModel, Repository};
use serde_json::json;

/// Says "ok" to everything, at a stated price.
fn ok() -> Script {
    Script::default().otherwise([say("ok").input_tokens(9_500)])
}

fn shell(command: &str) -> Reply {
    call("exec_command", json!({ "cmd": command }))
}

/// A command that runs until [`Lab::go`].
const WAIT_FOR_GO: &str = "until test -e go; do sleep 0.05; done";

fn plan(explanation: &str, steps: [(&str, &str); 2]) -> Reply {
    let steps: Vec<_> =
        steps.iter().map(|(step, status)| json!({"step": step, "status": status})).collect();
    call("update_plan", json!({"explanation": explanation, "plan": steps}))
}

#[tokio::test]
async fn a_turn_tells_plans_commands_usage_and_messages_and_its_commit_is_real() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch";
    let work = [
        say("I will plan first.")
            .and(plan("start", [("write file", "in_progress"), ("commit", "pending")]))
            .input_tokens(121_000),
        custom_call("apply_patch", patch).input_tokens(128_000),
        plan("wrote it", [("write file", "completed"), ("commit", "in_progress")])
            .input_tokens(131_500),
        shell("git add -A && git commit -q -m 'add a.txt'").input_tokens(136_200),
        say("Done: file written and committed.").input_tokens(143_100),
    ];
    let mut lab = Lab::new(Script::default().on("DO-WORK", work)).await;
    lab.turn("DO-WORK please").await;
    lab.check_events(expect![[r#"
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
    assert_eq!(lab.repository.subjects(), ["add a.txt", "begin"]);
    assert_eq!(lab.codex.thread().context_window, Some(190_000));
}

#[tokio::test]
async fn after_a_compaction_user_messages_and_a_summary_are_all_that_the_model_is_sent() {
    let script = ok()
        .on(
            "DO-WORK",
            [shell("echo working").input_tokens(100_000), say("worked").input_tokens(110_000)],
        )
        .on("NOTES", [say("<packet>go on with step 2</packet>").input_tokens(120_000)])
        .on_compaction([say("A summary of it all.").input_tokens(121_000)]);
    let mut lab = Lab::new(script).await;
    lab.turn("DO-WORK please").await;
    lab.turn("NOTES please").await;
    lab.forget_events();
    lab.compaction().await;
    lab.turn("HANDOFF: go on with step 2").await;
    lab.check_events(expect![[r#"
        turn 3 started: Compaction
        turn 3 compacts for rawr
        turn 3 has compacted for rawr, with an estimate
        turn 3 completed, last said: nothing
        turn 4 started: Asked
        turn 4 says: ok
        turn 4 uses 9529 of Some(190000), goes on: false
        turn 4 completed, last said: ok
    "#]]);

    let requests = lab.model.requests();
    let compaction = &requests[requests.len() - 2];
    assert_eq!(compaction.purpose, Purpose::LocalCompaction);
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
async fn a_compaction_that_the_model_refuses_has_failed_and_the_history_is_as_it_was() {
    let script = ok()
        .on("REMEMBER", [say("remembered").input_tokens(9_000)])
        .on_compaction([http_error(500)]);
    let mut lab = Lab::new(script).await;
    lab.turn("REMEMBER this").await;
    lab.forget_events();
    lab.compaction().await;
    lab.turn("next").await;
    lab.check_events(expect![[r#"
        turn 2 started: Compaction
        turn 2 compacts for rawr
        turn 2 has not compacted for rawr
        turn 2 failed, with an error, last said: nothing
        turn 3 started: Asked
        turn 3 says: ok
        turn 3 uses 9529 of Some(190000), goes on: false
        turn 3 completed, last said: ok
    "#]]);
    let requests = lab.model.requests();
    assert_eq!(requests[requests.len() - 1].messages("assistant"), ["remembered"]);
}

#[tokio::test]
async fn an_empty_summary_is_a_compaction_all_the_same() {
    let mut lab = Lab::new(
        ok().on("REMEMBER", [say("remembered").input_tokens(9_000)]).on_compaction([say("")]),
    )
    .await;
    lab.turn("REMEMBER this").await;
    lab.forget_events();
    lab.compaction().await;
    lab.turn("next").await;
    lab.check_events(expect![[r#"
        turn 2 started: Compaction
        turn 2 compacts for rawr
        turn 2 has compacted for rawr, with an estimate
        turn 2 completed, last said: nothing
        turn 3 started: Asked
        turn 3 says: ok
        turn 3 uses 9529 of Some(190000), goes on: false
        turn 3 completed, last said: ok
    "#]]);
    let requests = lab.model.requests();
    assert_eq!(requests[requests.len() - 1].messages("assistant"), Vec::<String>::new());
}

#[tokio::test]
async fn an_interrupted_compaction_has_failed() {
    let mut lab = Lab::new(ok().on_compaction([stall()])).await;
    lab.turn("hello").await;
    lab.forget_events();
    lab.codex.compact(&CompactionOrder::default()).await.unwrap();
    lab.model.requests_after(2).await;
    lab.until(|event| matches!(event, HostEvent::CompactionStarted { .. })).await;
    lab.codex.interrupt().await.unwrap();
    lab.until_turn_ends().await;
    lab.check_events(expect![[r#"
        turn 2 started: Compaction
        turn 2 compacts for rawr
        turn 2 has not compacted for rawr
        turn 2 interrupted, last said: nothing
    "#]]);
}

#[tokio::test]
async fn no_compaction_and_no_turn_is_asked_for_while_a_turn_runs() {
    let mut lab = Lab::new(ok().on("HANG", [stall()])).await;
    lab.codex.start_turn(&["HANG"]).await.unwrap();
    assert!(matches!(lab.codex.compact(&CompactionOrder::default()).await, Err(HostError::Busy)));
    lab.until(|event| matches!(event, HostEvent::TurnStarted { .. })).await;
    assert!(matches!(lab.codex.compact(&CompactionOrder::default()).await, Err(HostError::Busy)));
    assert!(matches!(lab.codex.start_turn(&["more"]).await, Err(HostError::Busy)));
    lab.codex.interrupt().await.unwrap();
    lab.until_turn_ends().await;
    assert!(matches!(lab.codex.interrupt().await, Err(HostError::NoTurn)));
    lab.compaction().await;
    lab.check_events(expect![[r#"
        turn 1 started: Asked
        turn 1 interrupted, last said: nothing
        turn 2 started: Compaction
        turn 2 compacts for rawr
        turn 2 has compacted for rawr, with an estimate
        turn 2 completed, last said: nothing
    "#]]);
}

#[tokio::test]
async fn codex_compacting_by_itself_inside_a_turn_is_told_as_the_hosts() {
    // By itself Codex would compact at 90% of 20,000; what rawr sets leaves it the full window of 19,000.
    let work = [
        shell("echo one").input_tokens(18_000),
        shell("echo two").input_tokens(19_500),
        say("done").input_tokens(8_000),
    ];
    let script = ok().on("DO-WORK", work);
    let mut lab =
        Lab::configured(script, &Config { context_window: 20_000, ..Config::default() }).await;
    lab.turn("DO-WORK please").await;
    lab.check_events(expect![[r#"
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
    let script = Script::default()
        .on("WAIT", [shell(WAIT_FOR_GO).input_tokens(9_000), say("waited")])
        .on("ALSO", [say("that too").input_tokens(9_200)]);
    let mut lab = Lab::new(script).await;
    let turn = lab.codex.start_turn(&["WAIT"]).await.unwrap();
    lab.until(|event| matches!(event, HostEvent::ToolStarted { .. })).await;
    assert_eq!(lab.codex.steer("ALSO this").await.unwrap(), turn);
    lab.go();
    lab.until_turn_ends().await;
    lab.check_events(expect![[r#"
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
async fn the_items_of_an_input_stay_apart_in_one_message() {
    let mut lab = Lab::new(ok()).await;
    lab.codex.start_turn(&["the handoff", "the input"]).await.unwrap();
    lab.until_turn_ends().await;
    let requests = lab.model.requests();
    let message = requests[0].input().last().unwrap();
    expect![[
        r#"[{"text":"the handoff","type":"input_text"},{"text":"the input","type":"input_text"}]"#
    ]]
    .assert_eq(&message["content"].to_string());
}

#[tokio::test]
async fn a_command_that_outlives_its_turn_is_told_when_it_ends() {
    let command = json!({"cmd": WAIT_FOR_GO, "yield_time_ms": 250});
    let serve =
        [call("exec_command", command).input_tokens(9_000), say("it runs").input_tokens(9_100)];
    let mut lab = Lab::new(Script::default().on("SERVE", serve)).await;
    lab.turn("SERVE").await;
    lab.go();
    lab.until(|event| matches!(event, HostEvent::ToolFinished { .. })).await;
    lab.check_events(expect![[r#"
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
async fn a_turn_that_codex_starts_for_itself_is_the_hosts_own() {
    let goal = call("create_goal", json!({"objective": "Count to three."})).input_tokens(9_000);
    let script =
        Script::default().on("GOAL", [goal, say("one").input_tokens(9_100)]).otherwise([stall()]);
    let mut lab = Lab::new(script).await;
    lab.turn("GOAL").await;
    lab.model.requests_after(3).await;
    assert!(matches!(lab.codex.compact(&CompactionOrder::default()).await, Err(HostError::Busy)));
    lab.forget_events();
    lab.until(|event| matches!(event, HostEvent::TurnStarted { .. })).await;
    lab.codex.interrupt().await.unwrap();
    lab.until_turn_ends().await;
    lab.check_events(expect![[r#"
        turn 2 started: Host
        turn 2 interrupted, last said: nothing
    "#]]);
}

#[tokio::test]
async fn a_killed_codex_is_gone_and_every_further_request_says_so() {
    let mut lab = Lab::new(ok().on("HANG", [stall()])).await;
    lab.codex.start_turn(&["HANG"]).await.unwrap();
    lab.model.requests_after(1).await;
    let killed = std::process::Command::new("kill")
        .args(["-9", &lab.process_id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    lab.until(|event| matches!(event, HostEvent::Gone { .. })).await;
    assert!(matches!(lab.codex.steer("more").await, Err(HostError::Gone { .. })));
    let HostEvent::Gone { reason } = lab.codex.next_event().await else {
        panic!("only the end is told after the end")
    };
    assert!(reason.starts_with("codex ended (signal: 9 (SIGKILL))"), "{reason}");
    // Codex always says something about a home in a temporary folder.
    assert!(reason.contains("its last words: WARNING"), "{reason}");
}

#[tokio::test]
async fn a_codex_that_refuses_its_configuration_says_where_it_is_wrong() {
    let model = MockModel::start(Script::default());
    let (home, repository) = (CodexHome::new(&model, &Config::default()), Repository::new());
    std::fs::write(home.path().join("config.toml"), "model = [").unwrap();
    let error = Codex::start(&settings(&home, &repository)).await.unwrap_err().to_string();
    assert!(error.contains("config.toml:1:10"), "{error}");
}

#[tokio::test]
async fn a_codex_that_ends_at_once_is_quoted() {
    let model = MockModel::start(Script::default());
    let (home, repository) = (CodexHome::new(&model, &Config::default()), Repository::new());
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
async fn a_missing_binary_is_said_with_what_to_do() {
    let absent = Path::new("/nowhere/codex");
    expect!["/nowhere/codex is not an executable; pass one with `--codex PATH`"]
        .assert_eq(&find_codex(Some(absent)).unwrap_err().to_string());
    let settings = CodexSettings::new(absent.to_owned(), std::env::temp_dir());
    assert!(matches!(Codex::start(&settings).await, Err(HostError::NotStarted { .. })));
}

#[tokio::test]
async fn the_plan_tool_is_off_until_it_is_switched_on() {
    let config = Config { plan_tool: PlanTool::Unset, ..Config::default() };
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
async fn a_wait_that_is_given_up_loses_nothing() {
    let work = [shell("echo one").input_tokens(9_000), say("done").input_tokens(9_100)];
    let mut lab = Lab::new(ok().on("WORK", work)).await;
    lab.codex.start_turn(&["WORK"]).await.unwrap();
    lab.until_turn_ends_impatiently().await;
    lab.check_events(expect![[r#"
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
    let (home, repository) = (CodexHome::new(&model, &Config::default()), Repository::new());
    let settings = CodexSettings { binary: wrapper(), ..settings(&home, &repository) };
    let mut codex = Codex::start(&settings).await.unwrap();
    codex.start_turn(&["hello"]).await.unwrap();
    while !matches!(codex.next_event().await, HostEvent::TurnCompleted { .. }) {}
    codex.close().await;
}

#[tokio::test]
async fn the_pinned_version_is_what_runs() {
    assert_eq!(version(&binary()).await.unwrap(), "0.169.0");
    let lab = Lab::new(ok()).await;
    assert_eq!(lab.codex.thread().host.version.as_deref(), Some("0.169.0"));
    lab.codex.close().await;
}

#[tokio::test]
async fn the_probe_tells_abilities_and_settings_that_matter() {
    let model = MockModel::start(Script::default());
    let repository = Repository::new();
    for (plan_tool, tables, expected) in [
        (PlanTool::On, "", (Some(true), Some(false))),
        (PlanTool::Unset, "[features.token_budget]\nenabled = true\n", (Some(false), Some(true))),
    ] {
        let config = Config { plan_tool, tables: tables.to_owned(), ..Config::default() };
        let home = CodexHome::new(&model, &config);
        let found = probe(&settings(&home, &repository)).await.unwrap();
        assert_eq!((found.update_plan, found.token_budget), expected);
        assert!(found.thread_sample && found.thread_queue);
    }
    assert!(model.requests().is_empty());
}
