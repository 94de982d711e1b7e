//! What the user configured: layers of files to one [`Config`], and what is wrong with them. A bad value never stops
//! the service: the next lower layer's value holds. Nothing is decided here, and no file is written.
//!
//! The layers, the weakest first: built-in values, the front matter of the packet request, Codex's `config.toml`,
//! `rawr.toml`, the client's own settings, what those say of the thread's model, and a project's `.rawr.toml`, which may
//! only narrow what those allow.

mod check;
mod default_file;
mod folder;
mod home;
mod keys;
mod layer;
mod models;
mod narrow;
mod schema;
mod table;

pub use default_file::commented_default_toml;
pub use folder::is_within;
pub use home::{Home, project_toml};
pub use keys::{Key, Kind, Table, is_table, key, keys, names_in, tables};
pub use models::{of_models, path_in};
pub use schema::json_schema;

use crate::problem::written::Written;
use crate::problem::{Problem, capped};
use crate::prompts::PacketFrontMatter;
use layer::{Setting, Source};
use models::Pattern;
use rawr_core::policy::{JudgeBackend, MidTurn, Policy, Tier};
use rawr_core::prompt::PromptName;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Config {
    /// For the core.
    pub policy: Policy,
    /// For the judge's room.
    pub judgment: JudgeSettings,
    /// For what records the repository's state beside the events.
    pub repo_observation: RepoObservation,
    /// For the store: a thread that rests for so long is archived; 0 is never.
    pub retention_days: u64,
    /// For the prompt store: files elsewhere than in the prompt folder.
    pub prompt_paths: BTreeMap<PromptName, PathBuf>,
    /// Keys that some layer set. All others have their built-in value.
    origins: BTreeMap<&'static str, Origin>,
    /// The sources that were there, the weakest first.
    sources: Vec<String>,
    /// The decision prompts of tiers, with those of models other than this thread's.
    decision_prompts: BTreeSet<String>,
}

/// Texts that somebody is editing and has not saved, by the file that they stand in for.
pub type Unsaved = BTreeMap<PathBuf, String>;

/// Where the user's files are, and what the client sent along.
#[derive(Debug, Clone)]
pub struct UserSources {
    /// The folder of configuration.
    pub home: Home,
    /// What the client sent along.
    pub overrides: Option<Value>,
    /// Paths of prompts are relative to it.
    pub prompt_folder: PathBuf,
    /// Where each prompt in force is, or would be.
    pub prompts: Vec<(PromptName, PathBuf)>,
    /// The decision prompts that tiers name.
    pub decisions: Vec<PathBuf>,
    /// What the prompt for packets says in its front matter.
    pub front_matter: PacketFrontMatter,
}

/// A key's value in force, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// `None`: none is in force.
    pub value: Option<Value>,
    /// For people.
    pub layer: String,
    pub place: Option<(PathBuf, std::ops::Range<usize>)>,
}

/// `[rawr_auto_compaction.judgment]`: whom to ask, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeSettings {
    /// The policy's, too: the core decides who is asked, the judge's room which wire to speak. They are set together.
    pub backend: JudgeBackend,
    pub model: Option<String>,
    /// Holds neither a user nor a password.
    pub base_url: String,
    /// The environment variable that holds the key. `None`: none is sent.
    pub api_key_env: Option<String>,
    /// For the whole judgment, repeated requests included.
    pub timeout: Duration,
    pub max_retries: u32,
    pub reasoning_effort: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepoObservation {
    pub enabled: bool,
    /// For all that is looked up at once.
    pub timeout_seconds: u64,
    pub graphite_enabled: bool,
    pub graphite_max_chars: usize,
}

impl Default for RepoObservation {
    fn default() -> Self {
        Self {
            enabled: true,
            timeout_seconds: 2,
            graphite_enabled: false,
            graphite_max_chars: 4096,
        }
    }
}

