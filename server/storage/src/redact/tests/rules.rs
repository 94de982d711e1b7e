//! The public rules are generated from the file of their scanner, and all of them compile.

use super::super::shapes::ALL;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use std::collections::BTreeSet;
use std::path::Path;

/// What ends a token in the public rules. Here, the end of the word ends it.
const TAILS: [&str; 4] = [
    r#"(?:[\x60'"\s;]|\\[nr]|$)"#,
    r#"(?:[\x60'"\s;]|\\[nr]|$|\b)"#,
    r"(?:[^a-zA-Z0-9+/]|\z)",
    r"(?:[^\w-]|\z)",
];

/// The rules of tokens with a known prefix. Rules that need a product's name nearby, or text of unlimited length, are
/// omitted, because the rules of assignments cover names.
fn generated(source: &str) -> String {
    let file: toml::Table = source.parse().unwrap();
    let rules: Vec<_> = file["rules"].as_array().unwrap().iter().filter_map(rule).collect();
    let lines = rules.iter().map(|(kind, prefixes, pattern)| {
        format!(
            "    TokenRule {{ kind: {kind:?}, prefixes: &{prefixes:?}, pattern: r##\"{pattern}\"## }},\n"
        )
    });
    format!(
        "//! Generated from `gitleaks.toml` (see `gitleaks.LICENSE`) by `UPDATE=1 cargo test -p rawr-server redact`.\n\n\
         use super::TokenRule;\n\n\
         #[rustfmt::skip]\n\
         pub(super) const PUBLIC: [TokenRule; {}] = [\n{}];\n",
        rules.len(),
        lines.collect::<String>()
    )
}

fn rule(rule: &toml::Value) -> Option<(&str, Vec<String>, String)> {
    const SHORTEST: usize = 3;
    const LONGEST: usize = 4;
    let kind = rule["id"].as_str()?;
    let whole = rule.get("regex")?.as_str()?;
    let tail = TAILS.iter().find_map(|tail| whole.strip_suffix(tail));
    let pattern = match tail {
        Some(start) => format!(r"{start}\b"),
        None => whole.to_owned(),
    };
    if [".*", r"[\s\S", r"\s", r"[\w.-]{0,50}?", "-----"].iter().any(|part| pattern.contains(part))
    {
        return None;
    }
    let parsed = ParserBuilder::new().unicode(false).utf8(false).build().parse(&pattern).unwrap();
    let found = Extractor::new().extract(&parsed);
    let prefixes: BTreeSet<String> = found
        .literals()?
        .iter()
        .map(|literal| {
            let text = String::from_utf8(literal.as_bytes().to_vec()).unwrap();
            text.get(..LONGEST).unwrap_or(&text).to_owned()
        })
        .collect();
    let all_long = prefixes.iter().all(|prefix| prefix.len() >= SHORTEST);
    (all_long && !prefixes.is_empty()).then_some((kind, Vec::from_iter(prefixes), pattern))
}

#[test]
fn the_table_matches_the_public_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/redact");
    let expected = generated(&std::fs::read_to_string(folder.join("gitleaks.toml")).unwrap());
    let table = folder.join("rules.rs");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&table, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&table).unwrap();
    assert!(found == expected, "run `UPDATE=1 cargo test -p rawr-server redact`");
}

#[test]
fn every_rule_compiles() {
    assert!(ALL.len() > 100);
    for shape in ALL.iter() {
        assert!(shape.pattern().is_some(), "{}", shape.kind());
        assert!(shape.first_pairs().count() > 0, "{}", shape.kind());
    }
}
