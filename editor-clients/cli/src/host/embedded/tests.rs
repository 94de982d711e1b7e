//! The embedded agent by its events: what a driver would see of it.

use std::fmt::Write;
use std::time::Duration;

use expect_test::{Expect, expect};
use tempfile::TempDir;

use super::*;
use crate::host::HostError;

fn says(message: &str) -> Reply {
    Reply { message: Some(message.to_owned()), calls: Vec::new() }
}

fn calls(calls: Vec<Call>) -> Reply {
    Reply { message: None, calls }
}

fn shell(command: &str) -> Call {
    Call::Shell { command: command.to_owned() }
}

fn agent(folder: &TempDir, scenes: Vec<Scene>) -> Embedded {
    let settings = EmbeddedSettings {
        cwd: folder.path().to_owned(),
        environment: Vec::new(),
        pretended: Some("git"),
        context_window: 1000,
        instructions: "12345678".to_owned(),
        prompts: CompactionPrompts {
            compact: "sum up".to_owned(),
            summary_prefix: "In short:\n".to_owned(),
        },
        pace: Duration::ZERO,
    };
    Embedded::start(settings, Script { scenes })
}

fn scene(words: &'static str, replies: Vec<Reply>) -> Scene {
    Scene { cue: Cue::Words(words), replies }
}

/// The events up to the end of a turn, one a line.
async fn turn(host: &mut Embedded) -> String {
    let mut seen = String::new();
    loop {
        let event = host.next_event().await;
        let line = match &event {
            HostEvent::TurnStarted { kind, .. } => format!("started {kind:?}"),
            HostEvent::AgentMessage { text, .. } => format!("says {text}"),
            HostEvent::Usage { usage, needs_follow_up, .. } => {
                format!("usage {} follow-up {needs_follow_up}", usage.context_tokens)
            }
            HostEvent::PlanUpdated { steps, .. } => format!("plan of {}", steps.len()),
            HostEvent::ToolStarted { name, .. } => format!("tool {name}"),
            HostEvent::ToolFinished { .. } => "tool ended".to_owned(),
            HostEvent::CommandFinished { command, exit_code, .. } => {
                format!("ran {command}: {exit_code}")
            }
            HostEvent::CompactionStarted { .. } => "compaction started".to_owned(),
            HostEvent::CompactionCompleted { tokens_after, .. } => {
                format!("compacted to {tokens_after:?}")
            }
            HostEvent::CompactionFailed { error, .. } => format!("not compacted: {error}"),
            HostEvent::TurnCompleted { status, error, .. } => format!("ended {status} {error:?}"),
            other => format!("{other:?}"),
        };
        let _ = writeln!(seen, "{line}");
        if matches!(event, HostEvent::TurnCompleted { .. } | HostEvent::Gone { .. }) {
            return seen;
        }
    }
}

async fn check(scenes: Vec<Scene>, say: &[&str], expected: Expect) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut host = agent(&folder, scenes);
    host.start_turn(say).await.unwrap();
    expected.assert_eq(&turn(&mut host).await);
    host.close().await;
    folder
}

#[tokio::test]
async fn a_turn_samples_until_an_answer_calls_no_tool() {
    let replies = vec![
        calls(vec![
            Call::Write { path: "a/b.txt".to_owned(), content: "hello".to_owned() },
            shell("cat a/b.txt && exit 3"),
        ]),
        says("done with it"),
    ];
    let folder = check(
        vec![scene("go", replies)],
        &["go"],
        expect![[r#"
            started Asked
            usage 27 follow-up true
            tool write
            tool ended
            tool shell
            ran cat a/b.txt && exit 3: 3
            tool ended
            says done with it
            usage 52 follow-up false
            ended completed None
        "#]],
    )
    .await;
    assert_eq!(std::fs::read_to_string(folder.path().join("a/b.txt")).unwrap(), "hello");
}

#[tokio::test]
async fn files_outside_the_folder_are_not_written() {
    for path in ["../up.txt", "/tmp/rawr-never.txt", "a/../../up.txt"] {
        let folder = TempDir::new().unwrap();
        assert!(shell::write(folder.path(), path, "x").is_err(), "{path}");
    }
}

#[tokio::test]
async fn pretended_programs_are_not_run() {
    check(
        vec![scene("go", vec![calls(vec![shell("git status && false")]), says("ok")])],
        &["go"],
        expect![[r#"
            started Asked
            usage 22 follow-up true
            tool shell
            ran git status && false: 0
            tool ended
            says ok
            usage 40 follow-up false
            ended completed None
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_model_that_fails_fails_the_turn() {
    check(
        vec![scene("go", vec![calls(vec![Call::Plan { steps: Vec::new() }])])],
        &["go"],
        expect![[r#"
            started Asked
            usage 18 follow-up true
            tool update_plan
            plan of 0
            tool ended
            ended failed Some("the script's scene Words(\"go\") ends here")
        "#]],
    )
    .await;
}

#[tokio::test]
async fn the_last_item_of_a_message_is_answered() {
    check(
        vec![scene("handoff", vec![says("one")]), scene("question", vec![says("two")])],
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
async fn a_compaction_keeps_the_users_words_and_the_summary() {
    let folder = TempDir::new().unwrap();
    let long = "a long answer ".repeat(40);
    let scenes = vec![
        Scene { cue: Cue::Summary, replies: vec![says("summary")] },
        scene("go", vec![says(&long)]),
    ];
    let mut host = agent(&folder, scenes);
    host.start_turn(&["go"]).await.unwrap();
    let first = turn(&mut host).await;
    assert!(first.contains("usage 155 "), "{first}");
    host.compact().await.unwrap();
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
    let mut host = agent(&folder, vec![scene("go", vec![says("hm")])]);
    host.compact().await.unwrap();
    expect![[r#"
        started Compaction
        compaction started
        not compacted: the script has no scene for this
        ended failed Some("the script has no scene for this")
    "#]]
    .assert_eq(&turn(&mut host).await);
}

#[tokio::test]
async fn while_a_turn_runs_nothing_else_is_begun_and_an_interrupt_ends_it() {
    let folder = TempDir::new().unwrap();
    let scenes = vec![scene("go", vec![calls(vec![shell("sleep 60")])])];
    let mut host = agent(&folder, scenes);
    host.start_turn(&["go"]).await.unwrap();
    while !matches!(host.next_event().await, HostEvent::ToolStarted { .. }) {}
    assert!(matches!(host.start_turn(&["go"]).await, Err(HostError::Busy)));
    assert!(matches!(host.compact().await, Err(HostError::Busy)));
    host.interrupt().await.unwrap();
    expect![[r#"
        tool ended
        ended interrupted None
    "#]]
    .assert_eq(&turn(&mut host).await);
    assert!(matches!(host.interrupt().await, Err(HostError::NoTurn)));
}

#[tokio::test]
async fn what_is_added_to_a_turn_is_answered_in_it() {
    let folder = TempDir::new().unwrap();
    let scenes = vec![
        scene("more", vec![says("more it is")]),
        scene("go", vec![calls(vec![shell("sleep 0.05")]), says("without more")]),
    ];
    let mut host = agent(&folder, scenes);
    let turn_id = host.start_turn(&["go"]).await.unwrap();
    while !matches!(host.next_event().await, HostEvent::ToolStarted { .. }) {}
    assert_eq!(host.steer("more").await.unwrap(), turn_id);
    expect![[r#"
        ran sleep 0.05: 0
        tool ended
        says more it is
        usage 38 follow-up false
        ended completed None
    "#]]
    .assert_eq(&turn(&mut host).await);
}
