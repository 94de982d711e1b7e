//! The wording of the repository: words that a reader of other projects would stumble over are denied in every file, and so
//! are names of functions and beginnings of comments that say nothing by themselves.

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

/// Denied as the beginning of a function's name: what it does has a standard verb, such as `handle`, `deliver` or `report`.
const DENIED_VERBS: [&str; 11] = [
    "be_at",
    "come",
    "go_on",
    "hear",
    "hurry",
    "let_go",
    "look_after",
    "look_at",
    "put",
    "say",
    "tell",
];

/// Denied at the beginning of a comment, where a reader does not know what they are about.
const DENIED_OPENINGS: [&str; 5] = ["It", "Its", "Of", "Such", "The same"];

/// Files and folders whose functions still have such names.
const OLDER_VERBS: [&str; 5] = [
    "editor-clients/cli/src/commands/attach.rs",
    "editor-clients/cli/src/commands/codex.rs",
    "editor-clients/cli/src/commands/hook/",
    "editor-clients/host/src/host/",
    "editor-clients/host/src/relay/",
];

/// Files with other texts than the project's own, by the start of their path.
const EXCEPT: [&str; 10] = [
    // This list.
    "tests/tests/core/words.rs",
    // Licenses.
    "LICENSE-",
    "editor-clients/vscode/LICENSE-",
    "packaging/licenses/",
    "server/storage/src/redact/gitleaks.LICENSE",
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

/// The name of the function that this line begins, if its verb is denied.
fn denied_verb(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("fn ").filter(|(before, _)| !before.contains("//"))?;
    let end = after.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    let name = &after[..end];
    let is_denied = |verb: &str| {
        name.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    DENIED_VERBS.into_iter().any(is_denied).then_some(name)
}

/// The mark of a line that is only a comment, and its text.
fn comment(line: &str) -> Option<(&str, &str)> {
    const MARKS: [&str; 6] = ["///", "//!", "//", "---", "--", "#"];
    let line = line.trim_start();
    let mark = MARKS.into_iter().find(|mark| line.starts_with(mark))?;
    Some((mark, line[mark.len()..].trim_start()))
}

/// The numbers of the lines that begin a comment with a denied word, from 1.
fn denied_openings(text: &str) -> Vec<usize> {
    let begins = |said: &str| {
        let rest = |word: &&str| said.strip_prefix(*word);
        let ends = |rest: &str| rest.starts_with([' ', ',']);
        DENIED_OPENINGS.iter().any(|word| rest(word).is_some_and(ends))
    };
    let mut before = None;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let (mark, said) = comment(line).unzip();
        if mark != before && said.is_some_and(begins) {
            found.push(number + 1);
        }
        before = mark;
    }
    found
}

#[test]
fn denied_verbs_and_openings_are_found() {
    assert_eq!(
        denied_verb("    pub(super) async fn let_go_early(&mut self) {"),
        Some("let_go_early")
    );
    assert_eq!(denied_verb("fn tell<T>(text: T)"), Some("tell"));
    for line in ["fn telling(value: &Value)", "fn puts()", "fn report_tell()", "// the fn tell()"] {
        assert_eq!(denied_verb(line), None, "{line}");
    }
    let text = "/// It is read.\nfn a() {}\n// Items,\n// of such\n//! Of a name.\nx\n-- The same";
    assert_eq!(denied_openings(text), [1, 5]);
    assert_eq!(denied_openings("/// Item.\n# Often\n/// Itself\n## Its\n"), [0; 0]);
}

/// The numbers of the lines that document a field or a variant by nothing but its name, from 1.
fn repeated_names(text: &str) -> Vec<usize> {
    let lines: Vec<_> = text.lines().map(str::trim_start).collect();
    let doc = |at: usize| lines.get(at).and_then(|line| line.strip_prefix("///"));
    let repeats = |at: &usize| {
        let Some(said) = doc(*at).filter(|_| doc(at + 1).is_none()) else { return false };
        let is_first = at.checked_sub(1).is_none_or(|before| doc(before).is_none());
        let below = lines[at + 1..].iter().find(|line| !line.starts_with("#["));
        let below = below.map_or("", |line| line.strip_prefix("pub ").unwrap_or(line));
        let name = below.split([':', '(', ',', '{']).next().unwrap_or_default();
        let (said, named) = (words(said), words(name.trim()));
        let mut said = said.split_whitespace().filter(|word| !["the", "a", "an"].contains(word));
        is_first
            && !name.trim().contains(' ')
            && said.all(|word| named.contains(&format!(" {word} ")))
    };
    (0..lines.len()).filter(repeats).map(|at| at + 1).collect()
}

#[test]
fn a_doc_that_repeats_a_name_is_found() {
    let text = "/// The thread.\nthread: Id,\n/// A turn started.\n#[x]\nTurnStarted {\n/// The file's path.\npub path: P,";
    assert_eq!(repeated_names(text), [1, 3]);
    let kept = "/// The thread.\n/// And more.\nthread: Id,\n/// A turn.\npub struct Turn {\n/// A turn\nstarted: T";
    assert_eq!(repeated_names(kept), [0; 0]);
}

/// In descriptions of the protocol, which are a part of its schema, every field has one.
const DOCUMENTED: &str = "protocol-schema/";

#[test]
fn no_doc_repeats_a_name() {
    let code = texts().filter(|(name, _)| name.ends_with(".rs") && !name.starts_with(DOCUMENTED));
    let found = code.flat_map(|(name, text)| {
        repeated_names(&text).into_iter().map(move |number| format!("{name}:{number}"))
    });
    assert_eq!(found.collect::<Vec<_>>(), [""; 0]);
}

/// Whether a file is code, whose comments and functions are checked.
fn is_code(name: &str) -> bool {
    [".rs", ".ts", ".lua", ".mjs", ".sh"].iter().any(|end| name.ends_with(end))
}

#[test]
fn no_function_has_a_denied_verb_and_no_comment_a_denied_beginning() {
    let mut found = Vec::new();
    for (name, text) in texts().filter(|(name, _)| is_code(name)) {
        if EXCEPT.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let is_older = OLDER_VERBS.iter().any(|start| name.starts_with(start));
        let verbs = text.lines().enumerate().filter(|_| !is_older);
        let verbs = verbs.filter_map(|(at, line)| Some((at + 1, denied_verb(line)?)));
        found.extend(verbs.map(|(number, verb)| format!("{name}:{number}: fn {verb}")));
        let openings = denied_openings(&text).into_iter();
        found.extend(openings.map(|number| format!("{name}:{number}: the beginning of a comment")));
    }
    assert!(
        found.is_empty(),
        "denied; see `DENIED_VERBS` and `DENIED_OPENINGS` in tests/tests/core/words.rs: {found:#?}"
    );
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
