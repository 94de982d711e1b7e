//! What may be typed at a place: placeholders in prompts, keys, tables and values elsewhere. Broken and half-typed texts
//! are the rule here, so that nothing is parsed in earnest.

use super::front_matter::FrontMatter;
use super::hover::{about, config_key, type_of};
use super::settings::key_of;
use super::toml::{Entry, Header, Outline, Segment, Value, What};
use super::world::{Doc, File, Kind};
use crate::config::{Key, Kind as Type, is_table, key, names_in, of_models, path_in, tables};
use crate::prompts::FRONT_MATTER_KEYS;
use rawr_core::boundary::Boundary;
use rawr_core::prompt::{Placeholder, PromptName, scan};
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Placeholder,
    Table,
    Key,
    Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    pub label: String,
    /// Takes the place of the span.
    pub text: String,
    pub span: Range<usize>,
    pub sort: Sort,
    /// Markdown; may be empty.
    pub about: String,
}

pub fn complete(doc: &Doc<'_>, at: usize) -> Vec<Proposal> {
    match doc.kind {
        Kind::Config(file) => in_toml(doc.text, at, file),
        Kind::Prompt(PromptName::AutoCompact) if FrontMatter::of(doc.text).holds(at) => {
            in_front_matter(doc.text, at)
        }
        kind => kind.prompt().map_or_else(Vec::new, |name| placeholders(name, doc.text, at)),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The word around a place.
fn word_at(text: &str, at: usize, is_part: impl Fn(u8) -> bool) -> Range<usize> {
    let bytes = text.as_bytes();
    let before = bytes[..at].iter().rev().take_while(|byte| is_part(**byte)).count();
    let behind = bytes[at..].iter().take_while(|byte| is_part(**byte)).count();
    at - before..at + behind
}

fn placeholders(name: PromptName, text: &str, at: usize) -> Vec<Proposal> {
    let word = word_at(text, at, is_word);
    if !text[..word.start].ends_with('{') {
        return Vec::new();
    }
    let closed = usize::from(text[word.end..].starts_with('}'));
    let span = word.start - 1..word.end + closed;
    let snake = prefers_snake(name, text) || text[word].contains('_');
    let proposal = |known: &Placeholder| {
        let spelled = if snake { known.snake } else { known.camel };
        let required = if known.required { " Required." } else { "" };
        Proposal {
            label: format!("{{{spelled}}}"),
            text: format!("{{{spelled}}}"),
            span: span.clone(),
            sort: Sort::Placeholder,
            about: format!("{}.{required}", known.meaning),
        }
    };
    name.placeholders().iter().map(proposal).collect()
}

/// As the rest of the file is spelled.
fn prefers_snake(name: PromptName, text: &str) -> bool {
    let differs = || name.placeholders().iter().filter(|known| known.camel != known.snake);
    let is = |spelling: fn(&Placeholder) -> &'static str| {
        scan(text).filter(|found| differs().any(|known| spelling(known) == found.name)).count()
    };
    is(|known| known.snake) > is(|known| known.camel)
}

fn in_toml(text: &str, at: usize, file: File) -> Vec<Proposal> {
    let outline = Outline::of(text);
    if outline.comments.iter().any(|comment| comment.start < at && at <= comment.end) {
        return Vec::new();
    }
    let inside = |header: &&Header| header.span.start < at && at <= header.span.end;
    if let Some(header) = outline.headers().find(inside) {
        return if text[..at].ends_with(']') { Vec::new() } else { in_header(header, text, at) };
    }
    let line_end =
        |from: usize| from + text[from..].find(['\n', '\r']).unwrap_or(text.len() - from);
    let here = |entry: &&Entry| {
        entry.span.start <= at && (at <= entry.span.end || at <= line_end(entry.span.end))
    };
    match outline.entries().filter(here).last() {
        Some(entry) => match entry.after_sign {
            Some(sign) if at >= sign => in_value(entry, text, at, file),
            _ if at <= entry.key_span().end => in_key(entry, text, at, file),
            _ => Vec::new(),
        },
        None => {
            let table = outline.table_at(at);
            let mut all = names(&table, at..at, file);
            if matches!(text[..at].chars().next_back(), None | Some('\n' | '\r' | '\u{feff}')) {
                all.extend(headers(&outline, at..at));
            }
            all
        }
    }
}

/// The segment that is being typed, and those before it.
fn split_at(path: &[Segment], at: usize) -> (Vec<String>, Range<usize>) {
    let index = path.iter().position(|segment| at <= segment.span.end).unwrap_or(path.len());
    let span = path.get(index).map_or(at..at, |segment| segment.span.clone());
    let before = path[..index].iter().map(|segment| segment.text.clone()).collect();
    (before, if span.start <= at { span } else { at..at })
}

fn in_key(entry: &Entry, text: &str, at: usize, file: File) -> Vec<Proposal> {
    let (before, span) = split_at(&entry.key, at);
    let table: Vec<_> = entry.table.iter().cloned().chain(before).collect();
    let mut all = names(&table, span.clone(), file);
    if entry.key.len() == 1 && entry.after_sign.is_none() && text[span.clone()].is_empty() {
        all.extend(headers(&Outline::of(text), span));
    }
    all
}

/// What may stand in a table: its keys, and tables below it with a dot behind.
fn names(table: &[String], span: Range<usize>, file: File) -> Vec<Proposal> {
    let (path, model) = path_in(table);
    let full =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let mut seen = Vec::new();
    for name in names_in(&path) {
        let allowed = model.is_none() || of_models(&full(name));
        if allowed && !seen.contains(&name) {
            seen.push(name);
        }
    }
    let proposal = |name: &str| {
        let path = full(name);
        let of_key = key(&path);
        // Codex's own tables hold more than ours: only what is below ours is known.
        let ours = file != File::Codex || path.contains('.') || is_table(&path);
        ours.then(|| match of_key {
            Some(key) => Proposal {
                label: name.to_owned(),
                text: name.to_owned(),
                span: span.clone(),
                sort: Sort::Key,
                about: about(key),
            },
            None => Proposal {
                label: name.to_owned(),
                text: name.to_owned(),
                span: span.clone(),
                sort: Sort::Table,
                about: doc_of(&path).to_owned(),
            },
        })
    };
    seen.into_iter().filter_map(proposal).collect()
}

fn doc_of(path: &str) -> &'static str {
    tables().find(|table| table.path == path).map_or("", |table| table.doc)
}

