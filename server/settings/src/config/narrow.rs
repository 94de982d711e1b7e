//! How a project's file may change the configuration: only to make rawr do less. Such a file comes with a cloned
//! repository, which must not be able to make rawr do more than the user's own files allow.

use super::Config;
use super::keys::{ConfigKey, KeyKind, KeyValue, ProjectRule, Unread};
use super::layer::LayerSetting;
use crate::config::keys::WordEnum as _;
use crate::problem::FileProblem;
use rawr_core::policy::{ConfirmRule, Tier, TierRule};

/// If the user did not set the value, its default depends on the window. More than a fiftieth of a very large window is
/// certainly stricter.
const SURELY_MORE_TOKENS: u64 = 20_000;

/// The configuration with the setting applied, or the reason why it is not allowed.
pub(super) fn narrowed(
    config: &Config,
    setting: &LayerSetting,
    value: &KeyValue,
) -> Result<Config, FileProblem> {
    let before = setting.key.get(config);
    let mut changed = config.clone();
    setting.key.set(&mut changed, value.clone());
    let after = setting.key.get(&changed);
    let words = words(setting.key);
    let name = setting.name();
    if before == after || is_narrower(setting.key.narrow, words, before.as_ref(), after.as_ref()) {
        let Some((urgent, laxer)) = gives_way(config, &changed) else { return Ok(changed) };
        let message = format!(
            "a project may not change `{name}`: the tier {laxer} would take the place of {urgent}, and asks for less in your own files"
        );
        return Err(FileProblem::error("project-may-only-narrow", message)
            .in_file(setting.source.file())
            .at(setting.span.clone()));
    }
    let stands = before.map_or_else(
        || "not set in your own files".to_owned(),
        |value| format!("{} in your own files", value.to_json()),
    );
    let message = match may(setting.key.narrow) {
        None => format!("a project may not set `{name}`"),
        Some(may) => format!("a project may only {may} `{name}`, which is {stands}"),
    };
    Err(FileProblem::error("project-may-only-narrow", message)
        .in_file(setting.source.file())
        .at(setting.span.clone())
        .help("set it in your own `rawr.toml`".to_owned()))
}

/// A tier whose threshold was lowered, and one that holds in its place and asks for less.
fn gives_way(config: &Config, changed: &Config) -> Option<(Tier, Tier)> {
    let before = &config.policy.tiers;
    let is_lowered = |tier: &Tier| {
        let (before, after) = (before.rule(*tier), changed.policy.tiers.rule(*tier));
        (before.percent_remaining_lt, before.tokens_used_gt)
            != (after.percent_remaining_lt, after.tokens_used_gt)
    };
    // Nothing asks for less than an emergency.
    let urgent = Tier::ALL.into_iter().filter(|tier| *tier != Tier::Emergency);
    urgent.filter(is_lowered).find_map(|urgent| {
        let mut laxer = Tier::ALL.into_iter().filter(|laxer| *laxer < urgent);
        let asks_for_less =
            |laxer: &Tier| !is_as_strict(before.rule(*laxer), *laxer, before.rule(urgent), urgent);
        Some((urgent, laxer.find(asks_for_less)?))
    })
}

fn is_as_strict(rule: &TierRule, tier: Tier, urgent_rule: &TierRule, urgent: Tier) -> bool {
    let words = ConfirmRule::VALUES;
    let place = |rule: &TierRule| words.iter().position(|confirm| *confirm == rule.confirm);
    let counting = |rule: &TierRule, tier| rule.counting_with(rule.confirm, tier);
    counting(rule, tier).without(counting(urgent_rule, urgent)).is_empty()
        && place(rule) <= place(urgent_rule)
        && rule.confirms_itself.without(urgent_rule.confirms_itself).is_empty()
        && rule.needs_semantic_break(tier) >= urgent_rule.needs_semantic_break(urgent)
        && rule.decision_prompt_path.is_some() >= urgent_rule.decision_prompt_path.is_some()
}

/// Whether a project may change this key at all.
pub(super) const fn is_allowed(key: &ConfigKey) -> bool {
    may(key.narrow).is_some()
}

/// Whether rawr does less with this value, or the same.
pub(super) fn is_stricter(key: &ConfigKey, before: Option<&KeyValue>, after: &KeyValue) -> bool {
    let rule = match (key.narrow, key.unread) {
        (ProjectRule::Never, Unread::Word(_)) => ProjectRule::Earlier,
        (rule, _) => rule,
    };
    is_narrower(rule, words(key), before, Some(after))
}

const fn words(key: &ConfigKey) -> &'static [&'static str] {
    match key.kind {
        KeyKind::Word(words) => words,
        _ => &[],
    }
}

const fn may(narrow: ProjectRule) -> Option<&'static str> {
    match narrow {
        ProjectRule::Never => None,
        ProjectRule::ToFalse => Some("switch off"),
        ProjectRule::ToTrue => Some("switch on"),
        ProjectRule::Down => Some("lower"),
        ProjectRule::Up => Some("raise"),
        ProjectRule::Earlier => Some("turn down"),
        ProjectRule::Subset => Some("shorten"),
        ProjectRule::Superset => Some("add to"),
    }
}

fn is_narrower(
    narrow: ProjectRule,
    words: &[&str],
    before: Option<&KeyValue>,
    after: Option<&KeyValue>,
) -> bool {
    let place = |word: &str| words.iter().position(|known| *known == word);
    match (narrow, before, after) {
        (ProjectRule::ToFalse, _, Some(KeyValue::Switch(on))) => !on,
        (ProjectRule::ToTrue, _, Some(KeyValue::Switch(on))) => *on,
        (ProjectRule::Down, Some(KeyValue::Number(before)), Some(KeyValue::Number(after))) => {
            after <= before
        }
        (ProjectRule::Up, Some(KeyValue::Number(before)), Some(KeyValue::Number(after))) => {
            after >= before
        }
        (ProjectRule::Up, None, Some(KeyValue::Number(after))) => *after >= SURELY_MORE_TOKENS,
        (ProjectRule::Earlier, Some(KeyValue::Word(before)), Some(KeyValue::Word(after))) => {
            place(after) <= place(before)
        }
        (
            ProjectRule::Subset,
            Some(KeyValue::Boundaries(before)),
            Some(KeyValue::Boundaries(after)),
        ) => after.without(*before).is_empty(),
        (ProjectRule::Subset, Some(KeyValue::Phrases(before)), Some(KeyValue::Phrases(after))) => {
            after.iter().all(|phrase| before.contains(phrase))
        }
        (
            ProjectRule::Superset,
            Some(KeyValue::Phrases(before)),
            Some(KeyValue::Phrases(after)),
        ) => before.iter().all(|phrase| after.contains(phrase)),
        _ => false,
    }
}
