//! Reads one source of configuration into settings of known keys. Unknown keys and wrong values become problems;
//! precedence is decided elsewhere.

mod guess;

use super::ConfigSources;
use super::keys::{ConfigKey, KeyKind, KeyValue};
use super::models::{self, ModelPattern};
use super::table::{is_table, key, keys, names_in};
use crate::problem::written::{SpannedName, ValueReader, WrittenKind, WrittenValue};
use crate::problem::{FileProblem, from_broken_toml, from_toml, read_text};
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::scratch;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use url::Url;

/// The source of settings, weakest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LayerSource {
    /// The front matter of the packet request.
    Prompt(Option<PathBuf>),
    /// An agent's file in which settings of rawr may stand. Most of its keys are not ours.
    Host(PathBuf),
    Rawr(PathBuf),
    /// The client that started this process.
    Client,
    Project(PathBuf),
}

impl LayerSource {
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::Prompt(file) => file.as_deref(),
            Self::Host(file) | Self::Rawr(file) | Self::Project(file) => Some(file),
            Self::Client => None,
        }
    }

    /// The strength of the source.
    pub(super) const fn rank(&self) -> u8 {
        match self {
            Self::Prompt(_) => 0,
            Self::Host(_) => 1,
            Self::Rawr(_) => 2,
            Self::Client => 3,
            Self::Project(_) => 4,
        }
    }

    pub(super) fn name(&self) -> String {
        let kind = if *self == Self::Client { "client" } else { "prompt" };
        self.file().map_or_else(|| kind.to_owned(), |file| file.display().to_string())
    }
}

/// How much is known of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SettingValue {
    Set(KeyValue),
    /// Read from a broken file, or below a name that is not known. It may only make rawr stricter.
    Probably(KeyValue),
    Unread,
}

/// What was read of one source.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub settings: Vec<LayerSetting>,
    /// The source, and the position of the first mistake, if anything could be meant by the rest of it.
    pub unreadable: Option<(Rc<LayerSource>, Option<Range<usize>>)>,
}

#[derive(Debug, Clone)]
pub(super) struct LayerSetting {
    pub key: &'static ConfigKey,
    /// The short form that the file used.
    pub short: Option<&'static ConfigKey>,
    pub value: SettingValue,
    pub source: Rc<LayerSource>,
    pub span: Option<Range<usize>>,
    /// The models that it applies to. `None`: all.
    pub model: Option<Rc<ModelPattern>>,
}

/// The patterns of these settings, least specific first.
pub(super) fn patterns<'s>(
    settings: impl IntoIterator<Item = &'s LayerSetting>,
) -> Vec<Rc<ModelPattern>> {
    let mut patterns: Vec<_> =
        settings.into_iter().filter_map(|setting| setting.model.clone()).collect();
    patterns.sort();
    patterns.dedup();
    patterns
}

/// The settings of one pattern, or without a pattern those for all models.
pub(super) fn settings_of(
    settings: &[LayerSetting],
    pattern: Option<&ModelPattern>,
) -> Vec<LayerSetting> {
    settings.iter().filter(|setting| setting.model.as_deref() == pattern).cloned().collect()
}

impl LayerSetting {
    /// A short form sets several keys at once.
    pub(super) fn of(
        key: &'static ConfigKey,
        value: &SettingValue,
        source: &Rc<LayerSource>,
        span: Option<&Range<usize>>,
    ) -> impl Iterator<Item = Self> {
        key.targets().map(move |target| Self {
            key: target,
            short: Some(key).filter(|key| !std::ptr::eq(*key, target)),
            value: value.clone(),
            source: Rc::clone(source),
            span: span.cloned(),
            model: None,
        })
    }

    /// The key as the file has it.
    pub(super) fn name(&self) -> String {
        models::written(self.short.unwrap_or(self.key).path, self.model.as_deref())
    }

    /// The display name of its source.
    pub(super) fn layer(&self) -> String {
        let source = self.source.name();
        match &self.model {
            Some(pattern) => format!("{source}, model {}", pattern.text()),
            None => source,
        }
    }
}

