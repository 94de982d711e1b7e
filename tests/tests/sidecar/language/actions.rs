//! Code actions: quick fixes, the shipped text, and the texts that rawr serves.

use crate::language::fixture::{Editor, capabilities, uri};
use rawr_protocol::methods::{LogMessage, PromptChanged, PromptPreviewChanged};
use rawr_tests::{TestHome, TestSidecar};
use serde_json::{Value, json};

const OWN: &str = "Compacting, because {reason}. {threadId} é";

fn edited(home: &TestHome, capabilities: &Value) -> (Editor, std::path::PathBuf, String) {
    // Create the prompts before the editor starts, because saved files are reported.
    TestSidecar::start(home).leave();
    let prompt = home.path().join("auto-compact/heads-up.md");
    let shipped = std::fs::read_to_string(&prompt).unwrap();
    std::fs::write(&prompt, OWN).unwrap();
    let mut editor = Editor::with(home, capabilities);
    editor.open(&prompt, OWN);
    (editor, prompt, shipped)
}

#[test]
fn a_typo_is_fixed() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let config = home.path().join("rawr.toml");
    editor.open(&config, "[rawr_auto_compaction]\nmode = 'atuo'\nmdoe = 1\n");
    let actions = editor.of("textDocument/codeAction", &config);
    let edits: Vec<_> = actions
        .as_array()
        .unwrap()
        .iter()
        .map(|action| {
            assert_eq!(
                (&action["kind"], &action["isPreferred"]),
                (&json!("quickfix"), &json!(true))
            );
            assert_eq!(action["diagnostics"].as_array().unwrap().len(), 1);
            let edit = &action["edit"]["changes"][uri(&config)][0];
            format!("{} {} {}", action["title"], edit["range"]["start"], edit["newText"])
        })
        .collect();
    assert_eq!(
        edits,
        [
            r#""Write `auto`" {"character":7,"line":1} "'auto'""#,
            r#""Write `mode`" {"character":0,"line":2} "mode""#,
        ]
    );
    editor.sidecar.leave();
}

#[test]
fn an_edited_prompt_can_be_reset_and_compared() {
    let home = TestHome::new();
    let (mut editor, prompt, shipped) = edited(&home, &capabilities());
    let actions = editor.of("textDocument/codeAction", &prompt);
    let titles: Vec<_> = actions.as_array().unwrap().iter().map(|of| of["title"].clone()).collect();
    assert_eq!(titles, ["Reset to the shipped text", "Compare with the shipped text"]);
    assert_eq!(actions[0]["edit"]["changes"][uri(&prompt)][0]["newText"], shipped);
    let compared = editor.execute("rawr.diffPrompt", &uri(&prompt));
    assert_eq!(editor.sidecar.next_note().method, "window/showMessage");
    assert_eq!(compared["uri"], "rawr://diff/heads-up");
    let diff = compared["diff"].as_str().unwrap();
    assert!(
        diff.starts_with("--- shipped\n+++ heads-up\n@@ ") && diff.contains(&format!("+{OWN}")),
        "{diff}"
    );
    let served = editor.ask("workspace/textDocumentContent", json!({ "uri": compared["uri"] }));
    assert_eq!(served["text"], diff);
    let served =
        editor.ask("workspace/textDocumentContent", json!({ "uri": "rawr://shipped/heads-up" }));
    assert_eq!(served["text"], shipped);
    editor.sidecar.leave();
}

/// A client that cannot ask for a text of rawr gets a file that only the user can read.
#[test]
fn a_comparison_is_a_private_file_where_the_client_cannot_ask_for_it() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::new();
    let mut can = capabilities();
    can["window"] = json!({ "showDocument": { "support": true } });
    let (mut editor, prompt, _) = edited(&home, &can);
    let compared = editor.execute("rawr.diffPrompt", &uri(&prompt));
    let asked = editor.sidecar.next_answer();
    assert_eq!(asked["method"], "window/showDocument");
    let shown = asked["params"]["uri"].as_str().unwrap().strip_prefix("file://").unwrap();
    let shown = std::path::PathBuf::from(shown);
    assert!(shown.starts_with(home.path()) && shown.ends_with("heads-up.diff"), "{shown:?}");
    assert_eq!(std::fs::read_to_string(&shown).unwrap(), compared["diff"].as_str().unwrap());
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&shown), mode(shown.parent().unwrap())), (0o600, 0o700));
    editor
        .sidecar
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "success": true } }));
    editor.sidecar.leave();
    assert!(!shown.exists(), "it is removed with the session");
}

