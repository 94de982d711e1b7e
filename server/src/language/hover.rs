//! Hover texts in Markdown: a placeholder with its current value, a key with its default and current value.

use super::front_matter::{FrontMatter, FrontMatterField};
use super::settings::{ConfigKeyAt, key_at};
use super::toml::{TomlHeader, TomlOutline};
use super::world::{Doc, DocumentKind, LanguageContext, PlaceholderValues};
use rawr_core::boundary::Boundary;
use rawr_core::prompt::{Placeholder, PlaceholderUse, PromptName, scan};
use rawr_settings::config::{Config, ConfigKey, KeyKind as Type, key, path_in, tables};
use rawr_settings::prompts::FRONT_MATTER_KEYS;
use std::fmt::Write;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    pub markdown: String,
    pub span: Range<usize>,
}

/// Longer values are truncated.
const MAX_CHARS: usize = 400;

/// `values` are those of the prompt in this document.
pub fn hover(
    doc: &Doc<'_>,
    world: &LanguageContext,
    values: Option<&PlaceholderValues>,
    at: usize,
) -> Option<Hover> {
    match doc.kind {
        DocumentKind::Config(_) => {
            let outline = TomlOutline::of(doc.text);
            match key_at(&outline, at) {
                Some(found) => Some(of_key(doc, world, &found)),
                None => of_table(&outline, at),
            }
        }
        DocumentKind::Prompt(PromptName::AutoCompact) if FrontMatter::of(doc.text).holds(at) => {
            of_field(doc, world, at)
        }
        kind => {
            let name = kind.prompt()?;
            let (found, placeholder) = placeholder_at(name, doc.text, at)?;
            let markdown = of_placeholder(placeholder, values);
            Some(Hover { markdown, span: found.span })
        }
    }
}

fn placeholder_at(
    name: PromptName,
    text: &str,
    at: usize,
) -> Option<(PlaceholderUse<'_>, &'static Placeholder)> {
    let found = scan(text).find(|found| found.span.start <= at && at <= found.span.end)?;
    let known = name
        .placeholders()
        .iter()
        .find(|known| known.camel == found.name || known.snake == found.name)?;
    Some((found, known))
}

fn of_placeholder(placeholder: &Placeholder, values: Option<&PlaceholderValues>) -> String {
    let required = if placeholder.required { " (required)" } else { "" };
    let now = match values {
        None => "No thread to read its value from.".to_owned(),
        Some(PlaceholderValues { thread, values, .. }) => match values.get(placeholder.camel) {
            None => format!("No value in thread `{thread}` now."),
            Some(value) => format!("Value in thread `{thread}`:\n\n{}", fenced(value)),
        },
    };
    format!("`{{{}}}`{required}: {}\n\n{now}", placeholder.camel, placeholder.meaning)
}

/// With a longer fence than any in the value, because the value is untrusted text.
fn fenced(value: &str) -> String {
    let longest = value.split(|of| of != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let cut = value.char_indices().nth(MAX_CHARS).map(|(at, _)| at);
    let shown = &value[..cut.unwrap_or(value.len())];
    let rest = value.chars().count().saturating_sub(MAX_CHARS);
    let more = cut.map(|_| format!("\n\n… and {rest} more characters")).unwrap_or_default();
    format!("{fence}text\n{shown}\n{fence}{more}")
}

fn of_key(doc: &Doc<'_>, world: &LanguageContext, found: &ConfigKeyAt) -> Hover {
    let config = world.config(doc, found.model.as_deref()).0;
    let mut text = about(found.key);
    text.push_str("\n\n");
    text.push_str(&standing(found.key, &config, found.model.as_deref()));
    Hover { markdown: text, span: found.span.clone() }
}

fn of_table(outline: &TomlOutline, at: usize) -> Option<Hover> {
    let on = |header: &&TomlHeader| header.span.start <= at && at <= header.span.end;
    let header = outline.headers().find(on)?;
    let path: Vec<_> = header.path.iter().map(|segment| segment.text.clone()).collect();
    // The table of a single model is documented as `models`.
    let (path, model) = path_in(&path);
    let path = if model.is_some() { "rawr_auto_compaction.models" } else { path.as_str() };
    let table = tables().find(|table| table.path == path && !table.doc.is_empty())?;
    let markdown = format!("`[{}]`: {}", table.path, table.doc);
    Some(Hover { markdown, span: header.span.clone() })
}

/// The description of a key, without a configuration.
pub fn about(key: &'static ConfigKey) -> String {
    format!("`{}`: {}\n\n{}", key.path, type_of(&key.kind), key.doc)
}

fn standing(key: &'static ConfigKey, config: &Config, model: Option<&str>) -> String {
    let default = key.default_value();
    let default = default.map_or_else(|| "none".to_owned(), |value| format!("`{value}`"));
    let of_model = model.map(|model| format!(" for `{model}`")).unwrap_or_default();
    let in_force = config.standing(key).map(|standing| {
        let value = standing.value.map_or_else(|| "none".to_owned(), |value| format!("`{value}`"));
        format!("Current value{of_model}: {value}, set by {}.", standing.layer)
    });
    format!("Default: {default}. {}", in_force.unwrap_or_default())
}

pub fn type_of(kind: &Type) -> String {
    let words = |words: &[&str]| {
        words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
    };
    match kind {
        Type::Switch => "`true` or `false`".to_owned(),
        Type::Number(range) => format!("a number from {} to {}", range.start(), range.end()),
        Type::Percent(range) => format!("a percentage from {} to {}", range.start(), range.end()),
        Type::Word(list) => format!("one of {}", words(list)),
        Type::Text => "a string".to_owned(),
        Type::Url => "the address of an endpoint".to_owned(),
        Type::Variable => "the name of an environment variable".to_owned(),
        Type::ScratchTemplate => "a path inside the thread's folder".to_owned(),
        Type::Boundaries { .. } => {
            format!("a list of {}", words(&Boundary::ALL.map(Boundary::name)))
        }
        Type::Phrases => "a list of strings".to_owned(),
    }
}

/// The configuration key that corresponds to a key of the front matter.
pub fn config_key(path: &str) -> Option<&'static ConfigKey> {
    let (table, name) = path.split_once('.')?;
    match table {
        "trigger" => key(&format!("rawr_auto_compaction.{name}")),
        "packet" => key(&format!("rawr_auto_compaction.packet_{name}")),
        _ => None,
    }
}

/// The front matter key whose name or value is at this position.
pub fn field_at(text: &str, at: usize) -> Option<FrontMatterField> {
    let on = |field: &FrontMatterField| {
        field.span.start <= at && at <= field.value.end.max(field.span.end)
    };
    FrontMatter::of(text).fields.into_iter().find(on)
}

fn of_field(doc: &Doc<'_>, world: &LanguageContext, at: usize) -> Option<Hover> {
    let field = field_at(doc.text, at)?;
    let known = FRONT_MATTER_KEYS.iter().find(|known| known.path == field.path)?;
    let mut text = format!("`{}`: {}", known.path, known.doc);
    if let Some(key) = config_key(known.path) {
        let config = world.config(doc, None).0;
        let standing = standing(key, &config, None);
        let _ =
            write!(text, "\n\n{}. `{}` takes precedence. {standing}", type_of(&key.kind), key.path);
    }
    Some(Hover { markdown: text, span: field.span })
}