/// A missing file sets nothing and is not a problem, unless it was named. Of a file that cannot be read, the last valid
/// text counts, and what can be read now as far as it is stricter.
pub(super) fn read_file(
    source: LayerSource,
    is_named: bool,
    sources: &ConfigSources<'_>,
    problems: &mut Vec<FileProblem>,
) -> Layer {
    let Some(file) = source.file() else { return Layer::default() };
    let text = match sources.unsaved.and_then(|unsaved| unsaved.get(file)) {
        Some(text) => Ok(Some(text.clone())),
        None => read_text(file),
    };
    let text = text.and_then(|text| match text {
        // Where a link leads to is missing, too.
        None if is_named || file.is_symlink() => {
            Err(FileProblem::error("unreadable-file", "no such file").in_file(Some(file)))
        }
        text => Ok(text),
    });
    let source = Rc::new(source);
    let last_good = || {
        let text = sources.last_good.and_then(|texts| texts.get(source.file()?));
        let written = text.and_then(|text| from_toml(text).ok());
        // Problems of the last good text would be confusing, because the file has another text now.
        written.map(|written| read(&written, &source, &mut Vec::new())).unwrap_or_default()
    };
    match text {
        Ok(None) => Layer::default(),
        Ok(Some(text)) => match from_toml(&text) {
            Ok(written) => Layer { settings: read(&written, &source, problems), unreadable: None },
            // The agent reports problems of its own file itself.
            Err(_) if matches!(*source, LayerSource::Host(_)) && !text.contains("auto_compact") => {
                Layer { settings: last_good(), unreadable: None }
            }
            Err(mistake) => {
                let mut settings = last_good();
                settings.extend(read_broken(&text, &source, problems));
                Layer { settings, unreadable: Some((source, mistake.span)) }
            }
        },
        Err(problem) => {
            let span = problem.span.clone();
            problems.push(problem);
            Layer { settings: last_good(), unreadable: Some((source, span)) }
        }
    }
}

/// What can be read of a text with mistakes. Reports these, and the problems that do not come of them: those on other
/// lines, except below a header that cannot be read.
fn read_broken(
    text: &str,
    source: &Rc<LayerSource>,
    all_problems: &mut Vec<FileProblem>,
) -> Vec<LayerSetting> {
    let (rest, mistakes) = from_broken_toml(text);
    let mut problems = Vec::new();
    let settings = read(&rest, source, &mut problems);
    let start = |problem: &FileProblem| problem.span.as_ref().map_or(0, |span| span.start);
    let last = text.len().saturating_sub(1);
    let wrong: BTreeSet<_> = mistakes.iter().map(|it| start(it).min(last)).collect();
    let (mut broken, mut at, mut is_below) = (Vec::new(), 0, false);
    for line in text.split_inclusive('\n') {
        let all = at..at + line.len();
        at = all.end;
        let is_mistaken = wrong.range(all.clone()).next().is_some();
        if line.trim_start_matches('\u{feff}').trim_start().starts_with('[') {
            is_below = is_mistaken;
        }
        if is_mistaken || is_below {
            broken.push(all);
        }
    }
    problems.retain(|problem| {
        let line = broken.partition_point(|line| line.end <= start(problem));
        broken.get(line).is_none_or(|line| !line.contains(&start(problem)))
    });
    problems.extend(mistakes.into_iter().map(|mistake| mistake.in_file(source.file())));
    problems.sort_by_key(start);
    all_problems.append(&mut problems);
    let probably = |setting: LayerSetting| LayerSetting {
        value: match setting.value {
            SettingValue::Set(value) => SettingValue::Probably(value),
            value => value,
        },
        ..setting
    };
    settings.into_iter().map(probably).collect()
}

/// The settings of the client. One that is not a table says nothing.
pub(super) fn read_client(overrides: &serde_json::Value, problems: &mut Vec<FileProblem>) -> Layer {
    let source = Rc::new(LayerSource::Client);
    let written = WrittenValue::from(overrides);
    let settings = read(&written, &source, problems);
    let is_table = matches!(written.what, WrittenKind::Table(_));
    Layer { settings, unreadable: (!is_table).then_some((source, None)) }
}

fn read(
    written: &WrittenValue,
    source: &Rc<LayerSource>,
    problems: &mut Vec<FileProblem>,
) -> Vec<LayerSetting> {
    let mut found = Vec::new();
    let reader = ValueReader { file: source.file(), problems: &mut found };
    let mut layer = LayerReader { reader, source, model: None, guesses: 0, settings: Vec::new() };
    if let Some(root) = layer.reader.table("config", written) {
        layer.table("", root);
    }
    let settings = layer.settings;
    found.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
    problems.append(&mut found);
    settings
}

struct LayerReader<'l> {
    reader: ValueReader<'l>,
    source: &'l Rc<LayerSource>,
    /// The models of the table that is being read.
    model: Option<Rc<ModelPattern>>,
    /// How many unknown names were compared with all known ones.
    guesses: usize,
    settings: Vec<LayerSetting>,
}

