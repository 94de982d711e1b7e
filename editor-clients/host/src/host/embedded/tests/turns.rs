//! Tests of turns and their tools.

use expect_test::expect;

use super::*;

#[tokio::test]
async fn a_turn_samples_until_an_answer_calls_no_tool() {
    let path = || "a/b.txt".to_owned();
    let replies = vec![
        ScriptLine::does([
            Tool::WriteFile { path: path(), content: "hello".to_owned() },
            Tool::ReadFile { path: path(), first_line: None, lines: None },
            shell("cat a/b.txt && exit 3"),
        ]),
        ScriptLine::says("done with it"),
    ];
    let folder = check(
        vec![on("go", replies)],
        &["go"],
        expect![[r#"
        started Asked
        tool write_file
        tool ended
        tool read_file
        tool ended
        tool shell
        ran cat a/b.txt && exit 3: 3
        tool ended
        usage 68 follow-up true
        says done with it
        usage 75 follow-up false
        ended completed None
    "#]],
    )
    .await;
    assert_eq!(std::fs::read_to_string(folder.path().join("a/b.txt")).unwrap(), "hello");
}

#[tokio::test]
async fn pretended_programs_are_not_run() {
    let replies = vec![ScriptLine::does([shell("git status && false")]), ScriptLine::says("ok")];
    check(
        vec![on("go", replies)],
        &["go"],
        expect![[r#"
        started Asked
        tool shell
        ran git status && false: 0
        tool ended
        usage 38 follow-up true
        says ok
        usage 43 follow-up false
        ended completed None
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_failed_turn_does_not_prevent_the_next() {
    let folder = TempDir::new().unwrap();
    let failing = ScriptLine { fails: Some("no more credit".to_owned()), ..ScriptLine::default() };
    let scenes = vec![
        on("go", vec![ScriptLine::does([plan()])]),
        on("pay", vec![failing]),
        on("again", vec![ScriptLine::says("here")]),
    ];
    let mut host = agent(&folder, scenes);
    for (say, expected) in [
        (
            "go",
            expect![[r#"
            started Asked
            tool update_plan
            plan of 0
            tool ended
            usage 30 follow-up true
            ended failed Some("the script's scene Words(\"go\") ends here")
        "#]],
        ),
        (
            "pay",
            expect![[r#"
            started Asked
            ended failed Some("no more credit")
        "#]],
        ),
        (
            "again",
            expect![[r#"
            started Asked
            says here
            usage 46 follow-up false
            ended completed None
        "#]],
        ),
    ] {
        host.start_turn(&[say]).await.unwrap();
        expected.assert_eq(&turn(&mut host).await);
    }
}

#[tokio::test]
async fn the_last_item_of_a_message_is_answered() {
    check(
        vec![
            on("handoff", vec![ScriptLine::says("one")]),
            on("question", vec![ScriptLine::says("two")]),
        ],
        &["handoff", "question"],
        expect![[r#"
            started Asked
            says two
            usage 23 follow-up false
            ended completed None
        "#]],
    )
    .await;
}

#[tokio::test]
async fn the_providers_count_is_preferred_to_the_estimate() {
    let counted =
        |tokens| ScriptLine { context_tokens: Some(tokens), ..ScriptLine::does([shell("true")]) };
    let last = ScriptLine { context_tokens: Some(700), ..ScriptLine::says("done") };
    check(
        vec![on("go", vec![counted(500), last])],
        &["go"],
        expect![[r#"
        started Asked
        tool shell
        ran true: 0
        tool ended
        usage 507 follow-up true
        says done
        usage 700 follow-up false
        ended completed None
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_running_turn_refuses_other_work_and_can_be_interrupted() {
    let folder = TempDir::new().unwrap();
    let mut host = agent(&folder, vec![on("go", vec![ScriptLine::does([shell("sleep 60")])])]);
    host.start_turn(&["go"]).await.unwrap();
    until(&mut host, "tool shell").await;
    let order = CompactionOrder::default();
    assert!(matches!(host.start_turn(&["go"]).await, Err(HostError::Busy)));
    assert!(matches!(host.compact(&order).await, Err(HostError::Busy)));
    host.interrupt().await.unwrap();
    expect![[r#"
        tool ended
        usage 34 follow-up false
        ended interrupted None
    "#]]
    .assert_eq(&turn(&mut host).await);
    assert!(matches!(host.interrupt().await, Err(HostError::NoTurn)));
    assert!(matches!(host.steer("more").await, Err(HostError::NoTurn)));
}

#[tokio::test]
async fn every_call_has_a_result_after_an_interrupt() {
    let folder = TempDir::new().unwrap();
    let seen = Arc::default();
    let scenes = vec![
        on("again", vec![ScriptLine::says("ok")]),
        on("go", vec![ScriptLine::does([shell("sleep 60"), shell("true")])]),
    ];
    let model = Spied { script: Script::new(scenes), seen: Arc::clone(&seen) };
    let mut host = Embedded::start(settings(&folder), model);
    host.start_turn(&["go"]).await.unwrap();
    until(&mut host, "tool shell").await;
    host.interrupt().await.unwrap();
    turn(&mut host).await;
    host.start_turn(&["again"]).await.unwrap();
    turn(&mut host).await;
    let seen = seen.lock().unwrap();
    let mut open = Vec::new();
    for item in seen.last().unwrap() {
        match item {
            AgentItem::Assistant { calls, .. } => {
                open.extend(calls.iter().map(|call| call.id.clone()))
            }
            AgentItem::Result { call_id, .. } => open.retain(|id| id != call_id),
            _ => {}
        }
    }
    assert_eq!((open, seen.len()), (vec![], 2));
}

#[tokio::test]
async fn an_interrupt_kills_the_descendants_of_a_command() {
    let folder = TempDir::new().unwrap();
    let line = "sh -c 'echo $$ > child; sleep 60' & echo $$ > parent; wait";
    let mut host = agent(&folder, vec![on("go", vec![ScriptLine::does([shell(line)])])]);
    host.start_turn(&["go"]).await.unwrap();
    until(&mut host, "tool shell").await;
    let process = |name: &str| {
        let text = std::fs::read_to_string(folder.path().join(name)).ok()?;
        rustix::process::Pid::from_raw(text.trim().parse().ok()?)
    };
    while process("child").is_none() || process("parent").is_none() {
        tokio::task::yield_now().await;
    }
    host.interrupt().await.unwrap();
    turn(&mut host).await;
    for name in ["child", "parent"] {
        // Each process is killed at once, and gone as soon as its parent has waited for it.
        while is_running(process(name).unwrap()) {
            tokio::task::yield_now().await;
        }
    }
}

/// Zombie processes do not count.
fn is_running(process: rustix::process::Pid) -> bool {
    if rustix::process::test_kill_process(process).is_err() {
        return false;
    }
    let about = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    about.is_ok_and(|about| !about.contains(") Z "))
}

#[tokio::test]
async fn a_command_is_stopped_at_its_time_limit_with_its_descendants() {
    let quick = Tool::Shell { command: "sleep 60 & echo begun".to_owned(), timeout_seconds: None };
    let slow = Tool::Shell { command: "echo begun; sleep 60".to_owned(), timeout_seconds: Some(1) };
    let replies = vec![ScriptLine::does([quick, slow]), ScriptLine::says("ok")];
    check(
        vec![on("go", replies)],
        &["go"],
        expect![[r#"
        started Asked
        tool shell
        ran sleep 60 & echo begun: 0
        tool ended
        tool shell
        ran echo begun; sleep 60: 124
        tool ended
        usage 63 follow-up true
        says ok
        usage 68 follow-up false
        ended completed None
    "#]],
    )
    .await;
}

/// Ids of turns restart at one in each thread, so the thread's id must be new.
#[tokio::test]
async fn a_resumed_history_gets_a_new_thread() {
    let folder = TempDir::new().unwrap();
    let mut first = agent(&folder, vec![on("go", vec![ScriptLine::says("done")])]);
    first.start_turn(&["go"]).await.unwrap();
    turn(&mut first).await;
    let history = first.history().await.unwrap();
    let next = Embedded::resume(settings(&folder), Script::new(Vec::new()), history).unwrap();
    assert_ne!(first.thread().thread_id, next.thread().thread_id);
}

// rule: overflow.continues
#[tokio::test]
async fn a_refused_message_leaves_the_history_and_its_size_is_reported() {
    let folder = TempDir::new().unwrap();
    let too_long = || ScriptLine { too_long: true, ..ScriptLine::default() };
    let seen = Arc::default();
    let scenes = vec![
        on("big", vec![too_long()]),
        on("again", vec![ScriptLine::says("here")]),
        on("go", vec![ScriptLine::does([plan()]), too_long()]),
    ];
    let model = Spied { script: Script::new(scenes), seen: Arc::clone(&seen) };
    let mut host = Embedded::start(settings(&folder), model);
    for (say, expected) in [
        (
            "big",
            expect![[r#"
            started Asked
            ended failed Some("the conversation does not fit the model's context window: says the script") ContextOverflow { request_tokens: Some(11), context_window: None }
        "#]],
        ),
        (
            "again",
            expect![[r#"
            started Asked
            says here
            usage 17 follow-up false
            ended completed None
        "#]],
        ),
        (
            "go",
            expect![[r#"
            started Asked
            tool update_plan
            plan of 0
            tool ended
            usage 41 follow-up true
            ended failed Some("the conversation does not fit the model's context window: says the script") ContextOverflow { request_tokens: Some(41), context_window: None }
        "#]],
        ),
        (
            "again",
            expect![[r#"
            started Asked
            says here
            usage 52 follow-up false
            ended completed None
        "#]],
        ),
    ] {
        host.start_turn(&[say]).await.unwrap();
        expected.assert_eq(&turn(&mut host).await);
    }
    let seen = seen.lock().unwrap();
    let last = seen.last().unwrap();
    assert!(!last.contains(&AgentItem::user("big")), "{last:?}");
    assert!(last.contains(&AgentItem::user("go")), "{last:?}");
}