impl Default for JudgeSettings {
    fn default() -> Self {
        Self {
            backend: JudgeBackend::Auto,
            model: None,
            base_url: "https://api.openai.com/v1".to_owned(),
            api_key_env: Some("OPENAI_API_KEY".to_owned()),
            timeout: Duration::from_secs(30),
            max_retries: 2,
            reasoning_effort: None,
        }
    }
}

#[derive(Debug, Clone)]
struct Origin {
    /// For people.
    layer: String,
    file: Option<PathBuf>,
    span: Option<std::ops::Range<usize>>,
    /// The short form that it was written as.
    short: Option<&'static str>,
    /// The models whose table it stands in.
    model: Option<String>,
    /// A project's file narrowed it.
    of_project: bool,
}

/// Whether a file with this text can be read at all.
pub fn is_toml(text: &str) -> bool {
    layer::from_toml(text).is_ok()
}

impl Default for Config {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            judgment: JudgeSettings::default(),
            repo_observation: RepoObservation::default(),
            retention_days: 90,
            prompt_paths: BTreeMap::new(),
            origins: BTreeMap::new(),
            sources: vec!["built-in".to_owned()],
            decision_prompts: BTreeSet::new(),
        }
    }
}

/// What a configuration is made of. Start from [`ConfigSources::at`] and set what else there is.
#[derive(Debug, Clone, Copy)]
pub struct ConfigSources<'s> {
    /// The user's own files.
    pub home: &'s Home,
    /// The thread's folder, whose `.rawr.toml` may narrow the rest.
    pub project: Option<&'s Path>,
    /// The model that the thread's host names.
    pub model: Option<&'s str>,
    /// What the client sent along.
    pub overrides: Option<&'s Value>,
    /// What the prompt for packets says in its front matter.
    pub front_matter: Option<&'s PacketFrontMatter>,
    /// Texts that stand in for files.
    pub unsaved: Option<&'s Unsaved>,
}

impl<'s> ConfigSources<'s> {
    /// The user's own files, and nothing else.
    pub const fn at(home: &'s Home) -> Self {
        Self {
            home,
            project: None,
            model: None,
            overrides: None,
            front_matter: None,
            unsaved: None,
        }
    }

