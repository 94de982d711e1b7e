//! What holds while something cannot be read: the strictest that could have been meant, so that a mistake never makes rawr
//! do more than was asked.

use super::keys::{KeyValue, ProjectRule, Unread};
use super::layer::{self, LayerSetting, SettingValue};
use super::table::key;
use super::{Config, KeyOrigin, narrow};
use crate::problem::{FileProblem, ProblemSeverity};
use rawr_core::boundary::Boundaries;
use rawr_core::policy::JudgeBackend;
use serde_json::Value;
use std::collections::BTreeMap;

/// How safe a value is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ValueSafety {
    /// The value was read.
    #[default]
    Read,
    /// The value could not be read: this is the strictest that could have been meant.
    Strictest,
    /// Something else could not be read, so nothing is compacted without approval.
    Approval,
}

/// What cannot be read and may have been meant to make rawr stricter.
#[derive(Debug, Clone, Default)]
pub(super) struct Doubts {
    pub keys: BTreeMap<&'static str, KeyOrigin>,
    /// Whole files.
    pub layers: Vec<KeyOrigin>,
}

const ENABLED: &str = "features.rawr_auto_compaction";
const INLINE: &str = "auto_compact.enabled";
/// What acts without a person's approval.
const ACTS_ALONE: [&str; 3] =
    ["rawr_auto_compaction.mode", "rawr_auto_compaction.mid_turn", INLINE];
const BACKEND: &str = "rawr_auto_compaction.judgment.backend";

impl Config {
    /// Applies a setting that is not certain.
    pub(super) fn restrict(&mut self, setting: &LayerSetting) {
        let key = setting.key;
        let before = key.get(self);
        let meant = match &setting.value {
            SettingValue::Set(value) | SettingValue::Probably(value) => Some(value.clone()),
            SettingValue::Unread => None,
        };
        if meant.is_some() && meant == before {
            return;
        }
        let is_ordered = key.narrow != ProjectRule::Never || matches!(key.unread, Unread::Word(_));
        let strictest = match (meant.filter(|_| is_ordered), key.unread) {
            (Some(meant), _) => meant,
            (None, Unread::Lower) => return,
            (None, Unread::Switch(on)) => KeyValue::Switch(on),
            (None, Unread::Word(word)) => KeyValue::Word(word),
            (None, Unread::NoBoundary) => KeyValue::Boundaries(Boundaries::NONE),
            (None, Unread::Approval | Unread::NoModel) => {
                self.doubts.keys.insert(key.path, KeyOrigin::of(setting));
                return;
            }
        };
        if before.as_ref() != Some(&strictest)
            && narrow::is_stricter(key, before.as_ref(), &strictest)
        {
            key.set(self, strictest);
            self.note(setting, ValueSafety::Strictest);
        }
    }

    /// Draws the consequences of what could not be read.
    pub(super) fn settle(&mut self) {
        let asks_no_model =
            |path: &&str| key(path).is_some_and(|key| key.unread == Unread::NoModel);
        let asks_a_model =
            !matches!(self.judgment.backend, JudgeBackend::Heuristic | JudgeBackend::Off);
        let doubted = self.doubts.keys.iter().find(|(path, _)| asks_no_model(path));
        if let Some((_, origin)) = doubted.filter(|_| asks_a_model) {
            self.set_for(&origin.clone(), BACKEND, KeyValue::Word("heuristic"));
        }
        if let Some(origin) = self.doubts.keys.values().chain(&self.doubts.layers).next().cloned() {
            for path in ACTS_ALONE {
                match key(path).map(|key| key.unread) {
                    Some(Unread::Word(word)) => self.set_for(&origin, path, KeyValue::Word(word)),
                    Some(Unread::Switch(on)) => self.set_for(&origin, path, KeyValue::Switch(on)),
                    _ => {}
                }
            }
        }
        // Who switches rawr off did not ask for the other compaction, unless in the same files.
        let off = self.origin(ENABLED).filter(|_| !self.policy.enabled).cloned();
        if let Some(origin) = off
            && (origin.of_project || origin.safety != ValueSafety::Read)
        {
            self.set_for(&origin, INLINE, KeyValue::Switch(false));
        }
    }

    /// Makes a key as strict as this because of something else.
    fn set_for(&mut self, because: &KeyOrigin, path: &str, strictest: KeyValue) {
        let Some(key) = key(path) else { return };
        let before = key.get(self);
        let is_stricter = path == BACKEND || narrow::is_stricter(key, before.as_ref(), &strictest);
        if is_stricter && before.as_ref() != Some(&strictest) {
            key.set(self, strictest);
            let safety = ValueSafety::Approval;
            self.origins.insert(key.path, KeyOrigin { safety, short: None, ..because.clone() });
        }
    }

    /// What holds until mistakes are fixed. The mistakes themselves are problems of their own.
    pub(super) fn restrictions(&self) -> Vec<FileProblem> {
        let mut restrictions: Vec<(&KeyOrigin, String)> = Vec::new();
        for origin in self.doubts.layers.iter().chain(self.doubts.keys.values()) {
            // One is enough, in each file.
            if restrictions.iter().all(|(known, _)| known.layer != origin.layer) {
                let holds = "nothing is compacted without your approval";
                restrictions.push((origin, holds.to_owned()));
            }
        }
        let mut strict: Vec<(&KeyOrigin, Vec<String>)> = Vec::new();
        for (path, origin) in
            self.origins.iter().filter(|(_, origin)| origin.safety == ValueSafety::Strictest)
        {
            let Some(value) = key(path).and_then(|key| key.get(self)) else { continue };
            let holds = format!("`{path}` is {}", value.to_json());
            let is_same =
                |known: &KeyOrigin| (&known.layer, &known.span) == (&origin.layer, &origin.span);
            match strict.iter_mut().find(|(known, _)| origin.span.is_some() && is_same(known)) {
                Some((_, all)) => all.push(holds),
                None => strict.push((origin, vec![holds])),
            }
        }
        let listed = strict.into_iter().map(|(origin, all)| match all.as_slice() {
            [first, .., last] if all.len() > 3 => {
                (origin, format!("{first}, …, {last} ({} keys)", all.len()))
            }
            _ => (origin, all.join(", ")),
        });
        restrictions.extend(listed);
        restrictions
            .into_iter()
            .map(|(origin, holds)| {
                let message = format!("until this is fixed, {holds}");
                FileProblem::warning("fails-closed", message)
                    .in_file(origin.file.as_deref())
                    .at(origin.span.clone())
            })
            .collect()
    }
}

/// What is wrong with settings that are given for one run, where each must count.
pub fn check_overrides(settings: &Value) -> Vec<FileProblem> {
    let mut problems = Vec::new();
    layer::read_client(settings, &mut problems);
    problems.retain(|problem| {
        problem.severity == ProblemSeverity::Error || problem.code == "unknown-key"
    });
    problems
}
