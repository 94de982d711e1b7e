//! Invalid input and the exact error that the sidecar answers. Every case ends with a call that works, unless the
//! connection is closed by then.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod bounds;
mod connection;
mod files;
mod messages;
mod numbers;

use expect_test::Expect;
use rawr_protocol::ThreadListParams;
use rawr_protocol::methods::ThreadList;
use rawr_tests::{TestHome, TestSidecar};
use serde_json::Value;
use std::fmt::Write;

/// Sends each body after `initialize`, prints it with its answer, and checks that the sidecar still works.
fn check(bodies: &[&[u8]], answers: &Expect) {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let mut lines = String::new();
    for body in bodies {
        sidecar.send_body(body);
        let _ = writeln!(lines, "{}\n  {}", beginning(body), shown(&sidecar.next_answer()));
        sidecar.call::<ThreadList>(&ThreadListParams {});
    }
    answers.assert_eq(&lines);
    sidecar.leave();
}

/// Like [`check`], with the params of one method.
fn check_params(method: &str, params: &[&str], answers: &Expect) {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let mut lines = String::new();
    for params in params {
        let start = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":"#);
        sidecar.send_body(format!("{start}{params}}}").as_bytes());
        let answer = shown(&sidecar.next_answer());
        let _ = writeln!(lines, "{}\n  {answer}", beginning(params.as_bytes()));
        sidecar.call::<ThreadList>(&ThreadListParams {});
    }
    answers.assert_eq(&lines);
    sidecar.leave();
}

fn beginning(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(90)].escape_ascii().to_string().replace("\\\"", "\"")
}

fn shown(answer: &Value) -> String {
    let error = &answer["error"];
    let (id, code, message, data) =
        (&answer["id"], &error["code"], &error["message"], &error["data"]);
    let field = data.get("field").map(|field| format!(" ({field})")).unwrap_or_default();
    let thread = data.get("threadId").map(|thread| format!(" of {thread}")).unwrap_or_default();
    let message = message.as_str().unwrap_or("no error");
    let hint = data["hint"].as_str().map(|hint| format!(" → {hint}")).unwrap_or_default();
    format!("{id} {code}{field}{thread} {message}{hint}")
}
