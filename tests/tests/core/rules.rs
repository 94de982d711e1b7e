//! Compares the rules on the pages of `docs/spec` with the comments `rule: <id>` of scripts and tests. Whether a test
//! really shows its rule is for its reader to judge.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use crate::root;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The id of every rule, and the page that states it.
pub fn rules() -> BTreeMap<String, String> {
    let mut rules = BTreeMap::new();
    for (page, text) in pages() {
        for line in rule_lines(&text) {
            let id = id(line).unwrap_or_else(|| {
                panic!(
                    "docs/spec/{page}: no id; begin a bullet with \"- `topic.words`: \", and a row of \
                     a table with \"| `topic.words` | \": {line}"
                )
            });
            if let Some(other) = rules.insert(id.to_owned(), page.clone()) {
                panic!("docs/spec/{page}: `{id}` is also in {other}; rename one");
            }
        }
    }
    rules
}

/// The pages of rules by their name.
fn pages() -> impl Iterator<Item = (String, String)> {
    let files = std::fs::read_dir(root().join("docs/spec")).unwrap().map(|entry| entry.unwrap());
    let pages = files.map(|file| (file.file_name().into_string().unwrap(), file.path()));
    let pages = pages.filter(|(name, _)| name != "README.md");
    pages.map(|(name, path)| (name, std::fs::read_to_string(path).unwrap()))
}

/// Items of lists, and rows of tables below the header. Everything else is prose.
fn rule_lines(page: &str) -> impl Iterator<Item = &str> {
    let is_row = |line: &str| line.starts_with('|');
    let mut row_of_table = 0;
    page.lines().filter(move |line| {
        row_of_table = if is_row(line) { row_of_table + 1 } else { 0 };
        let line = line.trim_start();
        let after_number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let is_item = ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
            || after_number.len() < line.len() && after_number.starts_with(". ");
        // The header and the line below it come first.
        is_item || row_of_table > 2
    })
}

/// The id at the beginning of a rule, if words of the rule follow.
fn id(line: &str) -> Option<&str> {
    let (id, words) = match line.strip_prefix("- `") {
        Some(bullet) => bullet.split_once("`: ")?,
        None => line.strip_prefix("| `")?.split_once("` | ")?,
    };
    (is_id(id) && words.contains(char::is_alphabetic)).then_some(id)
}

/// `delivery.once-in-order-unchanged`: a topic, and at most five words.
fn is_id(id: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
    };
    let is_name = |name: &str| name.split('-').all(is_word);
    id.split_once('.').is_some_and(|(topic, words)| {
        is_name(topic) && is_name(words) && words.split('-').count() <= 5
    })
}

/// A comment `rule: <id>` of a script or a test.
struct RuleMark {
    id: String,
    /// `file:line`.
    place: String,
    belongs_to_a_test: bool,
}

fn marks() -> Vec<RuleMark> {
    let kinds = ["*.rs", "*.ts", "*.lua", "*.py", "tests/scripts/*.txt"];
    let listed = Command::new("git")
        .arg("-C")
        .arg(root())
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--"])
        .args(kinds)
        .output()
        .unwrap();
    let names = String::from_utf8(listed.stdout).unwrap();
    let names: Vec<_> = names.split_terminator('\0').collect();
    assert!(names.len() > 1000, "only {} files found", names.len());
    let mut marks = Vec::new();
    for name in names {
        // A file that is deleted and not committed is listed, too.
        let Ok(text) = std::fs::read_to_string(root().join(name)) else { continue };
        let is_script = name.ends_with(".txt");
        marks.extend(marked_lines(&text).map(|(number, id, rest)| RuleMark {
            id: id.to_owned(),
            place: format!("{name}:{number}"),
            belongs_to_a_test: is_script || begins_with_a_test(rest),
        }));
    }
    marks
}

/// The number of each line that names a rule, the id, and the text from that line on.
fn marked_lines(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut rest = text;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let from_here = rest;
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        let comment = line.trim_start();
        let id = ["// rule: ", "# rule: ", "-- rule: "]
            .into_iter()
            .find_map(|mark| comment.strip_prefix(mark))?;
        Some((at + 1, id, from_here))
    })
}

