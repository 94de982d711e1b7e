//! The `rawr.toml` of a new user: the preset, and every other key with its default, commented out. Generated from the table of
//! keys.

use super::Config;
use super::keys::{ConfigKey, KeyKind};
use super::table::{PRESET, TABLES};
use rawr_core::policy::Preset;
use std::collections::HashSet;
use std::fmt::Write;

const WIDTH: usize = 100;

const HEAD: &str = "\
# What rawr does with your context. A line like `#mode = \"auto\"` shows a default: take the `#` away to change it.
# A project's `.rawr.toml` has the same keys and may only narrow what stands here.
";

/// The file for a preset. Uncommenting all keys (lines that start with `#` and no space) changes nothing.
pub fn commented_default_toml(preset: Preset) -> String {
    let defaults = Config::of_preset(preset);
    let mut text = HEAD.to_owned();
    let mut explained = HashSet::new();
    for table in &TABLES {
        text.push('\n');
        comment(&mut text, table.doc);
        let _ = writeln!(text, "[{}]", table.path);
        for key in table.keys {
            // The tiers have the same keys, which are explained once.
            if explained.insert(key.doc) {
                comment(&mut text, key.doc);
            }
            setting(&mut text, key, &defaults);
        }
    }
    text
}

fn comment(text: &mut String, doc: &str) {
    let mut line = String::from("#");
    for word in doc.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(text, "{line}");
            line = String::from("#");
        }
        let _ = write!(line, " {word}");
    }
    if line.len() > 1 {
        let _ = writeln!(text, "{line}");
    }
}

/// JSON literals of these values are valid TOML, too.
fn setting(text: &mut String, key: &'static ConfigKey, defaults: &Config) {
    let name = key.name();
    match key.value_in(defaults) {
        None => {
            let _ = writeln!(text, "# Not set. For example: {name} = {}", key.example);
        }
        // Written out, because the values after it are those of this preset.
        Some(value) if key.path == PRESET => {
            let _ = writeln!(text, "{name} = {value}");
        }
        Some(value) if matches!(key.kind, KeyKind::Phrases) => {
            let _ = writeln!(text, "#{name} = [");
            for phrase in value.as_array().into_iter().flatten() {
                let _ = writeln!(text, "#{phrase},");
            }
            let _ = writeln!(text, "#]");
        }
        Some(value) => {
            let value = value.to_string().replace("\",\"", "\", \"");
            let _ = writeln!(text, "#{name} = {value}");
        }
    }
}
