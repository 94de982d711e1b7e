//! The context windows of Claude Code's models, for when Claude Code does not report them.

use crate::profile::CLAUDE;

/// The window of models that are not in the table: newer models, and those of other providers.
const UNKNOWN: u64 = 1_000_000;

const FAMILY: &str = "claude-";

/// The suffix of a model's name that selects its long window.
const LONG: (&str, u64) = ("[1m]", 1_000_000);

/// Variables that choose a model. In a transcript, its name has no suffix.
const CHOSEN: [&str; 4] = [
    "ANTHROPIC_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
];

/// The long window of models that have one.
pub const LONG_WINDOW: u64 = LONG.1;

/// The longest window if long windows are disabled.
const SHORT: u64 = 200_000;

/// Variables that turn Claude Code's own compaction off.
const OFF: [&str; 2] = ["DISABLE_AUTO_COMPACT", "DISABLE_COMPACT"];

/// Window settings from Claude Code's environment variables, which its hooks inherit.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WindowSettings {
    no_long_window: bool,
    /// Claude Code does not compact by itself.
    never_compacts: bool,
    /// Claude Code compacts as if the window were no larger than this.
    compaction_window: Option<u64>,
    /// The window of models that Claude Code does not know.
    of_unknown: Option<u64>,
    /// The models that were chosen with their long window, as names, parts of names or aliases, without the suffix.
    long: Vec<String>,
}

