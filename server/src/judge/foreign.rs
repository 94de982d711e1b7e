//! Text that came from outside, made fit to be stored and shown. It must not know what the text is about.

use super::key::ApiKey;
use crate::redact::redact;

/// Enough to see what an endpoint complains of.
const MAX_CHARS: usize = 300;

/// An endpoint may repeat the key it got, and the key need not look like one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Foreign<'k> {
    key: Option<&'k ApiKey>,
}

impl<'k> Foreign<'k> {
    pub(super) const fn beside(key: Option<&'k ApiKey>) -> Self {
        Self { key }
    }

    pub(super) fn told(self, text: &str) -> String {
        self.told_within(text, MAX_CHARS)
    }

    /// One line without control characters, which could steer a terminal.
    pub(super) fn told_within(self, text: &str, max_chars: usize) -> String {
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
        let told = Foreign::beside(None).told_within(text, max_chars);
        assert_eq!(told, expected, "{text:?}");
        assert!(told.chars().count() <= max_chars, "{told:?}");
    }

    #[test]
    fn it_is_one_line_of_so_many_characters() {
        check(" a\n\tb  c ", 5, "a b c");
        check("äöüß", 4, "äöüß");
        check("äöüßa", 4, "äöü…");
    }

    #[test]
    fn nothing_in_it_steers_a_terminal() {
        check("a\u{1b}[2Jb\u{7f}\u{9b}c", 99, "a[2Jbc");
    }

    #[test]
    fn what_looks_like_a_secret_is_taken_out_before_the_cut() {
        check(
            "https://me:hunter2hunter2@example.org",
            99,
            "https://[redacted:url-credentials]@example.org",
        );
    }
}
