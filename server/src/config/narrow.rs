//! What a project's file may change: only towards less. It comes with a clone of somebody's repository, so it must
//! not be able to make rawr do more than the user's own files allow.

use super::Config;
use super::keys::{Kind, Narrow, Value};
use super::layer::Setting;
use crate::problem::Problem;

/// While the user left it to the window's size, only more than a fiftieth of a very large window is surely more.
const SURELY_MORE_TOKENS: u64 = 20_000;

/// The configuration with the setting in force, or why it is not.
pub(super) fn narrowed(config: &Config, setting: &Setting) -> Result<Config, Problem> {
    let before = setting.key.get(config);
    let mut changed = config.clone();
    setting.key.set(&mut changed, setting.value.clone());
    let after = setting.key.get(&changed);
    let words = if let Kind::Word(words) = setting.key.kind { words } else { &[] };
    if before == after || is_narrower(setting.key.narrow, words, before.as_ref(), after.as_ref()) {
        return Ok(changed);
    }
    let name = setting.name();
    let stands = before.map_or_else(
        || "not set by you".to_owned(),
        |value| format!("{} by your own files", value.to_json()),
    );
    let message = match may(setting.key.narrow) {
        None => format!("a project may not set `{name}`"),
        Some(may) => format!("a project may only {may} `{name}`, which is {stands}"),
    };
    Err(Problem::error("project-may-only-narrow", message)
        .in_file(setting.source.file())
        .at(setting.span.clone())
        .help("set it in your own `rawr.toml`".to_owned()))
}

const fn may(narrow: Narrow) -> Option<&'static str> {
    match narrow {
        Narrow::Never => None,
        Narrow::ToFalse => Some("switch off"),
        Narrow::ToTrue => Some("switch on"),
        Narrow::Down => Some("lower"),
        Narrow::Up => Some("raise"),
        Narrow::Earlier => Some("turn down"),
        Narrow::Subset => Some("shorten"),
    }
}

fn is_narrower(
    narrow: Narrow,
    words: &[&str],
    before: Option<&Value>,
    after: Option<&Value>,
) -> bool {
    let place = |word: &str| words.iter().position(|known| *known == word);
    match (narrow, before, after) {
        (Narrow::ToFalse, _, Some(Value::Switch(on))) => !on,
        (Narrow::ToTrue, _, Some(Value::Switch(on))) => *on,
        (Narrow::Down, Some(Value::Number(before)), Some(Value::Number(after))) => after <= before,
        (Narrow::Up, Some(Value::Number(before)), Some(Value::Number(after))) => after >= before,
        (Narrow::Up, None, Some(Value::Number(after))) => *after >= SURELY_MORE_TOKENS,
        (Narrow::Earlier, Some(Value::Word(before)), Some(Value::Word(after))) => {
            place(after) <= place(before)
        }
        (Narrow::Subset, Some(Value::Boundaries(before)), Some(Value::Boundaries(after))) => {
            after.without(*before).is_empty()
        }
        (Narrow::Subset, Some(Value::Phrases(before)), Some(Value::Phrases(after))) => {
            after.iter().all(|phrase| before.contains(phrase))
        }
        _ => false,
    }
}