fn in_header(header: &Header, text: &str, at: usize) -> Vec<Proposal> {
    let (before, span) = split_at(&header.path, at);
    let (path, model) = path_in(&before);
    let closed = text[header.span.clone()].ends_with(']');
    let below = |table: &str| {
        if path.is_empty() {
            return Some(table.to_owned());
        }
        table.strip_prefix(&path)?.strip_prefix('.').map(str::to_owned)
    };
    let known = tables().filter(|table| model.is_none() || of_models(table.path));
    let proposal = |table: &crate::config::Table| {
        let rest = below(table.path)?;
        // All that is typed behind the place is part of the same path.
        let end = header.path.last().map_or(span.end, |last| last.span.end.max(span.end));
        let bracket = if closed { "" } else { "]" };
        Some(Proposal {
            label: rest.clone(),
            text: format!("{rest}{bracket}"),
            span: span.start..end,
            sort: Sort::Table,
            about: table.doc.to_owned(),
        })
    };
    known.filter_map(proposal).collect()
}

/// Whole headers, for the start of a line.
fn headers(outline: &Outline, span: Range<usize>) -> Vec<Proposal> {
    let path = |header: &Header| {
        header.path.iter().map(|of| of.text.as_str()).collect::<Vec<_>>().join(".")
    };
    let there: Vec<_> = outline.headers().map(path).collect();
    let missing = tables().filter(|table| !there.iter().any(|of| of == table.path));
    missing
        .map(|table| Proposal {
            label: format!("[{}]", table.path),
            text: format!("[{}]", table.path),
            span: span.clone(),
            sort: Sort::Table,
            about: table.doc.to_owned(),
        })
        .collect()
}

fn in_value(entry: &Entry, text: &str, at: usize, file: File) -> Vec<Proposal> {
    let closed = |span: &Range<usize>| text[span.clone()].ends_with('}') && at >= span.end;
    if let Some(Value { span, what: What::Table }) = &entry.value
        && span.start < at
    {
        let names = || names(&entry.path(), at..at, file);
        return if closed(span) { Vec::new() } else { names() };
    }
    let Some(found) = key_of(entry) else { return Vec::new() };
    let inner =
        |list: &[Value]| list.iter().find(|of| of.span.start <= at && at <= of.span.end).cloned();
    match &entry.value {
        Some(Value { span, what: What::List(list) }) if span.start < at => {
            let closed = text[span.clone()].ends_with(']') && at >= span.end;
            if closed { Vec::new() } else { values(found.key, inner(list).as_ref(), at, true) }
        }
        Some(value) if value.span.start <= at && at <= value.span.end => {
            values(found.key, Some(value), at, false)
        }
        Some(_) => Vec::new(),
        None => values(found.key, None, at, false),
    }
}

