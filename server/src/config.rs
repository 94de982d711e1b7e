//! What the user configured: layers of files to one [`Config`], and what is wrong with them. A bad value never stops
//! the service: the next lower layer's value holds. Nothing is decided here, and no file is written.
//!
//! The layers, the weakest first: built-in values, the front matter of the packet request, Codex's `config.toml`,
//! `rawr.toml`, the client's own settings, and a project's `.rawr.toml`, which may only narrow what those allow.

mod default_file;
mod home;
mod keys;
mod layer;
mod narrow;
mod table;

pub use default_file::commented_default_toml;
pub use home::{Home, project_toml};
pub use keys::{Key, Kind, Table, keys};

use crate::problem::Problem;
use crate::problem::written::Written;
use crate::prompts::PacketFrontMatter;
use layer::{Setting, Source};
use rawr_core::policy::{JudgeBackend, MidTurn, Policy, Tier};
use rawr_core::prompt::PromptName;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
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
    /// For the prompt store: files elsewhere than in the prompt folder.
    pub prompt_paths: BTreeMap<PromptName, PathBuf>,
    /// Keys that some layer set. All others have their built-in value.
    origins: BTreeMap<&'static str, Origin>,
    /// The sources that were there, the weakest first.
    sources: Vec<String>,
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
    source: String,
    file: Option<PathBuf>,
    span: Option<std::ops::Range<usize>>,
    /// The short form that it was written as.
    short: Option<&'static str>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            judgment: JudgeSettings::default(),
            repo_observation: RepoObservation::default(),
            prompt_paths: BTreeMap::new(),
            origins: BTreeMap::new(),
            sources: vec!["built-in".to_owned()],
        }
    }
}

impl Config {
    /// `project` is the folder of a thread, `overrides` what the client sent along.
    pub fn load(
        home: &Home,
        project: Option<&Path>,
        overrides: Option<&Value>,
        front_matter: &PacketFrontMatter,
    ) -> (Self, Vec<Problem>) {
        let (mut config, mut problems) = (Self::default(), Vec::new());
        config.take(from_front_matter(front_matter));

        let mut own = layer::read_file(Source::Codex(home.codex_toml()), &mut problems);
        own.extend(layer::read_file(Source::Rawr(home.rawr_toml()), &mut problems));
        config.take(own);
        if let Some(overrides) = overrides {
            config.take(layer::read(&Written::from(overrides), Source::Client, &mut problems));
        }
        let golden_path = config.policy.turn_based_handoff;
        if !golden_path && !config.is_set("rawr_auto_compaction.mid_turn") {
            config.policy.mid_turn = MidTurn::Policy;
        }
        if let Some(project) = project {
            let source = Source::Project(project_toml(project));
            for setting in in_order(layer::read_file(source, &mut problems)) {
                match narrow::narrowed(&config, &setting) {
                    Ok(narrower) => {
                        config = narrower;
                        config.note(&setting);
                    }
                    // A short form is told of once, however many keys it stands for.
                    Err(problem) => {
                        let known = problems
                            .iter()
                            .any(|told| told.file == problem.file && told.span == problem.span);
                        problems.extend((!known).then_some(problem));
                    }
                }
            }
        }
        problems.extend(config.odd_thresholds());
        problems.extend(config.idle_inline());
        problems.extend(config.speechless_judge());
        (config, problems)
    }

    fn take(&mut self, settings: Vec<Setting>) {
        for setting in in_order(settings) {
            setting.key.set(self, setting.value.clone());
            self.note(&setting);
        }
    }

    fn note(&mut self, setting: &Setting) {
        let source = setting.source.name();
        if !self.sources.contains(&source) {
            self.sources.push(source.clone());
        }
        let origin = Origin {
            source,
            file: setting.source.file().map(Path::to_owned),
            span: setting.span.clone(),
            short: setting.short.map(|short| short.path),
        };
        self.origins.insert(setting.key.path, origin);
    }

    fn is_set(&self, key: &str) -> bool {
        self.origins.contains_key(key)
    }

