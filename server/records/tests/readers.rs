//! What lines of each format tell.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

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

fn claude(seconds: u32, kind: &str, message: Value) -> Value {
    json!({"type": kind, "sessionId": "s", "cwd": "/w", "timestamp": at(seconds), "message": message})
}

fn prompt(seconds: u32, text: &str) -> Value {
    claude(seconds, "user", json!({"content": text}))
}

fn says(seconds: u32, text: &str) -> Value {
    claude(seconds, "assistant", json!({"content": [{"type": "text", "text": text}]}))
}

fn runs(seconds: u32, id: &str, command: &str) -> Value {
    let block =
        json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    claude(seconds, "assistant", json!({"content": [block]}))
}

fn result(seconds: u32, id: &str, content: Value, is_error: bool) -> Value {
    let block =
        json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error});
    claude(seconds, "user", json!({"content": [block]}))
}

#[test]
fn a_turn_of_claude_code_without_a_mark_ends_with_its_last_line() {
    check(
        &[prompt(0, "one"), says(5, "Done."), prompt(600, "two"), says(610, "Done too.")],
        expect![[r#"
            0s opened s
            0s prompt one
            5s turn
            5s said Done.
            5s end completed
            600s prompt two
            610s turn
            610s said Done too.
            610s end completed
        "#]],
    );
}

#[test]
fn what_claude_code_does_itself_is_no_prompt() {
    check(
        &[
            prompt(0, "<command-name>/model</command-name>"),
            prompt(1, "<bash-input>git status</bash-input>"),
            prompt(2, "<bash-stdout>clean</bash-stdout>"),
            prompt(3, "<local-command-stdout>ok</local-command-stdout>"),
            prompt(4, "<command-message>x</command-message><command-name>/review</command-name>"),
            says(5, "Reviewed."),
        ],
        expect![[r#"
            0s opened s
            4s prompt /review
            5s turn
            5s said Reviewed.
            5s end completed
        "#]],
    );
}

#[test]
fn what_stands_in_for_an_answer_is_no_turn() {
    let synthetic = |seconds, text: &str| {
        let block = json!({"type": "text", "text": text});
        claude(seconds, "assistant", json!({"model": "<synthetic>", "content": [block]}))
    };
    check(
        &[
            prompt(0, "one"),
            says(1, "Done."),
            prompt(2, "<command-name>/exit</command-name>"),
            synthetic(90, "No response requested."),
            prompt(91, "two"),
            synthetic(92, "API Error: 529"),
        ],
        expect![[r#"
            0s opened s
            0s prompt one
            1s turn
            1s said Done.
            1s end completed
            91s prompt two
            92s turn
            92s said API Error: 529
            92s end completed
        "#]],
    );
}

#[test]
fn a_message_that_comes_with_a_result_ends_no_turn() {
    let block = json!({"type": "tool_result", "tool_use_id": "a", "content": "ok"});
    let text = json!({"type": "text", "text": "and the docs"});
    check(
        &[
            prompt(0, "one"),
            runs(1, "a", "ls"),
            claude(2, "user", json!({"content": [block, text]})),
            says(3, "Done."),
        ],
        expect![[r#"
            0s opened s
            0s prompt one
            1s turn
            2s command ls -> 0
            2s prompt and the docs
            3s said Done.
            3s end completed
        "#]],
    );
}

/// A session that is taken up again may repeat lines.
#[test]
fn a_line_that_is_repeated_counts_once() {
    let named = |mut line: Value, id: &str| {
        line["uuid"] = json!(id);
        line
    };
    let (asked, done) = (named(prompt(0, "one"), "u1"), named(says(1, "Done."), "u2"));
    check(
        &[asked.clone(), done.clone(), asked, done, named(says(2, "And the docs."), "u2")],
        expect![[r#"
            0s opened s
            0s prompt one
            1s turn
            1s said Done.
            2s said And the docs.
            2s end completed
        "#]],
    );
}

#[test]
fn only_commands_that_ran_to_their_end_count() {
    check(
        &[
            prompt(0, "one"),
            runs(1, "a", "cargo test"),
            result(2, "a", json!("Exit code 101\nfailed"), true),
            runs(3, "b", "git push"),
            result(4, "b", json!("The user doesn't want to proceed with this tool use."), true),
            runs(5, "c", "npm start"),
            result(6, "c", json!("Command running in background with ID: 1"), false),
            runs(7, "d", "git commit"),
            result(8, "d", json!([{"type": "text", "text": "ok"}]), false),
            claude(
                9,
                "user",
                json!({"content": [{"type": "text", "text": "[Request interrupted by user]"}]}),
            ),
        ],
        expect![[r#"
            0s opened s
            0s prompt one
            1s turn
            2s command cargo test -> 101
            8s command git commit -> 0
            9s end interrupted
        "#]],
    );
}

#[test]
fn the_blocks_of_one_message_are_one_request() {
    let part = |id: &str, block: Value| {
        let usage = json!({"input_tokens": 10, "output_tokens": 5});
        claude(1, "assistant", json!({"id": id, "content": [block], "usage": usage}))
    };
    let text = || json!({"type": "text", "text": "Done."});
    let tool = json!({"type": "tool_use", "id": "a", "name": "Glob", "input": {}});
    check(
        &[prompt(0, "one"), part("m1", text()), part("m1", tool), part("m2", text())],
        expect![[r#"
            0s opened s
            0s prompt one
            1s turn
            1s said Done.
            1s usage 15
            1s usage 15, same request, goes on
            1s said Done.
            1s usage 15
            1s end completed
        "#]],
    );
}

#[test]
fn odd_values_lose_no_message() {
    let usage = json!({
        "input_tokens": u64::MAX,
        "cache_creation_input_tokens": null,
        "cache_read_input_tokens": -1,
        "output_tokens": 5.5,
    });
    let mut says = says(1, "Done.");
    says["message"]["usage"] = usage;
    says["isSidechain"] = Value::Null;
    let mut late = prompt(2, "two");
    late["timestamp"] = json!("9999-01-01T00:00:00Z");
    check(
        &[prompt(0, "one"), says, late, json!({"type": "?", "sessionId": "s"})],
        expect![[r#"
            0s opened s
            0s prompt one
            1s turn
            1s said Done.
            1s end completed
            1s prompt two
            0 malformed, 1 unknown
        "#]],
    );
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

fn codex(seconds: u32, kind: &str, payload: Value) -> Value {
    serde_json::from_str(&codex_line(seconds, kind, payload)).unwrap()
}

/// The keys in Codex's order.
fn codex_line(seconds: u32, kind: &str, payload: Value) -> String {
    format!("{{\"timestamp\":\"{}\",\"type\":\"{kind}\",\"payload\":{payload}}}", at(seconds))
}

fn event(seconds: u32, payload: Value) -> Value {
    codex(seconds, "event_msg", payload)
}

fn count(seconds: u32, tokens: u64) -> Value {
    let info = json!({"last_token_usage": {"total_tokens": tokens}});
    event(seconds, json!({"type": "token_count", "info": info}))
}

#[test]
fn rollouts_without_marks_of_turns_have_turns() {
    check(
        &[
            codex(0, "session_meta", json!({"id": "s", "cwd": "/w"})),
            event(1, json!({"type": "user_message", "message": "one"})),
            event(2, json!({"type": "agent_message", "message": "Done."})),
            count(3, 1000),
            event(9, json!({"type": "user_message", "message": "two"})),
            event(10, json!({"type": "agent_message", "message": "Done too."})),
        ],
        expect![[r#"
            0s opened s
            1s prompt one
            1s turn
            2s said Done.
            3s usage 1,000, goes on
            9s end completed
            9s prompt two
            9s turn
            10s said Done too.
            10s end completed
        "#]],
    );
}

#[test]
fn after_a_compaction_inside_a_turn_only_its_own_count_is_left_out() {
    let item = |kind: &str| codex(4, "response_item", json!({"type": kind}));
    check(
        &[
            codex(0, "session_meta", json!({"id": "s", "cwd": "/w"})),
            event(1, json!({"type": "task_started", "turn_id": "t"})),
            event(1, json!({"type": "user_message", "message": "one"})),
            count(2, 200_000),
            codex(3, "compacted", json!({"message": "…"})),
            count(3, 9000),
            event(3, json!({"type": "context_compacted"})),
            item("custom_tool_call"),
            count(5, 12_000),
            event(
                6,
                json!({"type": "task_complete", "turn_id": "t", "last_agent_message": "Done."}),
            ),
        ],
        expect![[r#"
            0s opened s
            1s prompt one
            1s turn
            2s usage 200,000, goes on
            3s compacted by Host
            5s usage 12,000, goes on
            6s said Done.
            6s end completed
        "#]],
    );
}

#[test]
fn exit_codes_are_read_where_codex_tells_them() {
    let exit = |arguments: Value, output: Value| {
        let call = json!({"type": "function_call", "name": "shell", "call_id": "c", "arguments": arguments});
        let output = json!({"type": "function_call_output", "call_id": "c", "output": output});
        [
            event(1, json!({"type": "user_message", "message": "go"})),
            codex(2, "response_item", call),
            codex(3, "response_item", output),
        ]
    };
    let words = || json!("{\"command\":[\"bash\",\"-lc\",\"make\"]}");
    let header = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nProcess exited with code 7\n";
    let metadata = json!({"output": "Exit code: 7\n", "metadata": {"exit_code": 1}});
    let runs = "Process running with session ID 5\nOutput:\nProcess exited with code 0";
    let all = [
        exit(words(), json!(header)),
        exit(json!({"cmd": "make"}), json!([{"type": "input_text", "text": header}])),
        exit(words(), json!(metadata.to_string())),
        exit(words(), json!(runs)),
        exit(words(), json!("aborted by user")),
    ];
    check(
        &all.concat(),
        expect![[r#"
            1s prompt go
            1s turn
            3s command bash -lc make -> 0
            3s end completed
            3s prompt go
            3s turn
            3s command make -> 0
            3s end completed
            3s prompt go
            3s turn
            3s command bash -lc make -> 1
            3s end completed
            3s prompt go
            3s turn
            3s end completed
            3s prompt go
            3s turn
            3s end completed
        "#]],
    );
}

#[test]
fn what_a_person_sends_or_quotes_is_a_prompt() {
    let image = json!([{"type": "image", "source": {"type": "base64", "data": "iVBO"}}]);
    check(
        &[
            prompt(0, "one"),
            says(1, "Done."),
            claude(2, "user", json!({"content": image})),
            claude(3, "assistant", json!({"content": "A button."})),
            prompt(4, "Why does it say <command-name>/clear</command-name>?"),
            says(5, "Because of a command."),
        ],
        expect![[r#"
            0s opened s
            0s prompt one
            1s turn
            1s said Done.
            1s end completed
            2s prompt 
            3s turn
            3s said A button.
            3s end completed
            4s prompt Why does it say <command-name>/clear</command-name>?
            5s turn
            5s said Because of a command.
            5s end completed
        "#]],
    );
}

#[test]
fn the_lines_of_two_messages_may_alternate() {
    let part = |seconds, id: &str, input: u64, output: u64| {
        let usage = json!({"input_tokens": input, "output_tokens": output});
        claude(seconds, "assistant", json!({"id": id, "content": [], "usage": usage}))
    };
    check(
        &[
            prompt(0, "one"),
            part(1, "a", 100, 1),
            part(2, "b", 200, 2),
            part(3, "a", 100, 30),
            part(4, "b", 200, 9),
        ],
        expect![[r#"
            0s opened s
            0s prompt one
            1s turn
            1s usage 101
            2s usage 202
            3s usage 202, same request
            4s usage 209, same request
            4s end completed
        "#]],
    );
}

#[test]
fn a_request_is_what_the_sums_grew_by() {
    let sums = |seconds, input: u64, output: u64| {
        let total = json!({"input_tokens": input, "output_tokens": output});
        event(seconds, json!({"type": "token_count", "info": {"total_token_usage": total}}))
    };
    check(
        &[
            event(0, json!({"type": "user_message", "message": "go"})),
            sums(1, 1000, 10),
            sums(2, 3000, 30),
            sums(3, 3000, 30),
        ],
        expect![[r#"
            0s prompt go
            0s turn
            1s usage 1,010, goes on
            2s usage 2,020, goes on
            3s end completed
        "#]],
    );
}

#[test]
fn time_goes_on_after_a_clock_was_set_back() {
    let mut leap = says(20, "Two.");
    leap["timestamp"] = json!("2026-11-03T09:00:00.000Z");
    let mut lines = vec![prompt(0, "one"), says(10, "One."), prompt(15, "two"), leap];
    let after =
        [30, 40, 50, 60, 70].map(|seconds| [prompt(seconds, "more"), says(seconds + 5, "Done.")]);
    lines.extend(after.into_iter().flatten());
    check(
        &lines,
        expect![[r#"
        0s opened s
        0s prompt one
        10s turn
        10s said One.
        10s end completed
        15s prompt two
        86400s turn
        86400s said Two.
        86400s end completed
        86400s prompt more
        86400s turn
        86400s said Done.
        86400s end completed
        86400s prompt more
        86415s turn
        86415s said Done.
        86415s end completed
        86420s prompt more
        86425s turn
        86425s said Done.
        86425s end completed
        86430s prompt more
        86435s turn
        86435s said Done.
        86435s end completed
        86440s prompt more
        86445s turn
        86445s said Done.
        86445s end completed
    "#]],
    );
}

fn start(seconds: u32, turn: &str) -> Value {
    event(
        seconds,
        json!({"type": "task_started", "turn_id": turn, "model_context_window": 258_400}),
    )
}

fn sums(seconds: u32, last: u64, total: u64) -> Value {
    let info = json!({"last_token_usage": {"total_tokens": last}, "total_token_usage": {"total_tokens": total}});
    event(seconds, json!({"type": "token_count", "info": info}))
}

#[test]
fn a_compaction_before_the_first_request_of_a_turn_is_the_hosts() {
    let compacted = |seconds| codex(seconds, "compacted", json!({"message": "s"}));
    check(
        &[
            start(0, "a"),
            compacted(1),
            sums(2, 9000, 200_000),
            event(3, json!({"type": "user_message", "message": "two"})),
            sums(4, 12_000, 212_000),
            event(5, json!({"type": "task_complete"})),
            start(6, "b"),
            compacted(7),
            event(8, json!({"type": "task_complete"})),
        ],
        expect![[r#"
            3s prompt two
            3s compacted by Host
            3s turn
            4s usage 12,000, goes on
            5s end completed
            8s compacted by User
        "#]],
    );
}

#[test]
fn what_a_fork_copied_is_left_out_however_it_was_copied() {
    let meta = |seconds, id: &str, parent: Option<&str>| {
        codex(seconds, "session_meta", json!({"id": id, "forked_from_id": parent}))
    };
    let turn = |seconds, id: &str, total: u64| {
        [
            start(seconds, id),
            event(seconds, json!({"type": "user_message", "message": id})),
            sums(seconds, 1000, total),
            event(seconds, json!({"type": "task_complete"})),
        ]
    };
    let own = [start(900, "own"), event(900, json!({"type": "user_message", "message": "own"}))];
    let rest = [sums(901, 1000, 2000), sums(902, 1000, 3000)];
    let own = [own.as_slice(), &rest].concat();
    let slowly = (500..504).flat_map(|seconds| turn(seconds, "old", 2000)).collect::<Vec<_>>();
    let older = (1..9).flat_map(|minute| turn(minute * 30, "old", 2000)).collect::<Vec<_>>();
    let cases: [Vec<Value>; 3] = [
        [vec![meta(500, "fork", Some("parent"))], slowly.clone(), own.clone()].concat(),
        [vec![meta(500, "fork", None), meta(500, "parent", None)], slowly, own.clone()].concat(),
        [vec![meta(500, "fork", None), meta(0, "parent", None)], older, own].concat(),
    ];
    for lines in cases {
        check(
            &lines,
            expect![[r#"
                500s opened fork
                900s prompt own
                900s turn
                902s usage 1,000, goes on
                902s end interrupted
            "#]],
        );
    }
}

#[test]
fn requests_are_told_apart_without_ids_of_messages() {
    let part = |seconds, id: Value, request: Value, input: u64| {
        let message = json!({"id": id, "content": [], "usage": {"input_tokens": input}});
        let mut line = claude(seconds, "assistant", message);
        line["requestId"] = request;
        line
    };
    check(
        &[
            prompt(0, "one"),
            part(1, json!(""), json!(null), 100),
            part(2, json!(""), json!(null), 200),
            part(3, json!(null), json!("r"), 300),
            part(4, json!(null), json!("r"), 300),
            part(5, json!("same"), json!(null), 400),
            prompt(6, "two"),
            part(7, json!("same"), json!(null), 500),
        ],
        expect![[r#"
            0s opened s
            0s prompt one
            1s turn
            1s usage 100
            2s usage 200
            3s usage 300
            4s usage 300, same request
            5s usage 400
            5s end completed
            6s prompt two
            7s turn
            7s usage 500
            7s end completed
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
