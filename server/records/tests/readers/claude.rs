//! Transcripts of Claude Code.

use expect_test::expect;
use serde_json::{Value, json};

use super::{at, check};

pub fn claude(seconds: u32, kind: &str, message: Value) -> Value {
    json!({"type": kind, "sessionId": "s", "cwd": "/w", "timestamp": at(seconds), "message": message})
}
pub fn prompt(seconds: u32, text: &str) -> Value {
    claude(seconds, "user", json!({"content": text}))
}
pub fn says(seconds: u32, text: &str) -> Value {
    claude(seconds, "assistant", json!({"content": [{"type": "text", "text": text}]}))
}
pub fn runs(seconds: u32, id: &str, command: &str) -> Value {
    let block =
        json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    claude(seconds, "assistant", json!({"content": [block]}))
}
pub fn result(seconds: u32, id: &str, content: Value, is_error: bool) -> Value {
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
