//! The user's configuration: layers of files are merged into one [`Config`] and a list of problems. A bad value never
//! stops the service, and never makes it do more than was asked. Writes no file.
//!
//! The layers, weakest first: built-in values, the front matter of the packet request, an agent's configuration file,
//! `rawr.toml`, the client's own settings, the tables of the thread's model in any of these, and a project's
//! `.rawr.toml`, which may only narrow the others.

mod check;
mod default_file;
mod folder;
mod home;
mod keys;
mod layer;
mod merge;
mod models;
mod narrow;
mod safety;
mod schema;
mod table;

pub use default_file::commented_default_toml;
pub use folder::is_within;
pub use home::{Home, project_toml};
pub use keys::{ConfigKey, KeyKind, KeyTable};
pub use models::{of_models, path_in};
pub use schema::json_schema;
pub use table::{is_table, key, keys, names_in, tables};

pub use rawr_core::policy::Preset;

use crate::problem::{FileProblem, capped, from_toml};
use crate::prompts::PacketFrontMatter;
use layer::LayerSource;
pub use layer::is_ours;
use merge::NarrowableSettings;
pub use models::ModelPattern;
use rawr_core::policy::{JudgeBackend, Policy, Tier};
use rawr_core::prompt::PromptName;
use safety::Doubts;
pub use safety::{ValueSafety, check_overrides};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The merged configuration of one thread, or of none.
#[derive(Debug, Clone)]
pub struct Config {
    /// What all other values are laid over.
    pub preset: Preset,
    /// The core's part.
    pub policy: Policy,
    /// The part of the judge's endpoint.
    pub judgment: JudgeSettings,
    /// What to record of the repository's state.
    pub repo_observation: RepoObservation,
    /// Days after which an idle thread is archived. 0 is never.
    pub retention_days: u64,
    /// Prompt files outside of the prompt folder.
    pub prompt_paths: BTreeMap<PromptName, PathBuf>,
    /// The keys that some layer set. All others have their built-in value.
    origins: BTreeMap<&'static str, KeyOrigin>,
    /// What cannot be read and may have been meant to make rawr stricter.
    doubts: Doubts,
    /// The sources that exist, weakest first.
    sources: Vec<String>,
    /// The decision prompts of tiers, including those of other models.
    decision_prompts: BTreeSet<String>,
}

/// Unsaved texts of an editor, by the file that each one replaces.
pub type UnsavedTexts = BTreeMap<PathBuf, String>;

/// The user's files and the settings that the client sent.
#[derive(Debug, Clone)]
pub struct UserSources {
    /// The folder of configuration.
    pub home: Home,
    /// Settings that the client sent.
    pub overrides: Option<Value>,
    /// Prompt paths are relative to it.
    pub prompt_folder: PathBuf,
    /// The file of each prompt, whether it exists or not.
    pub prompts: Vec<(PromptName, PathBuf)>,
    /// The decision prompts that tiers name.
    pub decisions: Vec<PathBuf>,
    /// The front matter of the packet request.
    pub front_matter: PacketFrontMatter,
}

/// A key's current value and its source.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveValue {
    /// `None` if the key has no value.
    pub value: Option<Value>,
    /// Display name of the source.
    pub layer: String,
    /// How safe it is.
    pub safety: ValueSafety,
    /// The file and the byte range of the value, if a file sets it.
    pub place: Option<(PathBuf, std::ops::Range<usize>)>,
}

/// `[rawr_auto_compaction.judgment]`: which model to ask, and how long to wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeSettings {
    /// Also part of the policy: the core decides who is asked, the judge module which API is used. Always set together.
    pub backend: JudgeBackend,
    /// The model to ask. An endpoint requires one.
    pub model: Option<String>,
    /// Contains neither a user nor a password.
    pub base_url: String,
    /// The environment variable that holds the API key. `None`: no key is sent.
    pub api_key_env: Option<String>,
    /// For the whole judgment, including retries.
    pub timeout: Duration,
    /// How often a failed request is repeated.
    pub max_retries: u32,
    /// The reasoning effort to request. `None`: the endpoint's default.
    pub reasoning_effort: Option<String>,
}

/// `[rawr_auto_compaction.repo_observation]`: what to record of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepoObservation {
    /// Whether repositories are inspected.
    pub enabled: bool,
    /// For all queries of one inspection together.
    pub timeout_seconds: u64,
    /// Whether Graphite's stack is read, too.
    pub graphite_enabled: bool,
    /// The limit of the stack's text, in characters.
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
struct KeyOrigin {
    /// Display name.
    layer: String,
    file: Option<PathBuf>,
    span: Option<std::ops::Range<usize>>,
    /// The short form that the file used.
    short: Option<&'static str>,
    /// The models of the table that sets it.
    model: Option<String>,
    /// A project's file narrowed it.
    of_project: bool,
    safety: ValueSafety,
}

/// Whether this text is valid TOML.
pub fn is_toml(text: &str) -> bool {
    from_toml(text).is_ok()
}

impl Default for Config {
    fn default() -> Self {
        Self::of_preset(Preset::default())
    }
}

impl Config {
    /// The built-in values of a preset.
    fn of_preset(preset: Preset) -> Self {
        Self {
            preset,
            policy: Policy::preset(preset),
            judgment: JudgeSettings::default(),
            repo_observation: RepoObservation::default(),
            retention_days: 90,
            prompt_paths: BTreeMap::new(),
            origins: BTreeMap::new(),
            doubts: Doubts::default(),
            sources: vec!["built-in".to_owned()],
            decision_prompts: BTreeSet::new(),
        }
    }
}

