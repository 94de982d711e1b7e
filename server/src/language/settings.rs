//! A configuration file under the cursor: which key a place is about, which files are named there, and where each tier
//! stands. Texts that are half typed are the rule here.

use super::toml::{Entry, Outline, Value, What};
use super::world::{Doc, File, Kind, World};
use crate::config::{Key, key, path_in};
use rawr_core::policy::Tier;
use rawr_core::prompt::PromptName;
use std::ops::Range;
use std::path::PathBuf;

/// A path to a prompt that a configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The prompt that it stands in for; `None`: it is a judge's.
    pub prompt: Option<PromptName>,
    pub written: String,
    /// Of the value, quotes included.
    pub span: Range<usize>,
}

/// A key of ours that stands in a text.
#[derive(Debug, Clone)]
pub struct Found {
    pub key: &'static Key,
    /// The models whose table it stands in.
    pub model: Option<String>,
    /// Of the key alone.
    pub span: Range<usize>,
}

/// The key that an entry sets.
pub fn key_of(entry: &Entry) -> Option<Found> {
    let path = entry.path();
    let (path, model) = path_in(&path);
    let model = model.map(str::to_owned);
    Some(Found { key: key(&path)?, model, span: entry.key_span() })
}

/// The key whose name or value is at this place.
pub fn key_at(outline: &Outline, at: usize) -> Option<Found> {
    let here = |entry: &&Entry| entry.span.start <= at && at <= entry.span.end;
    // The innermost comes last.
    let entry = outline.entries().filter(here).last()?;
    let found = key_of(entry)?;
    let value = entry.value.as_ref().map(|value| value.span.clone());
    let on = |span: &Range<usize>| span.start <= at && at <= span.end;
    match value {
        Some(value) if on(&value) => Some(Found { span: value, ..found }),
        _ if on(&found.span) => Some(found),
        _ => None,
    }
}

/// Every prompt that is named, in the order of the file.
pub fn paths_in(text: &str) -> Vec<Named> {
    let outline = Outline::of(text);
    let named = |entry: &Entry| {
        let key = key_of(entry)?.key;
        let prompt = match key.table() {
            "rawr_auto_compaction.prompts" => Some(PromptName::from_name(key.name())?),
            _ if key.name() == "decision_prompt_path" => None,
            _ => return None,
        };
        let Value { span, what: What::Text { inside, closed: true } } = entry.value.as_ref()?
        else {
            return None;
        };
        let written = text[inside.clone()].to_owned();
        (!written.is_empty()).then(|| Named { prompt, written, span: span.clone() })
    };
    outline.entries().filter_map(named).collect()
}

/// The files that the named prompts lead to.
pub fn links(doc: &Doc<'_>, world: &World) -> Vec<(Range<usize>, PathBuf)> {
    match doc.kind {
        Kind::Config(File::Rawr | File::Codex) => paths_in(doc.text)
            .into_iter()
            .map(|named| (named.span, world.prompt_path(&named.written)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Where the user's own configuration names this prompt.
pub fn references(path: &std::path::Path, world: &World) -> Vec<(PathBuf, Range<usize>)> {
    let files = [world.files.home.rawr_toml(), world.files.home.codex_toml()];
    let mut found = Vec::new();
    for file in files {
        let Some(text) = world.text_of(&file) else { continue };
        let of_this = |named: &Named| world.prompt_path(&named.written) == path;
        let places = paths_in(&text).into_iter().filter(of_this);
        found.extend(places.map(|named| (file.clone(), named.span)));
    }
    found
}

/// Each tier's threshold, where it stands for all models: the place behind it.
pub fn tiers(doc: &Doc<'_>) -> Vec<(Tier, usize)> {
    let outline = Outline::of(doc.text);
    let place = |tier: Tier| {
        let long = format!("rawr_auto_compaction.policy.{tier}.percent_remaining_lt");
        let short = format!("rawr_auto_compaction.{tier}_percent_remaining_lt");
        let entry = |path: &str| {
            let of_it = |found: &Found| found.model.is_none() && found.key.path == path;
            let entry = outline.entries().find(|entry| key_of(entry).as_ref().is_some_and(of_it));
            entry.map(|entry| entry.span.end)
        };
        let header = || {
            let table = format!("rawr_auto_compaction.policy.{tier}");
            let path = |header: &super::toml::Header| {
                header.path.iter().map(|of| of.text.as_str()).collect::<Vec<_>>().join(".")
            };
            outline.headers().find(|header| path(header) == table).map(|header| header.span.end)
        };
        entry(&long).or_else(|| entry(&short)).or_else(header).map(|at| (tier, at))
    };
    if !matches!(doc.kind, Kind::Config(_)) {
        return Vec::new();
    }
    Tier::ALL.into_iter().filter_map(place).collect()
}
