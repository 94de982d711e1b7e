//! Conversations of the plugin's events, and what they are to the driver.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

fn turns() -> ModTurns {
    ModTurns::new("/repo".to_owned(), None, Some(200_000))
}

fn read(turns: &mut ModTurns, events: &[Value]) -> Vec<HostEvent> {
    let read = |event: &Value| turns.read(serde_json::from_value(event.clone()).unwrap());
    events.iter().flat_map(read).collect()
}

fn check(told: &[HostEvent], expected: &Expect) {
    let told: Vec<_> = told.iter().map(short).collect();
    expected.assert_eq(&told.join("\n"));
}

/// The variant and the fields that differ between cases.
fn short(event: &HostEvent) -> String {
    match event {
        HostEvent::TurnStarted { turn_id, kind } => format!("{turn_id} started: {kind:?}"),
        HostEvent::AgentMessage { turn_id, text } => format!("{turn_id} said: {text}"),
        HostEvent::Usage { turn_id, usage, context_window, needs_follow_up } => format!(
            "{turn_id} used {} of {context_window:?}, goes on: {needs_follow_up}",
            usage.context_tokens
        ),
        HostEvent::CommandFinished { command, exit_code, .. } => format!("{command}: {exit_code}"),
        HostEvent::PlanUpdated { steps, .. } => format!("plan of {}", steps.len()),
        HostEvent::TurnCompleted { turn_id, status, last_agent_message, error, .. } => {
            format!("{turn_id} {status}: {last_agent_message:?} {error:?}")
        }
        other => format!("{other:?}"),
    }
}

fn started(turn: &str, text: &str) -> Value {
    json!({"event": "turn_started", "turnId": turn, "text": text})
}

fn answered(text: &str, tokens: u64, calls_tools: bool) -> Value {
    let usage = json!({"input_tokens": tokens, "output_tokens": 0});
    json!({"event": "answered", "text": text, "model": "m", "usage": usage, "callsTools": calls_tools})
}

fn completed(turn: &str, reason: &str, answer: &str) -> Value {
    json!({"event": "turn_completed", "turnId": turn, "reason": reason, "answer": answer})
}