/// Where to load a configuration from. Start from [`ConfigSources::at`] and set the other sources.
#[derive(Debug, Clone, Copy)]
pub struct ConfigSources<'s> {
    /// The user's own files.
    pub home: &'s Home,
    /// The thread's folder, whose `.rawr.toml` may narrow the rest.
    pub project: Option<&'s Path>,
    /// The model that the thread's host reported.
    pub model: Option<&'s str>,
    /// Settings that the client sent.
    pub overrides: Option<&'s Value>,
    /// The front matter of the packet request.
    pub front_matter: Option<&'s PacketFrontMatter>,
    /// Unsaved texts that replace files.
    pub unsaved: Option<&'s UnsavedTexts>,
    /// The last valid text of each file, which counts where the current text cannot be read.
    pub last_good: Option<&'s UnsavedTexts>,
}

impl<'s> ConfigSources<'s> {
    /// Only the user's own files.
    pub const fn at(home: &'s Home) -> Self {
        Self {
            home,
            project: None,
            model: None,
            overrides: None,
            front_matter: None,
            unsaved: None,
            last_good: None,
        }
    }

    /// Reads the files. Returns every problem; instead of a bad value, the strictest that could have been meant is used.
    pub fn load(self) -> (Config, Vec<FileProblem>) {
        let Self { home, project, model, .. } = self;
        let mut problems = Vec::new();
        let host = LayerSource::Host(home.host_toml());
        let host = layer::read_file(host, false, &self, &mut problems);
        let rawr = LayerSource::Rawr(home.rawr_toml());
        let rawr = layer::read_file(rawr, home.names_its_config(), &self, &mut problems);
        let client = self.overrides.map(|overrides| layer::read_client(overrides, &mut problems));
        let no_front_matter = PacketFrontMatter::default();
        let front_matter = self.front_matter.unwrap_or(&no_front_matter);
        let allowed = NarrowableSettings::new(host, rawr, client.unwrap_or_default(), front_matter);
        let mut config = allowed.for_model(|pattern| pattern.matches(model.unwrap_or_default()));
        if let Some(project) = project {
            let source = LayerSource::Project(project_toml(project));
            let layer = layer::read_file(source, false, &self, &mut problems);
            config.narrow(&layer, model, &mut problems);
        }
        let mut problems = capped(problems);
        config.name_overrides();
        problems.extend(config.oddities());
        // Tables of models that no thread uses are checked as well.
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
    fn origin(&self, key: &str) -> Option<&KeyOrigin> {
        self.origins.get(key)
    }

    /// Records which override set a decision's threshold, unless it was the user's own files.
    fn name_overrides(&mut self) {
        for tier in Tier::ALL {
            let set_by = self.origin(&threshold(tier)).and_then(KeyOrigin::overriding);
            self.policy.tiers.rule_mut(tier).set_by = set_by;
        }
    }

    /// The decision prompts that tiers name, for this model or any other.
    pub fn decision_prompts(&self) -> impl Iterator<Item = String> {
        let path = |tier| self.policy.tiers.rule(tier).decision_prompt_path.clone();
        let own: BTreeSet<_> = Tier::ALL.into_iter().filter_map(path).collect();
        own.union(&self.decision_prompts).cloned().collect::<Vec<_>>().into_iter()
    }

    /// Every key with its current `value` and the `layer` that set it; a key without a value has none. `key` names the
    /// short form if the file used one. `unread`: the value stands in for something that cannot be read.
    pub fn effective(&self) -> Map<String, Value> {
        let own = keys().filter(|key| key.targets().any(|target| std::ptr::eq(target, *key)));
        own.map(|key| (key.path.to_owned(), self.effective_value(key))).collect()
    }

    /// For a short form: that of the last key that it sets.
    pub fn standing(&self, key: &'static ConfigKey) -> Option<EffectiveValue> {
        let target = key.targets().last()?;
        let origin = self.origins.get(target.path);
        Some(EffectiveValue {
            value: target.get(self).map(|value| value.to_json()),
            layer: origin.map_or_else(|| "built-in".to_owned(), |origin| origin.layer.clone()),
            safety: origin.map(|origin| origin.safety).unwrap_or_default(),
            place: origin.and_then(|origin| Some((origin.file.clone()?, origin.span.clone()?))),
        })
    }

    fn effective_value(&self, key: &'static ConfigKey) -> Value {
        let origin = self.origins.get(key.path);
        let layer = origin.map_or("built-in", |origin| origin.layer.as_str());
        let mut shown = Map::from_iter([("layer".to_owned(), json!(layer))]);
        if let Some(value) = key.get(self) {
            shown.insert("value".to_owned(), value.to_json());
        }
        if let Some(short) = origin.and_then(|origin| origin.short) {
            shown.insert("key".to_owned(), json!(short));
        }
        if origin.is_some_and(|origin| origin.safety != ValueSafety::Read) {
            shown.insert("unread".to_owned(), json!(true));
        }
        Value::Object(shown)
    }

    /// The sources that set something, strongest first: files as paths, others by name.
    pub fn layers(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().rev().map(String::as_str)
    }
}

impl KeyOrigin {
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

fn required(tier: Tier) -> String {
    format!("rawr_auto_compaction.policy.{tier}.requires_any_boundary")
}

#[cfg(test)]
mod tests;