impl WindowSettings {
    /// Reads the settings. `variable` looks up an environment variable.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_on = |value: String| -> bool {
            ["1", "true", "yes", "on"].contains(&value.trim().to_lowercase().as_str())
        };
        let number = |name: &str| {
            let number = variable(name).and_then(|number| number.trim().parse().ok());
            number.filter(|number| *number > 0)
        };
        let chosen = CHOSEN.into_iter().filter_map(&variable);
        let long = chosen.filter_map(|model| {
            let model = model.trim().to_lowercase();
            model.strip_suffix(LONG.0).filter(|name| !name.is_empty()).map(str::to_owned)
        });
        Self {
            no_long_window: variable("CLAUDE_CODE_DISABLE_1M_CONTEXT").is_some_and(is_on),
            never_compacts: OFF.into_iter().filter_map(&variable).any(is_on),
            compaction_window: number("CLAUDE_CODE_AUTO_COMPACT_WINDOW"),
            of_unknown: number("CLAUDE_CODE_MAX_CONTEXT_TOKENS"),
            long: long.collect(),
        }
    }

    /// Above how many tokens Claude Code compacts by itself in a window of this size. `None` if it does not.
    pub fn compacts_above(&self, window: u64) -> Option<u64> {
        let window = self.compaction_window.map_or(window, |smaller| smaller.min(window));
        CLAUDE.compacts_above(window).filter(|_| !self.never_compacts)
    }

    /// The window of a model whose context holds so many tokens. If they do not fit, it is the long one.
    pub fn window_with(&self, model: &str, tokens: u64) -> u64 {
        let window = self.window_of(model);
        if tokens > window { LONG_WINDOW } else { window }
    }

    /// The window of a model in tokens. The name may be Anthropic's, Bedrock's or Vertex's.
    pub fn window_of(&self, model: &str) -> u64 {
        let longest = if self.no_long_window { SHORT } else { u64::MAX };
        let family = model.find(FAMILY);
        let name = family.map_or(model, |at| &model[at..]);
        let is_chosen = |long: &String| {
            !name.is_empty() && (long.contains(name) || model.contains(long.as_str()))
        };
        if model.ends_with(LONG.0) || self.long.iter().any(is_chosen) {
            return LONG.1.min(longest);
        }
        let fitting = CLAUDE.windows.iter().filter(|(beginning, _)| name.starts_with(beginning));
        match (fitting.max_by_key(|(beginning, _)| beginning.len()), self.of_unknown) {
            (Some((_, window)), _) => (*window).min(longest),
            (None, Some(told)) if family.is_none() => told,
            (None, _) => UNKNOWN.min(longest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_matching_prefix_selects_the_window() {
        for (model, window) in [
            ("claude-opus-5-5", 1_000_000),
            ("claude-sonnet-5-20260801", 1_000_000),
            ("claude-haiku-5-5", 1_000_000),
            ("claude-fable-5-2", 1_000_000),
            ("claude-opus-4-7", 1_000_000),
            ("claude-opus-4-6", 200_000),
            ("claude-opus-4-20250514", 200_000),
            ("claude-sonnet-4-5-20250929", 200_000),
            ("claude-haiku-4-5-20251001", 200_000),
            ("claude-3-5-haiku-20241022", 200_000),
            ("claude-sonnet-4-5[1m]", 1_000_000),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
            ("claude-sonnet-4-5@20250929", 200_000),
            ("some-other-model", 1_000_000),
        ] {
            assert_eq!(WindowSettings::default().window_of(model), window, "{model}");
        }
    }

    #[test]
    fn claude_codes_environment_variables_change_the_window() {
        let settings = |name: &str, value: &str| {
            WindowSettings::read(|asked| (asked == name).then(|| value.to_owned()))
        };
        let short = settings("CLAUDE_CODE_DISABLE_1M_CONTEXT", "1");
        for model in ["claude-opus-5-5", "claude-sonnet-4-5[1m]", "some-other-model"] {
            assert_eq!(short.window_of(model), 200_000, "{model}");
        }
        let off = settings("CLAUDE_CODE_DISABLE_1M_CONTEXT", "0");
        assert_eq!(off, WindowSettings::default());
        let told = settings("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "131072");
        assert_eq!(told.window_of("some-other-model"), 131_072);
        assert_eq!(told.window_of("claude-opus-5-5"), 1_000_000);
        assert_eq!(settings("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "0"), WindowSettings::default());
    }

    #[test]
    fn a_model_that_was_chosen_with_its_long_window_has_it() {
        let check = |name: &str, value: &str, model: &str, window: u64| {
            let settings = WindowSettings::read(|asked| (asked == name).then(|| value.to_owned()));
            assert_eq!(settings.window_of(model), window, "{name}={value}: {model}");
        };
        const SONNET: &str = "claude-sonnet-4-5-20250929";
        for chosen in ["claude-sonnet-4-5[1m]", "sonnet[1m]", "claude-sonnet-4-5-20250929[1M] "] {
            check("ANTHROPIC_MODEL", chosen, SONNET, 1_000_000);
        }
        let of_bedrock = "us.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]";
        check("ANTHROPIC_MODEL", of_bedrock, SONNET, 1_000_000);
        check("ANTHROPIC_DEFAULT_SONNET_MODEL", "claude-sonnet-4-5[1m]", SONNET, 1_000_000);
        // The person went over to another model, or chose none.
        check("ANTHROPIC_MODEL", "opus[1m]", SONNET, 200_000);
        check("ANTHROPIC_MODEL", "claude-sonnet-4-5", SONNET, 200_000);
        check("ANTHROPIC_MODEL", "[1m]", SONNET, 200_000);
        check("ANTHROPIC_MODEL", "sonnet[1m]", "", 1_000_000);
    }

    #[test]
    fn claude_code_compacts_before_the_window_is_full() {
        let check = |name: &str, value: &str, window: u64, expected: Option<u64>| {
            let settings = WindowSettings::read(|asked| (asked == name).then(|| value.to_owned()));
            assert_eq!(settings.compacts_above(window), expected, "{name}={value}");
        };
        check("", "", 200_000, Some(167_000));
        check("", "", 1_000_000, Some(967_000));
        check("", "", 20_000, None);
        check("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "250000", 1_000_000, Some(217_000));
        check("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "250000", 200_000, Some(167_000));
        check("DISABLE_AUTO_COMPACT", "1", 200_000, None);
        check("DISABLE_COMPACT", "true", 200_000, None);
        check("DISABLE_AUTO_COMPACT", "0", 200_000, Some(167_000));
    }
}
