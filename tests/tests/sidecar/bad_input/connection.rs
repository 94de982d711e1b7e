//! Framing, the life cycle, and the kinds of streams.

use super::{beginning, shown};
use expect_test::expect;
use rawr_protocol::methods::{ActionPerform, ThreadList, ThreadOpen};
use rawr_protocol::{Role, ThreadListParams};
use rawr_tests::sidecar::Streams;
use rawr_tests::{LaunchOptions, StandIn, TestHome, TestSidecar, wait_until};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;

#[test]
fn invalid_framing_ends_the_connection_with_one_parse_error() {
    let mut lines = String::new();
    for bytes in [
        &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"}\n"[..],
        b"Content-Length: many\r\n\r\n{}",
        b"Content-Length: -5\r\n\r\n{}",
        b"Content-Length: 99999999999999999999\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"Content-Type: text/plain\r\n\r\n{}",
        format!("X-Long: {}\r\n", "x".repeat(5000)).as_bytes(),
        b"\xff\xfe\x00",
    ] {
        let home = TestHome::new();
        let mut sidecar = TestSidecar::start(&home);
        sidecar.send_raw(bytes);
        let _ = writeln!(lines, "{}\n  {}", beginning(bytes), shown(&sidecar.next_answer()));
        assert_eq!(sidecar.wait().code(), Some(1));
    }
    expect![[r#"
        {"jsonrpc":"2.0","id":1,"method":"shutdown"}\n
          null -32700 expected a header such as `Content-Length: 42`, found `{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"}` → start every message with `Content-Length: N` and an empty line
        Content-Length: many\r\n\r\n{}
          null -32700 the value of Content-Length is not a number of bytes: `many` → start every message with `Content-Length: N` and an empty line
        Content-Length: -5\r\n\r\n{}
          null -32700 the value of Content-Length is not a number of bytes: `-5` → start every message with `Content-Length: N` and an empty line
        Content-Length: 99999999999999999999\r\n\r\n{}
          null -32700 the value of Content-Length is not a number of bytes: `99999999999999999999` → start every message with `Content-Length: N` and an empty line
        Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}
          null -32700 the header gives two lengths, 2 and 3 → start every message with `Content-Length: N` and an empty line
        Content-Type: text/plain\r\n\r\n{}
          null -32700 the header has no Content-Length → start every message with `Content-Length: N` and an empty line
        X-Long: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          null -32700 the header is longer than 4096 bytes → start every message with `Content-Length: N` and an empty line
        \xff\xfe\x00
          null -32700 expected a header such as `Content-Length: 42`, found `��\0` → start every message with `Content-Length: N` and an empty line
    "#]].assert_eq(&lines);
}

#[test]
fn an_incomplete_frame_at_the_end_of_input_is_a_normal_end() {
    for cut in [&b"Content-Le"[..], b"Content-Length: 40\r\n", b"Content-Length: 40\r\n\r\n{\"json"]
    {
        let home = TestHome::new();
        let mut sidecar = TestSidecar::start(&home);
        sidecar.send_raw(cut);
        sidecar.end_input();
        assert_eq!(sidecar.wait().code(), Some(0));
        assert!(sidecar.log().contains("the input ended inside"), "{}", sidecar.log());
    }
}

#[test]
fn other_headers_and_their_order_do_not_matter() {
    let body = r#"{"jsonrpc":"2.0","id":1000,"method":"rawr/thread/list"}"#;
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let header = format!("content-type: application/json\r\nCONTENT-LENGTH:  {} \r\n", body.len());
    sidecar.send_raw(format!("{header}\r\n{body}").as_bytes());
    assert_eq!(sidecar.answer_to(&json!(1000))["result"], json!({ "threads": [] }));
    sidecar.leave();
}

#[test]
fn a_message_that_is_too_large_is_refused_and_skipped() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    sidecar.send_body(&vec![b' '; 100_000_000]);
    expect!["null -32600 a message of 100000000 bytes is too large → split the request"]
        .assert_eq(&shown(&sidecar.next_answer()));
    sidecar.call::<ThreadList>(&ThreadListParams {});
    let peak = sidecar.peak_memory();
    assert!(peak < 100 << 20, "{peak} bytes for a message that is skipped");
    sidecar.leave();
}

