//! Recognizes a request that does not fit the context window by the words of its error. Every provider has its own.

use rawr_protocol::TurnFailure;

/// A request that the model refused, because it does not fit the context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextOverflow {
    /// The size of the request in tokens, counted or estimated. `None` where it is not known what was added since the last
    /// answer.
    pub request_tokens: Option<u64>,
    /// The size of the context window in tokens, where the error names it.
    pub context_window: Option<u64>,
}

/// What only such errors say, in lower case.
const SIGNS: [&str; 10] = [
    "context_length_exceeded",
    "context length",
    "context size",
    "context window",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "prompt_too_long",
    "exceeds the maximum number of tokens",
    "too large for model",
];

/// The words before the size of the request.
const BEFORE_REQUEST: [&str; 6] =
    ["too long: ", "requested ", "resulted in ", "request (", "token count (", "contains "];

/// The words before the size of the window.
const BEFORE_WINDOW: [&str; 6] = [
    "context length is ",
    "context length of ",
    "context window of ",
    "context size (",
    "tokens > ",
    "tokens allowed (",
];

/// The words after the size of the window.
const AFTER_WINDOW: &str = " maximum context length";

impl ContextOverflow {
    /// Reads an error message. `None` if it is about something else.
    pub fn read(error: &str) -> Option<Self> {
        let error = error.to_lowercase();
        let is_overflow = SIGNS.iter().any(|sign| error.contains(sign));
        is_overflow.then(|| Self {
            request_tokens: number_after(&error, &BEFORE_REQUEST),
            context_window: number_after(&error, &BEFORE_WINDOW).or_else(|| {
                let (before, _) = error.split_once(AFTER_WINDOW)?;
                number(before.rsplit(' ').next()?)
            }),
        })
    }

    /// In the words of the protocol.
    pub fn to_failure(self) -> TurnFailure {
        let Self { request_tokens, context_window } = self;
        TurnFailure::ContextFull { request_tokens, context_window }
    }
}

fn number_after(text: &str, words: &[&str]) -> Option<u64> {
    words.iter().find_map(|words| number(text.split_once(words)?.1))
}

/// The number at the start of a text, such as 128000 or 128,000.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(text.len());
    text[..end].replace(',', "").parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: &str, expected: Option<[Option<u64>; 2]>) {
        let read = ContextOverflow::read(error);
        assert_eq!(read.map(|of| [of.request_tokens, of.context_window]), expected, "{error}");
    }

    #[test]
    fn errors_of_many_providers_are_recognized() {
        for (error, request, window) in [
            ("prompt is too long: 210000 tokens > 200000 maximum", 210_000, 200_000),
            (
                "This model's maximum context length is 128,000 tokens. However, your messages resulted in 130,123 tokens.",
                130_123,
                128_000,
            ),
            (
                "POST http://127.0.0.1:8000/v1: 400 Bad Request: This model's maximum context length is 32768 tokens. However, you requested 40000 tokens (35000 in the messages, 5000 in the completion).",
                40_000,
                32_768,
            ),
            (
                "request (40000 tokens) exceeds the available context size (32768 tokens), try increasing it",
                40_000,
                32_768,
            ),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                1_200_000,
                1_048_576,
            ),
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
                40_000,
                32_768,
            ),
        ] {
            check(error, Some([Some(request), Some(window)]));
        }
        for error in [
            "Prompt is too long",
            "Your input exceeds the context window of this model.",
            "This model's maximum context length is exceeded. (context_length_exceeded)",
            "Codex ran out of room in the model's context window.",
        ] {
            check(error, Some([None, None]));
        }
    }

    #[test]
    fn other_errors_are_not() {
        for error in ["", "500 Internal Server Error", "rate limit of 40000 tokens per minute"] {
            check(error, None);
        }
    }
}
