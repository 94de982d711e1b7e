//! Tests of the fold over notifications as Codex writes them.

mod people;

use expect_test::{Expect, expect};
use rawr_protocol::TokenUsage;
use serde_json::{Value, json};

use super::CodexTurns;
use crate::host::HostEvent;
use crate::host::codex::message::CodexNotification;

/// An input of the fold: a notification, or an accepted request.
enum CodexStep {
    Note(&'static str, Value),
    TurnAccepted(&'static str),
    CompactionAccepted,
    /// The last usage in the thread's file.
    Found(u64),
    /// The running turn in the thread's file.
    CameInto(&'static str),
}
use CodexStep::{CameInto, CompactionAccepted, Found, TurnAccepted};

fn check(steps: Vec<CodexStep>, expected: Expect) {
    check_on(CodexTurns::new("thread".to_owned()), steps, expected);
}

fn check_on(mut turns: CodexTurns, steps: Vec<CodexStep>, expected: Expect) {
    let mut told = String::new();
    for step in steps {
        match step {
            CodexStep::Note(method, params) => {
                let note = CodexNotification::read(method, params).unwrap().unwrap();
                told.extend(turns.read(note).iter().map(|event| short(event) + "\n"));
            }
            TurnAccepted(turn_id) => turns.turn_promised(turn_id),
            CameInto(turn_id) => turns.came_into(turn_id.to_owned()),
            CompactionAccepted => turns.compaction_promised(),
            Found(tokens) => {
                let usage = HostEvent::Usage {
                    turn_id: "t0".to_owned(),
                    usage: TokenUsage {
                        context_tokens: tokens,
                        input_tokens: None,
                        cached_input_tokens: None,
                        output_tokens: None,
                        reasoning_tokens: None,
                        cache_seconds: None,
                    },
                    context_window: None,
                    needs_follow_up: false,
                };
                told.extend(turns.found(usage).map(|event| short(&event) + "\n"));
            }
        }
    }
    if turns.is_busy() {
        told.push_str("busy\n");
    }
    expected.assert_eq(&told);
}

fn short(event: &HostEvent) -> String {
    match event {
        HostEvent::Usage { turn_id, usage, needs_follow_up, .. } => {
            format!("{turn_id} uses {}, goes on: {needs_follow_up}", usage.context_tokens)
        }
        HostEvent::TurnCompleted { turn_id, status, last_agent_message, overflow, .. } => {
            let overflow = overflow.map(|overflow| format!(", {overflow:?}")).unwrap_or_default();
            format!("{turn_id} {status}, last said: {last_agent_message:?}{overflow}")
        }
        other => format!("{other:?}"),
    }
}

fn started(turn: &str) -> CodexStep {
    CodexStep::Note(
        "turn/started",
        json!({"threadId": "thread", "turn": {"id": turn, "status": "inProgress"}}),
    )
}

fn ended(turn: &str, status: &str) -> CodexStep {
    CodexStep::Note(
        "turn/completed",
        json!({"threadId": "thread", "turn": {"id": turn, "status": status, "items": []}}),
    )
}

fn status(kind: &str) -> CodexStep {
    CodexStep::Note(
        "thread/status/changed",
        json!({"threadId": "thread", "status": {"type": kind, "activeFlags": []}}),
    )
}

fn item(method: &'static str, turn: &str, item: Value) -> CodexStep {
    CodexStep::Note(method, json!({"threadId": "thread", "turnId": turn, "item": item}))
}

fn user_message(turn: &str) -> CodexStep {
    item("item/started", turn, json!({"type": "userMessage", "id": "u"}))
}

fn says(turn: &str, text: &str) -> CodexStep {
    item("item/completed", turn, json!({"type": "agentMessage", "id": "m", "text": text}))
}

fn compaction(method: &'static str, turn: &str) -> CodexStep {
    item(method, turn, json!({"type": "contextCompaction", "id": "c"}))
}

fn usage(turn: &str, bill: u64, context: u64, input: u64) -> CodexStep {
    let tokens = |total: u64, input: u64| json!({"totalTokens": total, "inputTokens": input, "cachedInputTokens": 0, "outputTokens": 0, "reasoningOutputTokens": 0});
    let usage = json!({"total": tokens(bill, bill), "last": tokens(context, input), "modelContextWindow": 190_000});
    CodexStep::Note(
        "thread/tokenUsage/updated",
        json!({"threadId": "thread", "turnId": turn, "tokenUsage": usage}),
    )
}

#[test]
fn an_unrequested_turn_is_the_hosts_own() {
    let steps = vec![started("t"), user_message("t"), says("t", "hello"), ended("t", "completed")];
    check(
        vec![started("t")],
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Host }
        busy
    "#]],
    );
    check(
        steps,
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Host }
        AgentMessage { turn_id: "t", text: "hello" }
        t completed, last said: Some("hello")
    "#]],
    );
}

#[test]
fn the_host_is_busy_once_it_accepts_a_turn() {
    check(
        vec![TurnAccepted("t")],
        expect![[r#"
        busy
    "#]],
    );
    check(
        vec![TurnAccepted("t"), started("t")],
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Asked }
        busy
    "#]],
    );
    check(
        vec![TurnAccepted("t"), started("t"), ended("t", "interrupted")],
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Asked }
        t interrupted, last said: None
    "#]],
    );
}

#[test]
fn an_active_thread_is_busy_without_a_turn() {
    check(
        vec![status("active")],
        expect![[r#"
        busy
    "#]],
    );
    check(vec![status("active"), status("systemError")], expect![[""]]);
}

#[test]
fn a_requested_compaction_needs_its_item_and_its_turns_end() {
    let begun = || vec![CompactionAccepted, started("c"), compaction("item/started", "c")];
    let with = |more: Vec<CodexStep>| begun().into_iter().chain(more).collect::<Vec<_>>();
    check(
        with(vec![]),
        expect![[r#"
        TurnStarted { turn_id: "c", kind: Compaction }
        CompactionStarted { turn_id: "c", origin: Rawr }
        busy
    "#]],
    );
    check(
        with(vec![compaction("item/completed", "c"), ended("c", "completed")]),
        expect![[r#"
        TurnStarted { turn_id: "c", kind: Compaction }
        CompactionStarted { turn_id: "c", origin: Rawr }
        CompactionCompleted { turn_id: "c", origin: Rawr, tokens_after: None }
        c completed, last said: None
    "#]],
    );
    check(
        with(vec![ended("c", "completed")]),
        expect![[r#"
        TurnStarted { turn_id: "c", kind: Compaction }
        CompactionStarted { turn_id: "c", origin: Rawr }
        CompactionFailed { turn_id: "c", origin: Rawr, error: "the compaction's turn ended without a compaction" }
        c completed, last said: None
    "#]],
    );
    check(
        with(vec![compaction("item/completed", "c"), ended("c", "failed")]),
        expect![[r#"
        TurnStarted { turn_id: "c", kind: Compaction }
        CompactionStarted { turn_id: "c", origin: Rawr }
        CompactionFailed { turn_id: "c", origin: Rawr, error: "the compaction's turn failed" }
        c failed, last said: None
    "#]],
    );
    check(
        with(vec![ended("c", "interrupted")]),
        expect![[r#"
        TurnStarted { turn_id: "c", kind: Compaction }
        CompactionStarted { turn_id: "c", origin: Rawr }
        CompactionFailed { turn_id: "c", origin: Rawr, error: "the compaction was interrupted" }
        c interrupted, last said: None
    "#]],
    );
}

#[test]
fn a_compaction_stopped_by_a_hook_has_failed() {
    check(
        vec![CompactionAccepted, started("c"), ended("c", "interrupted")],
        expect![[r#"
        TurnStarted { turn_id: "c", kind: Compaction }
        CompactionFailed { turn_id: "c", origin: Rawr, error: "the compaction was interrupted" }
        c interrupted, last said: None
    "#]],
    );
}

#[test]
fn a_turn_that_starts_before_the_compaction_is_the_hosts_own() {
    let steps = vec![
        CompactionAccepted,
        started("goal"),
        says("goal", "on it"),
        ended("goal", "interrupted"),
        started("c"),
        compaction("item/started", "c"),
    ];
    check(
        steps,
        expect![[r#"
        TurnStarted { turn_id: "goal", kind: Host }
        AgentMessage { turn_id: "goal", text: "on it" }
        goal interrupted, last said: Some("on it")
        TurnStarted { turn_id: "c", kind: Compaction }
        CompactionStarted { turn_id: "c", origin: Rawr }
        busy
    "#]],
    );
}

#[test]
fn a_compactions_usage_is_not_reported_except_its_estimate() {
    let steps = vec![
        CompactionAccepted,
        started("c"),
        compaction("item/started", "c"),
        usage("c", 900, 144_057, 144_000),
        usage("c", 950, 144_645, 144_600),
        usage("c", 950, 6_907, 0),
        compaction("item/completed", "c"),
        usage("c", 950, 6_907, 0),
        ended("c", "completed"),
    ];
    check(
        steps,
        expect![[r#"
        TurnStarted { turn_id: "c", kind: Compaction }
        CompactionStarted { turn_id: "c", origin: Rawr }
        CompactionCompleted { turn_id: "c", origin: Rawr, tokens_after: Some(6907) }
        c completed, last said: None
    "#]],
    );
}

#[test]
fn a_compaction_inside_a_turn_ends_with_its_item() {
    let steps = vec![
        TurnAccepted("t"),
        started("t"),
        usage("t", 100, 128_089, 128_000),
        compaction("item/started", "t"),
        usage("t", 100, 128_089, 128_000),
        usage("t", 200, 144_645, 144_600),
        usage("t", 200, 6_868, 0),
        compaction("item/completed", "t"),
        says("t", "going on"),
        usage("t", 300, 7_637, 7_606),
        ended("t", "completed"),
    ];
    check(
        steps,
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Asked }
        t uses 128089, goes on: true
        CompactionStarted { turn_id: "t", origin: Host }
        CompactionCompleted { turn_id: "t", origin: Host, tokens_after: Some(6868) }
        AgentMessage { turn_id: "t", text: "going on" }
        t uses 7637, goes on: false
        t completed, last said: Some("going on")
    "#]],
    );
}

#[test]
fn repeated_usage_at_an_interrupt_is_ignored() {
    let steps = vec![
        started("t"),
        usage("t", 100, 50, 40),
        usage("t", 100, 50, 40),
        usage("t", 150, 50, 40),
    ];
    check(
        steps,
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Host }
        t uses 50, goes on: true
        t uses 50, goes on: true
        busy
    "#]],
    );
}

#[test]
fn only_a_request_that_ends_with_a_message_ends_the_turn() {
    let call = json!({"type": "fileChange", "id": "f"});
    let steps = vec![
        TurnAccepted("t"),
        started("t"),
        says("t", "first this"),
        item("item/started", "t", call.clone()),
        item("item/completed", "t", call),
        usage("t", 1, 10, 9),
        usage("t", 2, 11, 9),
        says("t", "done"),
        usage("t", 3, 12, 9),
    ];
    check(
        steps,
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Asked }
        AgentMessage { turn_id: "t", text: "first this" }
        ToolStarted { turn_id: "t", call_id: "f", name: "apply_patch" }
        ToolFinished { turn_id: "t", call_id: "f" }
        t uses 10, goes on: true
        t uses 11, goes on: true
        AgentMessage { turn_id: "t", text: "done" }
        t uses 12, goes on: false
        busy
    "#]],
    );
}

#[test]
fn other_threads_are_ignored() {
    let turn = json!({"id": "title", "status": "inProgress"});
    check(
        vec![CodexStep::Note("turn/started", json!({"threadId": "another", "turn": turn}))],
        expect![[""]],
    );
    let warning = json!({"threadId": "another", "message": "careful"});
    check(vec![CodexStep::Note("warning", warning)], expect![[""]]);
}

#[test]
fn warnings_and_retried_errors_are_notices() {
    check(
        vec![CodexStep::Note("warning", json!({"threadId": null, "message": "careful"}))],
        expect![[r#"
        Notice("careful")
    "#]],
    );
    let warning = json!({"summary": "unknown key", "details": "in config.toml"});
    check(
        vec![CodexStep::Note("configWarning", warning)],
        expect![[r#"
        Notice("unknown key: in config.toml")
    "#]],
    );
    let error = |again: bool| {
        let error = json!({"message": "stream lost", "codexErrorInfo": "other"});
        vec![CodexStep::Note(
            "error",
            json!({"threadId": "thread", "turnId": "t", "error": error, "willRetry": again}),
        )]
    };
    check(
        error(true),
        expect![[r#"
        Notice("stream lost")
    "#]],
    );
    check(error(false), expect![[""]]);
}

// rule: overflow.emergency
#[test]
fn a_turn_that_was_refused_as_too_long_is_reported_without_a_usage() {
    let failed = |turn: &str, error: Value| {
        let turn = json!({"id": turn, "status": "failed", "items": [], "error": error});
        CodexStep::Note("turn/completed", json!({"threadId": "thread", "turn": turn}))
    };
    let named = json!({"message": "No room.", "codexErrorInfo": "contextWindowExceeded"});
    let worded = json!({"message": "Codex ran out of room in the model's context window.", "codexErrorInfo": null});
    let other = json!({"message": "No credit.", "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 402}}});
    let turn = |id: &'static str, error| {
        vec![
            TurnAccepted(id),
            started(id),
            user_message(id),
            // Codex fills up its count.
            usage(id, 190_000, 159_000, 0),
            failed(id, error),
        ]
    };
    check(
        [turn("t1", named), turn("t2", worded), turn("t3", other)].into_iter().flatten().collect(),
        expect![[r#"
            TurnStarted { turn_id: "t1", kind: Asked }
            t1 failed, last said: None, ContextOverflow { request_tokens: None, context_window: None }
            TurnStarted { turn_id: "t2", kind: Asked }
            t2 failed, last said: None, ContextOverflow { request_tokens: None, context_window: None }
            TurnStarted { turn_id: "t3", kind: Asked }
            t3 failed, last said: None
        "#]],
    );
}
