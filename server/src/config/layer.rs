//! One source of configuration, read into settings of known keys. What it says of unknown keys and wrong values goes
//! to the problems; which setting wins is decided elsewhere.

use super::Unsaved;
use super::keys::{Key, Kind, Value, is_table, key, keys, names_in};
use super::models::{self, Pattern};
use crate::problem::written::{Name, Reader, What, Written};
use crate::problem::{Problem, read_text};
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::policy::Tier;
use rawr_core::scratch;
use serde_spanned::Spanned;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use toml::de::{DeTable, DeValue};
use url::Url;

/// Where settings come from, the weakest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// The front matter of the packet request.
    Prompt(Option<PathBuf>),
    /// Codex's file, most of which is none of our business.
    Codex(PathBuf),
    Rawr(PathBuf),
    /// The client that started this process.
    Client,
    Project(PathBuf),
}

impl Source {
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::Prompt(file) => file.as_deref(),
            Self::Codex(file) | Self::Rawr(file) | Self::Project(file) => Some(file),
            Self::Client => None,
        }
    }

    pub(super) fn name(&self) -> String {
        let kind = if *self == Self::Client { "client" } else { "prompt" };
        self.file().map_or_else(|| kind.to_owned(), |file| file.display().to_string())
    }
}

#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub key: &'static Key,
    /// The short form that it was written as.
    pub short: Option<&'static Key>,
    pub value: Value,
    pub source: Rc<Source>,
    pub span: Option<Range<usize>>,
    /// The models that it is for; `None`: all.
    pub model: Option<Rc<Pattern>>,
}

impl Setting {
    /// A short form sets several keys at once.
    pub(super) fn of(
        key: &'static Key,
        value: &Value,
        source: &Rc<Source>,
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

    /// The key as it was written.
    pub(super) fn name(&self) -> String {
        models::written(self.short.unwrap_or(self.key).path, self.model.as_deref())
    }

    /// For people.
    pub(super) fn layer(&self) -> String {
        let source = self.source.name();
        match &self.model {
            Some(pattern) => format!("{source}, model {}", pattern.text()),
            None => source,
        }
    }
}

/// An absent file sets nothing and is no problem.
pub(super) fn read_file(
    source: Source,
    unsaved: &Unsaved,
    problems: &mut Vec<Problem>,
) -> Vec<Setting> {
    let Some(file) = source.file() else { return Vec::new() };
    let text = match unsaved.get(file) {
        Some(text) => Ok(Some(text.clone())),
        None => read_text(file),
    };
    let written = match text {
        Ok(None) => return Vec::new(),
        Ok(Some(text)) => from_toml(&text).map_err(|problem| {
            let ours = text.contains("auto_compact");
            (problem.in_file(Some(file)), ours)
        }),
        Err(problem) => Err((problem, true)),
    };
    match written {
        Ok(written) => read(&written, source, problems),
        // Codex says itself what is wrong with its file.
        Err((_, false)) if matches!(source, Source::Codex(_)) => Vec::new(),
        Err((problem, _)) => {
            problems.push(problem);
            Vec::new()
        }
    }
}

pub(super) fn read(written: &Written, source: Source, problems: &mut Vec<Problem>) -> Vec<Setting> {
    let source = Rc::new(source);
    let mut found = Vec::new();
    let reader = Reader { file: source.file(), problems: &mut found };
    let mut layer = Layer { reader, source: &source, model: None, settings: Vec::new() };
    if let Some(root) = layer.reader.table("config", written) {
        layer.table("", root);
    }
    let settings = layer.settings;
    found.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
    problems.append(&mut found);
    settings
}

struct Layer<'l> {
    reader: Reader<'l>,
    source: &'l Rc<Source>,
    /// The models whose table is being read.
    model: Option<Rc<Pattern>>,
    settings: Vec<Setting>,
}

