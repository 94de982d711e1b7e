//! How many tokens Claude Code's models hold, for where Claude Code does not report it. A table; nothing is decided here.

/// Where no line of the table fits: newer models, and those that other companies serve.
const UNKNOWN: u64 = 1_000_000;

/// By the beginning of the model's name; the longest one that fits counts. As Claude Code 2.1.329 knows its models.
const WINDOWS: [(&str, u64); 9] = [
    ("claude-3", 200_000),
    ("claude-haiku-3", 200_000),
    ("claude-haiku-4", 200_000),
    ("claude-sonnet-3", 200_000),
    ("claude-sonnet-4", 200_000),
    ("claude-opus-3", 200_000),
    ("claude-opus-4", 200_000),
    ("claude-opus-4-7", 1_000_000),
    ("claude-opus-4-8", 1_000_000),
];

const FAMILY: &str = "claude-";

/// What a person appends to a model's name to get its long window.
const LONG: (&str, u64) = ("[1m]", 1_000_000);

/// The longest window where the long ones are switched off.
const SHORT: u64 = 200_000;

/// What a person has told Claude Code about windows. It reads the same variables, and its hooks inherit them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WindowSettings {
    no_long_window: bool,
    /// Of models that Claude Code does not know.
    of_unknown: Option<u64>,
}

impl WindowSettings {
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_on = |value: String| {
            ["1", "true", "yes", "on"].contains(&value.trim().to_lowercase().as_str())
        };
        let number = variable("CLAUDE_CODE_MAX_CONTEXT_TOKENS");
        Self {
            no_long_window: variable("CLAUDE_CODE_DISABLE_1M_CONTEXT").is_some_and(is_on),
            of_unknown: number.and_then(|number| number.trim().parse().ok()).filter(|it| *it > 0),
        }
    }

    /// The window that goes with a model's name, as Anthropic, Bedrock or Vertex spell it.
    pub fn window_of(&self, model: &str) -> u64 {
        let longest = if self.no_long_window { SHORT } else { u64::MAX };
        if model.ends_with(LONG.0) {
            return LONG.1.min(longest);
        }
        let family = model.find(FAMILY);
        let name = family.map_or(model, |at| &model[at..]);
        let fitting = WINDOWS.iter().filter(|(beginning, _)| name.starts_with(beginning));
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
    fn a_models_window_goes_by_the_longest_beginning_of_its_name() {
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
    fn what_a_person_tells_claude_code_about_windows_counts() {
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
}
