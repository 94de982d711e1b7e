//! Open documents: opened, changed, saved and closed, in the client's encoding, and invalid messages.

use crate::language::fixture::{Editor, capabilities, shown, uri};
use rawr_protocol::methods::LogMessage;
use rawr_tests::TestHome;
use serde_json::{Value, json};

fn insert(line: u64, character: u64, text: &str) -> Value {
    let at = json!({ "line": line, "character": character });
    json!({ "range": { "start": at, "end": at }, "text": text })
}

#[test]
fn the_encoding_is_the_clients_choice() {
    for (offered, expected, column) in [
        (json!(["utf-16", "utf-8"]), "utf-8", 6),
        (json!(["utf-32", "utf-16"]), "utf-16", 4),
        (Value::Null, "utf-16", 4),
    ] {
        let home = TestHome::new();
        let mut capabilities = capabilities();
        capabilities["general"]["positionEncodings"] = offered;
        let mut editor = Editor::with(&home, &capabilities);
        assert_eq!(editor.can["positionEncoding"], expected);
        let prompt = home.path().join("auto-compact/heads-up.md");
        let told = editor.open(&prompt, "\u{1f980}\r\n\u{1f980}\t {reason} {resaon}\r\n");
        // Four bytes or two units, a tab and a blank, `{reason}`, a blank.
        let (from, to) = (column + 9, column + 17);
        assert_eq!(shown(&told), [format!("1:{from}-1:{to} unknown-placeholder")]);
        editor.sidecar.leave();
    }
}

#[test]
fn a_client_without_documents_gets_no_notifications_of_documents() {
    let home = TestHome::new();
    let editor = Editor::with(&home, &json!({}));
    let can: Vec<_> = editor.can.as_object().unwrap().keys().cloned().collect();
    assert_eq!(can, ["experimental", "positionEncoding"]);
    editor.sidecar.leave();
}

#[test]
fn several_changes_of_one_message_are_applied_in_order() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let config = home.path().join("rawr.toml");
    assert_eq!(shown(&editor.open(&config, "[auto_compact]\r\n")), [""; 0]);
    let told = editor.change(
        &config,
        json!(
            [insert(1, 0, "enabld = true # é\r\n"), insert(2, 0, "x = 1\n"), insert(1, 6, "zz"),]
        ),
    );
    assert_eq!(shown(&told), ["1:0-1:8 unknown-key", "2:0-2:1 unknown-key"]);
    let told = editor.change(&config, json!([{ "text": "[auto_compact]\n" }]));
    assert_eq!(shown(&told), [""; 0]);
    editor.sidecar.leave();
}

#[test]
fn unsaved_layers_are_checked_together() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/auto-compact.md");
    let config = home.path().join("rawr.toml");
    let front = "---\ntrigger:\n  early_percent_remaining_lt: 50\n---\nWrite it.\n";
    assert_eq!(shown(&editor.open(&prompt, front)), ["2:30-2:32 threshold-order"]);
    // The unsaved configuration overrides the front matter, too.
    let falling = "[rawr_auto_compaction]\nearly_percent_remaining_lt = 90\n";
    assert_eq!(shown(&editor.open(&config, falling)), [""; 0]);
    let note = editor.sidecar.next_note();
    assert_eq!(note.params["diagnostics"], json!([]), "of the prompt: {}", note.params);
    assert_eq!(note.params["uri"], uri(&prompt));
    editor.sidecar.leave();
}

#[test]
fn a_document_that_is_closed_is_cleared() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/compact.md");
    assert_eq!(shown(&editor.open(&prompt, "{x}")), ["0:0-0:3 unknown-placeholder"]);
    let document = json!({ "textDocument": { "uri": uri(&prompt) } });
    editor.notify("textDocument/didClose", document.clone());
    let note = editor.sidecar.next_note();
    assert_eq!(note.params, json!({ "uri": uri(&prompt), "diagnostics": [] }));
    editor.notify("textDocument/didClose", document);
    let told = editor.sidecar.expect::<LogMessage>();
    assert!(told.message.contains("compact.md is not open"), "{}", told.message);
    editor.sidecar.leave();
}

#[test]
fn other_files_are_ignored() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    for uri in
        ["file:///elsewhere/x.toml", "untitled:1", "rawr://preview/heads-up", "not a uri", ""]
    {
        let document = json!({ "uri": uri, "languageId": "x", "version": 1, "text": "{a} = [" });
        editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let document = json!({ "uri": uri, "version": 2 });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": "x" }] });
        editor.notify("textDocument/didChange", params);
        let at =
            json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } });
        assert_eq!(editor.ask("textDocument/hover", at.clone()), Value::Null);
        assert_eq!(editor.ask("textDocument/codeLens", at), Value::Null);
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    editor.sidecar.leave();
}

