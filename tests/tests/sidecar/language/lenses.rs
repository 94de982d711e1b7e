//! Annotations of a text: values of the newest thread, lengths, how often tiers would have fired, and links.

use crate::fixture::THREAD;
use crate::language::fixture::{Editor, capabilities, uri};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};

/// A home in which one thread was compacted.
fn lived_in() -> TestHome {
    let home = TestHome::new();
    let (mut sidecar, mut host) = (TestSidecar::start(&home), StandIn::new(THREAD));
    host.open(&home, &mut sidecar);
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    sidecar.leave();
    home
}

fn titles(lenses: &Value) -> Vec<&str> {
    lenses
        .as_array()
        .unwrap()
        .iter()
        .map(|lens| lens["command"]["title"].as_str().unwrap())
        .collect()
}

#[test]
fn a_placeholder_shows_its_value_in_the_newest_thread() {
    let home = lived_in();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/handoff.md");
    editor.open(&prompt, "{packet}\n{threadId} {author} {resume} {scratchFile} {directives}");
    let hover = editor.at("textDocument/hover", &prompt, 0, 2);
    let told = hover["contents"]["value"].as_str().unwrap();
    assert!(told.contains("(required): the continuation packet, word for word"), "{told}");
    assert!(told.contains("Value in thread `t`:") && told.contains("````text"), "{told}");
    let hover = editor.at("textDocument/hover", &prompt, 1, 2);
    assert!(hover["contents"]["value"].as_str().unwrap().contains("```text\nt\n```"), "{hover}");
    editor.sidecar.leave();
}

#[test]
fn without_a_thread_a_placeholder_shows_no_value() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/heads-up.md");
    editor.open(&prompt, "{reason}");
    let hover = editor.at("textDocument/hover", &prompt, 0, 2);
    let told = hover["contents"]["value"].as_str().unwrap();
    assert!(told.ends_with("No thread to read its value from."), "{told}");
    editor.sidecar.leave();
}

#[test]
fn a_lens_counts_the_tokens_of_the_rendered_buffer() {
    let home = lived_in();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/heads-up.md");
    let shipped = std::fs::read_to_string(&prompt).unwrap();
    editor.open(&prompt, &shipped);
    let lenses = editor.of("textDocument/codeLens", &prompt);
    let [lens] = titles(&lenses)[..] else { panic!("{lenses}") };
    assert!(lens.starts_with("renders to ") && lens.ends_with(" tokens"), "{lens}");
    assert_eq!(lenses[0]["command"]["command"], "rawr.previewPrompt");
    assert_eq!(lenses[0]["command"]["arguments"], json!([uri(&prompt)]));
    // The thread's model has no exact tokenizer, so that the estimate is a quarter of the bytes.
    editor.change(&prompt, json!([{ "text": "{other!} {threadId}{threadId}abcde" }]));
    let lenses = editor.of("textDocument/codeLens", &prompt);
    assert_eq!(titles(&lenses), ["renders to about 4 tokens", "differs from the shipped text"]);
    editor.sidecar.leave();
}

#[test]
fn a_lens_is_below_the_front_matter() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/auto-compact.md");
    editor.open(&prompt, "---\nversion: 1\n---\nText");
    let lenses = editor.of("textDocument/codeLens", &prompt);
    assert_eq!(lenses[0]["range"]["start"], json!({ "line": 3, "character": 0 }));
    editor.sidecar.leave();
}

fn hints(editor: &mut Editor, home: &TestHome) -> Vec<String> {
    let hints = editor.of("textDocument/inlayHint", &home.path().join("rawr.toml"));
    let one = |hint: &Value| format!("{} {}", hint["position"], hint["label"].as_str().unwrap());
    hints.as_array().unwrap().iter().map(one).collect()
}

#[test]
fn tiers_show_how_often_the_thresholds_of_the_buffer_would_have_fired() {
    let home = lived_in();
    let mut editor = Editor::start(&home);
    let config = home.path().join("rawr.toml");
    let table = "[rawr_auto_compaction.policy.asap]\npercent_remaining_lt = 65\n";
    editor.open(&config, table);
    let fired = r#"{"character":25,"line":1} asap: 1 compaction in 7 days"#;
    assert_eq!(hints(&mut editor, &home), [fired]);
    editor.change(&config, json!([{ "text": table.replace("65", "20") }]));
    let not = r#"{"character":25,"line":1} asap: no compaction in 7 days"#;
    assert_eq!(hints(&mut editor, &home), [not]);
    // What one tier no longer catches, the next milder one does.
    editor.change(&config, json!([{ "text": "[rawr_auto_compaction]\nasap_percent_remaining_lt=20\nready_percent_remaining_lt=75" }]));
    let both = hints(&mut editor, &home);
    assert!(both.iter().any(|hint| hint.contains("ready: 1 compaction")), "{both:?}");
    editor.sidecar.leave();
}