/// Whether a test comes first, after comments and attributes.
fn begins_with_a_test(text: &str) -> bool {
    const TESTS: [&str; 5] = ["#[test]", "#[tokio::test", "test(", "it(", "def test_"];
    let is_comment = |line: &&str| ["//", "--", "# "].iter().any(|mark| line.starts_with(mark));
    for line in text.lines().map(str::trim_start).skip_while(is_comment) {
        if TESTS.iter().any(|test| line.starts_with(test)) {
            return true;
        }
        // Other attributes may come before that of a test.
        if !line.starts_with("#[") {
            return false;
        }
    }
    false
}

#[test]
fn a_rule_begins_with_its_id() {
    let page = "\
# Page

An introduction - with a dash.

- `topic.a-rule`: Words,
  and more words.
- No id.
1. `topic.number`: Words.
   - `topic.inner`: Words.

| rule | is |
| --- | --- |
| `topic.row` | words |
| words | `topic.none` |
";
    let found: Vec<_> = rule_lines(page).map(id).collect();
    assert_eq!(found, [Some("topic.a-rule"), None, None, None, Some("topic.row"), None]);
    for id in ["topic", "Topic.rule", "topic.", "topic.a_rule", "a.b.c", "t.-a", "t.a-b-c-d-e-f"] {
        assert!(!is_id(id), "{id}");
    }
}

#[test]
fn a_mark_is_above_its_test() {
    let check = |text: &str, expected: &[(usize, &str, bool)]| {
        let found: Vec<_> = marked_lines(text)
            .map(|(number, id, rest)| (number, id, begins_with_a_test(rest)))
            .collect();
        assert_eq!(found, expected, "{text}");
    };
    check("// rule: a.b\n// rule: a.c\n#[test]\nfn f() {}", &[(1, "a.b", true), (2, "a.c", true)]);
    check("\n    // rule: a.b\n    #[cfg(x)]\n    #[tokio::test(y)]\n", &[(2, "a.b", true)]);
    check("-- rule: a.b\nit('does', function()", &[(1, "a.b", true)]);
    check("// rule: a.b\nfn f() {}\n#[test]\nfn g() {}", &[(1, "a.b", false)]);
    check("let mark = \"// rule: a.b\";\n/// rule: a.b\n", &[]);
}

#[test]
fn every_rule_has_an_id_of_its_own_and_a_topic_of_its_page() {
    let rules = rules();
    assert!(rules.len() > 350, "only {} rules found", rules.len());
    let mut topics: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (id, page) in &rules {
        topics.entry(page).or_default().insert(id.split_once('.').unwrap().0);
    }
    let readme = std::fs::read_to_string(root().join("docs/spec/README.md")).unwrap();
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| [")?.split_once("]("));
    let named: BTreeMap<_, BTreeSet<_>> = rows
        .map(|(_, row)| {
            let (page, row) = row.split_once(") | ").unwrap();
            (page, row.split(" | ").next().unwrap().split('`').skip(1).step_by(2).collect())
        })
        .collect();
    assert_eq!(
        named, topics,
        "correct the topics of a page in docs/spec/README.md (left), or an id on the page (right)"
    );
}

#[test]
fn every_rule_is_named_by_a_test_and_every_named_rule_exists() {
    let (rules, marks) = (rules(), marks());
    let unknown: Vec<_> = marks.iter().filter(|mark| !rules.contains_key(&mark.id)).collect();
    let unknown: Vec<_> = unknown.iter().map(|mark| (&mark.place, &mark.id)).collect();
    assert!(unknown.is_empty(), "no rule in docs/spec; correct the comments: {unknown:#?}");
    let stray: Vec<_> = marks.iter().filter(|mark| !mark.belongs_to_a_test).collect();
    let stray: Vec<_> = stray.iter().map(|mark| &mark.place).collect();
    assert!(stray.is_empty(), "put the comments directly above a test: {stray:#?}");
    let named: BTreeSet<_> = marks.into_iter().map(|mark| mark.id).collect();
    let missing: Vec<_> = rules.into_keys().filter(|id| !named.contains(id)).collect();
    assert!(
        missing.is_empty(),
        "no test; add a comment `rule: <id>` to a script or a test that shows the rule: {missing:#?}"
    );
}