    /// Reads the files. Every problem is returned; where a value is bad, the next lower layer's holds.
    pub fn load(self) -> (Config, Vec<Problem>) {
        let Self { home, project, model, overrides, front_matter, unsaved } = self;
        let (no_front_matter, nothing_unsaved) = (PacketFrontMatter::default(), Unsaved::new());
        let front_matter = front_matter.unwrap_or(&no_front_matter);
        let unsaved = unsaved.unwrap_or(&nothing_unsaved);
        let mut problems = Vec::new();
        let mut own = layer::read_file(Source::Codex(home.codex_toml()), unsaved, &mut problems);
        own.extend(layer::read_file(Source::Rawr(home.rawr_toml()), unsaved, &mut problems));
        let client = overrides
            .map(|overrides| layer::read(&Written::from(overrides), Source::Client, &mut problems));
        let allowed = Allowed { own, client: client.unwrap_or_default(), front_matter };
        let mut config =
            allowed.for_model(|pattern| model.is_some_and(|model| pattern.matches(model)));
        if let Some(project) = project {
            let source = Source::Project(project_toml(project));
            let settings = layer::read_file(source, unsaved, &mut problems);
            config.narrow(&settings, model, &mut problems);
        }
        let mut problems = capped(problems);
        config.name_overrides();
        problems.extend(config.oddities());
        // A table whose model no thread has yet is checked as well.
        for table in allowed.patterns() {
            let config = allowed.for_model(|pattern| pattern.matches(table.text()));
            for problem in config.oddities() {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        (config, problems)
    }
}

impl Config {
    fn take(&mut self, settings: Vec<Setting>) {
        for setting in in_order(settings) {
            setting.key.set(self, setting.value.clone());
            self.note(&setting);
        }
    }

    /// With what a project's file says; models' tables come after the rest.
    fn narrow(&mut self, settings: &[Setting], model: Option<&str>, problems: &mut Vec<Problem>) {
        let matches = |pattern: &Rc<Pattern>| model.is_some_and(|model| pattern.matches(model));
        let patterns = models::patterns(settings).into_iter().filter(matches).map(Some);
        // A short form is told of once, however many keys it stands for.
        let place = |told: &Problem| (told.file.clone(), told.span.as_ref().map(|span| span.start));
        let mut known: BTreeSet<_> = problems.iter().map(place).collect();
        for pattern in std::iter::once(None).chain(patterns) {
            for setting in in_order(models::settings_of(settings, pattern.as_deref())) {
                match narrow::narrowed(self, &setting) {
                    Ok(narrower) => {
                        *self = narrower;
                        self.note(&setting);
                    }
                    Err(problem) => {
                        let is_news = known.insert(place(&problem));
                        problems.extend(is_news.then_some(problem));
                    }
                }
            }
        }
    }

    fn note(&mut self, setting: &Setting) {
        let layer = setting.layer();
        if !self.sources.contains(&layer) {
            self.sources.push(layer.clone());
        }
        let origin = Origin {
            layer,
            file: setting.source.file().map(Path::to_owned),
            span: setting.span.clone(),
            short: setting.short.map(|short| short.path),
            model: setting.model.as_ref().map(|pattern| pattern.text().to_owned()),
            of_project: matches!(*setting.source, Source::Project(_)),
        };
        self.origins.insert(setting.key.path, origin);
    }

    fn origin(&self, key: &str) -> Option<&Origin> {
        self.origins.get(key)
    }

    /// The record of a decision names who set the threshold that it went by, where that was not the user's own files.
    fn name_overrides(&mut self) {
        for tier in Tier::ALL {
            let set_by = self.origin(&threshold(tier)).and_then(Origin::overriding);
            self.policy.tiers.rule_mut(tier).set_by = set_by;
        }
    }

    /// The decision prompts that tiers name, for this model or any other.
    pub fn decision_prompts(&self) -> impl Iterator<Item = String> {
        let path = |tier| self.policy.tiers.rule(tier).decision_prompt_path.clone();
        let own: BTreeSet<_> = Tier::ALL.into_iter().filter_map(path).collect();
        own.union(&self.decision_prompts).cloned().collect::<Vec<_>>().into_iter()
    }

    /// Every key with its `value` in force and the `layer` that set it; a key without a value has none in force.
    /// `key` names the short form, where it was written as one.
    pub fn effective(&self) -> Map<String, Value> {
        let own = keys().filter(|key| key.targets().any(|target| std::ptr::eq(target, *key)));
        own.map(|key| (key.path.to_owned(), self.effective_value(key))).collect()
    }

    /// Of a short form: that of the last key that it stands for.
    pub fn standing(&self, key: &'static Key) -> Option<Standing> {
        let target = key.targets().last()?;
        let origin = self.origins.get(target.path);
        Some(Standing {
            value: target.get(self).map(|value| value.to_json()),
            layer: origin.map_or_else(|| "built-in".to_owned(), |origin| origin.layer.clone()),
            place: origin.and_then(|origin| Some((origin.file.clone()?, origin.span.clone()?))),
        })
    }

    fn effective_value(&self, key: &'static Key) -> Value {
        let origin = self.origins.get(key.path);
        let layer = origin.map_or("built-in", |origin| origin.layer.as_str());
        let mut shown = Map::from_iter([("layer".to_owned(), json!(layer))]);
        if let Some(value) = key.get(self) {
            shown.insert("value".to_owned(), value.to_json());
        }
        if let Some(short) = origin.and_then(|origin| origin.short) {
            shown.insert("key".to_owned(), json!(short));
        }
        Value::Object(shown)
    }

    /// The sources that set something, the strongest first: files as paths, others by name.
    pub fn layers(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().rev().map(String::as_str)
    }
}

impl Origin {
    fn overriding(&self) -> Option<String> {
        let project = self.of_project.then(|| "project".to_owned());
        let model = self.model.as_ref().map(|model| format!("model {model:?}"));
        let named: Vec<_> = project.into_iter().chain(model).collect();
        (!named.is_empty()).then(|| named.join(", "))
    }
}

fn threshold(tier: Tier) -> String {
    format!("rawr_auto_compaction.policy.{tier}.percent_remaining_lt")
}

/// All that a project may narrow.
struct Allowed<'a> {
    /// Of Codex's file and of rawr's: short forms and long ones are weighed across both.
    own: Vec<Setting>,
    client: Vec<Setting>,
    front_matter: &'a PacketFrontMatter,
}

impl Allowed<'_> {
    fn patterns(&self) -> Vec<Rc<Pattern>> {
        models::patterns(self.own.iter().chain(&self.client))
    }

