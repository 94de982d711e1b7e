//! The wording of the repository: words that a reader of other projects would stumble over are denied in every file.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use crate::root;
use std::process::Command;

/// Denied in code, comments, texts and names, in any case, as whole words of prose and of identifiers.
const DENIED: [&str; 12] = [
    "whoever",
    "whomever",
    "whom",
    "nobody",
    "somebody",
    "anybody",
    "anew",
    "be had",
    "stand beside",
    "stands beside",
    "its own word",
    "says so",
];

/// Files with other texts than the project's own, by the start of their path.
const EXCEPT: [&str; 10] = [
    // This list.
    "tests/tests/core/words.rs",
    // Licenses.
    "LICENSE-",
    "editor-clients/vscode/LICENSE-",
    "packaging/licenses/",
    "server/src/redact/gitleaks.LICENSE",
    // Sessions and random input that tests read.
    "tests/samples/",
    "tests/fuzz/corpus/",
    // The home folder in those samples.
    "tests/tests/sidecar/state/sample.rs",
    "tests/tests/sidecar/state/session.rs",
    // Sentences of users and agents that train the classifiers.
    "tests/timing/",
];

/// The files of the repository, but for binary ones and links to others.
fn texts() -> impl Iterator<Item = (String, String)> {
    let listed = Command::new("git").arg("-C").arg(root()).args(["ls-files", "-z"]).output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    let names: Vec<_> = listed.split_terminator('\0').map(str::to_owned).collect();
    assert!(names.len() > 1000, "only {} files found", names.len());
    let text = |name: String| Some((std::fs::read_to_string(root().join(&name)).ok()?, name));
    let files = names.into_iter().filter(|name| !root().join(name).is_symlink());
    files.filter_map(text).map(|(text, name)| (name, text))
}

/// A line as lowercase words between single blanks. Identifiers are split at `_`, `-` and in front of capitals.
fn words(line: &str) -> String {
    let (mut words, mut before) = (String::from(" "), ' ');
    for letter in line.chars() {
        if letter.is_uppercase() && before.is_lowercase() {
            words.push(' ');
        }
        match letter.is_alphanumeric() {
            true => words.extend(letter.to_lowercase()),
            false if words.ends_with(' ') => {}
            false => words.push(' '),
        }
        before = letter;
    }
    words.push(' ');
    words
}

/// The denied words of a line.
fn denied(line: &str) -> impl Iterator<Item = &'static str> {
    let words = words(line);
    DENIED.into_iter().filter(move |word| words.contains(&format!(" {word} ")))
}

#[test]
fn denied_words_are_found_in_prose_and_in_names() {
    let check = |line: &str, expected: &[&str]| {
        assert_eq!(denied(line).collect::<Vec<_>>(), expected, "{line}");
    };
    check("// Whoever asks, and to Whom.", &["whoever", "whom"]);
    check("fn what_cannot_be_had_is_read_anew() {", &["anew", "be had"]);
    check("const startAnew = isNobody;", &["nobody", "anew"]);
    check("const NOBODY: &str = \"it says  so\";", &["nobody", "says so"]);
    check("a new file that could be hadoop's, wholesome and shadowed", &[]);
}

#[test]
fn no_file_has_a_denied_word() {
    let mut found = Vec::new();
    for (name, text) in texts() {
        if EXCEPT.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            found.extend(denied(line).map(|word| format!("{name}:{}: {word}", number + 1)));
        }
    }
    assert!(
        found.is_empty(),
        "denied words; see `DENIED` in tests/tests/core/words.rs: {found:#?}"
    );
}
