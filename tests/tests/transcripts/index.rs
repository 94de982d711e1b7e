//! `spec/INDEX.md` names what shows each rule of the specification: a script, a test elsewhere, or why there is none.
//! This holds that the table and the tree agree.

use crate::{scripts, tests};
use std::collections::BTreeSet;
use std::path::Path;

struct Row {
    rule: String,
    words: String,
    shown_by: Vec<String>,
}

/// Table rows begin with a rule's id in backquotes; everything else is prose.
fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(tests().join("spec/INDEX.md")).unwrap();
    text.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [rule, words, shown_by] = cells[..] else { panic!("three columns: {line}") };
            let quoted = |cell: &str| {
                cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
            };
            let not_a_rule = shown_by.starts_with("not a rule: ");
            Row {
                rule: quoted(rule).concat(),
                words: words.to_owned(),
                shown_by: if not_a_rule { Vec::new() } else { quoted(shown_by) },
            }
        })
        .collect()
}

#[test]
fn every_rule_has_one_row_and_something_that_shows_it() {
    let text = std::fs::read_to_string(tests().join("spec/INDEX.md")).unwrap();
    let mut seen = BTreeSet::new();
    for row in rows() {
        assert!(seen.insert(row.rule.clone()), "{} stands twice", row.rule);
        assert!(!row.words.is_empty(), "{} says nothing", row.rule);
        let excused = text.lines().any(|line| {
            line.starts_with(&format!("| `{}` |", row.rule)) && line.contains("| not a rule: ")
        });
        assert_eq!(row.shown_by.is_empty(), excused, "{}", row.rule);
    }
    assert!(seen.len() > 500, "the index is gone");
}

#[test]
fn every_script_named_exists_and_every_script_is_named() {
    let folder = tests().join("spec");
    let relative = |path: &Path| path.strip_prefix(&folder).unwrap().display().to_string();
    let there: BTreeSet<_> = scripts(&folder).iter().map(|path| relative(path)).collect();
    let rows = rows();
    let named: BTreeSet<_> = rows
        .iter()
        .flat_map(|row| row.shown_by.iter().cloned())
        .filter(|name| name.ends_with(".txt"))
        .collect();
    let only =
        |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>();
    assert_eq!(only(&named, &there), Vec::<String>::new(), "named, but not there");
    assert_eq!(only(&there, &named), Vec::<String>::new(), "there, but not named");
}

/// A script is named after a rule that it shows, and says which others it shows.
#[test]
fn every_script_names_its_rules() {
    let rows = rows();
    for row in &rows {
        for script in row.shown_by.iter().filter(|name| name.ends_with(".txt")) {
            let path = tests().join("spec").join(script);
            let text = std::fs::read_to_string(&path).unwrap();
            let says = text
                .lines()
                .take_while(|line| line.starts_with('#'))
                .any(|line| line.split([' ', ',', '#', ':']).any(|word| word == row.rule));
            assert!(says, "{script} does not say that it shows {}", row.rule);
        }
    }
}

#[test]
fn every_test_that_is_named_elsewhere_exists() {
    let root = tests().parent().unwrap().to_owned();
    for row in rows() {
        for place in row.shown_by.iter().filter(|name| !name.ends_with(".txt")) {
            let Some((file, name)) = place.split_once("::") else {
                panic!("{}: {place} is neither a script nor a test", row.rule)
            };
            let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
            assert!(text.contains(&format!("fn {name}(")), "{}: there is no {place}", row.rule);
        }
    }
}

/// The README's table is made from the one table of keys.
#[test]
fn every_key_of_the_configuration_is_a_rule() {
    let readme = std::fs::read_to_string(tests().parent().unwrap().join("README.md")).unwrap();
    let table = readme.split("<!-- generated: configuration -->").nth(1).unwrap();
    let table = table.split("<!-- end -->").next().unwrap();
    let keys = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let rules: BTreeSet<_> = rows().into_iter().map(|row| row.rule).collect();
    let missing: Vec<_> = keys.filter(|key| !rules.contains(*key)).collect();
    assert!(missing.is_empty(), "no row in tests/spec/INDEX.md shows {missing:?}");
}