    fn for_model(&self, applies: impl Fn(&Pattern) -> bool) -> Config {
        let mut config = Config::default();
        config.take(from_front_matter(self.front_matter));
        let patterns = self.patterns().into_iter().filter(|pattern| applies(pattern)).map(Some);
        for pattern in std::iter::once(None).chain(patterns) {
            for layer in [&self.own, &self.client] {
                config.take(models::settings_of(layer, pattern.as_deref()));
            }
        }
        if !config.policy.turn_based_handoff
            && config.origin("rawr_auto_compaction.mid_turn").is_none()
        {
            config.policy.mid_turn = MidTurn::Policy;
        }
        config.decision_prompts = self.decision_prompts();
        config
    }

    fn decision_prompts(&self) -> BTreeSet<String> {
        let of_models = self.own.iter().chain(&self.client).filter(|of| of.model.is_some());
        let path = |setting: &Setting| match &setting.value {
            keys::Value::Text(path) if setting.key.name() == "decision_prompt_path" => {
                Some(path.clone()).filter(|path| !path.is_empty())
            }
            _ => None,
        };
        of_models.filter_map(path).collect()
    }
}

/// Short forms give way to the keys that they are short for, whichever of these files they stand in.
fn in_order(mut settings: Vec<Setting>) -> Vec<Setting> {
    let spelled_out: Vec<_> = settings
        .iter()
        .filter(|setting| setting.short.is_none())
        .map(|setting| setting.key.path)
        .collect();
    settings.retain(|setting| setting.short.is_none() || !spelled_out.contains(&setting.key.path));
    settings
}

fn from_front_matter(front_matter: &PacketFrontMatter) -> Vec<Setting> {
    use keys::Value;
    let source = Rc::new(Source::Prompt(front_matter.file.clone()));
    let percent = |tier: Tier| {
        let name = format!("{tier}_percent_remaining_lt");
        let value = front_matter.threshold(tier).map(|percent| Value::Number(percent.into()));
        (format!("trigger.{name}"), format!("rawr_auto_compaction.{name}"), value)
    };
    let boundaries = front_matter.requires_any_boundary.map(Value::Boundaries);
    let tail = front_matter.max_tail_chars.map(|chars| Value::Number(chars as u64));
    Tier::ALL
        .map(percent)
        .into_iter()
        .chain([
            (
                "trigger.auto_requires_any_boundary".to_owned(),
                "rawr_auto_compaction.auto_requires_any_boundary".to_owned(),
                boundaries,
            ),
            (
                "packet.max_tail_chars".to_owned(),
                "rawr_auto_compaction.packet_max_tail_chars".to_owned(),
                tail,
            ),
        ])
        .filter_map(|(there, path, value)| {
            Some((front_matter.spans.get(there.as_str()), key(&path)?, value?))
        })
        .flat_map(|(span, key, value)| Setting::of(key, &value, &source, span).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests;
