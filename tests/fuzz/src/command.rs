//! Command lines: no boundary without its words, none from a failure, and the same result through another shell.

use super::linear;
use rawr_core::boundary::Boundary;
use rawr_core::signal::command::{Command, boundaries, tests_passed};

/// Longer pieces are tried too rarely to be worth their time.
const LONGEST_PIECE: usize = 32;

pub fn run(data: &[u8]) {
    let Ok(line) = std::str::from_utf8(data) else { return };
    if line.len() <= LONGEST_PIECE {
        linear::check(line, |line| {
            boundaries(Command::Line(line), 0, "/w", "/w");
            tests_passed(Command::Line(line), 0);
        });
    }
    let found = boundaries(Command::Line(line), 0, "/w", "/w");
    assert!(boundaries(Command::Line(line), 1, "/w", "/w").is_empty(), "of a command that failed");
    assert!(!tests_passed(Command::Line(line), 1), "of a command that failed");
    // Quotes and backslashes can stand inside of a word.
    let bare: String = line.chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | '\n')).collect();
    if found.has(Boundary::Commit) {
        assert!(bare.contains("git") && bare.contains("commit"), "a commit out of nothing");
    }
    if found.has(Boundary::PrCheckpoint) {
        assert!(bare.contains("gh") || bare.contains("gt"), "a pull request out of nothing");
    }
    if found.has(Boundary::Pushed) {
        assert!(bare.contains("git") && bare.contains("push"), "a push out of nothing");
    }
    let only = [Boundary::Commit, Boundary::Pushed, Boundary::Merged, Boundary::PrCheckpoint];
    assert!(found.iter().all(|boundary| only.contains(&boundary)), "{found}");
    let words: Vec<_> = line.split('\n').map(str::to_owned).collect();
    assert!(
        boundaries(Command::Words(&words), 1, "/w", "/w").is_empty(),
        "of a command that failed"
    );
    in_another_shell(line);
}

/// A line and the argument list that a host makes of it.
fn in_another_shell(line: &str) {
    let words = ["bash", "-c", line].map(str::to_owned);
    let Ok(quoted) = shlex::try_quote(line) else { return };
    let as_line = format!("bash -c {quoted}");
    assert_eq!(
        boundaries(Command::Words(&words), 0, "/w", "/w"),
        boundaries(Command::Line(&as_line), 0, "/w", "/w"),
        "through another shell"
    );
    assert_eq!(
        tests_passed(Command::Words(&words), 0),
        tests_passed(Command::Line(&as_line), 0),
        "through another shell"
    );
}
