//! `rawr label`: a person's answers about the ends of turns, one line for each.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use rawr_tests::{err, out};

use super::CommandFixture;

fn label(fixture: &CommandFixture, arguments: &[&str], answers: &str) -> Output {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/sessions/claude.jsonl");
    let fixed = ["label", sample.to_str().unwrap()];
    let mut child = fixture
        .command(&[&fixed, arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command may have ended before it read everything.
    let _ = child.stdin.take().unwrap().write_all(answers.as_bytes());
    child.wait_with_output().unwrap()
}

fn saved(file: &Path) -> String {
    fs::read_to_string(file).unwrap().replace("5e551011-0000-4000-8000-000000000001", "S")
}

#[test]
fn answers_are_saved_one_by_one_and_asked_once() {
    let fixture = CommandFixture::new();
    let file = fixture.temporary.path().join("labels.jsonl");
    let to = ["--to", file.to_str().unwrap()];
    // Back over a label, an unknown letter, and a skipped turn.
    let done = label(&fixture, &to, "y\nn\nb\nw\nx\nS\ns\nno\nc\n");
    assert!(done.status.success(), "{}", err(&done));
    let text = out(&done);
    assert!(text.contains("1 of 4: session 5e551011"), "{text}");
    assert!(text.contains("Agent: The parser is written, and all 14 tests pass."), "{text}");
    assert!(text.contains("Answer with one of: n, c, s"), "{text}");
    assert!(text.contains("\n3 labels added to "), "{text}");
    assert_eq!(
        saved(&file),
        "{\"session\":\"S\",\"turn\":1,\"end\":\"yes\",\"next\":\"new\"}\n\
         {\"session\":\"S\",\"turn\":1,\"end\":\"weak\",\"next\":\"same\"}\n\
         {\"session\":\"S\",\"turn\":3,\"end\":\"no\",\"next\":\"close\"}\n"
    );
    let again = label(&fixture, &to, "q\n");
    assert!(out(&again).contains("1 of 2: session 5e551011"), "{}", out(&again));
    // The last turn has no next message.
    label(&fixture, &to, "y\nn\ny\n");
    assert!(saved(&file).ends_with("\"turn\":4,\"end\":\"yes\"}\n"), "{}", saved(&file));
    let over = label(&fixture, &to, "");
    assert!(!over.status.success());
    assert!(err(&over).contains("no turns without a label"), "{}", err(&over));
}

#[test]
fn a_sample_has_its_size_and_the_file_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = CommandFixture::new();
    let done = label(&fixture, &["--sample", "2"], "n\ns\nq\n");
    assert!(out(&done).contains("1 of 2: session"), "{}", out(&done));
    let files = fixture.home.path().join("labels.jsonl");
    assert_eq!(files.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_damaged_file_of_labels_is_not_added_to() {
    let fixture = CommandFixture::new();
    let file = fixture.temporary.path().join("labels.jsonl");
    fs::write(&file, "{\"session\":\"S\",\"turn\":1,\"end\":\"maybe\"}\n").unwrap();
    let done = label(&fixture, &["--to", file.to_str().unwrap()], "y\nn\n");
    assert!(!done.status.success());
    assert!(err(&done).contains("labels.jsonl line 1: unknown variant `maybe`"), "{}", err(&done));
}
