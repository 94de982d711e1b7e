//! Completion: placeholders in prompts, and keys, tables and values in configuration files. Incomplete texts are the
//! normal case, so that no strict parser is used.

use super::front_matter::FrontMatter;
use super::hover::{about, config_key, type_of};
use super::settings::key_of;
use super::toml::{Segment, TomlEntry, TomlHeader, TomlOutline, TomlValue, TomlValueKind};
use super::world::{ConfigFile, Doc, DocumentKind};
use rawr_core::boundary::Boundary;
use rawr_core::prompt::{Placeholder, PromptName, scan};
use rawr_settings::config::{
    ConfigKey, KeyKind as Type, is_table, key, names_in, of_models, path_in, tables,
};
use rawr_settings::prompts::FRONT_MATTER_KEYS;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalKind {
    Placeholder,
    Table,
    Key,
    Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    pub label: String,
    /// Replaces the span.
    pub text: String,
    pub span: Range<usize>,
    pub sort: ProposalKind,
    /// Markdown, may be empty.
    pub about: String,
}

pub fn complete(doc: &Doc<'_>, at: usize) -> Vec<Proposal> {
    match doc.kind {
        DocumentKind::Config(file) => in_toml(doc.text, at, file),
        DocumentKind::Prompt(PromptName::AutoCompact) if FrontMatter::of(doc.text).holds(at) => {
            in_front_matter(doc.text, at)
        }
        kind => kind.prompt().map_or_else(Vec::new, |name| placeholders(name, doc.text, at)),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The word around a position.
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
            sort: ProposalKind::Placeholder,
            about: format!("{}.{required}", known.meaning),
        }
    };
    name.placeholders().iter().map(proposal).collect()
}

/// Whether the rest of the file uses snake_case.
fn prefers_snake(name: PromptName, text: &str) -> bool {
    let differs = || name.placeholders().iter().filter(|known| known.camel != known.snake);
    let is = |spelling: fn(&Placeholder) -> &'static str| {
        scan(text).filter(|found| differs().any(|known| spelling(known) == found.name)).count()
    };
    is(|known| known.snake) > is(|known| known.camel)
}

fn in_toml(text: &str, at: usize, file: ConfigFile) -> Vec<Proposal> {
    let outline = TomlOutline::of(text);
    if outline.comments.iter().any(|comment| comment.start < at && at <= comment.end) {
        return Vec::new();
    }
    let inside = |header: &&TomlHeader| header.span.start < at && at <= header.span.end;
    if let Some(header) = outline.headers().find(inside) {
        return if text[..at].ends_with(']') { Vec::new() } else { in_header(header, text, at) };
    }
    let line_end =
        |from: usize| from + text[from..].find(['\n', '\r']).unwrap_or(text.len() - from);
    let here = |entry: &&TomlEntry| {
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

fn in_key(entry: &TomlEntry, text: &str, at: usize, file: ConfigFile) -> Vec<Proposal> {
    let (before, span) = split_at(&entry.key, at);
    let table: Vec<_> = entry.table.iter().cloned().chain(before).collect();
    let mut all = names(&table, span.clone(), file);
    if entry.key.len() == 1 && entry.after_sign.is_none() && text[span.clone()].is_empty() {
        all.extend(headers(&TomlOutline::of(text), span));
    }
    all
}

/// The completions inside a table: its keys, and sub-tables followed by a dot.
fn names(table: &[String], span: Range<usize>, file: ConfigFile) -> Vec<Proposal> {
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
        // The agent's own tables hold other keys, too. Only tables below ours are completed.
        let ours = file != ConfigFile::Host || path.contains('.') || is_table(&path);
        ours.then(|| match of_key {
            Some(key) => Proposal {
                label: name.to_owned(),
                text: name.to_owned(),
                span: span.clone(),
                sort: ProposalKind::Key,
                about: about(key),
            },
            None => Proposal {
                label: name.to_owned(),
                text: name.to_owned(),
                span: span.clone(),
                sort: ProposalKind::Table,
                about: doc_of(&path).to_owned(),
            },
        })
    };
    seen.into_iter().filter_map(proposal).collect()
}

fn doc_of(path: &str) -> &'static str {
    tables().find(|table| table.path == path).map_or("", |table| table.doc)
}

