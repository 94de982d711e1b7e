//! The order in which layers are applied: weaker before stronger, general before those of the thread's model, and a
//! project's file last.

use super::keys::KeyValue;
use super::layer::{self, Layer, LayerSetting, LayerSource, SettingValue};
use super::models::ModelPattern;
use super::table::{PRESET, key};
use super::{Config, KeyOrigin, ValueSafety, narrow};
use crate::config::keys::WordEnum as _;
use crate::problem::FileProblem;
use crate::prompts::PacketFrontMatter;
use rawr_core::policy::{MidTurn, Preset, Tier};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The settings that a project may narrow.
pub(super) struct NarrowableSettings<'a> {
    /// From the agent's file and rawr's, because the precedence of short and long forms spans both.
    own: Vec<LayerSetting>,
    client: Vec<LayerSetting>,
    front_matter: &'a PacketFrontMatter,
    /// The sources of which anything could be meant.
    unreadable: Vec<KeyOrigin>,
}

impl<'a> NarrowableSettings<'a> {
    pub(super) fn new(
        host: Layer,
        rawr: Layer,
        client: Layer,
        front_matter: &'a PacketFrontMatter,
    ) -> Self {
        let broken_prompt = front_matter.unreadable.then(|| {
            let source = LayerSource::Prompt(front_matter.file.clone());
            KeyOrigin::of_source(&source, None)
        });
        let layers = [&host, &rawr, &client];
        let unreadable = layers.into_iter().filter_map(KeyOrigin::of_unreadable);
        let unreadable = broken_prompt.into_iter().chain(unreadable).collect();
        let own = host.settings.into_iter().chain(rawr.settings).collect();
        Self { own, client: client.settings, front_matter, unreadable }
    }

    pub(super) fn patterns(&self) -> Vec<Rc<ModelPattern>> {
        layer::patterns(self.own.iter().chain(&self.client))
    }

    pub(super) fn for_model(&self, applies: impl Fn(&ModelPattern) -> bool) -> Config {
        let preset = self.preset();
        let mut config = Config::of_preset(preset);
        config.take(from_front_matter(self.front_matter));
        let patterns = self.patterns().into_iter().filter(|pattern| applies(pattern)).map(Some);
        for pattern in std::iter::once(None).chain(patterns) {
            for layer in [&self.own, &self.client] {
                config.take(layer::settings_of(layer, pattern.as_deref()));
            }
        }
        if !config.policy.turn_based_handoff
            && config.origin("rawr_auto_compaction.mid_turn").is_none()
        {
            config.policy.mid_turn = MidTurn::Policy;
        }
        config.decision_prompts = self.decision_prompts();
        config.doubts.layers.extend(self.unreadable.iter().cloned());
        config.settle();
        config
    }

    /// The set of values that all others are laid over.
    fn preset(&self) -> Preset {
        let written = self.own.iter().chain(&self.client);
        let written = written.filter(|setting| setting.key.path == PRESET);
        written.fold(Preset::default(), |lower, setting| match &setting.value {
            SettingValue::Set(KeyValue::Word(word)) => Preset::from_word(word).unwrap_or(lower),
            SettingValue::Probably(KeyValue::Word("spec")) => lower,
            _ => Preset::Calm,
        })
    }

    fn decision_prompts(&self) -> BTreeSet<String> {
        let of_models = self.own.iter().chain(&self.client).filter(|of| of.model.is_some());
        let path = |setting: &LayerSetting| match &setting.value {
            SettingValue::Set(KeyValue::Text(path))
                if setting.key.name() == "decision_prompt_path" =>
            {
                Some(path.clone()).filter(|path| !path.is_empty())
            }
            _ => None,
        };
        of_models.filter_map(path).collect()
    }
}

impl Config {
    fn take(&mut self, settings: Vec<LayerSetting>) {
        for setting in in_order(settings) {
            if let SettingValue::Set(value) = &setting.value {
                setting.key.set(self, value.clone());
                self.doubts.keys.remove(setting.key.path);
                self.note(&setting, ValueSafety::Read);
            } else {
                self.restrict(&setting);
            }
        }
    }

