//! Tests of a thread that other clients also use.

use expect_test::{Expect, expect};
use serde_json::json;

use super::{
    CameInto, CodexStep, CompactionAccepted, Found, TurnAccepted, check_on, compaction, ended,
    item, says, started, status, usage,
};
use crate::host::codex::message::CodexThreadStatus;
use crate::host::codex::turns::CodexTurns;

fn check(status: CodexThreadStatus, steps: Vec<CodexStep>, expected: Expect) {
    let mut turns = CodexTurns::beside_people("thread".to_owned());
    turns.joined_at(status);
    check_on(turns, steps, expected);
}

fn types(turn: &str, text: &str) -> CodexStep {
    let content = json!([{"type": "text", "text": text}, {"type": "image", "url": "x"}]);
    let message = json!({"type": "userMessage", "id": "u", "clientId": "p", "content": content});
    item("item/started", turn, message)
}

#[test]
fn the_first_message_tells_who_started_a_turn() {
    check(
        CodexThreadStatus::Idle,
        vec![
            started("t1"),
            types("t1", "hello"),
            types("t1", "and this"),
            ended("t1", "completed"),
            started("t2"),
            says("t2", "I go on"),
            ended("t2", "completed"),
            TurnAccepted("t3"),
            started("t3"),
            types("t3", "as asked\n\n[rawr:s1:packet_request]"),
            types("t3", "what time is it?"),
        ],
        expect![[r#"
            TurnStarted { turn_id: "t1", kind: Person { text: "hello" } }
            UserMessage { turn_id: "t1", text: "and this" }
            t1 completed, last said: None
            TurnStarted { turn_id: "t2", kind: Host }
            AgentMessage { turn_id: "t2", text: "I go on" }
            t2 completed, last said: Some("I go on")
            TurnStarted { turn_id: "t3", kind: Asked }
            UserMessage { turn_id: "t3", text: "what time is it?" }
            busy
        "#]],
    );
}

#[test]
fn a_joined_turn_starts_with_its_first_notification() {
    check(
        CodexThreadStatus::Active,
        vec![says("t2", "half done"), says("t1", "late"), ended("t2", "completed")],
        expect![[r#"
            TurnStarted { turn_id: "t2", kind: Host }
            AgentMessage { turn_id: "t2", text: "half done" }
            AgentMessage { turn_id: "t1", text: "late" }
            t2 completed, last said: Some("half done")
            busy
        "#]],
    );
}

#[test]
fn a_joined_turn_starts_even_if_only_its_end_is_reported() {
    check(
        CodexThreadStatus::Active,
        vec![
            CameInto("t2"),
            TurnAccepted("t2"),
            ended("t1", "completed"),
            ended("t2", "completed"),
        ],
        expect![[r#"
            TurnStarted { turn_id: "t2", kind: Asked }
            t2 completed, last said: None
            busy
        "#]],
    );
    check(
        CodexThreadStatus::Active,
        vec![CameInto("t2"), started("t3"), ended("t2", "completed"), types("t3", "hello")],
        expect![[r#"
            TurnStarted { turn_id: "t3", kind: Person { text: "hello" } }
            busy
        "#]],
    );
}

#[test]
fn a_late_notification_starts_no_turn() {
    check(
        CodexThreadStatus::Idle,
        vec![
            started("t2"),
            types("t2", "hello"),
            ended("t2", "completed"),
            status("active"),
            usage("t1", 1, 10, 9),
            usage("t2", 2, 11, 9),
        ],
        expect![[r#"
            TurnStarted { turn_id: "t2", kind: Person { text: "hello" } }
            t2 completed, last said: None
            t1 uses 10, goes on: true
            t2 uses 11, goes on: true
            busy
        "#]],
    );
}

#[test]
fn a_user_turn_before_a_compaction_stays_a_user_turn() {
    check(
        CodexThreadStatus::Idle,
        vec![
            CompactionAccepted,
            started("t1"),
            types("t1", "wait"),
            ended("t1", "interrupted"),
            started("t2"),
            compaction("item/started", "t2"),
            compaction("item/completed", "t2"),
            ended("t2", "completed"),
        ],
        expect![[r#"
            TurnStarted { turn_id: "t1", kind: Person { text: "wait" } }
            t1 interrupted, last said: None
            TurnStarted { turn_id: "t2", kind: Compaction }
            CompactionStarted { turn_id: "t2", origin: Rawr }
            CompactionCompleted { turn_id: "t2", origin: Rawr, tokens_after: None }
            t2 completed, last said: None
        "#]],
    );
}

#[test]
fn a_users_compaction_is_not_rawrs() {
    check(
        CodexThreadStatus::Idle,
        vec![
            started("t"),
            compaction("item/started", "t"),
            compaction("item/completed", "t"),
            ended("t", "completed"),
        ],
        expect![[r#"
            TurnStarted { turn_id: "t", kind: Host }
            CompactionStarted { turn_id: "t", origin: Host }
            CompactionCompleted { turn_id: "t", origin: Host, tokens_after: None }
            t completed, last said: None
        "#]],
    );
}

/// The notifications if rawr joins after the start of the item.
fn compacts(turn: &str) -> Vec<CodexStep> {
    let done = compaction("item/completed", turn);
    vec![usage(turn, 900, 180, 170), usage(turn, 1000, 190, 185), usage(turn, 1000, 6, 0), done]
}

#[test]
fn a_joined_compaction_reports_only_its_estimate() {
    let mut steps = vec![Found(180)];
    steps.extend(compacts("t2"));
    steps.extend([types("t2", "hello"), says("t2", "Here."), usage("t2", 1010, 10, 9)]);
    steps.push(ended("t2", "completed"));
    check(
        CodexThreadStatus::Active,
        steps,
        expect![[r#"
            TurnStarted { turn_id: "t2", kind: Host }
            CompactionStarted { turn_id: "t2", origin: Host }
            CompactionCompleted { turn_id: "t2", origin: Host, tokens_after: Some(6) }
            UserMessage { turn_id: "t2", text: "hello" }
            AgentMessage { turn_id: "t2", text: "Here." }
            t2 uses 10, goes on: false
            t2 completed, last said: Some("Here.")
            busy
        "#]],
    );
}

#[test]
fn earlier_usage_is_reported_after_a_joined_turn_without_a_compaction() {
    check(
        CodexThreadStatus::Active,
        vec![Found(18), ended("t1", "completed")],
        expect![[r#"
        t0 uses 18, goes on: false
        busy
    "#]],
    );
    check(
        CodexThreadStatus::Active,
        vec![Found(18), usage("t1", 100, 20, 19), ended("t1", "completed")],
        expect![[r#"
            TurnStarted { turn_id: "t1", kind: Host }
            t1 uses 20, goes on: false
            t1 completed, last said: None
            busy
        "#]],
    );
    check(
        CodexThreadStatus::Idle,
        vec![Found(18)],
        expect![[r#"
        t0 uses 18, goes on: false
    "#]],
    );
}

#[test]
fn the_turns_own_usage_replaces_earlier_usage() {
    check(
        CodexThreadStatus::Active,
        vec![Found(18), says("t1", "Here."), usage("t1", 100, 20, 19), ended("t1", "completed")],
        expect![[r#"
            TurnStarted { turn_id: "t1", kind: Host }
            AgentMessage { turn_id: "t1", text: "Here." }
            t1 uses 20, goes on: false
            t1 completed, last said: Some("Here.")
            busy
        "#]],
    );
    check(
        CodexThreadStatus::Active,
        vec![Found(18), started("t1"), says("t1", "Here.")],
        expect![[r#"
        TurnStarted { turn_id: "t1", kind: Host }
        AgentMessage { turn_id: "t1", text: "Here." }
        busy
    "#]],
    );
}