#[test]
fn without_a_way_to_show_a_document_a_message_names_the_file() {
    let home = TestHome::new();
    let (mut editor, prompt, _) = edited(&home, &json!({ "textDocument": {} }));
    let actions = editor.of("textDocument/codeAction", &prompt);
    let titles: Vec<_> = actions.as_array().unwrap().iter().map(|of| of["title"].clone()).collect();
    let preview = "Preview with the values of a thread";
    assert_eq!(
        titles,
        [preview, "Reset to the shipped text", "Compare with the shipped text"],
        "an action where there are no lenses"
    );
    assert_eq!(actions[0]["command"]["command"], "rawr.previewPrompt");
    editor.execute("rawr.previewPrompt", &uri(&prompt));
    let told = editor.sidecar.next_note();
    assert_eq!(told.method, "window/showMessage");
    let message = told.params["message"].as_str().unwrap();
    let (_, path) = message.split_once("the preview of heads-up is in ").unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("Compacting, because a phase ended here (commit)."), "{text}");
    // The preview follows the buffer.
    editor.change(&prompt, json!([{ "text": "{reason} 2" }]));
    editor.sidecar.expect::<PromptPreviewChanged>();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "a phase ended here (commit) 2");
    editor.sidecar.leave();
}

#[test]
fn a_reset_goes_through_the_editor_that_has_the_prompt_open() {
    let home = TestHome::new();
    let (mut editor, prompt, shipped) = edited(&home, &capabilities());
    assert_eq!(editor.execute("rawr.resetPrompt", "heads-up")["applied"], "edit");
    let asked = editor.sidecar.next_answer();
    assert_eq!(asked["method"], "workspace/applyEdit");
    let edit = &asked["params"]["edit"]["changes"][uri(&prompt)][0];
    assert_eq!(edit["newText"], shipped);
    let end = json!({ "line": 0, "character": OWN.len() });
    assert_eq!(edit["range"], json!({ "start": { "line": 0, "character": 0 }, "end": end }));
    assert_eq!(std::fs::read_to_string(&prompt).unwrap(), OWN, "the file is unchanged");
    let refused = json!({ "applied": false, "failureReason": "read-only" });
    editor.sidecar.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": refused }));
    let told = editor.sidecar.expect::<LogMessage>().message;
    assert_eq!(told, "heads-up was not reset: the editor did not apply the edit: read-only");
    editor.sidecar.leave();
}

#[test]
fn a_reset_of_a_prompt_that_is_not_open_writes_the_file() {
    let home = TestHome::new();
    let (mut editor, prompt, shipped) = edited(&home, &json!({ "textDocument": {} }));
    assert_eq!(editor.execute("rawr.resetPrompt", &uri(&prompt))["applied"], "file");
    editor.sidecar.allow::<PromptChanged>();
    assert_eq!(std::fs::read_to_string(&prompt).unwrap(), shipped);
    editor.sidecar.leave();
}

#[test]
fn a_preview_follows_the_buffer_by_a_notification() {
    let home = TestHome::new();
    let (mut editor, prompt, _) = edited(&home, &capabilities());
    // No preview is open, so there is no notification.
    editor.change(&prompt, json!([{ "text": "{reason} 1" }]));
    let shown = editor.execute("rawr.previewPrompt", &uri(&prompt));
    assert_eq!(editor.sidecar.next_note().method, "window/showMessage");
    assert_eq!(
        (&shown["uri"], &shown["text"]),
        (&json!("rawr://preview/heads-up"), &json!("a phase ended here (commit) 1"))
    );
    editor.change(&prompt, json!([{ "text": "{reason} 2" }]));
    let told = editor.sidecar.expect::<PromptPreviewChanged>();
    assert_eq!(
        (told.uri.as_str(), told.text.as_str()),
        ("rawr://preview/heads-up", "a phase ended here (commit) 2")
    );
    editor.sidecar.leave();
}

#[test]
fn a_preview_is_refreshed_if_the_client_supports_it() {
    let home = TestHome::new();
    let mut capabilities = capabilities();
    capabilities["workspace"]["textDocumentContent"] = json!({});
    capabilities["window"] = json!({ "showDocument": { "support": true } });
    let (mut editor, prompt, _) = edited(&home, &capabilities);
    editor.execute("rawr.previewPrompt", "heads-up");
    let asked = editor.sidecar.next_answer();
    assert_eq!(asked["method"], "window/showDocument");
    assert_eq!(asked["params"]["uri"], "rawr://preview/heads-up");
    editor.change(&prompt, json!([{ "text": "{reason} new" }]));
    let asked = editor.sidecar.next_answer();
    assert_eq!(asked["method"], "workspace/textDocumentContent/refresh");
    assert_eq!(asked["params"]["uri"], "rawr://preview/heads-up");
    editor.sidecar.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": null }));
    let served = editor.ask("workspace/textDocumentContent", asked["params"].clone());
    assert_eq!(served["text"], "a phase ended here (commit) new");
    editor.sidecar.leave();
}

#[test]
fn unknown_commands_and_texts_are_refused() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    for (method, params, message) in [
        ("workspace/executeCommand", json!({ "command": "rawr.x" }), "unknown command `rawr.x`"),
        (
            "workspace/executeCommand",
            json!({ "command": "rawr.resetPrompt", "arguments": ["nothing"] }),
            "\"nothing\" is neither a prompt nor its document",
        ),
        (
            "workspace/textDocumentContent",
            json!({ "uri": "rawr://preview/nothing" }),
            "unknown document rawr://preview/nothing",
        ),
    ] {
        let failure = editor.sidecar.request(method, &params).unwrap().unwrap_err();
        assert_eq!(failure.message, message);
        assert!(!failure.data.hint.is_empty());
    }
    editor.sidecar.leave();
}