impl LayerReader<'_> {
    fn table(&mut self, path: &str, table: &[(SpannedName, WrittenValue)]) {
        for (name, written) in
            table.iter().filter(|(_, written)| written.what != WrittenKind::Nothing)
        {
            let full =
                if path.is_empty() { name.text.clone() } else { format!("{path}.{}", name.text) };
            if matches!(**self.source, LayerSource::Host(_))
                && full != "features"
                && !is_ours(&full)
            {
                continue;
            }
            if let Some(key) = key(&full).filter(|key| self.may_set(key.path)) {
                let value = self.value(key, written);
                let value = value.map_or(SettingValue::Unread, SettingValue::Set);
                self.add(key, &value, written.span.as_ref());
            } else if full == models::TABLE && self.model.is_none() {
                self.models(written);
            } else if is_table(&full) && self.may_set(&full) {
                match self.reader.table(&self.written(&full), written) {
                    Some(table) => self.table(&full, table),
                    None => self.unread(&full, written.span.as_ref()),
                }
            } else {
                self.unknown(path, name, &written.what);
                self.guess(path, name, written);
            }
        }
    }

    fn add(&mut self, key: &'static ConfigKey, value: &SettingValue, span: Option<&Range<usize>>) {
        let model = self.model.clone();
        let settings = LayerSetting::of(key, value, self.source, span);
        self.settings
            .extend(settings.map(|setting| LayerSetting { model: model.clone(), ..setting }));
    }

    fn models(&mut self, written: &WrittenValue) {
        let Some(patterns) = self.reader.table(models::TABLE, written) else {
            return self.unread(models::OURS, written.span.as_ref());
        };
        for (name, written) in
            patterns.iter().filter(|(_, written)| written.what != WrittenKind::Nothing)
        {
            let pattern = ModelPattern::of(&name.text);
            let table = self.reader.table(&pattern.table(), written);
            if table.is_none() {
                // The name of the model may be missing, so that it is meant for all.
                self.guess(models::OURS, name, written);
            }
            self.model = Some(Rc::new(pattern));
            match table {
                Some(table) => self.table(models::OURS, table),
                None => self.unread(models::OURS, written.span.as_ref()),
            }
            self.model = None;
        }
    }

    fn may_set(&self, path: &str) -> bool {
        self.model.is_none() || models::may_set(path)
    }

    /// A key or table as the file has it.
    fn written(&self, path: &str) -> String {
        models::written(path, self.model.as_deref())
    }

    fn unknown(&mut self, path: &str, name: &SpannedName, what: &WrittenKind) {
        let place = match path {
            "" => self.source.file().map(|_| "the file".to_owned()),
            path => Some(format!("`[{}]`", self.written(path))),
        };
        let help = self.where_it_belongs(path, name, what);
        let full = |known: &str| format!("{path}.{known}");
        let known = names_in(path).filter(|known| self.may_set(&full(known)));
        let meant = if help.is_none() { self.reader.meant(&name.text, known) } else { None };
        self.reader.unknown_key(name, place.as_deref(), help, meant);
    }

    fn where_it_belongs(
        &self,
        path: &str,
        name: &SpannedName,
        what: &WrittenKind,
    ) -> Option<String> {
        if let Some(new) = replacement(path, &name.text) {
            return Some(format!("use `{new}`"));
        }
        let full = format!("{path}.{}", name.text);
        if self.model.is_some() && (key(&full).is_some() || is_table(&full)) {
            return Some(format!("it is the same for all models, in `[{path}]`"));
        }
        if let (Some(pattern), WrittenKind::Table(_), models::OURS) = (&self.model, what, path) {
            let both = ModelPattern::of(&format!("{}.{}", pattern.text(), name.text));
            return Some(format!("a name with a dot needs quotes: `[{}]`", both.table()));
        }
        let namesake = keys().find(|key| key.name() == name.text)?;
        let table = namesake.table();
        if self.source.file().is_none() {
            return Some(format!("did you mean `{}`?", self.written(namesake.path)));
        }
        let shown =
            if self.may_set(namesake.path) { self.written(table) } else { table.to_owned() };
        Some(format!("it belongs in `[{shown}]`"))
    }

    fn value(&mut self, key: &ConfigKey, written: &WrittenValue) -> Option<KeyValue> {
        let name = &self.written(key.path);
        let reader = &mut self.reader;
        match &key.kind {
            KeyKind::Switch => reader.switch(name, written).map(KeyValue::Switch),
            KeyKind::Number(range) => reader.number(name, range, written).map(KeyValue::Number),
            KeyKind::Percent(range) => reader.percent(name, range, written).map(KeyValue::Number),
            KeyKind::Word(words) => reader.word(name, words, written).map(KeyValue::Word),
            KeyKind::Text => reader.text(name, written).map(KeyValue::Text),
            KeyKind::Url => self.url(name, written),
            KeyKind::Variable => self.variable(name, written),
            KeyKind::ScratchTemplate => self.scratch_template(name, written),
            KeyKind::Boundaries { needs_one } => self.boundaries(name, written, *needs_one),
            KeyKind::Phrases => self.phrases(name, written),
        }
    }

    fn scratch_template(&mut self, name: &str, written: &WrittenValue) -> Option<KeyValue> {
        let template = self.reader.text(name, written)?;
        if scratch::stays_inside(&template) {
            return Some(KeyValue::Text(template));
        }
        let message = format!("`{name}` must be a path inside the thread's folder");
        self.reader.report(FileProblem::error("unsafe-path", message).at(written.span.clone()));
        None
    }

    /// The value is not quoted in messages: it may hold a password.
    fn url(&mut self, name: &str, written: &WrittenValue) -> Option<KeyValue> {
        let text = self.reader.text(name, written)?;
        let told = match Url::parse(&text) {
            _ if text.is_empty() => return Some(KeyValue::Text(text)),
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                format!("`{name}` must begin with `https://` or `http://`")
            }
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                format!("`{name}` must not contain a user or a password; use `api_key_env` instead")
            }
            Ok(url) if url.fragment().is_some() => format!("`{name}` must not contain a `#`"),
            Ok(_) => return Some(KeyValue::Text(text)),
            Err(error) => format!("`{name}` must be the address of an endpoint: {error}"),
        };
        self.reader.report(FileProblem::error("wrong-url", told).at(written.span.clone()));
        None
    }

    /// The value is not quoted in messages: it may be the API key itself.
    fn variable(&mut self, name: &str, written: &WrittenValue) -> Option<KeyValue> {
        let text = self.reader.text(name, written)?;
        let is_name = |text: &str| {
            let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            text.bytes().all(word) && !text.starts_with(|first: char| first.is_ascii_digit())
        };
        if is_name(&text) {
            return Some(KeyValue::Text(text));
        }
        let message = format!("`{name}` must be the name of an environment variable");
        let problem = FileProblem::error("not-a-variable", message)
            .help("the key itself belongs in the environment, not in a file".to_owned());
        self.reader.report(problem.at(written.span.clone()));
        None
    }

    fn boundaries(
        &mut self,
        name: &str,
        written: &WrittenValue,
        needs_one: bool,
    ) -> Option<KeyValue> {
        let words = self.reader.words(name, &Boundary::ALL.map(Boundary::name), written)?;
        let list: Vec<_> = words.iter().filter_map(|word| Boundary::from_name(word)).collect();
        if list.is_empty() && needs_one {
            let problem = FileProblem::warning(
                "never-fires",
                format!("no boundary can satisfy an empty `{name}`"),
            )
            .help("remove the key to allow every boundary of the tier".to_owned());
            self.reader.report(problem.at(written.span.clone()));
        }
        Some(KeyValue::Boundaries(list.into_iter().collect::<Boundaries>()))
    }

    fn phrases(&mut self, name: &str, written: &WrittenValue) -> Option<KeyValue> {
        let phrases = self.reader.texts(name, written)?;
        let phrases: Vec<_> = phrases.iter().map(|text| text.trim().to_lowercase()).collect();
        if phrases.iter().any(String::is_empty) {
            let message = format!("`{name}` contains an empty phrase");
            self.reader.report(FileProblem::error("wrong-value", message).at(written.span.clone()));
            return None;
        }
        Some(KeyValue::Phrases(phrases))
    }
}

/// The replacement of a retired key.
fn replacement(table: &str, name: &str) -> Option<&'static str> {
    const RETIRED: [(&str, &str); 1] = [("percent_remaining_lt", "ready_percent_remaining_lt")];
    let retired = RETIRED.iter().find(|(old, _)| table == models::OURS && *old == name);
    retired.map(|(_, new)| *new)
}

/// Whether a key is of rawr and not of the agent, where both stand side by side, also with a typo in its name.
pub fn is_ours(path: &str) -> bool {
    let table = path.split('.').next().unwrap_or_default().trim();
    path.starts_with("features.rawr") || table.starts_with("rawr") || table == "auto_compact"
}
