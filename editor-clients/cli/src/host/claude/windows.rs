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

/// The window that goes with a model's name, as Anthropic, Bedrock or Vertex spell it.
pub(crate) fn window_of(model: &str) -> u64 {
    if model.ends_with(LONG.0) {
        return LONG.1;
    }
    let name = model.find(FAMILY).map_or(model, |at| &model[at..]);
    let fitting = WINDOWS.iter().filter(|(beginning, _)| name.starts_with(beginning));
    fitting.max_by_key(|(beginning, _)| beginning.len()).map_or(UNKNOWN, |(_, window)| *window)
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
            assert_eq!(window_of(model), window, "{model}");
        }
    }
}