#[test]
fn a_turn_of_the_user_is_reported_with_its_commands_and_its_usage() {
    let mut turns = turns();
    let bash = json!({"command": "git commit -m x"});
    let told = read(
        &mut turns,
        &[
            started("t1", "do it"),
            answered("Committing.", 1000, true),
            json!({"event": "tool_started", "callId": "c1", "tool": "Bash"}),
            json!({"event": "tool_finished", "callId": "c1", "tool": "Bash", "input": bash,
                "result": {"interrupted": false}}),
            answered("Done.", 2000, false),
            completed("t1", "answer", "Done."),
        ],
    );
    check(
        &told,
        &expect![[r#"
            t1 started: Person { text: "do it" }
            t1 said: Committing.
            ToolStarted { turn_id: "t1", call_id: "c1", name: "Bash" }
            git commit -m x: 0
            ToolFinished { turn_id: "t1", call_id: "c1" }
            t1 used 1000 of Some(200000), goes on: true
            t1 said: Done.
            t1 used 2000 of Some(200000), goes on: false
            t1 completed: Some("Done.") None"#]],
    );
    assert_eq!((turns.model(), turns.is_busy()), (Some("m"), false));
}

#[test]
fn a_failed_command_has_the_exit_code_of_its_error() {
    let mut turns = turns();
    let bash = json!({"command": "false"});
    let told = read(
        &mut turns,
        &[
            started("t1", "do it"),
            json!({"event": "tool_finished", "callId": "c1", "tool": "Bash", "input": bash,
                "error": "Exit code 3\nno"}),
        ],
    );
    check(
        &told,
        &expect![[r#"
            t1 started: Person { text: "do it" }
            false: 3
            ToolFinished { turn_id: "t1", call_id: "c1" }"#]],
    );
}

/// Claude Code frames a message of a plugin, and the user's message may come first.
#[test]
fn a_promised_turn_is_found_by_its_text() {
    let mut turns = turns();
    turns.promise("ours", "[rawr] go on\n[rawr:s1]");
    assert!(turns.is_busy());
    let framed = "The rawr plugin sent a message:\n[rawr] go on\n[rawr:s1]\n\nAddress it.";
    let told = read(
        &mut turns,
        &[
            started("t1", "quick question"),
            completed("t1", "aborted", ""),
            started("t2", framed),
            completed("t2", "error", "API Error: overloaded"),
        ],
    );
    check(
        &told,
        &expect![[r#"
        t1 started: Person { text: "quick question" }
        t1 interrupted: None None
        ours started: Asked
        ours failed: None Some("API Error: overloaded")"#]],
    );
}

#[test]
fn a_message_that_did_not_enter_fails_its_turn() {
    let mut turns = turns();
    turns.promise("ours", "text");
    check(
        &turns.broken("ours", "dropped by a hook".to_owned()),
        &expect![[r#"
        ours started: Asked
        ours failed: None Some("dropped by a hook")"#]],
    );
    assert!(turns.broken("ours", "again".to_owned()).is_empty());
    assert!(!turns.is_busy());
}

#[test]
fn compactions_are_reported_by_who_started_them() {
    let mut turns = turns();
    let mut told = turns.compacts();
    assert!(turns.is_busy());
    told.extend(turns.compacted(Ok(Some(3000))));
    told.extend(turns.compacts());
    told.extend(turns.compacted(Err("nothing to compact".to_owned())));
    told.extend(read(
        &mut turns,
        &[
            json!({"event": "compaction_started", "trigger": "manual"}),
            json!({"event": "compaction_ended", "trigger": "manual", "tokensAfter": 2000}),
            started("t1", "work"),
            json!({"event": "compaction_started", "trigger": "auto"}),
            json!({"event": "compaction_ended", "trigger": "auto", "skip": "vetoed"}),
            completed("t1", "answer", ""),
        ],
    ));
    check(
        &told,
        &expect![[r#"
        compaction-1 started: Compaction
        CompactionStarted { turn_id: "compaction-1", origin: Rawr }
        CompactionCompleted { turn_id: "compaction-1", origin: Rawr, tokens_after: Some(3000) }
        compaction-1 completed: None None
        compaction-2 started: Compaction
        CompactionStarted { turn_id: "compaction-2", origin: Rawr }
        CompactionFailed { turn_id: "compaction-2", origin: Rawr, error: "nothing to compact" }
        compaction-2 failed: None None
        CompactionStarted { turn_id: "compaction-3", origin: User }
        CompactionCompleted { turn_id: "compaction-3", origin: User, tokens_after: Some(2000) }
        t1 started: Person { text: "work" }
        CompactionStarted { turn_id: "t1", origin: Host }
        CompactionFailed { turn_id: "t1", origin: Host, error: "vetoed" }
        t1 completed: None None"#]],
    );
    assert!(!turns.is_busy());
}

#[test]
fn a_compaction_by_the_user_takes_the_place_of_one_that_waits() {
    let mut turns = turns();
    let mut told = turns.compacts();
    told.extend(read(
        &mut turns,
        &[
            json!({"event": "compaction_started", "trigger": "manual"}),
            json!({"event": "compaction_ended", "trigger": "manual", "tokensAfter": 2000}),
        ],
    ));
    assert!(turns.is_busy());
    told.extend(turns.compacted(Ok(Some(2000))));
    check(
        &told,
        &expect![[r#"
        compaction-1 started: Compaction
        CompactionStarted { turn_id: "compaction-1", origin: Rawr }
        CompactionCompleted { turn_id: "compaction-1", origin: Rawr, tokens_after: Some(2000) }
        compaction-1 completed: None None"#]],
    );
    assert!(!turns.is_busy());
}

#[test]
fn a_compaction_that_an_earlier_driver_saw_begin_is_reported() {
    let ended = json!({"event": "compaction_ended", "trigger": "manual", "tokensAfter": 2000});
    let mut turns = turns();
    check(
        &read(&mut turns, &[ended]),
        &expect![[r#"
        CompactionStarted { turn_id: "compaction-1", origin: User }
        CompactionCompleted { turn_id: "compaction-1", origin: User, tokens_after: Some(2000) }"#]],
    );
    assert!(!turns.is_busy());
}

#[test]
fn a_smaller_context_between_turns_is_an_estimate() {
    let mut turns = turns();
    let measured = |tokens: Option<u64>| json!({"event": "measured", "contextTokens": tokens});
    let told = read(
        &mut turns,
        &[
            measured(None),
            started("t1", "work"),
            answered("ok", 50_000, false),
            measured(None),
            completed("t1", "answer", "ok"),
            measured(Some(50_000)),
            measured(Some(20_000)),
            measured(Some(20_000)),
            measured(None),
        ],
    );
    check(
        &told,
        &expect![[r#"
        t1 started: Person { text: "work" }
        t1 said: ok
        t1 used 50000 of Some(200000), goes on: false
        t1 completed: Some("ok") None
        UsageEstimated { turn_id: "t1", usage: TokenUsage { context_tokens: 20000, input_tokens: Some(20000), cached_input_tokens: None, output_tokens: None, reasoning_tokens: None, cache_seconds: None }, context_window: Some(200000) }
        UsageEstimated { turn_id: "t1", usage: TokenUsage { context_tokens: 1, input_tokens: Some(1), cached_input_tokens: None, output_tokens: None, reasoning_tokens: None, cache_seconds: None }, context_window: Some(200000) }"#]],
    );
    turns.compacts();
    turns.compacted(Ok(None));
    check(&read(&mut turns, &[measured(None)]), &expect![[""]]);
}

#[test]
fn a_user_who_left_took_the_messages_back() {
    let told = read(&mut turns(), &[json!({"event": "left"})]);
    check(&told, &expect![["MessagesTakenBack"]]);
}

#[test]
fn a_turn_that_rawr_came_into_is_told_of_once_more_and_goes_on() {
    let mut turns = turns();
    turns.came_into("t1".to_owned());
    let told = read(
        &mut turns,
        &[
            started("t1", "do it"),
            answered("Done.", 2000, false),
            completed("t1", "answer", "Done."),
        ],
    );
    check(
        &told,
        &expect![[r#"
        t1 started: Person { text: "do it" }
        t1 said: Done.
        t1 used 2000 of Some(200000), goes on: false
        t1 completed: Some("Done.") None"#]],
    );
}

#[test]
fn a_turn_that_began_before_is_taken_over() {
    let mut turns = turns();
    turns.came_into("t0".to_owned());
    assert_eq!(turns.running(), Some(("t0", "t0")));
    check(
        &read(&mut turns, &[completed("t0", "answer", "ok")]),
        &expect![[r#"t0 completed: Some("ok") None"#]],
    );
    // The end of a turn that was never heard of.
    check(&read(&mut turns, &[completed("t9", "answer", "ok")]), &expect![[r#""#]]);
}
