//! Codex's rollouts, read to their last turn.

use super::*;

use serde_json::{Value, json};

const ROLLOUT: &str = include_str!("../../../../../../../tests/samples/rollouts/paginated.jsonl");
const LEGACY: &str = include_str!("../../../../../../../tests/samples/rollouts/legacy.jsonl");

fn up_to(line: usize) -> LastTurn {
    last_turn(RecordFormat::Codex, ROLLOUT.lines().take(line).map(str::as_bytes))
}

fn commands(turn: &LastTurn) -> Vec<String> {
    let command = |signal: &Signal| match signal {
        Signal::CommandFinished { command, exit_code, .. } => Some(match command {
            CommandLine::Line(line) => format!("{line} to {exit_code}"),
            CommandLine::Words(words) => format!("{} to {exit_code}", words.join(" ")),
        }),
        _ => None,
    };
    turn.signals.iter().filter_map(command).collect()
}

#[test]
fn a_commit_and_the_window_are_read_from_a_rollout() {
    let turn = up_to(39);
    assert_eq!(turn.used, Some(UsedTokens { tokens: 143_139, window: Some(190_000) }));
    let [command] = &commands(&turn)[..] else { panic!("{turn:?}") };
    assert!(command.contains("git commit") && command.ends_with("to 0"), "{command}");
    assert_eq!(turn.said(), Some("Done: file written and committed."));
}

#[test]
fn commands_and_messages_are_read_from_a_legacy_rollout() {
    let turn = last_turn(RecordFormat::Codex, LEGACY.lines().take(36).map(str::as_bytes));
    assert_eq!(
        commands(&turn),
        [
            "echo hello > a.txt && git add a.txt to 0",
            "git commit -q -m 'lab: add a.txt' && git log --oneline | head -1 to 0",
        ]
    );
    let plans = turn.signals.iter().filter(|it| matches!(it, Signal::PlanUpdated { .. }));
    assert_eq!(plans.count(), 3);
    assert!(!turn.is_behind(HookHost::Codex, Some("Done: file written and committed.")));
    let next = last_turn(RecordFormat::Codex, LEGACY.lines().take(45).map(str::as_bytes));
    assert_eq!(next.signals, []);
}

#[test]
fn exit_codes_are_read_from_the_output_of_all_releases() {
    let check = |call: Value, output: Value, told: &[&str]| {
        let call = json!({"type": "response_item", "payload": {"type": "function_call",
            "name": call["name"], "arguments": call["arguments"].to_string(), "call_id": "c"}});
        let output = json!({"type": "response_item", "payload":
            {"type": "function_call_output", "call_id": "c", "output": output}});
        let lines = [call.to_string(), output.to_string()];
        let turn = last_turn(RecordFormat::Codex, lines.iter().map(|line| line.as_bytes()));
        assert_eq!(commands(&turn), told, "{output}");
    };
    let of = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let words = || of("shell", json!({"command": ["bash", "-lc", "git push"]}));
    let metadata = json!({"output": "Exit code: 7\n", "metadata": {"exit_code": 1}});
    check(words(), json!(metadata.to_string()), &["bash -lc git push to 1"]);
    let words_with_option = of("shell", json!({"command": ["git", "-c", "user.name=x", "commit"]}));
    check(words_with_option, json!("Exit code: 0\nOutput:\n"), &["git -c user.name=x commit to 0"]);
    let header = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 7\n";
    check(of("shell_command", json!({"command": "git push"})), json!(header), &["git push to 0"]);
    let parts = json!([{"type": "input_text", "text": header}]);
    check(of("exec_command", json!({"cmd": "git push"})), parts, &["git push to 0"]);
    let runs =
        "Chunk ID: 1\nProcess running with session ID 5\nOutput:\nProcess exited with code 0";
    check(of("exec_command", json!({"cmd": "make"})), json!(runs), &[]);
    check(words(), json!("aborted by user"), &[]);
    check(of("shell", json!({"command": 5})), json!(header), &[]);
}

#[test]
fn the_plan_is_read_from_the_calls_of_its_tool() {
    let plans: Vec<_> = up_to(39)
        .signals
        .into_iter()
        .filter_map(|signal| match signal {
            Signal::PlanUpdated { steps, explanation } => {
                let steps = steps.iter().map(|step| format!("{} {}", step.step, step.status));
                let steps = steps.collect::<Vec<_>>().join(", ");
                Some(format!("{}: {steps}", explanation.unwrap_or_default()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        plans,
        [
            "start: write file in_progress, commit pending",
            "wrote it: write file completed, commit in_progress",
            "all: write file completed, commit completed",
        ]
    );
}

fn event(payload: Value) -> Value {
    json!({"timestamp": "", "type": "event_msg", "payload": payload})
}

/// Commands before a compaction were counted with the context before it, but steps of the plan stay done.
#[test]
fn a_compaction_inside_a_turn_leaves_the_plan_and_the_message() {
    let arguments = json!({"plan": [{"step": "parser", "status": "completed"}]}).to_string();
    let planned = json!({"timestamp": "", "type": "response_item", "payload": {"type": "function_call",
        "name": "update_plan", "arguments": arguments, "call_id": "p"}});
    let ran = |line: &str| {
        let item = json!({"type": "CommandExecution", "command": [line], "exit_code": 0});
        event(json!({"type": "item_completed", "item": item}))
    };
    let compacted = || json!({"timestamp": "", "type": "compacted", "payload": {"message": ""}});
    let started = || event(json!({"type": "task_started", "turn_id": "t"}));
    let said = || event(json!({"type": "user_message", "message": "fix the parser"}));
    let spoke = || event(json!({"type": "agent_message", "message": "Done."}));
    let turn = |lines: &[Value]| {
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        last_turn(RecordFormat::Codex, lines.iter().map(|line| line.as_bytes()))
    };
    let inside =
        turn(&[started(), said(), planned, ran("make"), compacted(), ran("make test"), spoke()]);
    let plans = inside.signals.iter().filter(|it| matches!(it, Signal::PlanUpdated { .. }));
    assert_eq!((plans.count(), commands(&inside)), (1, vec!["make test to 0".to_owned()]));
    let before = turn(&[started(), compacted(), said(), spoke()]);
    assert_eq!(before.prompt.as_deref(), Some("fix the parser"));
}

/// A window that lacks the beginning of the file does not show that commands are stored as items.
#[test]
fn each_command_counts_once_wherever_the_window_begins() {
    for first in 18..27 {
        let lines = ROLLOUT.lines().take(39).skip(first).map(str::as_bytes);
        assert_eq!(commands(&last_turn(RecordFormat::Codex, lines)).len(), 1, "from {first}");
    }
}

#[test]
fn the_next_turn_starts_empty() {
    assert_eq!(up_to(48).signals, []);
}
