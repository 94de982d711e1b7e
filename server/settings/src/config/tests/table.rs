//! Compares the table of keys with what is generated from it.

use super::*;
use crate::config::table::{PRESET, names_in};

fn uncommented(preset: Preset) -> String {
    let text = commented_default_toml(preset);
    let line = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn the_default_file_sets_its_preset_alone_and_uncommented_the_defaults_of_it() {
    for preset in [Preset::Calm, Preset::Spec] {
        for text in [commented_default_toml(preset), uncommented(preset)] {
            let files = rawr(String::leak(text));
            let config = check_problems(&files, expect![[""]]);
            assert_eq!(config.preset, preset);
            assert_eq!(values(config), values(Config::of_preset(preset)));
        }
    }
    let (written, _) = rawr(String::leak(commented_default_toml(Preset::Spec))).load();
    assert_eq!(written.origins.keys().collect::<Vec<_>>(), [&PRESET]);
    let (config, _) = rawr(String::leak(uncommented(Preset::Calm))).load();
    let unset: Vec<_> = keys()
        .filter(|key| key.targets().any(|target| config.origin(target.path).is_none()))
        .map(ConfigKey::name)
        .collect();
    let without_default: Vec<_> = keys()
        .filter(|key| key.targets().any(|target| target.default_value().is_none()))
        .map(ConfigKey::name)
        .collect();
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
