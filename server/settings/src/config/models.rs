//! `[rawr_auto_compaction.models."…"]`: which threads such a table applies to, and which keys it may hold. Reads no
//! values.

use std::cmp::Ordering;

pub(super) const TABLE: &str = "rawr_auto_compaction.models";

/// The table whose keys it overrides.
pub(super) const OURS: &str = "rawr_auto_compaction";

/// Keys that cannot depend on the model: prompts, phrases and endpoints.
const SAME_FOR_ALL: [&str; 8] = [
    "models",
    "preset",
    "prompts",
    "semantic_signals",
    "repo_observation",
    "retention_days",
    "judgment.base_url",
    "judgment.api_key_env",
];

/// Whether a table of models may set this key or table, given by its general path.
pub(super) fn may_set(path: &str) -> bool {
    let below = |path: &str, of: &str| {
        path.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let ours = path.strip_prefix(OURS).and_then(|rest| rest.strip_prefix('.'));
    ours.is_some_and(|ours| !SAME_FOR_ALL.iter().any(|same| below(ours, same)))
}

/// The general path of a key in such a table, and the pattern of the table.
pub fn path_in(segments: &[String]) -> (String, Option<&str>) {
    match segments {
        [ours, models, pattern, rest @ ..] if ours == OURS && models == "models" => {
            let path = std::iter::once(OURS).chain(rest.iter().map(String::as_str));
            (path.collect::<Vec<_>>().join("."), Some(pattern))
        }
        _ => (segments.join("."), None),
    }
}

/// Whether a key or a table may be in such a table.
pub fn of_models(path: &str) -> bool {
    path == OURS || may_set(path)
}

/// A key or table as the file has it, in the table of these models.
pub(super) fn written(path: &str, model: Option<&ModelPattern>) -> String {
    match (model, path.strip_prefix(OURS)) {
        (Some(pattern), Some(rest)) => format!("{}{rest}", pattern.table()),
        _ => path.to_owned(),
    }
}

/// A model's name, or a pattern with `*` for any text. Ordered by specificity, least specific first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPattern(String);

impl ModelPattern {
    pub fn of(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// As in the file.
    pub(super) fn table(&self) -> String {
        format!("{TABLE}.{:?}", self.0)
    }

    pub fn matches(&self, model: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == model };
        let Some(mut model) = model.strip_prefix(first) else { return false };
        let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        // Matching each part as early as possible leaves the most for the parts that follow.
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

impl Ord for ModelPattern {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |pattern: &Self| (pattern.is_name(), pattern.0.chars().count());
        rank(self).cmp(&rank(other)).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for ModelPattern {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
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
            let pattern = ModelPattern::of(pattern);
            assert_eq!(matching.iter().find(|model| !pattern.matches(model)), None, "{pattern:?}");
            assert_eq!(others.iter().find(|model| pattern.matches(model)), None, "{pattern:?}");
        }
    }

    #[test]
    fn a_name_is_more_specific_than_a_pattern_and_a_longer_pattern_than_a_shorter() {
        let mut patterns = ["gpt-5", "*", "gpt-5*", "a", "gpt*"].map(ModelPattern::of);
        patterns.sort();
        assert_eq!(patterns.map(|pattern| pattern.0), ["*", "gpt*", "gpt-5*", "a", "gpt-5"]);
    }

    #[test]
    fn policy_keys_may_differ_by_model() {
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
