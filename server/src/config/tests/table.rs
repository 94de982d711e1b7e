//! Compares the table of keys with what is generated from it.

use super::*;
use crate::config::keys::names_in;

fn uncommented() -> String {
    let text = commented_default_toml();
    let line = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn the_default_file_sets_nothing_and_uncommented_the_defaults() {
    for text in [commented_default_toml(), uncommented()] {
        let files = rawr(String::leak(text));
        let config = check_problems(&files, expect![[""]]);
        assert_eq!(values(config), values(Config::default()));
    }
    let (config, _) = rawr(String::leak(uncommented())).load();
    let unset: Vec<_> = keys()
        .filter(|key| key.targets().any(|target| config.origin(target.path).is_none()))
        .map(ConfigKey::name)
        .collect();
    let without_default: Vec<_> =
        keys().filter(|key| key.default_value().is_none()).map(ConfigKey::name).collect();
    assert_eq!(unset, without_default, "every default is in the file");
}

#[test]
fn examples_of_the_default_file_are_valid() {
    for key in keys().filter(|key| !key.example.is_empty()) {
        let text = format!("{} = {}", key.path, key.example);
        let files = rawr(String::leak(text));
        check_problems(&files, expect![[""]]);
    }
}

#[test]
fn every_key_can_be_read_back_as_it_was_set() {
    for key in keys() {
        for target in key.targets() {
            let mut config = Config::default();
            if let Some(value) = target.get(&config) {
                target.set(&mut config, value);
            }
            assert_eq!(values(config), values(Config::default()), "{}", target.path);
        }
        assert!(names_in(key.table()).any(|name| name == key.name()), "{}", key.path);
        assert!(key.default_value().is_some() || !key.example.is_empty(), "{}", key.path);
    }
}

#[test]
fn every_key_documents_its_unit_and_its_default() {
    const UNITS: [&str; 6] = ["percent", "seconds", "tokens", "turns", "characters", "many"];
    for key in keys() {
        let says = |word: &str| key.doc.contains(word);
        assert!(key.doc.ends_with('.'), "{}", key.path);
        if let KeyKind::Number(_) | KeyKind::Percent(_) = key.kind {
            assert!(UNITS.into_iter().any(says), "{} has no unit", key.path);
        }
        let told = ["Unless set", "Needed by", "in the other tiers", "the record"];
        let has_default = key.default_value().is_some() || told.into_iter().any(says);
        assert!(has_default, "{}: no default documented", key.path);
    }
}