    /// Applies a project's file; the tables of models come last.
    pub(super) fn narrow(
        &mut self,
        layer: &Layer,
        model: Option<&str>,
        problems: &mut Vec<FileProblem>,
    ) {
        let settings = &layer.settings;
        let matches = |pattern: &Rc<ModelPattern>| pattern.matches(model.unwrap_or_default());
        let patterns = layer::patterns(settings).into_iter().filter(matches).map(Some);
        // A short form is reported once, however many keys it sets.
        let place =
            |told: &FileProblem| (told.file.clone(), told.span.as_ref().map(|span| span.start));
        let mut known: BTreeSet<_> = problems.iter().map(place).collect();
        for pattern in std::iter::once(None).chain(patterns) {
            for setting in in_order(layer::settings_of(settings, pattern.as_deref())) {
                let SettingValue::Set(value) = &setting.value else {
                    if narrow::is_allowed(setting.key) {
                        self.restrict(&setting);
                    }
                    continue;
                };
                match narrow::narrowed(self, &setting, value) {
                    Ok(narrower) => {
                        *self = narrower;
                        self.note(&setting, ValueSafety::Read);
                    }
                    Err(problem) => {
                        let is_news = known.insert(place(&problem));
                        problems.extend(is_news.then_some(problem));
                    }
                }
            }
        }
        self.doubts.layers.extend(KeyOrigin::of_unreadable(layer));
        self.settle();
    }

    pub(super) fn note(&mut self, setting: &LayerSetting, safety: ValueSafety) {
        let layer = setting.layer();
        if !self.sources.contains(&layer) {
            self.sources.push(layer.clone());
        }
        self.origins.insert(setting.key.path, KeyOrigin { safety, ..KeyOrigin::of(setting) });
    }
}

impl KeyOrigin {
    pub(super) fn of(setting: &LayerSetting) -> Self {
        Self {
            layer: setting.layer(),
            short: setting.short.map(|short| short.path),
            model: setting.model.as_ref().map(|pattern| pattern.text().to_owned()),
            ..Self::of_source(&setting.source, setting.span.clone())
        }
    }

    /// Where the first mistake of an unreadable layer is.
    fn of_unreadable(layer: &Layer) -> Option<Self> {
        let (source, span) = layer.unreadable.as_ref()?;
        Some(Self::of_source(source, span.clone()))
    }

    fn of_source(source: &LayerSource, span: Option<std::ops::Range<usize>>) -> Self {
        Self {
            layer: source.name(),
            file: source.file().map(std::path::Path::to_owned),
            span,
            short: None,
            model: None,
            of_project: matches!(source, LayerSource::Project(_)),
            safety: ValueSafety::Read,
        }
    }
}

/// What is certain comes before what is not, source by source, and short forms do not count beside the keys that they
/// set, so that the long forms win across these files.
fn in_order(mut settings: Vec<LayerSetting>) -> Vec<LayerSetting> {
    let is_set = |setting: &LayerSetting| matches!(setting.value, SettingValue::Set(_));
    let spelled_out: Vec<_> = settings
        .iter()
        .filter(|setting| setting.short.is_none() && is_set(setting))
        .map(|setting| setting.key.path)
        .collect();
    settings.retain(|setting| setting.short.is_none() || !spelled_out.contains(&setting.key.path));
    settings.sort_by_key(|setting| (setting.source.rank(), !is_set(setting)));
    settings
}

fn from_front_matter(front_matter: &PacketFrontMatter) -> Vec<LayerSetting> {
    let source = Rc::new(LayerSource::Prompt(front_matter.file.clone()));
    let percent = |tier: Tier| {
        let name = format!("{tier}_percent_remaining_lt");
        let value = front_matter.threshold(tier).map(|percent| KeyValue::Number(percent.into()));
        (format!("trigger.{name}"), format!("rawr_auto_compaction.{name}"), value)
    };
    let boundaries = front_matter.requires_any_boundary.map(KeyValue::Boundaries);
    let tail = front_matter.max_tail_chars.map(|chars| KeyValue::Number(chars as u64));
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
            let unread = front_matter.unread.contains(there.as_str());
            let value = match value {
                Some(value) => SettingValue::Set(value),
                None if unread => SettingValue::Unread,
                None => return None,
            };
            Some((front_matter.spans.get(there.as_str()), key(&path)?, value))
        })
        .flat_map(|(span, key, value)| {
            LayerSetting::of(key, &value, &source, span).collect::<Vec<_>>()
        })
        .collect()
}
