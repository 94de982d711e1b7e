//! `spec/INDEX.md` names what shows each rule of the specification: a script, a test elsewhere, or why there is none.
//! This holds that the table and the tree agree; what a script says is none of its business.

use crate::scripts::{scripts, tests};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

struct Row {
    rule: String,
    words: String,
    /// Nothing, where the row says why the text is no rule.
    shown_by: Vec<Place>,
    is_rule: bool,
}

enum Place {
    /// Under `tests/spec`.
    Script(String),
    /// `file::name`, the file from the root.
    Test(String),
}

impl Row {
    fn scripts(&self) -> impl Iterator<Item = &str> {
        self.shown_by.iter().filter_map(|place| match place {
            Place::Script(script) => Some(script.as_str()),
            Place::Test(_) => None,
        })
    }
}

fn root() -> PathBuf {
    tests().parent().unwrap().to_owned()
}

/// Table rows begin with a rule's id in backquotes; everything else is prose.
fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(tests().join("spec/INDEX.md")).unwrap();
    text.lines().filter(|line| line.starts_with("| `")).map(row).collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let [rule, words, shown_by] = cells[..] else { panic!("three columns: {line}") };
    let is_rule = !shown_by.starts_with("not a rule: ");
    let places = shown_by.split('`').skip(1).step_by(2).filter(|_| is_rule).map(|place| {
        if place.ends_with(".txt") {
            Place::Script(place.to_owned())
        } else {
            Place::Test(place.to_owned())
        }
    });
    Row {
        rule: rule.trim_matches('`').to_owned(),
        words: words.to_owned(),
        shown_by: places.collect(),
        is_rule,
    }
}

#[test]
fn every_rule_has_one_row_and_something_that_shows_it() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        assert!(!row.words.is_empty(), "{} says nothing", row.rule);
        assert_eq!(row.is_rule, !row.shown_by.is_empty(), "nothing shows {}", row.rule);
        assert!(seen.insert(row.rule.clone()), "{} stands twice", row.rule);
    }
    assert!(seen.len() > 500, "the index is gone");
}

#[test]
fn every_script_named_exists_and_every_script_is_named() {
    let folder = tests().join("spec");
    let relative = |path: &Path| path.strip_prefix(&folder).unwrap().display().to_string();
    let there: BTreeSet<_> = scripts(&folder).iter().map(|path| relative(path)).collect();
    let rows = rows();
    let named: BTreeSet<_> = rows.iter().flat_map(Row::scripts).map(str::to_owned).collect();
    let gone: Vec<_> = named.difference(&there).collect();
    let unnamed: Vec<_> = there.difference(&named).collect();
    assert!(gone.is_empty() && unnamed.is_empty(), "not there: {gone:?}; not named: {unnamed:?}");
}

/// A script's comment names the rules that it shows: who reads it need not know the index.
#[test]
fn every_script_names_its_rules() {
    for row in rows() {
        for script in row.scripts() {
            let text = std::fs::read_to_string(tests().join("spec").join(script)).unwrap();
            let head = format!("# {}: ", row.rule);
            assert!(
                text.lines().any(|line| line.starts_with(&head)),
                "{script} does not say that it shows {}",
                row.rule
            );
        }
    }
}

#[test]
fn every_test_that_is_named_elsewhere_exists() {
    for row in rows() {
        for place in &row.shown_by {
            let Place::Test(place) = place else { continue };
            let Some((file, name)) = place.split_once("::") else {
                panic!("{}: {place} is neither a script nor a test", row.rule)
            };
            let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
            assert!(text.contains(&format!("fn {name}(")), "{}: there is no {place}", row.rule);
        }
    }
}

/// The table of the documentation is made from the one table of keys.
#[test]
fn every_key_of_the_configuration_is_a_rule() {
    let page = std::fs::read_to_string(root().join("docs/src/configuration.md")).unwrap();
    let table = page.split("<!-- generated: configuration -->").nth(1).unwrap();
    let table = table.split("<!-- end -->").next().unwrap();
    let keys = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let rules: BTreeSet<_> = rows().into_iter().map(|row| row.rule).collect();
    let missing: Vec<_> = keys.filter(|key| !rules.contains(*key)).collect();
    assert!(missing.is_empty(), "no row of tests/spec/INDEX.md shows {missing:?}");
}
