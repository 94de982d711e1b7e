//! `scripts/rules.md` has a row for each rule of the specification, and a script names the rules that it tests.
//! `INDEX.md` joins both. These tests check that nothing is missing or unknown.

use crate::root;
use crate::scripts::{scripts, tests};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const GENERATED: &str = "\
<!-- generated: `UPDATE=1 cargo test -p rawr-tests --test core scripts` rewrites it -->

# Every rule of the specification, and what shows it

Made from [rules.md](rules.md) and the comments of the scripts. A [script](README.md) is played against the core, and its answers were read
against the rule; a test is named by its file and name. `configuration/keys/` has a script for each configuration key that the core decides by.

";

struct RuleRow {
    rule: String,
    words: String,
    /// `file::name`, with the path of the file from the root.
    tests: Vec<String>,
    /// Why the text is not a rule.
    no_rule: Option<String>,
}

fn rules() -> String {
    std::fs::read_to_string(tests().join("scripts/rules.md")).unwrap()
}

/// Table rows begin with a rule's id in backquotes; everything else is prose.
fn row(line: &str) -> Option<RuleRow> {
    let cells = line.strip_prefix("| `")?.strip_suffix('|').unwrap();
    let cells: Vec<_> = cells.split(" | ").map(str::trim).collect();
    let [rule, words, shown_by] = cells[..] else { panic!("three columns: {line}") };
    let no_rule = shown_by.starts_with("not a rule: ").then(|| shown_by.to_owned());
    let tests = shown_by.split('`').skip(1).step_by(2).filter(|_| no_rule.is_none());
    Some(RuleRow {
        rule: rule.trim_end_matches('`').to_owned(),
        words: words.to_owned(),
        tests: tests.map(str::to_owned).collect(),
        no_rule,
    })
}

fn rows() -> Vec<RuleRow> {
    rules().lines().filter_map(row).collect()
}

/// The ids in comment lines of a script: `# <id>: …`. Other comments may look similar.
fn ids(script: &str) -> impl Iterator<Item = &str> {
    let comments = script.lines().filter_map(|line| line.strip_prefix("# "));
    comments.filter_map(|line| line.split_once(": ")).map(|(id, _)| id)
}

/// The scripts of each id, by their path in `scripts`.
fn shown_by() -> BTreeMap<String, BTreeSet<String>> {
    let folder = tests().join("scripts");
    let mut shown_by: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in scripts(&folder) {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        for id in ids(&std::fs::read_to_string(&path).unwrap()) {
            shown_by.entry(id.to_owned()).or_default().insert(name.clone());
        }
    }
    shown_by
}

/// A test with a link to its file.
fn linked(test: &str) -> String {
    let (file, _) = test.split_once("::").unwrap_or((test, ""));
    format!("[`{test}`](../../{file})")
}

fn index() -> String {
    let (rules, scripts) = (rules(), shown_by());
    let (_, tables) = rules.split_once("\n## ").unwrap();
    let mut index = format!("{GENERATED}## ");
    for line in tables.lines() {
        let Some(RuleRow { rule, words, tests, no_rule }) = row(line) else {
            let _ = writeln!(index, "{}", line.replace("| tests |", "| shown by |"));
            continue;
        };
        let scripts = scripts.get(&rule).into_iter().flatten();
        let scripts = scripts.map(|script| format!("[`{script}`]({script})"));
        let places: Vec<_> = scripts.chain(tests.iter().map(|test| linked(test))).collect();
        let shown_by = no_rule.unwrap_or_else(|| places.join(", "));
        let _ = writeln!(index, "| `{rule}` | {words} | {shown_by} |");
    }
    index
}

#[test]
fn the_index_matches_rules_and_scripts() {
    let path = tests().join("scripts/INDEX.md");
    let (stored, made) = (std::fs::read_to_string(&path).unwrap_or_default(), index());
    if stored != made {
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        let hint =
            "tests/scripts/INDEX.md: run `UPDATE=1 cargo test -p rawr-tests --test core scripts`";
        panic!("{hint}\n{}", crate::scripts::difference(&stored, &made));
    }
}

#[test]
fn every_rule_has_one_row_and_a_test() {
    let (mut seen, scripts) = (BTreeSet::new(), shown_by());
    for row in rows() {
        assert!(!row.words.is_empty(), "{} has no text", row.rule);
        let is_shown = !row.tests.is_empty() || scripts.contains_key(&row.rule);
        assert_eq!(row.no_rule.is_none(), is_shown, "no test of {}", row.rule);
        assert!(seen.insert(row.rule.clone()), "{} has two rows", row.rule);
    }
    assert!(seen.len() > 500, "the rules are missing");
}

#[test]
fn every_rule_that_a_script_names_exists() {
    let rules: BTreeSet<_> = rows().into_iter().map(|row| row.rule).collect();
    let is_rule = |id: &str| {
        let mut letters = id.chars();
        letters.next().is_some_and(|group| group.is_ascii_digit()) && letters.next() == Some('-')
    };
    let named = shown_by();
    let unknown: Vec<_> =
        named.iter().filter(|(id, _)| is_rule(id) && !rules.contains(*id)).collect();
    assert!(unknown.is_empty(), "not in tests/scripts/rules.md: {unknown:#?}");
}

/// The name of such a script is the key, so that its comment must name it, too.
#[test]
fn every_script_of_a_key_names_the_key() {
    let named = shown_by();
    for path in scripts(&tests().join("scripts/configuration/keys")) {
        let key = path.file_stem().unwrap().to_str().unwrap();
        assert!(named.contains_key(key), "{} does not name its key", path.display());
    }
}

#[test]
fn every_test_named_in_the_rules_exists() {
    for row in rows() {
        for place in &row.tests {
            let Some((file, name)) = place.split_once("::") else {
                panic!("{}: {place} is not a test", row.rule)
            };
            let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
            assert!(text.contains(&format!("fn {name}(")), "{}: {place} not found", row.rule);
        }
    }
}

/// The documentation's table of keys is generated from the server's table.
#[test]
fn every_key_of_the_configuration_is_a_rule() {
    let page = std::fs::read_to_string(root().join("docs/src/configuration.md")).unwrap();
    let table = page.split("<!-- generated: configuration -->").nth(1).unwrap();
    let table = table.split("<!-- end -->").next().unwrap();
    let keys = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let rules: BTreeSet<_> = rows().into_iter().map(|row| row.rule).collect();
    let missing: Vec<_> = keys.filter(|key| !rules.contains(*key)).collect();
    assert!(missing.is_empty(), "no row of tests/scripts/rules.md shows {missing:?}");
}
