//! Tests of the fold over lines as Claude Code writes them.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::ClaudeTurns;
use crate::host::{HostEvent, TurnKind};

/// An input of the fold: a message is sent, or a line arrives.
enum ClaudeStep {
    Promise(&'static str, TurnKind, &'static str),
    ClaudeLine(Value),
}
use ClaudeStep::{ClaudeLine, Promise};

fn check(steps: impl IntoIterator<Item = ClaudeStep>, expected: Expect) {
    let mut turns = ClaudeTurns::new("/repo".to_owned());
    let mut told = String::new();
    for step in steps {
        match step {
            Promise(turn_id, kind, text) => turns.promise(turn_id, kind, text),
            ClaudeLine(line) => {
                let events = turns.read(serde_json::from_value(line).unwrap());
                told.extend(events.iter().map(|event| short(event) + "\n"));
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
        HostEvent::Usage { turn_id, usage, context_window, needs_follow_up } => format!(
            "{turn_id} uses {} of {context_window:?}, goes on: {needs_follow_up}",
            usage.context_tokens
        ),
        HostEvent::TurnCompleted { turn_id, status, last_agent_message, error, overflow } => {
            let overflow = overflow.map(|overflow| format!(", {overflow:?}")).unwrap_or_default();
            format!(
                "{turn_id} {status}, last said: {last_agent_message:?}, error: {error:?}{overflow}"
            )
        }
        other => format!("{other:?}"),
    }
}

fn asked(turn: &'static str) -> ClaudeStep {
    Promise(turn, TurnKind::Asked, "do it")
}

fn compaction() -> ClaudeStep {
    Promise("c", TurnKind::Compaction, "/compact keep it")
}

fn lifecycle(turn: &str, state: &str) -> ClaudeStep {
    ClaudeLine(json!({"type": "command_lifecycle", "command_uuid": turn, "state": state}))
}

fn begun(turn: &str) -> [ClaudeStep; 3] {
    [lifecycle(turn, "queued"), lifecycle(turn, "started"), init()]
}

fn init() -> ClaudeStep {
    let capabilities = json!(["interrupt_receipt_v1", "msg_lifecycle_v1"]);
    ClaudeLine(
        json!({"type": "system", "subtype": "init", "model": "m", "capabilities": capabilities}),
    )
}

fn compacting() -> ClaudeStep {
    ClaudeLine(json!({"type": "system", "subtype": "status", "status": "compacting"}))
}

fn not_compacted(error: &str) -> ClaudeStep {
    ClaudeLine(json!({"type": "system", "subtype": "status", "status": null,
        "compact_result": "failed", "compact_error": error}))
}

fn compacted() -> ClaudeStep {
    let metadata = json!({"trigger": "manual", "pre_tokens": 95_000, "post_tokens": 2_500});
    ClaudeLine(
        json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata}),
    )
}

/// A request to the model and its answer.
fn request(
    input: u64,
    stop: &str,
    answer: impl IntoIterator<Item = ClaudeStep>,
) -> Vec<ClaudeStep> {
    let event = |event: Value| {
        ClaudeLine(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}))
    };
    let usage = json!({"input_tokens": input - 500, "cache_read_input_tokens": 500,
        "cache_creation_input_tokens": 0, "output_tokens": 1});
    let mut steps = vec![event(json!({"type": "message_start", "message": {"usage": usage}}))];
    steps.extend(answer);
    steps.extend([
        event(json!({"type": "message_delta", "delta": {"stop_reason": stop},
            "usage": {"output_tokens": 20}})),
        event(json!({"type": "message_stop"})),
    ]);
    steps
}

fn assistant(block: Value, parent: Value) -> ClaudeStep {
    let message = json!({"model": "m", "content": [block]});
    ClaudeLine(json!({"type": "assistant", "message": message, "parent_tool_use_id": parent}))
}

fn says(text: &str) -> ClaudeStep {
    assistant(json!({"type": "text", "text": text}), Value::Null)
}

fn errs(text: &str) -> ClaudeStep {
    let message = json!({"model": "<synthetic>", "content": [{"type": "text", "text": text}]});
    ClaudeLine(json!({"type": "assistant", "message": message}))
}

fn calls(id: &str, command: &str, parent: Value) -> ClaudeStep {
    let input = json!({ "command": command });
    assistant(json!({"type": "tool_use", "id": id, "name": "Bash", "input": input}), parent)
}

fn answers(id: &str, parent: Value) -> ClaudeStep {
    let result =
        json!({"type": "tool_result", "tool_use_id": id, "content": "", "is_error": false});
    let message = json!({"role": "user", "content": [result]});
    ClaudeLine(json!({"type": "user", "message": message, "parent_tool_use_id": parent,
        "tool_use_result": {"stdout": "", "interrupted": false}}))
}

