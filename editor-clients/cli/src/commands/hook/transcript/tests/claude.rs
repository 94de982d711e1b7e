//! Claude Code's transcripts, read to their last turn.

use serde_json::{Value, json};

use super::*;

fn check(lines: &[Value], prompt: Option<&str>, tokens: Option<u64>, signals: &[&str]) {
    let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
    let turn = last_turn(RecordFormat::Claude, lines.iter().map(|line| line.as_bytes()));
    let told: Vec<_> = turn.signals.iter().map(short).collect();
    assert_eq!(turn.prompt.as_deref(), prompt);
    assert_eq!(turn.used.map(|used| used.tokens), tokens);
    assert_eq!(told, signals);
}

fn short(signal: &Signal) -> String {
    match signal {
        Signal::CommandFinished { command: CommandLine::Line(line), exit_code, .. } => {
            format!("{line} to {exit_code}")
        }
        Signal::PlanUpdated { steps, .. } => format!("plan of {}", steps.len()),
        other => format!("{other:?}"),
    }
}

fn user(text: &str) -> Value {
    json!({"type": "user", "isSidechain": false, "message": {"role": "user", "content": text}})
}

fn assistant(tokens: u64, block: Value) -> Value {
    json!({"type": "assistant", "isSidechain": false, "message": {"model": "m",
        "content": [block], "usage": {"input_tokens": tokens, "output_tokens": 20}}})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn result(id: &str, data: Value) -> Value {
    json!({"type": "user", "toolUseResult": data, "message": {"role": "user", "content":
        [{"type": "tool_result", "tool_use_id": id, "content": "", "is_error": false}]}})
}

fn committed(id: &str) -> [Value; 2] {
    let call = call(id, "Bash", json!({"command": "git commit -m x"}));
    [assistant(60_000, call), result(id, json!({"stdout": "", "interrupted": false}))]
}

#[test]
fn a_turn_starts_at_the_users_last_message() {
    let mut lines = vec![user("first")];
    lines.extend(committed("a"));
    lines.push(user("second"));
    check(&lines, Some("second"), Some(60_020), &[]);
    lines.extend(committed("b"));
    lines.push(assistant(70_000, json!({"type": "text", "text": "done"})));
    check(&lines, Some("second"), Some(70_020), &["git commit -m x to 0"]);
}

#[test]
fn the_plan_includes_earlier_turns() {
    let made = json!({"task": {"id": "1", "subject": "parser"}});
    check(
        &[
            user("first"),
            assistant(1_000, call("a", "TaskCreate", json!({"subject": "parser"}))),
            result("a", made),
            user("second"),
            assistant(
                2_000,
                call("b", "TaskUpdate", json!({"taskId": "1", "status": "completed"})),
            ),
            result("b", json!({"success": true})),
        ],
        Some("second"),
        Some(2_020),
        &["plan of 1"],
    );
}

#[test]
fn messages_by_claude_code_start_no_turn() {
    let mut meta = user("Stop hook feedback: go on");
    meta["isMeta"] = json!(true);
    let mut lines = vec![user("first")];
    lines.extend(committed("a"));
    lines.extend([meta, user("<command-name>/model</command-name>")]);
    check(&lines, Some("first"), Some(60_020), &["git commit -m x to 0"]);
}

fn image() -> Value {
    let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="});
    json!([{"type": "image", "source": source}])
}

/// Whatever begins the next turn, the commit of the turn before is not told again.
#[test]
fn a_message_without_words_and_a_command_for_the_agent_begin_a_turn() {
    let spoke = || assistant(70_000, json!({"type": "text", "text": "Two files are left."}));
    let old = "<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args></command-args>";
    let new = "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>all</command-args>";
    for (text, prompt) in [
        (image(), None),
        (json!([]), Some("first")),
        (json!(old), Some("/review")),
        (json!([{"type": "text", "text": new}]), Some("/review all")),
        (json!([{"type": "text", "text": "what is this?"}, image()[0]]), Some("what is this?")),
        (json!([image()[0], {"type": "text", "text": "and this?"}]), Some("and this?")),
    ] {
        let mut lines = vec![user("first")];
        lines.extend(committed("a"));
        let mut next = user("");
        next["message"]["content"] = text;
        let is_next = prompt != Some("first");
        lines.extend([next, spoke()]);
        let told: &[&str] = if is_next { &[] } else { &["git commit -m x to 0"] };
        check(&lines, prompt, Some(70_020), told);
    }
}

#[test]
fn a_message_beside_an_interruption_begins_a_turn() {
    let stop = json!({"type": "text", "text": "[Request interrupted by user]"});
    let mut next = user("");
    next["message"]["content"] = json!([stop, {"type": "text", "text": "use rg instead"}]);
    let mut lines = vec![user("first")];
    lines.extend(committed("a"));
    lines.push(next);
    check(&lines, Some("use rg instead"), Some(60_020), &[]);
}

/// Claude Code answers a command that it does not know, and reports errors, in the agent's name.
#[test]
fn texts_in_the_agents_name_begin_no_turn() {
    let error = |text: &str| {
        let mut line = assistant(0, json!({"type": "text", "text": text}));
        line["message"]["model"] = json!("<synthetic>");
        line
    };
    let mut lines = vec![user("first")];
    lines.extend(committed("a"));
    lines.push(user("<command-name>/foo</command-name>"));
    lines.push(error("Unknown skill: foo"));
    lines.push(json!({"type": "system", "subtype": "turn_duration", "durationMs": 5}));
    lines.push(error("API Error"));
    check(&lines, Some("first"), Some(60_020), &["git commit -m x to 0"]);
}

#[test]
fn a_turn_after_the_end_of_another_begins_without_a_message() {
    let end = json!({"type": "system", "subtype": "turn_duration", "durationMs": 5});
    let mut lines = vec![user("first")];
    lines.extend(committed("a"));
    lines.extend([
        end,
        user("<command-name>/goal</command-name>\n<command-args>the docs</command-args>"),
        user("<local-command-stdout>Goal set: the docs</local-command-stdout>"),
    ]);
    check(&lines, Some("first"), Some(60_020), &["git commit -m x to 0"]);
    lines.push(assistant(70_000, json!({"type": "text", "text": "The docs are next."})));
    check(&lines, None, Some(70_020), &[]);
}

#[test]
fn what_a_person_says_beside_a_result_stays_in_the_turn() {
    let mut lines = vec![user("first")];
    let [call, mut result] = committed("a");
    let said = json!({"type": "text", "text": "and then the docs"});
    result["message"]["content"].as_array_mut().unwrap().push(said);
    lines.extend([call, user("<command-name>/model</command-name>"), result]);
    lines.push(assistant(70_000, json!({"type": "text", "text": "Committed."})));
    check(&lines, Some("first"), Some(70_020), &["git commit -m x to 0"]);
}

#[test]
fn sub_agents_and_errors_do_not_change_the_usage() {
    let mut aside = assistant(5_000, json!({"type": "text", "text": "sub"}));
    aside["isSidechain"] = json!(true);
    let mut error = assistant(0, json!({"type": "text", "text": "API Error"}));
    error["message"]["model"] = json!("<synthetic>");
    let said = assistant(60_000, json!({"type": "text", "text": "main"}));
    check(&[user("first"), said, aside, error], Some("first"), Some(60_020), &[]);
}

#[test]
fn the_usage_is_unknown_after_a_compaction() {
    let boundary = json!({"type": "system", "subtype": "compact_boundary"});
    let mut lines = vec![user("first")];
    lines.extend(committed("a"));
    lines.push(boundary);
    check(&lines, None, None, &[]);
}

#[test]
fn a_transcript_may_lack_the_agents_last_message() {
    let behind = |lines: &[Value], said| {
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        last_turn(RecordFormat::Claude, lines.iter().map(|line| line.as_bytes()))
            .is_behind(HookHost::Claude, said)
    };
    let said = assistant(60_000, json!({"type": "text", "text": "done"}));
    assert!(behind(&[user("first")], Some("done")));
    assert!(behind(&[user("first"), said.clone()], Some("and more")));
    assert!(!behind(&[user("first"), said], Some("done\n")));
    assert!(!behind(&[user("first")], None));
}

#[test]
fn invalid_lines_are_ignored() {
    let lines: [&[u8]; 3] = [b"\"type\":\"user\", torn", b"", b"{\"type\":\"user\"}"];
    assert_eq!(last_turn(RecordFormat::Claude, lines.into_iter()), LastTurn::default());
}
