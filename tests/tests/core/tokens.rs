//! Counting tokens and rewriting a history with the real sidecar: exact counts, estimates, and that counting does not
//! block other requests.

use expect_test::expect;
use rawr_protocol::methods::{CompactionRewrite, TokensCount};
use rawr_protocol::{
    CompactionRewriteParams, ErrorCode, HistoryItem, HistoryKind, HistoryRole, TokensCountParams,
};
use rawr_tests::{TestHome, TestSidecar};
use serde_json::{Value, json};
use std::fmt::Write as _;

fn counted(
    sidecar: &mut TestSidecar,
    text: &str,
    encoding: Option<&str>,
    model: Option<&str>,
) -> String {
    let owned = |name: &str| name.to_owned();
    let result = sidecar.call::<TokensCount>(&TokensCountParams {
        text: text.to_owned(),
        encoding: encoding.map(owned),
        model: model.map(owned),
    });
    format!("{} by {}", result.tokens, result.method)
}

#[test]
fn a_count_is_exact_with_a_known_encoding_and_otherwise_marked_as_an_estimate() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let text = "let answer = compute(\"上下文\", 42);";
    let mut shown = String::new();
    for (encoding, model) in [
        (None, None),
        (Some("o200k_base"), None),
        (Some("o200k_harmony"), None),
        (Some("cl100k_base"), None),
        (Some("p50k_base"), Some("gpt-5")),
        (None, Some("gpt-5.3-codex")),
        (None, Some("gpt-4-turbo")),
        (None, Some("claude-opus-5")),
    ] {
        let count = counted(&mut sidecar, text, encoding, model);
        let _ =
            writeln!(shown, "{:13} {:13} {count}", encoding.unwrap_or("-"), model.unwrap_or("-"));
    }
    expect![[r#"
        -             -             10 by bytes/4
        o200k_base    -             11 by o200k_base
        o200k_harmony -             11 by o200k_harmony
        cl100k_base   -             12 by cl100k_base
        p50k_base     gpt-5         10 by bytes/4
        -             gpt-5.3-codex 11 by o200k_base
        -             gpt-4-turbo   12 by cl100k_base
        -             claude-opus-5 10 by bytes/4
    "#]]
    .assert_eq(&shown);
    sidecar.leave();
}

#[test]
fn a_growing_text_is_counted_like_a_new_one() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let mut text = String::new();
    for n in 0..40 {
        let _ =
            write!(text, "{n}. The agent's step, in one word or two:\n{}", "go on ".repeat(n * 10));
        let grown = counted(&mut sidecar, &text, Some("o200k_base"), None);
        // A text with another beginning is not cached; its first line ends at a seam.
        let whole = counted(&mut sidecar, &format!("new\n{text}"), Some("o200k_base"), None);
        let tokens = |count: &str| count.split(' ').next().unwrap().parse::<u64>().unwrap();
        assert_eq!(tokens(&grown) + 2, tokens(&whole), "{n}");
    }
    sidecar.leave();
}

#[test]
fn counting_does_not_block_other_requests() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let request = |id: u64, method: &str, params: Value| {
        let body =
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    };
    // In one write, so that both are read before the vocabulary is loaded.
    let count = request(1001, "rawr/tokens/count", json!({ "text": "hello", "model": "gpt-5" }));
    let estimate = request(1002, "rawr/tokens/count", json!({ "text": "hello" }));
    let list = request(1003, "rawr/thread/list", json!({}));
    sidecar.send_raw([count, estimate, list].concat().as_bytes());
    let order: Vec<_> = (0..3).map(|_| sidecar.next_answer()["id"].clone()).collect();
    assert_eq!(order, [1002, 1003, 1001]);
    sidecar.leave();
}

#[test]
fn a_cancelled_count_is_answered_once() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let count = json!({ "jsonrpc": "2.0", "id": 1001, "method": "rawr/tokens/count",
        "params": { "text": "hello", "model": "gpt-5" } });
    let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": 1001 } });
    let frame = |body: &Value| {
        let body = body.to_string();
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    };
    sidecar.send_raw([frame(&count), frame(&cancel)].concat().as_bytes());
    assert_eq!(sidecar.next_answer()["error"]["code"], json!(ErrorCode::RequestCancelled.code()));
    assert_eq!(counted(&mut sidecar, "hello world", None, Some("gpt-5")), "2 by o200k_base");
    sidecar.leave();
}