fn in_header(header: &TomlHeader, text: &str, at: usize) -> Vec<Proposal> {
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
    let proposal = |table: &rawr_settings::config::KeyTable| {
        let rest = below(table.path)?;
        // The rest of the path behind the cursor is replaced, too.
        let end = header.path.last().map_or(span.end, |last| last.span.end.max(span.end));
        let bracket = if closed { "" } else { "]" };
        Some(Proposal {
            label: rest.clone(),
            text: format!("{rest}{bracket}"),
            span: span.start..end,
            sort: ProposalKind::Table,
            about: table.doc.to_owned(),
        })
    };
    known.filter_map(proposal).collect()
}

/// Complete headers, at the start of a line.
fn headers(outline: &TomlOutline, span: Range<usize>) -> Vec<Proposal> {
    let path = |header: &TomlHeader| {
        header.path.iter().map(|of| of.text.as_str()).collect::<Vec<_>>().join(".")
    };
    let there: Vec<_> = outline.headers().map(path).collect();
    let missing = tables().filter(|table| !there.iter().any(|of| of == table.path));
    missing
        .map(|table| Proposal {
            label: format!("[{}]", table.path),
            text: format!("[{}]", table.path),
            span: span.clone(),
            sort: ProposalKind::Table,
            about: table.doc.to_owned(),
        })
        .collect()
}

fn in_value(entry: &TomlEntry, text: &str, at: usize, file: ConfigFile) -> Vec<Proposal> {
    let closed = |span: &Range<usize>| text[span.clone()].ends_with('}') && at >= span.end;
    if let Some(TomlValue { span, what: TomlValueKind::Table }) = &entry.value
        && span.start < at
    {
        let names = || names(&entry.path(), at..at, file);
        return if closed(span) { Vec::new() } else { names() };
    }
    let Some(found) = key_of(entry) else { return Vec::new() };
    let inner = |list: &[TomlValue]| {
        list.iter().find(|of| of.span.start <= at && at <= of.span.end).cloned()
    };
    match &entry.value {
        Some(TomlValue { span, what: TomlValueKind::List(list) }) if span.start < at => {
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

/// The valid words at a position, with quotes unless there are some.
fn values(
    key: &'static ConfigKey,
    there: Option<&TomlValue>,
    at: usize,
    in_list: bool,
) -> Vec<Proposal> {
    let (span, bare) = match there {
        Some(TomlValue { what: TomlValueKind::Text { inside, closed: true }, .. }) => {
            (inside.clone(), true)
        }
        Some(value) => (value.span.clone(), false),
        None => (at..at, false),
    };
    let quoted = |word: &str| if bare { word.to_owned() } else { format!("\"{word}\"") };
    let proposal = |label: String, text: String| {
        let about = about(key);
        Proposal { label, text, span: span.clone(), sort: ProposalKind::Value, about }
    };
    match &key.kind {
        Type::Switch => {
            ["true", "false"].map(|word| proposal(word.to_owned(), word.to_owned())).to_vec()
        }
        Type::Word(words) => {
            words.iter().map(|word| proposal((*word).to_owned(), quoted(word))).collect()
        }
        Type::Boundaries { .. } => {
            let entry = |boundary: Boundary| {
                let word = boundary.name();
                let text = if in_list { quoted(word) } else { format!("[\"{word}\"]") };
                proposal(word.to_owned(), text)
            };
            Boundary::ALL.into_iter().map(entry).collect()
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
            sort: if is_table { ProposalKind::Table } else { ProposalKind::Key },
            about: if is_table { String::new() } else { about_field(known.path, known.doc) },
        });
    }
    seen
}

fn about_field(path: &str, doc: &str) -> String {
    match config_key(path) {
        Some(key) => format!("{doc}\n\n{}. `{}` takes precedence.", type_of(&key.kind), key.path),
        None => doc.to_owned(),
    }
}

fn field_values(path: &str, text: &str, at: usize, in_list: bool) -> Vec<Proposal> {
    let span = word_at(text, at, is_word);
    let proposal = |word: String, text: String| Proposal {
        label: word,
        text,
        span: span.clone(),
        sort: ProposalKind::Value,
        about: String::new(),
    };
    match config_key(path) {
        Some(key) if matches!(key.kind, Type::Boundaries { .. }) => Boundary::ALL
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