/// Words that may stand at a place, with quotes where there are none yet.
fn values(key: &'static Key, there: Option<&Value>, at: usize, in_list: bool) -> Vec<Proposal> {
    let (span, bare) = match there {
        Some(Value { what: What::Text { inside, closed: true }, .. }) => (inside.clone(), true),
        Some(value) => (value.span.clone(), false),
        None => (at..at, false),
    };
    let quoted = |word: &str| if bare { word.to_owned() } else { format!("\"{word}\"") };
    let proposal = |label: String, text: String| {
        let about = about(key);
        Proposal { label, text, span: span.clone(), sort: Sort::Value, about }
    };
    match &key.kind {
        Type::Switch => {
            ["true", "false"].map(|word| proposal(word.to_owned(), word.to_owned())).to_vec()
        }
        Type::Word(words) => {
            words.iter().map(|word| proposal((*word).to_owned(), quoted(word))).collect()
        }
        Type::Boundaries(tier) => {
            let counts = |boundary: &Boundary| {
                let allowed = |tier: rawr_core::policy::Tier| tier.allowed().has(*boundary);
                tier.is_none_or(|tier| allowed(tier) || *boundary == Boundary::TurnComplete)
            };
            let entry = |boundary: Boundary| {
                let word = boundary.name();
                let text = if in_list { quoted(word) } else { format!("[\"{word}\"]") };
                proposal(word.to_owned(), text)
            };
            Boundary::ALL.into_iter().filter(counts).map(entry).collect()
        }
        _ => {
            let default = key.default_value().filter(|value| !value.is_array());
            let shown = default.map(|value| value.to_string());
            let example =
                shown.or_else(|| (!key.example.is_empty()).then(|| key.example.to_owned()));
            let unquoted =
                |text: String| if bare { text.trim_matches('"').to_owned() } else { text };
            example.map(|text| proposal(text.clone(), unquoted(text))).into_iter().collect()
        }
    }
}

fn in_front_matter(text: &str, at: usize) -> Vec<Proposal> {
    let found = FrontMatter::of(text);
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let typed = text[line..at].trim_start();
    if typed.starts_with('#') {
        return Vec::new();
    }
    let on_line =
        found.fields.iter().find(|field| field.span.start >= line && field.span.start <= at);
    let in_value = on_line.filter(|field| field.after_sign.is_some_and(|sign| at >= sign));
    if let Some(field) = in_value {
        return field_values(&field.path, text, at, text[line..at].contains('['));
    }
    if typed.starts_with('-') {
        let list = found.fields.iter().rev().find(|field| field.span.start < at);
        return list.map_or_else(Vec::new, |field| field_values(&field.path, text, at, true));
    }
    let parent = found.parent_at(text, on_line.map_or(at, |field| field.span.start));
    let word = word_at(text, at, |byte| is_word(byte) || byte == b'-');
    let signed = text[word.end..].trim_start_matches([' ', '\t']).starts_with(':');
    let mut seen: Vec<Proposal> = Vec::new();
    for known in FRONT_MATTER_KEYS {
        let rest = match parent.as_str() {
            "" => Some(known.path),
            parent => known.path.strip_prefix(parent).and_then(|rest| rest.strip_prefix('.')),
        };
        let Some(rest) = rest else { continue };
        let (name, is_table) = rest.split_once('.').map_or((rest, false), |(name, _)| (name, true));
        if seen.iter().any(|proposal| proposal.label == name) {
            continue;
        }
        let sign = match (signed, is_table) {
            (true, _) => "",
            (false, true) => ":",
            (false, false) => ": ",
        };
        seen.push(Proposal {
            label: name.to_owned(),
            text: format!("{name}{sign}"),
            span: word.clone(),
            sort: if is_table { Sort::Table } else { Sort::Key },
            about: if is_table { String::new() } else { about_field(known.path, known.doc) },
        });
    }
    seen
}

fn about_field(path: &str, doc: &str) -> String {
    match config_key(path) {
        Some(key) => format!("{doc}\n\n{}. `{}` goes before it.", type_of(&key.kind), key.path),
        None => doc.to_owned(),
    }
}

fn field_values(path: &str, text: &str, at: usize, in_list: bool) -> Vec<Proposal> {
    let span = word_at(text, at, is_word);
    let proposal = |word: String, text: String| Proposal {
        label: word,
        text,
        span: span.clone(),
        sort: Sort::Value,
        about: String::new(),
    };
    match config_key(path) {
        Some(key) if matches!(key.kind, Type::Boundaries(_)) => Boundary::ALL
            .map(|boundary| {
                let word = boundary.name().to_owned();
                let text = if in_list { word.clone() } else { format!("[{word}]") };
                proposal(word, text)
            })
            .to_vec(),
        Some(key) => {
            let default = key.default_value().map(|value| value.to_string());
            default.map(|text| proposal(text.clone(), text)).into_iter().collect()
        }
        None if path == "version" => vec![proposal("1".to_owned(), "1".to_owned())],
        None => Vec::new(),
    }
}