    /// The decision prompts that the tiers name.
    pub fn decision_prompts(&self) -> impl Iterator<Item = String> {
        let path = |tier| self.policy.tiers.rule(tier).decision_prompt_path.clone();
        Tier::ALL.into_iter().filter_map(path)
    }

    /// Every key with its `value` in force and the `layer` that set it; a key without a value has none in force.
    /// `key` names the short form, where it was written as one.
    pub fn effective(&self) -> Map<String, Value> {
        let own = keys().filter(|key| key.targets().any(|target| std::ptr::eq(target, *key)));
        own.map(|key| (key.path.to_owned(), self.effective_value(key))).collect()
    }

    fn effective_value(&self, key: &'static Key) -> Value {
        let origin = self.origins.get(key.path);
        let layer = origin.map_or("built-in", |origin| origin.source.as_str());
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

    /// A tier is only ever picked where the next more urgent one begins lower.
    fn odd_thresholds(&self) -> Vec<Problem> {
        let on = |tier: &Tier| self.policy.tiers.rule(*tier).percent_remaining_lt > 0;
        let tiers: Vec<_> = Tier::ALL.into_iter().filter(on).collect();
        let odd = tiers.windows(2).filter_map(|pair| {
            let [mild, urgent] = pair else { return None };
            let percent = |tier: &Tier| self.policy.tiers.rule(*tier).percent_remaining_lt;
            let path =
                |tier: &Tier| format!("rawr_auto_compaction.policy.{tier}.percent_remaining_lt");
            let written = |tier| self.origins.get(path(tier).as_str());
            let origin = written(mild).or_else(|| written(urgent));
            let message = format!(
                "{mild} (below {} %) never comes before {urgent} (below {} %)",
                percent(mild),
                percent(urgent)
            );
            let problem = Problem::warning("threshold-order", message)
                .help("thresholds fall from early over ready and asap to emergency".to_owned())
                .in_file(origin.and_then(|origin| origin.file.as_deref()))
                .at(origin.and_then(|origin| origin.span.clone()));
            (percent(mild) <= percent(urgent)).then_some(problem)
        });
        odd.collect()
    }

    fn idle_inline(&self) -> Option<Problem> {
        let origin = self.origins.get("auto_compact.enabled")?;
        (self.policy.inline.enabled && self.policy.enabled).then(|| {
            Problem::hint("no-effect", "`[auto_compact]` rests while rawr decides itself")
                .help("set `features.rawr_auto_compaction = false` to use it".to_owned())
                .in_file(origin.file.as_deref())
                .at(origin.span.clone())
        })
    }

    fn speechless_judge(&self) -> Option<Problem> {
        let asked = matches!(self.judgment.backend, JudgeBackend::Responses | JudgeBackend::Chat);
        let origin = self.origins.get("rawr_auto_compaction.judgment.backend")?;
        (asked && self.judgment.model.is_none()).then(|| {
            Problem::warning("no-model", "a judge behind an endpoint needs a model")
                .help("set `rawr_auto_compaction.judgment.model`".to_owned())
                .in_file(origin.file.as_deref())
                .at(origin.span.clone())
        })
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
        let path = format!("rawr_auto_compaction.{tier}_percent_remaining_lt");
        (path, front_matter.threshold(tier).map(|percent| Value::Number(percent.into())))
    };
    let boundaries = front_matter.requires_any_boundary.map(Value::Boundaries);
    let tail = front_matter.max_tail_chars.map(|chars| Value::Number(chars as u64));
    Tier::ALL
        .map(percent)
        .into_iter()
        .chain([
            ("rawr_auto_compaction.auto_requires_any_boundary".to_owned(), boundaries),
            ("rawr_auto_compaction.packet_max_tail_chars".to_owned(), tail),
        ])
        .filter_map(|(path, value)| Some((keys::key(&path)?, value?)))
        .flat_map(|(key, value)| Setting::of(key, &value, &source, None).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests;