fn item(role: HistoryRole, kind: Option<HistoryKind>, text: &str) -> HistoryItem {
    HistoryItem { role, kind, text: text.to_owned(), id: None }
}

fn history() -> Vec<HistoryItem> {
    use HistoryRole::{Assistant, System, Tool, User};
    let long = "Read every file of the parser and say what is wrong with it. ".repeat(40);
    vec![
        item(System, None, "You are a coding agent."),
        item(
            User,
            Some(HistoryKind::InitialContext),
            "<environment_context>/work</environment_context>",
        ),
        item(User, None, &long),
        item(Assistant, None, "It drops the last line."),
        item(Tool, Some(HistoryKind::Snapshot), "41ac"),
        item(User, None, "[rawr] The compaction is done.\n\n[rawr:s1:handoff]"),
        item(Assistant, None, "I go on."),
        item(User, None, "Mend it, please."),
    ]
}

fn rewrite(items: Vec<HistoryItem>, encoding: Option<&str>) -> CompactionRewriteParams {
    CompactionRewriteParams {
        items,
        summary: "The parser drops the last line.".to_owned(),
        recent_user_tokens: Some(24),
        encoding: encoding.map(str::to_owned),
        model: None,
    }
}

#[test]
fn a_history_is_rewritten_with_the_requested_count() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let mut shown = String::new();
    for encoding in [None, Some("o200k_base")] {
        let found = sidecar.call::<CompactionRewrite>(&rewrite(history(), encoding));
        let (before, after) = (found.tokens_before, found.tokens_after);
        let _ = writeln!(shown, "{before} to {after} by {}", found.method);
        for item in &found.items {
            let kind = item.kind.map_or("", HistoryKind::as_str);
            let _ = writeln!(shown, "  {} {kind} {:?}", item.role, item.text);
        }
        let again = sidecar.call::<CompactionRewrite>(&rewrite(found.items.clone(), encoding));
        assert_eq!(again.items, found.items, "a second rewrite changes nothing");
    }
    expect![[r#"
        654 to 98 by bytes/4
          system  "You are a coding agent."
          user initial_context "<environment_context>/work</environment_context>"
          user  "Read every file of the parser and say wh\n[… 590 tokens cut …]\ne parser and say what is wrong with it. "
          user  "Mend it, please."
          user summary "The conversation before this point was compacted. You wrote this summary of it. Take it as what happened, do not repeat finished work, and continue the task:\nThe parser drops the last line."
          tool snapshot "41ac"
        613 to 88 by o200k_base
          system  "You are a coding agent."
          user initial_context "<environment_context>/work</environment_context>"
          user  "Read every file of the parser and \n[… 543 tokens cut …]\nser and say what is wrong with it. "
          user  "Mend it, please."
          user summary "The conversation before this point was compacted. You wrote this summary of it. Take it as what happened, do not repeat finished work, and continue the task:\nThe parser drops the last line."
          tool snapshot "41ac"
    "#]].assert_eq(&shown);
    sidecar.leave();
}

#[test]
fn the_prefix_of_the_summary_is_the_current_file() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let folder = home.path().join("auto-compact");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("summary-prefix.md"), "Until now:\n").unwrap();
    let found = sidecar.call::<CompactionRewrite>(&rewrite(Vec::new(), None));
    assert_eq!(found.items[0].text, "Until now:\nThe parser drops the last line.");
    sidecar.allow::<rawr_protocol::methods::PromptChanged>();
    sidecar.leave();
}

#[test]
fn a_history_is_not_replaced_by_a_blank_summary() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let blank = CompactionRewriteParams { summary: " \n".to_owned(), ..rewrite(history(), None) };
    let failure = sidecar.failure::<CompactionRewrite>(&blank);
    assert_eq!(failure.code, ErrorCode::InvalidParams);
    assert_eq!(failure.data.field.as_deref(), Some("summary"));
    sidecar.leave();
}
