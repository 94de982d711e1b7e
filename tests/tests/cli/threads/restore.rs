//! `rawr restore`: what it says before it restores nothing.

use super::{check, compacted, err, refused, run};
use rawr_tests::{TestHome, out};

/// The thread's capsules as those of another host.
fn of_host(home: &TestHome, thread: &str, host: &str) {
    for entry in std::fs::read_dir(home.thread(thread).join("capsules")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text.replace("\"stand-in\"", &format!("{host:?}"))).unwrap();
    }
}

#[test]
fn a_thread_of_claude_code_cannot_be_restored_and_that_is_said_before() {
    let home = TestHome::new();
    compacted(&home, "alpha");
    of_host(&home, "alpha", "claude");
    let words = ["cannot restore threads of Claude Code", "/rewind", "--json --dry-run"];
    refused(&home, &["restore", "last"], 1, &words);
    let planned = run(&home, &["restore", "last", "--dry-run"]);
    assert_eq!(planned.status.code(), Some(1), "{}", err(&planned));
    for word in words {
        assert!(out(&planned).contains(word), "{}", out(&planned));
    }
    check(&home, &["capsules", "alpha"], &["s1-"]);
}
