//! Positions in a configuration file: the key at the cursor, the prompt files that it names, and the thresholds of
//! tiers. Accepts incomplete texts.

use super::toml::{TomlEntry, TomlOutline, TomlValue, TomlValueKind};
use super::world::{ConfigFile, Doc, DocumentKind, LanguageContext};
use rawr_core::policy::Tier;
use rawr_core::prompt::PromptName;
use rawr_settings::config::{ConfigKey, key, path_in};
use std::ops::Range;
use std::path::PathBuf;

/// A path to a prompt that a configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptReference {
    /// The prompt that it replaces. `None`: a decision prompt.
    pub prompt: Option<PromptName>,
    pub written: String,
    /// The range of the value, quotes included.
    pub span: Range<usize>,
}

/// A known key in a text.
#[derive(Debug, Clone)]
pub struct ConfigKeyAt {
    pub key: &'static ConfigKey,
    /// The models of the table that contains it.
    pub model: Option<String>,
    /// The range of the key only.
    pub span: Range<usize>,
}

/// The key that an entry sets.
pub fn key_of(entry: &TomlEntry) -> Option<ConfigKeyAt> {
    let path = entry.path();
    let (path, model) = path_in(&path);
    let model = model.map(str::to_owned);
    Some(ConfigKeyAt { key: key(&path)?, model, span: entry.key_span() })
}

/// The key whose name or value is at this position.
pub fn key_at(outline: &TomlOutline, at: usize) -> Option<ConfigKeyAt> {
    let here = |entry: &&TomlEntry| entry.span.start <= at && at <= entry.span.end;
    // The innermost entry comes last.
    let entry = outline.entries().filter(here).last()?;
    let found = key_of(entry)?;
    let value = entry.value.as_ref().map(|value| value.span.clone());
    let on = |span: &Range<usize>| span.start <= at && at <= span.end;
    match value {
        Some(value) if on(&value) => Some(ConfigKeyAt { span: value, ..found }),
        _ if on(&found.span) => Some(found),
        _ => None,
    }
}

/// All named prompts, in the order of the file.
pub fn paths_in(text: &str) -> Vec<PromptReference> {
    let outline = TomlOutline::of(text);
    let named = |entry: &TomlEntry| {
        let key = key_of(entry)?.key;
        let prompt = match key.table() {
            "rawr_auto_compaction.prompts" => Some(PromptName::from_name(key.name())?),
            _ if key.name() == "decision_prompt_path" => None,
            _ => return None,
        };
        let TomlValue { span, what: TomlValueKind::Text { inside, closed: true } } =
            entry.value.as_ref()?
        else {
            return None;
        };
        let written = text[inside.clone()].to_owned();
        (!written.is_empty()).then(|| PromptReference { prompt, written, span: span.clone() })
    };
    outline.entries().filter_map(named).collect()
}

/// The files that the named prompts resolve to.
pub fn links(doc: &Doc<'_>, world: &LanguageContext) -> Vec<(Range<usize>, PathBuf)> {
    match doc.kind {
        DocumentKind::Config(ConfigFile::Rawr | ConfigFile::Host) => paths_in(doc.text)
            .into_iter()
            .map(|named| (named.span, world.prompt_path(&named.written)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Where the user's own configuration names this prompt.
pub fn references(path: &std::path::Path, world: &LanguageContext) -> Vec<(PathBuf, Range<usize>)> {
    let files = [world.files.home.rawr_toml(), world.files.home.host_toml()];
    let mut found = Vec::new();
    for file in files {
        let Some(text) = world.text_of(&file) else { continue };
        let of_this = |named: &PromptReference| world.prompt_path(&named.written) == path;
        let places = paths_in(&text).into_iter().filter(of_this);
        found.extend(places.map(|named| (file.clone(), named.span)));
    }
    found
}

/// The threshold of each tier, if set for all models: the position behind it.
pub fn tiers(doc: &Doc<'_>) -> Vec<(Tier, usize)> {
    let outline = TomlOutline::of(doc.text);
    let place = |tier: Tier| {
        let long = format!("rawr_auto_compaction.policy.{tier}.percent_remaining_lt");
        let short = format!("rawr_auto_compaction.{tier}_percent_remaining_lt");
        let entry = |path: &str| {
            let of_it = |found: &ConfigKeyAt| found.model.is_none() && found.key.path == path;
            let entry = outline.entries().find(|entry| key_of(entry).as_ref().is_some_and(of_it));
            entry.map(|entry| entry.span.end)
        };
        let header = || {
            let table = format!("rawr_auto_compaction.policy.{tier}");
            let path = |header: &super::toml::TomlHeader| {
                header.path.iter().map(|of| of.text.as_str()).collect::<Vec<_>>().join(".")
            };
            outline.headers().find(|header| path(header) == table).map(|header| header.span.end)
        };
        entry(&long).or_else(|| entry(&short)).or_else(header).map(|at| (tier, at))
    };
    if !matches!(doc.kind, DocumentKind::Config(_)) {
        return Vec::new();
    }
    Tier::ALL.into_iter().filter_map(place).collect()
}
