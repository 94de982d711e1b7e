//! The words that are looked for, and the piece of a text around them. Case does not count. Pure.

use crate::redact::redact;
use memchr::memmem::Finder;

/// So much of a text is shown before the first word, and in all, in characters.
const BEFORE: usize = 60;
const SHOWN: usize = 240;

#[derive(Debug, Clone)]
pub struct Words {
    /// In lower case.
    words: Vec<String>,
    /// Those that no escape of JSON can hide: a line without them needs no reading.
    plain: Vec<Finder<'static>>,
}

impl Words {
    /// `None` where there is no word.
    pub fn new<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<Self> {
        let words: Vec<_> =
            words.into_iter().flat_map(str::split_whitespace).map(str::to_lowercase).collect();
        let is_plain = |word: &&String| {
            word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte))
        };
        let finder = |word: &String| Finder::new(word.as_bytes()).into_owned();
        let plain = words.iter().filter(is_plain).map(finder).collect();
        (!words.is_empty()).then_some(Self { words, plain })
    }

    /// Whether a line of JSON may hold them all. `lowered` is room to work in.
    pub(super) fn may_be_in(&self, line: &[u8], lowered: &mut Vec<u8>) -> bool {
        lowered.clear();
        lowered.extend(line.iter().map(u8::to_ascii_lowercase));
        self.plain.iter().all(|word| word.find(lowered).is_some())
    }

    /// The text around the first word, on one line and without secrets, if all words occur in it.
    pub(super) fn snippet(&self, text: &str) -> Option<String> {
        let lowered = text.to_lowercase();
        if !self.words.iter().all(|word| lowered.contains(word.as_str())) {
            return None;
        }
        // A secret that is cut in two would not be known for one.
        let text = redact(text);
        let first = self.words.iter().filter_map(|word| position(&text, word)).min().unwrap_or(0);
        let skipped = text[..first].chars().count().saturating_sub(BEFORE);
        let shown: String = text.chars().skip(skipped).take(SHOWN * 2).collect();
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut snippet: String = words.chars().take(SHOWN).collect();
        if skipped > 0 {
            snippet.insert_str(0, "… ");
        }
        if words.chars().count() > SHOWN || text.chars().count() > skipped + SHOWN * 2 {
            snippet.push_str(" …");
        }
        Some(snippet)
    }
}

/// Where a word in lower case begins in a text in any case.
fn position(text: &str, word: &str) -> Option<usize> {
    let begins = |at: &usize| {
        let mut letters = text[*at..].chars().flat_map(char::to_lowercase);
        word.chars().all(|letter| letters.next() == Some(letter))
    };
    text.char_indices().map(|(at, _)| at).find(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], text: &str, expected: Option<&str>) {
        let words = Words::new(words.iter().copied()).unwrap();
        assert_eq!(words.snippet(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn all_words_must_occur_whatever_their_case_and_order() {
        check(&["Budget", "retry"], "The RETRY budget.", Some("The RETRY budget."));
        check(&["budget retry"], "The RETRY budget.", Some("The RETRY budget."));
        check(&["budget", "retries"], "The RETRY budget.", None);
        check(&["größe"], "DIE GRÖSSE, die Größe", Some("DIE GRÖSSE, die Größe"));
        assert!(Words::new(["", " \n"]).is_none());
    }

    #[test]
    fn a_snippet_is_one_line_around_the_first_word() {
        let text = format!("{}\n\tthe  needle\n{}", "x ".repeat(300), "y ".repeat(300));
        let words = Words::new(["needle"]).unwrap();
        let snippet = words.snippet(&text).unwrap();
        assert!(snippet.starts_with("… x x") && snippet.ends_with("y …"), "{snippet}");
        assert!(snippet.contains("x the needle y"), "{snippet}");
        assert!(snippet.chars().count() <= SHOWN + 4, "{snippet}");
    }

    #[test]
    fn a_secret_is_not_shown_and_can_be_asked_for_all_the_same() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        check(
            &["token"],
            &format!("the token is {secret}"),
            Some("the token is [redacted:github-token]"),
        );
    }

    #[test]
    fn a_line_is_left_unread_only_where_a_word_cannot_be_in_it() {
        let words = Words::new(["retry", "a\"b", "größe"]).unwrap();
        let mut room = Vec::new();
        assert!(words.may_be_in(br#"{"text":"ReTRY"}"#, &mut room));
        assert!(!words.may_be_in(br#"{"text":"again"}"#, &mut room));
    }
}