fn result(is_error: bool, reason: &str, said: &str) -> ClaudeStep {
    ClaudeLine(json!({"type": "result", "subtype": "success", "is_error": is_error,
        "terminal_reason": reason, "result": said,
        "modelUsage": {"m": {"contextWindow": 200_000}, "helper": {"contextWindow": 100_000}}}))
}

fn over(said: &str) -> ClaudeStep {
    result(false, "completed", said)
}

fn story(parts: impl IntoIterator<Item = Vec<ClaudeStep>>) -> Vec<ClaudeStep> {
    parts.into_iter().flatten().collect()
}

#[test]
fn the_window_is_known_after_the_first_turn() {
    check(
        story([
            vec![asked("t")],
            begun("t").into(),
            request(60_000, "tool_use", [calls("a", "git commit -m x", Value::Null)]),
            vec![answers("a", Value::Null)],
            request(61_000, "end_turn", [says("Done.")]),
            vec![over("Done."), lifecycle("t", "completed")],
        ]),
        expect![[r#"
            TurnStarted { turn_id: "t", kind: Asked }
            ToolStarted { turn_id: "t", call_id: "a", name: "Bash" }
            CommandFinished { turn_id: "t", call_id: "a", command: "git commit -m x", exit_code: 0, cwd: "/repo" }
            ToolFinished { turn_id: "t", call_id: "a" }
            t uses 60020 of None, goes on: true
            AgentMessage { turn_id: "t", text: "Done." }
            t uses 61020 of Some(200000), goes on: false
            t completed, last said: Some("Done."), error: None
        "#]],
    );
}

#[test]
fn the_host_is_busy_until_a_message_starts_its_turn() {
    check(
        [asked("t"), lifecycle("t", "queued")],
        expect![[r#"
        busy
    "#]],
    );
}

#[test]
fn a_blocked_message_still_starts_and_ends_a_turn() {
    check(
        [asked("t"), lifecycle("t", "queued"), over("")],
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Asked }
        t completed, last said: None, error: None
    "#]],
    );
}

#[test]
fn a_sub_agents_commands_are_reported_but_not_its_messages_and_usage() {
    let mut steps = story([vec![asked("t")], begun("t").into()]);
    steps.extend([
        assistant(json!({"type": "text", "text": "sub"}), json!("task")),
        calls("a", "git commit -m x", json!("task")),
        answers("a", json!("task")),
    ]);
    for step in request(9_000, "tool_use", []) {
        let ClaudeLine(mut line) = step else { continue };
        line["parent_tool_use_id"] = json!("task");
        steps.push(ClaudeLine(line));
    }
    check(
        steps,
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Asked }
        ToolStarted { turn_id: "t", call_id: "a", name: "Bash" }
        CommandFinished { turn_id: "t", call_id: "a", command: "git commit -m x", exit_code: 0, cwd: "/repo" }
        ToolFinished { turn_id: "t", call_id: "a" }
        busy
    "#]],
    );
}

#[test]
fn a_compaction_ends_with_its_turn() {
    check(
        story([
            vec![compaction(), lifecycle("c", "started"), compacting()],
            request(95_000, "end_turn", []),
            vec![init(), compacted(), over("")],
        ]),
        expect![[r#"
            TurnStarted { turn_id: "c", kind: Compaction }
            CompactionStarted { turn_id: "c", origin: Rawr }
            CompactionCompleted { turn_id: "c", origin: Rawr, tokens_after: Some(2500) }
            c completed, last said: None, error: None
        "#]],
    );
}

#[test]
fn a_failed_compaction_reports_its_error() {
    let steps = || vec![compaction(), lifecycle("c", "started"), compacting()];
    check(
        story([steps(), vec![not_compacted("API Error: 500"), init(), over("")]]),
        expect![[r#"
        TurnStarted { turn_id: "c", kind: Compaction }
        CompactionStarted { turn_id: "c", origin: Rawr }
        CompactionFailed { turn_id: "c", origin: Rawr, error: "API Error: 500" }
        c completed, last said: None, error: None
    "#]],
    );
    check(
        [
            compaction(),
            lifecycle("c", "started"),
            init(),
            errs("Error: No messages to compact"),
            over(""),
        ],
        expect![[r#"
            TurnStarted { turn_id: "c", kind: Compaction }
            CompactionFailed { turn_id: "c", origin: Rawr, error: "Error: No messages to compact" }
            c completed, last said: None, error: None
        "#]],
    );
}

#[test]
fn a_compaction_inside_a_turn_is_the_hosts_or_the_users() {
    for (text, expected) in [
        (
            "do it",
            expect![[r#"
        TurnStarted { turn_id: "t", kind: Asked }
        CompactionStarted { turn_id: "t", origin: Host }
        CompactionCompleted { turn_id: "t", origin: Host, tokens_after: Some(2500) }
        CompactionStarted { turn_id: "t", origin: Host }
        CompactionFailed { turn_id: "t", origin: Host, error: "no" }
        t completed, last said: None, error: None
    "#]],
        ),
        (
            "/compact now",
            expect![[r#"
        TurnStarted { turn_id: "t", kind: Asked }
        CompactionStarted { turn_id: "t", origin: User }
        CompactionCompleted { turn_id: "t", origin: User, tokens_after: Some(2500) }
        CompactionStarted { turn_id: "t", origin: User }
        CompactionFailed { turn_id: "t", origin: User, error: "no" }
        t completed, last said: None, error: None
    "#]],
        ),
    ] {
        check(
            story([
                vec![Promise("t", TurnKind::Asked, text)],
                begun("t").into(),
                vec![compacting(), compacted(), compacting(), not_compacted("no"), over("")],
            ]),
            expected,
        );
    }
}

#[test]
fn claudes_own_turn_ends_when_a_message_starts_its_turn() {
    check(
        story([
            vec![init(), says("The tests are done."), asked("t"), lifecycle("t", "queued")],
            vec![lifecycle("t", "started"), says("And so am I."), over("And so am I.")],
            vec![init(), over("nothing")],
        ]),
        expect![[r#"
            TurnStarted { turn_id: "own-1", kind: Host }
            AgentMessage { turn_id: "own-1", text: "The tests are done." }
            own-1 completed, last said: Some("The tests are done."), error: None
            TurnStarted { turn_id: "t", kind: Asked }
            AgentMessage { turn_id: "t", text: "And so am I." }
            t completed, last said: Some("And so am I."), error: None
            TurnStarted { turn_id: "own-2", kind: Host }
            own-2 completed, last said: Some("nothing"), error: None
        "#]],
    );
}

#[test]
fn without_message_states_a_turn_is_matched_to_the_sent_message() {
    let init = json!({"type": "system", "subtype": "init", "model": "m"});
    check(
        [asked("t"), ClaudeLine(init), over("Done.")],
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Asked }
        t completed, last said: Some("Done."), error: None
    "#]],
    );
}

#[test]
fn an_interrupted_turn_ends_its_tool_calls() {
    let steps = |end: ClaudeStep| {
        story([vec![asked("t")], begun("t").into(), vec![calls("a", "sleep 9", Value::Null), end]])
    };
    check(
        steps(result(true, "aborted_tools", "")),
        expect![[r#"
        TurnStarted { turn_id: "t", kind: Asked }
        ToolStarted { turn_id: "t", call_id: "a", name: "Bash" }
        ToolFinished { turn_id: "t", call_id: "a" }
        t interrupted, last said: None, error: None
    "#]],
    );
    check(
        story([
            steps(errs("Prompt is too long")),
            vec![result(true, "blocking_limit", "Prompt is too long")],
        ]),
        expect![[r#"
            TurnStarted { turn_id: "t", kind: Asked }
            ToolStarted { turn_id: "t", call_id: "a", name: "Bash" }
            ToolFinished { turn_id: "t", call_id: "a" }
            t failed, last said: None, error: Some("Prompt is too long"), ContextOverflow { request_tokens: None, context_window: None }
        "#]],
    );
}

#[test]
fn unknown_lines_are_ignored() {
    check(
        [
            ClaudeLine(json!({"type": "news", "of": "tomorrow"})),
            ClaudeLine(json!({"type": "system", "subtype": "task_started", "task_id": "b"})),
            ClaudeLine(json!({"type": "assistant", "message": {"content": [{"type": "odd"}]}})),
        ],
        expect![[""]],
    );
}

#[test]
fn a_usage_with_an_impossible_count_is_unknown() {
    let usages = [
        json!({"input_tokens": u64::MAX, "output_tokens": 1}),
        json!({"input_tokens": 3, "cache_read_input_tokens": u64::MAX}),
        json!({"input_tokens": -1}),
        json!("none"),
    ];
    for usage in usages {
        let event = |event: Value| ClaudeLine(json!({"type": "stream_event", "event": event}));
        let steps = story([
            vec![asked("t")],
            begun("t").into(),
            vec![
                event(json!({"type": "message_start", "message": {"usage": usage}})),
                event(json!({"type": "message_delta", "usage": {"output_tokens": 20}})),
                event(json!({"type": "message_stop"})),
                result(false, "completed", ""),
            ],
        ]);
        check(
            steps,
            expect![[r#"
                TurnStarted { turn_id: "t", kind: Asked }
                t completed, last said: None, error: None
            "#]],
        );
    }
}