impl Layer<'_> {
    fn table(&mut self, path: &str, table: &[(Name, Written)]) {
        for (name, written) in table.iter().filter(|(_, written)| written.what != What::Nothing) {
            let full =
                if path.is_empty() { name.text.clone() } else { format!("{path}.{}", name.text) };
            if matches!(**self.source, Source::Codex(_)) && !is_ours(&full) {
                continue;
            }
            if let Some(key) = key(&full).filter(|key| self.may_set(key.path)) {
                if let Some(value) = self.value(key, written) {
                    let span = written.span.as_ref();
                    let model = self.model.clone();
                    let settings = Setting::of(key, &value, self.source, span);
                    let settings =
                        settings.map(|setting| Setting { model: model.clone(), ..setting });
                    self.settings.extend(settings);
                }
            } else if full == models::TABLE && self.model.is_none() {
                self.models(written);
            } else if is_table(&full) && self.may_set(&full) {
                if let Some(table) = self.reader.table(&self.written(&full), written) {
                    self.table(&full, table);
                }
            } else {
                self.unknown(path, name, &written.what);
            }
        }
    }

    fn models(&mut self, written: &Written) {
        let Some(patterns) = self.reader.table(models::TABLE, written) else { return };
        for (name, written) in patterns.iter().filter(|(_, written)| written.what != What::Nothing)
        {
            let pattern = Pattern::of(&name.text);
            if let Some(table) = self.reader.table(&pattern.table(), written) {
                self.model = Some(Rc::new(pattern));
                self.table(models::OURS, table);
                self.model = None;
            }
        }
    }

    fn may_set(&self, path: &str) -> bool {
        self.model.is_none() || models::may_set(path)
    }

    /// A key or a table as the file has it.
    fn written(&self, path: &str) -> String {
        models::written(path, self.model.as_deref())
    }

    fn unknown(&mut self, path: &str, name: &Name, what: &What) {
        let place = match path {
            "" => "the file".to_owned(),
            path => format!("`[{}]`", self.written(path)),
        };
        let help = self.where_it_belongs(path, name, what);
        let full = |known: &str| format!("{path}.{known}");
        let known = names_in(path).filter(|known| self.may_set(&full(known)));
        let meant = if help.is_none() { self.reader.meant(&name.text, known) } else { None };
        self.reader.unknown_key(name, &place, help, meant);
    }

    fn where_it_belongs(&self, path: &str, name: &Name, what: &What) -> Option<String> {
        /// Keys of earlier versions, and what does their work now.
        const RETIRED: [(&str, &str); 1] = [("percent_remaining_lt", "ready_percent_remaining_lt")];
        let retired = RETIRED.iter().find(|(old, _)| path == models::OURS && *old == name.text);
        if let Some((_, new)) = retired {
            return Some(format!("use `{new}`"));
        }
        let full = format!("{path}.{}", name.text);
        if self.model.is_some() && (key(&full).is_some() || is_table(&full)) {
            return Some(format!("it is the same for all models, in `[{path}]`"));
        }
        if let (Some(pattern), What::Table(_), models::OURS) = (&self.model, what, path) {
            let both = Pattern::of(&format!("{}.{}", pattern.text(), name.text));
            return Some(format!("a name with a dot needs quotes: `[{}]`", both.table()));
        }
        let namesake = keys().find(|key| key.name() == name.text)?;
        let table = namesake.table();
        let shown =
            if self.may_set(namesake.path) { self.written(table) } else { table.to_owned() };
        Some(format!("it belongs in `[{shown}]`"))
    }

    fn value(&mut self, key: &Key, written: &Written) -> Option<Value> {
        let name = &self.written(key.path);
        let reader = &mut self.reader;
        match &key.kind {
            Kind::Switch => reader.switch(name, written).map(Value::Switch),
            Kind::Number(range) => reader.number(name, range, written).map(Value::Number),
            Kind::Percent(range) => {
                reader.number(name, range, &without_sign(written)).map(Value::Number)
            }
            Kind::Word(words) => reader.word(name, words, written).map(Value::Word),
            Kind::Text => reader.text(name, written).map(Value::Text),
            Kind::Url => self.url(name, written),
            Kind::Variable => self.variable(name, written),
            Kind::ScratchTemplate => self.scratch_template(name, written),
            Kind::Boundaries(tier) => self.boundaries(name, *tier, written),
            Kind::Phrases => self.phrases(name, written),
        }
    }

    fn scratch_template(&mut self, name: &str, written: &Written) -> Option<Value> {
        let template = self.reader.text(name, written)?;
        if scratch::stays_inside(&template) {
            return Some(Value::Text(template));
        }
        let message = format!("`{name}` must be a path that stays in the thread's folder");
        self.reader.tell(Problem::error("unsafe-path", message).at(written.span.clone()));
        None
    }

    /// What the file says is not quoted: it may hold a password.
    fn url(&mut self, name: &str, written: &Written) -> Option<Value> {
        let text = self.reader.text(name, written)?;
        let told = match Url::parse(&text) {
            _ if text.is_empty() => return Some(Value::Text(text)),
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                format!("`{name}` must begin with `https://` or `http://`")
            }
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                format!("`{name}` must not hold a user or a password; name a variable instead")
            }
            Ok(url) if url.fragment().is_some() => format!("`{name}` must not hold a `#`"),
            Ok(_) => return Some(Value::Text(text)),
            Err(error) => format!("`{name}` must be the address of an endpoint: {error}"),
        };
        self.reader.tell(Problem::error("wrong-url", told).at(written.span.clone()));
        None
    }

    /// Whoever puts the key itself here should not find it in a message.
    fn variable(&mut self, name: &str, written: &Written) -> Option<Value> {
        let text = self.reader.text(name, written)?;
        let is_name = |text: &str| {
            let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            text.bytes().all(word) && !text.starts_with(|first: char| first.is_ascii_digit())
        };
        if is_name(&text) {
            return Some(Value::Text(text));
        }
        let message = format!("`{name}` must be the name of an environment variable");
        let problem = Problem::error("not-a-variable", message)
            .help("the key itself belongs in the environment, not in a file".to_owned());
        self.reader.tell(problem.at(written.span.clone()));
        None
    }

    fn boundaries(&mut self, name: &str, tier: Option<Tier>, written: &Written) -> Option<Value> {
        let words = self.reader.words(name, &Boundary::ALL.map(Boundary::name), written)?;
        let list: Vec<_> = words.iter().filter_map(|word| Boundary::from_name(word)).collect();
        if list.is_empty() {
            let problem = Problem::warning(
                "never-fires",
                format!("no boundary can satisfy an empty `{name}`"),
            )
            .help("leave the key out to let every boundary of the tier count".to_owned());
            self.reader.tell(problem.at(written.span.clone()));
        }
        if let (Some(tier), What::List(entries)) = (tier, &written.what) {
            let counts =
                |boundary| tier.allowed().has(boundary) || boundary == Boundary::TurnComplete;
            for (boundary, entry) in list.iter().zip(entries).filter(|(of, _)| !counts(**of)) {
                let message = format!("`{boundary}` does not count in {tier}");
                self.reader.tell(Problem::warning("no-effect", message).at(entry.span.clone()));
            }
        }
        Some(Value::Boundaries(list.into_iter().collect::<Boundaries>()))
    }

    fn phrases(&mut self, name: &str, written: &Written) -> Option<Value> {
        let phrases = self.reader.texts(name, written)?;
        let phrases: Vec<_> = phrases.iter().map(|text| text.trim().to_lowercase()).collect();
        if phrases.iter().any(String::is_empty) {
            let message = format!("`{name}` holds an empty phrase");
            self.reader.tell(Problem::error("wrong-value", message).at(written.span.clone()));
            return None;
        }
        Some(Value::Phrases(phrases))
    }
}

