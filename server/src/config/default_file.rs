//! The `rawr.toml` that a new user gets: every key with its default, all commented out. Generated from the table of
//! keys; where it is written to is somebody else's business.

use super::keys::{Key, Kind};
use super::table::TABLES;
use std::collections::HashSet;
use std::fmt::Write;

const WIDTH: usize = 100;

const HEAD: &str = "\
# What rawr does with your context. A line like `#mode = \"auto\"` shows a default: take the `#` away to change it.
# A project's `.rawr.toml` has the same keys and may only narrow what stands here.
";

/// Taking away the `#` of every line that has no blank after it changes nothing.
pub fn commented_default_toml() -> String {
    let mut text = HEAD.to_owned();
    let mut explained = HashSet::new();
    for table in &TABLES {
        text.push('\n');
        comment(&mut text, table.doc);
        let _ = writeln!(text, "[{}]", table.path);
        for key in table.keys {
            // The tiers have the same keys: once explained is enough.
            if explained.insert(key.doc) {
                comment(&mut text, key.doc);
            }
            setting(&mut text, key);
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

/// JSON's notation of these values is TOML's as well.
fn setting(text: &mut String, key: &'static Key) {
    let name = key.name();
    match key.default_value() {
        None => {
            let _ = writeln!(text, "# Not set. For example: {name} = {}", key.example);
        }
        Some(value) if matches!(key.kind, Kind::Phrases) => {
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
