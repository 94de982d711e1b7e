//! The same where people use the thread at other clients.

use expect_test::{Expect, expect};
use serde_json::json;

use super::{
    CameInto, CompactionAccepted, Found, Step, TurnAccepted, check_on, compaction, ended, item,
    says, started, status, usage,
};
use crate::host::codex::message::Status;
use crate::host::codex::turns::Turns;

fn check(status: Status, steps: Vec<Step>, expected: Expect) {
    let mut turns = Turns::beside_people("thread".to_owned());
    turns.joined_at(status);
    check_on(turns, steps, expected);
}

fn types(turn: &str, text: &str) -> Step {
    let content = json!([{"type": "text", "text": text}, {"type": "image", "url": "x"}]);
    let message = json!({"type": "userMessage", "id": "u", "clientId": "p", "content": content});
    item("item/started", turn, message)
}

#[test]
fn a_turn_is_whose_message_comes_first() {
    check(
        Status::Idle,
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
fn a_turn_that_runs_already_begins_with_the_first_that_is_told_of_it() {
    check(
        Status::Active,
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
fn a_turn_that_runs_already_and_is_only_told_to_end_has_begun() {
    check(
        Status::Active,
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
        Status::Active,
        vec![CameInto("t2"), started("t3"), ended("t2", "completed"), types("t3", "hello")],
        expect![[r#"
            TurnStarted { turn_id: "t3", kind: Person { text: "hello" } }
            busy
        "#]],
    );
}

#[test]
fn what_is_told_late_of_a_turn_that_is_over_begins_none() {
    check(
        Status::Idle,
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
fn a_persons_turn_that_is_faster_than_a_compaction_stays_a_persons() {
    check(
        Status::Idle,
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
fn a_persons_compaction_is_not_ours() {
    check(
        Status::Idle,
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

/// As they come when rawr joins behind the beginning of the item.
fn compacts(turn: &str) -> Vec<Step> {
    let done = compaction("item/completed", turn);
    vec![usage(turn, 900, 180, 170), usage(turn, 1000, 190, 185), usage(turn, 1000, 6, 0), done]
}

#[test]
fn a_compaction_that_runs_already_tells_no_usage_but_what_it_left() {
    let mut steps = vec![Found(180)];
    steps.extend(compacts("t2"));
    steps.extend([types("t2", "hello"), says("t2", "Here."), usage("t2", 1010, 10, 9)]);
    steps.push(ended("t2", "completed"));
    check(
        Status::Active,
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
fn what_was_used_before_a_turn_that_was_come_into_counts_once_that_ends_without_a_compaction() {
    check(
        Status::Active,
        vec![Found(18), ended("t1", "completed")],
        expect![[r#"
        t0 uses 18, goes on: false
        busy
    "#]],
    );
    check(
        Status::Active,
        vec![Found(18), usage("t1", 100, 20, 19), ended("t1", "completed")],
        expect![[r#"
            TurnStarted { turn_id: "t1", kind: Host }
            t1 uses 20, goes on: false
            t1 completed, last said: None
            busy
        "#]],
    );
    check(
        Status::Idle,
        vec![Found(18)],
        expect![[r#"
        t0 uses 18, goes on: false
    "#]],
    );
}

#[test]
fn what_was_used_before_gives_way_to_what_the_turn_itself_uses() {
    check(
        Status::Active,
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
        Status::Active,
        vec![Found(18), started("t1"), says("t1", "Here.")],
        expect![[r#"
        TurnStarted { turn_id: "t1", kind: Host }
        AgentMessage { turn_id: "t1", text: "Here." }
        busy
    "#]],
    );
}
