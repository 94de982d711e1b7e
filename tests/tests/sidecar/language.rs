//! The real sidecar as a language server: unsaved documents and their diagnostics.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on panics")]

mod fixture;

use fixture::{Editor, shown};
use rawr_tests::TestHome;

#[test]
fn a_problem_in_an_unsaved_buffer_is_reported_with_its_range() {
    let home = TestHome::new();
    let mut editor = Editor::start(&home);
    let prompt = home.path().join("auto-compact/handoff.md");
    let told = editor.open(&prompt, "é {packet} {autor}\n");
    assert_eq!(shown(&told), ["0:0-0:19 unused-placeholder", "0:12-0:19 unknown-placeholder",]);
    assert_eq!(told[1]["source"], "rawr");
    assert_eq!(
        told[1]["message"],
        "unknown placeholder `{autor}` in handoff\ndid you mean `author`?"
    );
    let on_disk = std::fs::read_to_string(&prompt).unwrap();
    assert!(on_disk.contains("{author}"), "the file is unchanged");
    editor.sidecar.leave();
}

mod actions;
mod buffers;
mod clients;
mod lenses;
