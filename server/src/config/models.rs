//! `[rawr_auto_compaction.models."…"]`: which threads such a table is for, and which keys it may hold. No value is read
//! here.

use super::layer::Setting;
use std::cmp::Ordering;
use std::rc::Rc;

pub(super) const TABLE: &str = "rawr_auto_compaction.models";

/// What such a table stands in for.
pub(super) const OURS: &str = "rawr_auto_compaction";

/// What is asked of any model in the same words, said by any in the same phrases, and sent nowhere on its account.
const SAME_FOR_ALL: [&str; 7] = [
    "models",
    "prompts",
    "semantic_signals",
    "repo_observation",
    "retention_days",
    "judgment.base_url",
    "judgment.api_key_env",
];

/// Of a key or a table, by its path outside of such a table.
pub(super) fn may_set(path: &str) -> bool {
    let below = |path: &str, of: &str| {
        path.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let ours = path.strip_prefix(OURS).and_then(|rest| rest.strip_prefix('.'));
    ours.is_some_and(|ours| !SAME_FOR_ALL.iter().any(|same| below(ours, same)))
}

/// The path that such a table's keys have elsewhere, and the pattern of its models.
pub fn path_in(segments: &[String]) -> (String, Option<&str>) {
    match segments {
        [ours, models, pattern, rest @ ..] if ours == OURS && models == "models" => {
            let path = std::iter::once(OURS).chain(rest.iter().map(String::as_str));
            (path.collect::<Vec<_>>().join("."), Some(pattern))
        }
        _ => (segments.join("."), None),
    }
}

/// Whether a key or a table may stand in such a table.
pub fn of_models(path: &str) -> bool {
    path == OURS || may_set(path)
}

/// A key or a table as the file has it, in the table of these models.
pub(super) fn written(path: &str, model: Option<&Pattern>) -> String {
    match (model, path.strip_prefix(OURS)) {
        (Some(pattern), Some(rest)) => format!("{}{rest}", pattern.table()),
        _ => path.to_owned(),
    }
}

/// A model's name, or one with `*` for any text. The greater the more specific.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) fn of(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// As in the file.
    pub(super) fn table(&self) -> String {
        format!("{TABLE}.{:?}", self.0)
    }

    pub(super) fn matches(&self, model: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == model };
        let Some(mut model) = model.strip_prefix(first) else { return false };
        let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        // The earliest place for each part leaves the most for those that follow.
        for part in middle.split('*') {
            let Some(at) = model.find(part) else { return false };
            model = &model[at + part.len()..];
        }
        model.ends_with(last)
    }

    fn is_name(&self) -> bool {
        !self.0.contains('*')
    }
}

impl Ord for Pattern {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |pattern: &Self| (pattern.is_name(), pattern.0.chars().count());
        rank(self).cmp(&rank(other)).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Pattern {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The patterns of these settings, the least specific first.
pub(super) fn patterns<'s>(settings: impl IntoIterator<Item = &'s Setting>) -> Vec<Rc<Pattern>> {
    let mut patterns: Vec<_> =
        settings.into_iter().filter_map(|setting| setting.model.clone()).collect();
    patterns.sort();
    patterns.dedup();
    patterns
}

/// Those of one pattern, or, without one, those for all models.
pub(super) fn settings_of(settings: &[Setting], pattern: Option<&Pattern>) -> Vec<Setting> {
    settings.iter().filter(|setting| setting.model.as_deref() == pattern).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, matching, others) in [
            ("gpt-5", &["gpt-5"][..], &["gpt-5.2", "gpt", ""][..]),
            ("gpt-5*", &["gpt-5", "gpt-5.2-codex"], &["a-gpt-5", "gpt-4"]),
            ("*-mini", &["gpt-5-mini", "-mini"], &["gpt-5-mini-high", "mini"]),
            ("*gpt*", &["gpt", "openai/gpt-5"], &["claude"]),
            ("a*b*c", &["abc", "a-b-b-c"], &["acb", "ab", "abcd"]),
            ("aa*aa", &["aaaa", "aa-aa"], &["aaa", "aa"]),
            ("*", &["", "x"], &[]),
            ("**", &["", "x"], &[]),
            ("ü*ß", &["üß", "über Spaß"], &["ü"]),
        ] {
            let pattern = Pattern::of(pattern);
            assert_eq!(matching.iter().find(|model| !pattern.matches(model)), None, "{pattern:?}");
            assert_eq!(others.iter().find(|model| pattern.matches(model)), None, "{pattern:?}");
        }
    }

    #[test]
    fn a_name_is_more_specific_than_a_pattern_and_a_longer_pattern_than_a_shorter() {
        let mut patterns = ["gpt-5", "*", "gpt-5*", "a", "gpt*"].map(Pattern::of);
        patterns.sort();
        assert_eq!(patterns.map(|pattern| pattern.0), ["*", "gpt*", "gpt-5*", "a", "gpt-5"]);
    }

    #[test]
    fn what_is_policy_may_differ_from_model_to_model() {
        for (path, expected) in [
            ("rawr_auto_compaction.mode", true),
            ("rawr_auto_compaction.policy", true),
            ("rawr_auto_compaction.policy.early.percent_remaining_lt", true),
            ("rawr_auto_compaction.judgment.model", true),
            ("rawr_auto_compaction.judgment.base_url", false),
            ("rawr_auto_compaction.prompts", false),
            ("rawr_auto_compaction.prompts.handoff", false),
            ("rawr_auto_compaction.models", false),
            ("rawr_auto_compaction", false),
            ("features.rawr_auto_compaction", false),
            ("auto_compact.enabled", false),
        ] {
            assert_eq!(may_set(path), expected, "{path}");
        }
    }
}
