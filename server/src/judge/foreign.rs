//! Makes text from outside safe to store and show: redacted, on one line, truncated.

use super::key::ApiKey;
use rawr_storage::redact::redact;

/// Enough to understand an endpoint's error message.
const MAX_CHARS: usize = 300;

/// Redacts the endpoint's key, too: an endpoint may repeat it, and it need not look like a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForeignText<'k> {
    key: Option<&'k ApiKey>,
}

impl<'k> ForeignText<'k> {
    pub(super) const fn beside(key: Option<&'k ApiKey>) -> Self {
        Self { key }
    }

    pub(super) fn told(self, text: &str) -> String {
        self.sanitized(text, MAX_CHARS)
    }

    /// One line without control characters, which could control a terminal.
    pub(super) fn sanitized(self, text: &str, max_chars: usize) -> String {
        let masked = self.key.map(|key| key.masked_in(text));
        let redacted = redact(masked.as_deref().unwrap_or(text));
        let words: Vec<_> = redacted.split_whitespace().collect();
        let line: String = words.join(" ").chars().filter(|char| !char.is_control()).collect();
        cut(line, max_chars)
    }
}

fn cut(mut line: String, max_chars: usize) -> String {
    if line.chars().count() > max_chars {
        let end = line.char_indices().nth(max_chars.saturating_sub(1)).map_or(0, |(at, _)| at);
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, max_chars: usize, expected: &str) {
        let told = ForeignText::beside(None).sanitized(text, max_chars);
        assert_eq!(told, expected, "{text:?}");
        assert!(told.chars().count() <= max_chars, "{told:?}");
    }

    #[test]
    fn text_is_truncated_to_one_line() {
        check(" a\n\tb  c ", 5, "a b c");
        check("äöüß", 4, "äöüß");
        check("äöüßa", 4, "äöü…");
    }

    #[test]
    fn control_characters_are_removed() {
        check("a\u{1b}[2Jb\u{7f}\u{9b}c", 99, "a[2Jbc");
    }

    #[test]
    fn secrets_are_redacted_before_truncation() {
        check(
            "https://me:hunter2hunter2@example.org",
            99,
            "https://[redacted:url-credentials]@example.org",
        );
    }
}