#[test]
fn invalid_messages_are_reported_and_change_nothing() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/heads-up.md");
    let change = |version: i64| {
        let document = json!({ "uri": uri(&prompt), "version": version });
        json!({ "textDocument": document, "contentChanges": [{ "text": "x" }] })
    };
    editor.notify("textDocument/didChange", change(5));
    let told = editor.sidecar.expect::<LogMessage>().message;
    assert!(told.contains("is not open; close the document and open it again"), "{told}");
    editor.open(&prompt, "{reason} {x}");
    editor.notify("textDocument/didChange", change(1));
    let told = editor.sidecar.expect::<LogMessage>().message;
    assert!(told.contains("ignored version 1"), "{told}");
    editor.notify("textDocument/didChange", json!({ "contentChanges": 3 }));
    let told = editor.sidecar.expect::<LogMessage>().message;
    assert!(told.starts_with("textDocument/didChange: "), "{told}");
    // The text is unchanged, and a position outside of it is clamped.
    assert_eq!(editor.at("textDocument/hover", &prompt, 900, 900), Value::Null);
    let hover = editor.at("textDocument/hover", &prompt, 0, 3);
    assert_eq!(hover["range"]["end"]["character"], 8);
    let far = json!([insert(700, 700, " {y}")]);
    let told = editor.change(&prompt, far);
    assert_eq!(shown(&told), ["0:9-0:12 unknown-placeholder", "0:13-0:16 unknown-placeholder"]);
    editor.sidecar.leave();
}

#[test]
fn a_change_that_arrives_late_takes_its_place() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/heads-up.md");
    editor.open(&prompt, "{reason}");
    let (earlier, later) = (editor.version + 1, editor.version + 2);
    // Without the earlier change the later one is behind the end of the line.
    editor.version = later - 1;
    assert_eq!(shown(&editor.change(&prompt, json!([insert(0, 11, "}")]))), [""; 0]);
    let document = json!({ "uri": uri(&prompt), "version": earlier });
    let late = json!({ "textDocument": document, "contentChanges": [insert(0, 8, " {x")] });
    editor.notify("textDocument/didChange", late);
    assert_eq!(shown(&editor.diagnostics(&prompt)), ["0:9-0:12 unknown-placeholder"]);
    editor.sidecar.leave();
}

#[test]
fn before_initialize_notifications_are_ignored() {
    let home = TestHome::new();
    let mut sidecar = rawr_tests::TestSidecar::spawn(&home, &rawr_tests::LaunchOptions::default());
    let document = json!({ "uri": uri(&home.path().join("rawr.toml")), "languageId": "toml" });
    let params = json!({ "textDocument": document });
    sidecar.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params }));
    sidecar.greet("test");
    sidecar.leave();
}

#[test]
fn a_document_that_is_too_large_is_reported_and_dropped() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/compact.md");
    let told = editor.open(&prompt, &"x".repeat(300 * 1024));
    assert_eq!(shown(&told), ["0:0-0:0 file-too-large"]);
    assert_eq!(editor.of("textDocument/codeLens", &prompt), Value::Null);
    let told = editor.change(&prompt, json!([{ "text": "Short." }]));
    assert_eq!(shown(&told), [""; 0]);
    editor.sidecar.leave();
}

#[test]
fn a_file_is_recognized_through_links_and_encoded_uris() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let link = home.work().join("ä link");
    std::os::unix::fs::symlink(home.path().join("auto-compact"), &link).unwrap();
    let name = format!("file://{}/%C3%A4%20link/heads-up.md", home.work().display());
    let document = json!({ "uri": name, "languageId": "x", "version": 1, "text": "{resaon}" });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let note = editor.sidecar.next_note();
    assert_eq!(note.params["uri"], name);
    assert_eq!(
        shown(&note.params["diagnostics"]),
        ["0:0-0:8 unknown-placeholder", "0:0-0:8 unused-placeholder",]
    );
    editor.sidecar.leave();
}

#[test]
fn saves_by_others_update_the_diagnostics_of_a_buffer() {
    let home = TestHome::new();
    let mut capabilities = capabilities();
    capabilities["workspace"]["codeLens"] = json!({ "refreshSupport": true });
    let mut editor = Editor::with(&home, &capabilities);
    let prompt = home.path().join("auto-compact/auto-compact.md");
    let front = "---\ntrigger:\n  early_percent_remaining_lt: 50\n---\nWrite it.\n";
    assert_eq!(shown(&editor.open(&prompt, front)), ["2:30-2:32 threshold-order"]);
    home.configure("[rawr_auto_compaction]\nearly_percent_remaining_lt = 90\n");
    editor.sidecar.expect::<rawr_protocol::methods::ConfigChanged>();
    let note = editor.sidecar.next_note();
    let expected = json!({ "uri": uri(&prompt), "version": 1, "diagnostics": [] });
    assert_eq!(note.params, expected);
    let asked = editor.sidecar.next_answer();
    assert_eq!(asked["method"], "workspace/codeLens/refresh");
    assert_eq!(asked.get("params"), None);
    editor.sidecar.leave();
}
