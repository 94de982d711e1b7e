//! Valid frames with invalid contents: not JSON, not a message, an unknown method, wrong params.

use super::{check, check_params};
use expect_test::expect;
use rawr_protocol::ThreadListParams;
use rawr_protocol::methods::ThreadList;
use rawr_tests::{TestHome, TestSidecar};

#[test]
fn invalid_json_is_a_parse_error() {
    check(
        &[
            b"hello",
            b"",
            b"{\"jsonrpc\":\"2.0\",",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}",
            br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"x"} and more"#,
        ],
        &expect![[r#"
            hello
              null -32700 expected value at line 1 column 1 → send JSON in UTF-8

              null -32700 EOF while parsing a value at line 1 column 0 → send JSON in UTF-8
            {"jsonrpc":"2.0",
              null -32700 EOF while parsing a value at line 1 column 17 → send JSON in UTF-8
            {"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}
              null -32700 invalid unicode code point at line 1 column 35 → send JSON in UTF-8
            {"jsonrpc":"2.0","id":1,"method":"\\ud800"}
              null -32700 unexpected end of hex escape at line 1 column 41 → send JSON in UTF-8
            {"jsonrpc":"2.0","id":1,"method":"x"} and more
              null -32700 trailing characters at line 1 column 39 → send JSON in UTF-8
        "#]],
    );
}

#[test]
fn json_that_is_not_a_message_is_an_invalid_request() {
    check(
        &[
            b"[]",
            br#"[{"jsonrpc":"2.0","id":1,"method":"rawr/thread/list"}]"#,
            b"7",
            b"null",
            b"{}",
            br#"{"id":1,"method":"rawr/thread/list"}"#,
            br#"{"jsonrpc":"1.0","id":1,"method":"rawr/thread/list"}"#,
            br#"{"jsonrpc":"2.0","id":1}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"rawr/thread/list"}"#,
        ],
        &expect![[r#"
            []
              null -32600 batch requests are not supported → send one message at a time
            [{"jsonrpc":"2.0","id":1,"method":"rawr/thread/list"}]
              null -32600 batch requests are not supported → send one message at a time
            7
              null -32600 invalid type: integer `7`, expected a JSON-RPC message, which is an object at line 1 column 1 → send a JSON-RPC 2.0 object
            null
              null -32600 invalid type: null, expected a JSON-RPC message, which is an object at line 1 column 4 → send a JSON-RPC 2.0 object
            {}
              null -32600 `jsonrpc` is not "2.0" → send a JSON-RPC 2.0 object
            {"id":1,"method":"rawr/thread/list"}
              1 -32600 `jsonrpc` is not "2.0" → send a JSON-RPC 2.0 object
            {"jsonrpc":"1.0","id":1,"method":"rawr/thread/list"}
              1 -32600 `jsonrpc` is not "2.0" → send a JSON-RPC 2.0 object
            {"jsonrpc":"2.0","id":1}
              1 -32600 missing `method` → name the method
            {"jsonrpc":"2.0","id":1,"method":5}
              null -32600 invalid type: integer `5`, expected a string at line 1 column 34 → send a JSON-RPC 2.0 object
            {"jsonrpc":"2.0","id":1,"id":2,"method":"rawr/thread/list"}
              null -32600 duplicate field `id` at line 1 column 28 → send a JSON-RPC 2.0 object
        "#]],
    );
}

#[test]
fn ids_are_non_negative_integers_or_strings() {
    check(
        &[
            br#"{"jsonrpc":"2.0","id":0,"method":"no/such"}"#,
            br#"{"jsonrpc":"2.0","id":"seven","method":"no/such"}"#,
            br#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"no/such"}"#,
            br#"{"jsonrpc":"2.0","id":-1,"method":"no/such"}"#,
            br#"{"jsonrpc":"2.0","id":1.5,"method":"no/such"}"#,
            br#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"no/such"}"#,
            br#"{"jsonrpc":"2.0","id":null,"method":"no/such"}"#,
            br#"{"jsonrpc":"2.0","id":true,"method":"no/such"}"#,
            br#"{"jsonrpc":"2.0","id":{"a":1},"method":"no/such"}"#,
        ],
        &expect![[r#"
            {"jsonrpc":"2.0","id":0,"method":"no/such"}
              0 -32601 there is no method `no/such` → rawr --help and openrpc.json name all methods
            {"jsonrpc":"2.0","id":"seven","method":"no/such"}
              "seven" -32601 there is no method `no/such` → rawr --help and openrpc.json name all methods
            {"jsonrpc":"2.0","id":18446744073709551615,"method":"no/such"}
              18446744073709551615 -32601 there is no method `no/such` → rawr --help and openrpc.json name all methods
            {"jsonrpc":"2.0","id":-1,"method":"no/such"}
              -1 -32600 `id` is neither a non-negative integer nor a string → number requests from 0 or 1
            {"jsonrpc":"2.0","id":1.5,"method":"no/such"}
              1.5 -32600 `id` is neither a non-negative integer nor a string → number requests from 0 or 1
            {"jsonrpc":"2.0","id":18446744073709551616,"method":"no/such"}
              1.8446744073709552e+19 -32600 `id` is neither a non-negative integer nor a string → number requests from 0 or 1
            {"jsonrpc":"2.0","id":null,"method":"no/such"}
              null -32600 `id` is neither a non-negative integer nor a string → number requests from 0 or 1
            {"jsonrpc":"2.0","id":true,"method":"no/such"}
              null -32600 `id` is neither a non-negative integer nor a string → number requests from 0 or 1
            {"jsonrpc":"2.0","id":{"a":1},"method":"no/such"}
              null -32600 `id` is neither a non-negative integer nor a string → number requests from 0 or 1
        "#]],
    );
}

#[test]
fn unknown_methods_are_named() {
    check(
        &[
            br#"{"jsonrpc":"2.0","id":1,"method":"rawr/no/such","params":{}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":""}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"initialized"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"rawr/thread/changed"}"#,
        ],
        &expect![[r#"
            {"jsonrpc":"2.0","id":1,"method":"rawr/no/such","params":{}}
              1 -32601 there is no method `rawr/no/such` → rawr --help and openrpc.json name all methods
            {"jsonrpc":"2.0","id":1,"method":""}
              1 -32601 there is no method `` → rawr --help and openrpc.json name all methods
            {"jsonrpc":"2.0","id":1,"method":"initialized"}
              1 -32601 there is no method `initialized` → rawr --help and openrpc.json name all methods
            {"jsonrpc":"2.0","id":1,"method":"rawr/thread/changed"}
              1 -32601 there is no method `rawr/thread/changed` → rawr --help and openrpc.json name all methods
        "#]],
    );
}

// rule: client.error-data
#[test]
fn errors_of_invalid_params_name_the_field() {
    check_params(
        "rawr/thread/get",
        &[
            "{}",
            "[]",
            "null",
            r#"["t"]"#,
            r#""t""#,
            r#"{"threadId":5}"#,
            r#"{"threadId":null}"#,
            r#"{"threadId":"t","threadId":"t"}"#,
        ],
        &expect![[r#"
            {}
              7 -32602 ("threadId") missing field `threadId` at line 1 column 2 → see the method's params in schema.json
            []
              7 -32602 ("threadId") missing field `threadId` at line 1 column 2 → see the method's params in schema.json
            null
              7 -32602 ("threadId") missing field `threadId` at line 1 column 2 → see the method's params in schema.json
            ["t"]
              7 -31001 of "t" thread t is not open here → call rawr/thread/open first
            "t"
              7 -32602 invalid type: string "t", expected struct ThreadGetParams at line 1 column 3 → see the method's params in schema.json
            {"threadId":5}
              7 -32602 ("threadId") invalid type: integer `5`, expected a string at line 1 column 13 → see the method's params in schema.json
            {"threadId":null}
              7 -32602 ("threadId") invalid type: null, expected a string at line 1 column 16 → see the method's params in schema.json
            {"threadId":"t","threadId":"t"}
              7 -32602 duplicate field `threadId` at line 1 column 26 → see the method's params in schema.json
        "#]],
    );
    check_params(
        "rawr/turn/usage",
        &[r#"{"threadId":"t","turnId":"a/b","usage":{"contextTokens":1}}"#],
        &expect![[r#"
            {"threadId":"t","turnId":"a/b","usage":{"contextTokens":1}}
              7 -32602 ("turnId") turnId holds the character '/' at byte 1 → correct `turnId`
        "#]],
    );
    let turn = r#"{"threadId":"t","turnId":"t1","status":"exploded"}"#;
    check_params(
        "rawr/turn/completed",
        &[turn],
        &expect![[r#"
        {"threadId":"t","turnId":"t1","status":"exploded"}
          7 -32602 ("status") unknown variant `exploded`, expected one of `completed`, `interrupted`, `failed` at line 1 column 49 → see the method's params in schema.json
    "#]],
    );
    let signal = r#"{"threadId":"t","signal":{"kind":"alarm"}}"#;
    check_params(
        "rawr/signal/report",
        &[signal],
        &expect![[r#"
            {"threadId":"t","signal":{"kind":"alarm"}}
              7 -32602 ("signal.kind") unknown variant `alarm`, expected one of `plan_updated`, `command_finished`, `commit`, `pr_checkpoint`, `branch_changed`, `tool_started`, `tool_finished`, `phase_boundary`, `user_message`, `directive`, `title_changed` at line 1 column 40 → see the method's params in schema.json
        "#]],
    );
}

#[test]
fn a_thread_that_was_not_opened_is_unknown() {
    check_params(
        "rawr/thread/get",
        &[r#"{"threadId":"t"}"#],
        &expect![[r#"
        {"threadId":"t"}
          7 -31001 of "t" thread t is not open here → call rawr/thread/open first
    "#]],
    );
    let turn = r#"{"threadId":"t","turnId":"t1","usage":{"contextTokens":1}}"#;
    check_params(
        "rawr/turn/usage",
        &[turn],
        &expect![[r#"
        {"threadId":"t","turnId":"t1","usage":{"contextTokens":1}}
          7 -31001 of "t" thread t is not open here → call rawr/thread/open first
    "#]],
    );
}

#[test]
fn deep_nesting_is_refused_or_skipped_and_never_a_stack_overflow() {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let unknown = format!(r#"{{"threadId":"t","extra":{}}}"#, deep(200_000));
    check_params(
        "rawr/thread/get",
        &[&unknown, &deep(200_000)],
        &expect![[r#"
        {"threadId":"t","extra":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
          7 -31001 of "t" thread t is not open here → call rawr/thread/open first
        [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
          7 -32602 ("[0]") invalid type: sequence, expected a string at line 1 column 1 → see the method's params in schema.json
    "#]],
    );
    let id = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"x"}}"#, deep(100_000));
    check(
        &[id.as_bytes()],
        &expect![[r#"
        {"jsonrpc":"2.0","id":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
          null -32600 `id` is neither a non-negative integer nor a string → number requests from 0 or 1
    "#]],
    );
}

#[test]
fn notifications_and_responses_are_never_answered() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    for body in [
        r#"{"jsonrpc":"2.0","method":"rawr/no/such","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"$/whatever"}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":-99}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest"}"#,
        r#"{"jsonrpc":"2.0","method":"initialized","params":null}"#,
        r#"{"jsonrpc":"2.0","method":"rawr/thread/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}"#,
    ] {
        sidecar.send_body(body.as_bytes());
    }
    sidecar.call::<ThreadList>(&ThreadListParams {});
    sidecar.leave();
}
