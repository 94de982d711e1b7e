//! What lines of each format tell.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod claude;
mod codex;

use claude::{claude, prompt, result, runs, says};
use codex::{codex, codex_line, event};
use expect_test::{Expect, expect};
use rawr_records::lines::FileLines;
use rawr_records::moment::Moment;
use rawr_records::read::read;
use serde_json::{Value, json};
use std::fmt::Display;
use std::io::Cursor;
use std::sync::atomic::AtomicBool;

fn check(lines: &[impl Display], expected: Expect) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut told = String::new();
    let start = rawr_records::time::parse("2026-11-02T09:00:00Z").unwrap();
    let mut lines = FileLines::new(Box::new(Cursor::new(text)));
    let (_, counts) = read(&mut lines, &AtomicBool::new(false), &mut |moment| {
        let seconds = moment.at.seconds_since(start);
        let what = match moment.what {
            Moment::Opened(host) => format!("opened {}", host.session),
            Moment::Model(model) => format!("model {model}"),
            Moment::Prompt(text) => format!("prompt {text}"),
            Moment::TurnStarted => "turn".to_owned(),
            Moment::Said(text) => format!("said {text}"),
            Moment::Usage { context, needs_follow_up, is_part, .. } => format!(
                "usage {context}{}{}",
                if is_part { ", same request" } else { "" },
                if needs_follow_up { ", goes on" } else { "" }
            ),
            Moment::Command { words, exit_code, .. } => {
                format!("command {} -> {exit_code}", words.join(" "))
            }
            Moment::Plan { items, .. } => format!("plan of {}", items.len()),
            Moment::Attended(true) => return,
            Moment::Attended(false) => "by a program".to_owned(),
            Moment::FileRead(path) => format!("read {path}"),
            Moment::Compacted(by) => format!("compacted by {by:?}"),
            Moment::TurnEnded(ending) => format!("end {}", ending.name()),
            Moment::Recorded(event) => event.name().to_owned(),
        };
        told += &format!("{seconds}s {what}\n");
    })
    .unwrap();
    if counts.malformed + counts.unknown > 0 {
        told += &format!("{} malformed, {} unknown\n", counts.malformed, counts.unknown);
    }
    expected.assert_eq(&told.replace(&long(), "[long]"));
}
/// Lines with it are shortened before they are parsed.
fn long() -> String {
    format!("{0}\n{0}", "x".repeat(550))
}
fn at(seconds: u32) -> String {
    format!("2026-11-02T09:{:02}:{:02}.000Z", seconds / 60, seconds % 60)
}
#[test]
fn what_tools_print_may_be_long_and_messages_are_whole() {
    let write = json!({"type": "tool_use", "id": "c2", "name": "TodoWrite",
        "input": {"todos": [{"content": long(), "status": "pending"}]}});
    let mut failed = result(3, "c1", json!(format!("Exit code 3\n{}", long())), true);
    failed["toolUseResult"] = json!({"stdout": long()});
    check(
        &[
            prompt(1, &long()),
            runs(2, "c1", "make"),
            failed,
            claude(4, "assistant", json!({"content": [write]})),
            runs(5, "c3", "ls"),
            result(6, "c3", json!(format!("<tool_use_error>{}", long())), true),
            claude(7, "user", json!({"content": [{"type": "text", "text": long()}]})),
        ],
        expect![[r#"
            1s opened s
            1s prompt [long]
            2s turn
            3s command make -> 3
            4s plan of 1
            6s end completed
            7s prompt [long]
        "#]],
    );
    let call = json!({"type": "function_call", "name": "shell", "call_id": "c1",
        "arguments": "{\"cmd\":\"make\"}"});
    let output = json!({"type": "function_call_output", "call_id": "c1",
        "output": format!("Chunk ID: {}\nProcess exited with code 7\nOutput:\n{}", long(), long())});
    check(
        &[
            codex_line(1, "event_msg", json!({"type": "user_message", "message": long()})),
            codex_line(2, "response_item", call),
            codex_line(3, "response_item", output),
            codex_line(
                4,
                "event_msg",
                json!({"type": "task_complete", "last_agent_message": long()}),
            ),
        ],
        expect![[r#"
            1s prompt [long]
            1s turn
            3s command make -> 7
            4s said [long]
            4s end completed
        "#]],
    );
}
#[test]
fn half_an_emoji_in_a_command_and_a_key_that_is_there_twice_lose_nothing() {
    let text = |value: &Value| value.to_string();
    let half = text(&runs(1, "a", "echo HALF; git commit")).replace("HALF", "\\ud83d");
    let twice = text(&says(3, "Done.")).replacen('{', "{\"cwd\":\"/x\",", 1);
    let call = json!({"type": "function_call", "name": "shell", "call_id": "c",
        "arguments": "{\"command\":[\"git\",\"commit\",\"-m\",\"HALF\"]}"});
    check(
        &[text(&prompt(0, "one")), half, text(&result(2, "a", json!("ok"), false)), twice],
        expect![[r#"
            0s opened s
            0s prompt one
            1s turn
            2s command echo �; git commit -> 0
            3s said Done.
            3s end completed
        "#]],
    );
    let call = text(&codex(2, "response_item", call)).replace("HALF", "\\\\ud83d");
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "Exit code: 0"});
    check(
        &[
            text(&event(1, json!({"type": "user_message", "message": "go"}))),
            call,
            text(&codex(3, "response_item", output)),
        ],
        expect![[r#"
            1s prompt go
            1s turn
            3s command git commit -m � -> 0
            3s end completed
        "#]],
    );
}