#[test]
fn a_client_without_hints_has_them_as_lenses() {
    let home = lived_in();
    let mut capabilities = capabilities();
    capabilities["textDocument"].as_object_mut().unwrap().remove("inlayHint");
    let mut editor = Editor::with(&home, &capabilities);
    let config = home.path().join("rawr.toml");
    editor.open(&config, "[rawr_auto_compaction.policy.asap]\n");
    let lenses = editor.of("textDocument/codeLens", &config);
    assert_eq!(titles(&lenses), ["asap: 1 compaction in 7 days"]);
    editor.sidecar.leave();
}

#[test]
fn a_client_without_lenses_has_the_token_count_as_a_hint() {
    let home = lived_in();
    let mut can = capabilities();
    can["textDocument"].as_object_mut().unwrap().remove("codeLens");
    let mut editor = Editor::with(&home, &can);
    let prompt = home.path().join("auto-compact/heads-up.md");
    editor.open(&prompt, "abcdefgh {threadId}\nmore");
    let hints = editor.of("textDocument/inlayHint", &prompt);
    let [hint] = hints.as_array().unwrap().as_slice() else { panic!("{hints}") };
    assert_eq!(hint["label"], "renders to about 4 tokens");
    assert_eq!(hint["position"], json!({ "line": 0, "character": 19 }));
    editor.sidecar.leave();
}

/// A newer thread without a packet does not hide the values of an older one.
#[test]
fn values_come_from_the_newest_thread_that_has_them() {
    let home = lived_in();
    let (mut sidecar, mut host) = (TestSidecar::start(&home), StandIn::new("newer"));
    host.open(&home, &mut sidecar);
    sidecar.leave();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/handoff.md");
    editor.open(&prompt, "{packet} {threadId}");
    let hover = editor.at("textDocument/hover", &prompt, 0, 2);
    let told = hover["contents"]["value"].as_str().unwrap();
    assert!(told.contains("Value in thread `t`:"), "{told}");
    editor.sidecar.leave();
}

#[test]
fn links_definitions_and_references_lead_to_each_other() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let config = home.path().join("rawr.toml");
    let prompt = home.path().join("auto-compact/judgment.md");
    editor.open(
        &config,
        "[rawr_auto_compaction.policy.asap]\ndecision_prompt_path = \"judgment.md\"\n",
    );
    let links = editor.of("textDocument/documentLink", &config);
    assert_eq!(links[0]["target"], uri(&prompt));
    assert_eq!(links[0]["range"]["start"], json!({ "line": 1, "character": 23 }));
    let definition = editor.at("textDocument/definition", &config, 1, 25);
    assert_eq!(definition["uri"], uri(&prompt));
    editor.open(&prompt, "Judge.");
    let references = editor.at("textDocument/references", &prompt, 0, 0);
    assert_eq!(references.as_array().unwrap().len(), 1);
    assert_eq!(references[0]["uri"], uri(&config));
    assert_eq!(references[0]["range"], links[0]["range"]);
    editor.sidecar.leave();
}

#[test]
fn completion_replaces_exactly_what_was_typed() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let config = home.path().join("rawr.toml");
    editor.open(&config, "# \u{1f980}\r\n[rawr_auto_compaction]\r\nmode = \"\u{e9}");
    let items = editor.at("textDocument/completion", &config, 2, 10);
    let item = items.as_array().unwrap().iter().find(|item| item["label"] == "auto").unwrap();
    let range =
        json!({ "start": { "line": 2, "character": 7 }, "end": { "line": 2, "character": 10 } });
    assert_eq!(item["textEdit"], json!({ "range": range, "newText": "\"auto\"" }));
    assert!(item["documentation"]["value"].as_str().unwrap().contains("What happens"), "{item}");
    editor.sidecar.leave();
}