// rule: client.initialize-first
#[test]
fn requests_outside_of_the_life_cycle_are_refused() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::spawn(&home, &LaunchOptions::default());
    let mut lines = String::new();
    for method in [
        "rawr/thread/list",
        "shutdown",
        "initialize",
        "initialize",
        "shutdown",
        "rawr/thread/list",
        "initialize",
        "shutdown",
    ] {
        sidecar.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {} }));
        let _ = writeln!(lines, "{method}\n  {}", shown(&sidecar.next_answer()));
    }
    expect![[r#"
        rawr/thread/list
          1 -32002 the first request must be initialize → send initialize first
        shutdown
          1 -32002 the first request must be initialize → send initialize first
        initialize
          1 null no error
        initialize
          1 -32600 the message is not a request that can be served now → send initialize only once
        shutdown
          1 null no error
        rawr/thread/list
          1 -32600 the message is not a request that can be served now → send only exit after shutdown
        initialize
          1 -32600 the message is not a request that can be served now → send only exit after shutdown
        shutdown
          1 -32600 the message is not a request that can be served now → send only exit after shutdown
    "#]].assert_eq(&lines);
    sidecar.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(sidecar.wait().code(), Some(0));
}

#[test]
fn the_exit_code_tells_whether_the_client_shut_down_properly() {
    let exit = json!({ "jsonrpc": "2.0", "method": "exit" });
    let end = |greeted: bool, exits: bool, code: i32| {
        let home = TestHome::new();
        let mut sidecar = TestSidecar::spawn(&home, &LaunchOptions::default());
        if greeted {
            sidecar.greet("test");
        }
        if exits {
            sidecar.send(&exit);
        } else {
            sidecar.end_input();
        }
        assert_eq!(sidecar.wait().code(), Some(code), "greeted {greeted}, exit {exits}");
    };
    end(false, false, 0);
    end(true, false, 0);
    end(false, true, 1);
    end(true, true, 1);
}

#[test]
fn a_client_that_never_reads_takes_little_memory_and_ends_with_its_input() {
    let launch = LaunchOptions { streams: Streams::Unread, ..LaunchOptions::default() };
    let home = TestHome::new();
    let mut sidecar = TestSidecar::spawn(&home, &launch);
    let message = |id: u32, method: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{}}}}"#);
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    };
    sidecar.send_raw(&message(0, "initialize"));
    for id in 1..40_000 {
        sidecar.send_raw(&message(id, "rawr/no/such"));
    }
    let peak = sidecar.peak_memory();
    assert!(peak < 200 << 20, "{peak} bytes for unread answers");
    sidecar.end_input();
    assert_eq!(sidecar.wait().code(), Some(0));
}

#[test]
fn a_client_with_too_many_unread_answers_is_disconnected() {
    let launch = LaunchOptions { streams: Streams::Unread, ..LaunchOptions::default() };
    let home = TestHome::new();
    let mut sidecar = TestSidecar::spawn(&home, &launch);
    sidecar.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {} }));
    // An answer repeats the id of its request, however long.
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{}"}}"#, "x".repeat(4 << 20));
    for _ in 0..20 {
        sidecar.send_body(long.as_bytes());
    }
    assert_eq!(sidecar.wait().code(), Some(1));
}

/// Orders are not repeated, so they are kept as long as answers are.
#[test]
fn a_client_that_reads_late_gets_its_orders() {
    let launch = LaunchOptions { streams: Streams::Unread, ..LaunchOptions::default() };
    let home = TestHome::new();
    let mut sidecar = TestSidecar::spawn(&home, &launch);
    sidecar.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {} }));
    let mut host = StandIn::new("t");
    let opens = sidecar.ask::<ThreadOpen>(&host.opening(&home, Role::Owner));
    // Over the limit of unread notifications.
    let item = json!({ "role": "user", "text": "x".repeat(9 << 20) });
    let history = json!({ "items": [item], "summary": "x", "recentUserTokens": 1 << 30 });
    for id in [1001, 1002, 1003, 1004] {
        let method = "rawr/compaction/rewrite";
        sidecar.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": history }));
    }
    host.user_turn_with_boundaries();
    let said = host.ask_all(&mut sidecar);
    // Once the order is stored, everything is in the backlog.
    wait_until("the stored order", || {
        std::fs::read_to_string(home.events("t")).is_ok_and(|log| log.contains("action_issued"))
    });
    sidecar.read_from_now_on();
    for id in [0, opens, 1001, 1002, 1003, 1004].into_iter().chain(said) {
        assert_eq!(sidecar.answer_to(&json!(id)).get("error"), None, "{id}");
    }
    let orders = sidecar.take::<ActionPerform>();
    assert_eq!(orders.len(), 1, "{}", sidecar.told());
    sidecar.discard_and_leave();
}

#[test]
fn a_socket_works_like_pipes() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::launch(
        &home,
        &LaunchOptions { streams: Streams::Socket, ..LaunchOptions::default() },
    );
    sidecar.call::<ThreadList>(&ThreadListParams {});
    sidecar.end_input();
    assert_eq!(sidecar.wait().code(), Some(0));
}

#[test]
fn input_from_a_file_is_handled_to_its_end() {
    let home = TestHome::new();
    let script = home.work().join("input");
    let mut file = std::fs::File::create(&script).unwrap();
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"rawr/thread/list"}"#,
    ] {
        write!(file, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }
    let streams = Streams::InputFile(script);
    let mut sidecar =
        TestSidecar::spawn(&home, &LaunchOptions { streams, ..LaunchOptions::default() });
    assert!(sidecar.answer_to(&json!(1))["result"].is_object());
    assert_eq!(sidecar.answer_to(&json!(2))["result"], json!({ "threads": [] }));
    assert_eq!(sidecar.wait().code(), Some(0));
}
