//! Rollouts of Codex.

use expect_test::expect;
use serde_json::{Value, json};

use super::{at, check};

pub fn codex(seconds: u32, kind: &str, payload: Value) -> Value {
    serde_json::from_str(&codex_line(seconds, kind, payload)).unwrap()
}
/// The keys in Codex's order.
pub fn codex_line(seconds: u32, kind: &str, payload: Value) -> String {
    format!("{{\"timestamp\":\"{}\",\"type\":\"{kind}\",\"payload\":{payload}}}", at(seconds))
}
pub fn event(seconds: u32, payload: Value) -> Value {
    codex(seconds, "event_msg", payload)
}
pub fn count(seconds: u32, tokens: u64) -> Value {
    let info = json!({"last_token_usage": {"total_tokens": tokens}});
    event(seconds, json!({"type": "token_count", "info": info}))
}
pub fn start(seconds: u32, turn: &str) -> Value {
    event(
        seconds,
        json!({"type": "task_started", "turn_id": turn, "model_context_window": 258_400}),
    )
}
pub fn sums(seconds: u32, last: u64, total: u64) -> Value {
    let info = json!({"last_token_usage": {"total_tokens": last}, "total_token_usage": {"total_tokens": total}});
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
