//! A script in `configuration/keys` shows what the key does that it is named after. `config_effects` checks that every key
//! has a script or a case there.

use crate::scripts::player::Player;
use crate::scripts::{scripts, tests};
use rawr_tests::config_keys::keys_shown_by;

/// The script before its first line that sets one of the keys, and all of it without these lines and their answers.
fn without(script: &str, keys: &[String]) -> (String, String) {
    let sets = |line: &str| {
        let key = line.strip_prefix("config ").and_then(|line| line.split(" = ").next());
        key.is_some_and(|key| keys.iter().any(|of| of == key))
    };
    let (mut before, mut rest) = (None, String::new());
    let mut is_left_out = false;
    for line in script.lines() {
        is_left_out = sets(line) || (is_left_out && line.starts_with("  "));
        if is_left_out {
            before.get_or_insert_with(|| rest.clone());
        } else {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    (before.unwrap_or_default(), rest)
}

#[test]
fn every_script_of_a_key_shows_the_core_without_and_with_it() {
    for path in scripts(&tests().join("scripts/configuration/keys")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let script = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = without(&script, &keys_shown_by(name));
        assert!(script != rest, "{name} does not set its key: add `config {name} = …`");
        let is_shown = before.lines().any(|line| line.starts_with("  "));
        assert!(is_shown, "{name} does not show what happens without the key");
        let is_changed = Player::default().play(&rest) != rest;
        assert!(is_changed, "the core does the same without {name}");
    }
}