/// `"80%"` says the same as 80.
fn without_sign(written: &Written) -> Written {
    let number = match &written.what {
        What::Text(text) => text.strip_suffix('%').and_then(|text| text.trim().parse().ok()),
        _ => None,
    };
    let what = number.map_or_else(|| written.what.clone(), What::Number);
    Written { what, span: written.span.clone() }
}

/// Of Codex's file: our feature among its features, and our tables.
fn is_ours(path: &str) -> bool {
    let table = path.split('.').next().unwrap_or_default();
    path == "features"
        || path == "features.rawr_auto_compaction"
        || matches!(table, "rawr_auto_compaction" | "auto_compact")
}

pub(super) fn from_toml(text: &str) -> Result<Written, Problem> {
    match DeTable::parse(text) {
        Ok(table) => Ok(table_of(table.get_ref(), table.span())),
        Err(error) => Err(Problem::error("syntax", error.message()).at(error.span())),
    }
}

fn table_of(table: &DeTable<'_>, span: Range<usize>) -> Written {
    let entry = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let text = String::from(AsRef::<str>::as_ref(name.get_ref()));
        (Name { text, span: Some(name.span()) }, written(value))
    };
    Written { what: What::Table(table.iter().map(entry).collect()), span: Some(span) }
}

fn written(value: &Spanned<DeValue<'_>>) -> Written {
    let what = match value.get_ref() {
        DeValue::String(text) => What::Text(text.to_string()),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map_or(What::Other("a number too large"), What::Number),
        DeValue::Float(fraction) => What::Fraction(fraction.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(on) => What::Switch(*on),
        DeValue::Datetime(_) => What::Other("a date"),
        DeValue::Array(list) => What::List(list.iter().map(written).collect()),
        DeValue::Table(table) => return table_of(table, value.span()),
    };
    Written { what, span: Some(value.span()) }
}
