//! Search words, and snippets of the texts around them. Case-insensitive.

use memchr::memmem::Finder;
use rawr_core::excerpt::one_line;
use rawr_storage::redact::redact;
use std::collections::BTreeSet;

/// The length of a snippet before the first word, and in total, in characters.
const BEFORE: usize = 60;
const SHOWN: usize = 240;

/// The words of a search, all of which a text must contain.
#[derive(Debug, Clone)]
pub struct SearchWords {
    /// In lower case.
    words: Vec<String>,
    /// Words that JSON never escapes: a line without one of them need not be parsed.
    plain: Vec<Finder<'static>>,
}

impl SearchWords {
    /// `None` if there is no word.
    pub fn new<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<Self> {
        let words = words.into_iter().flat_map(str::split_whitespace).map(str::to_lowercase);
        let words: BTreeSet<_> = words.collect();
        let words = Vec::from_iter(words);
        let is_plain = |word: &&String| {
            word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte))
        };
        let finder = |word: &String| Finder::new(word.as_bytes()).into_owned();
        let plain = words.iter().filter(is_plain).map(finder).collect();
        (!words.is_empty()).then_some(Self { words, plain })
    }

    /// Whether a line of JSON may contain them all. `lowered` is a buffer.
    pub(super) fn may_be_in(&self, line: &[u8], lowered: &mut Vec<u8>) -> bool {
        lowered.clear();
        lowered.extend(line.iter().map(u8::to_ascii_lowercase));
        self.plain.iter().all(|word| word.find(lowered).is_some())
    }

    /// The redacted text around the first word, on one line, if it contains all words.
    pub(super) fn snippet(&self, text: &str) -> Option<String> {
        let lowered = text.to_lowercase();
        if !self.words.iter().all(|word| lowered.contains(word.as_str())) {
            return None;
        }
        // Redact first: half of a secret would not be recognized.
        let text = redact(text);
        let first = self.words.iter().filter_map(|word| position(&text, word)).min().unwrap_or(0);
        let skipped = text[..first].chars().count().saturating_sub(BEFORE);
        let shown: String = text.chars().skip(skipped).take(SHOWN * 2).collect();
        let words = one_line(&shown);
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

/// The position of a lower-case word in a text of any case.
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

    #[test]
    fn a_word_is_looked_for_once() {
        let words = SearchWords::new(std::iter::repeat_n("parser Parser", 5000)).unwrap();
        assert_eq!((words.words.len(), words.plain.len()), (1, 1));
    }

    fn check(words: &[&str], text: &str, expected: Option<&str>) {
        let words = SearchWords::new(words.iter().copied()).unwrap();
        assert_eq!(words.snippet(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn all_words_must_occur_in_any_case_and_order() {
        check(&["Budget", "retry"], "The RETRY budget.", Some("The RETRY budget."));
        check(&["budget retry"], "The RETRY budget.", Some("The RETRY budget."));
        check(&["budget", "retries"], "The RETRY budget.", None);
        check(&["größe"], "DIE GRÖSSE, die Größe", Some("DIE GRÖSSE, die Größe"));
        assert!(SearchWords::new(["", " \n"]).is_none());
    }

    #[test]
    fn a_snippet_is_one_line_around_the_first_word() {
        let text = format!("{}\n\tthe  needle\n{}", "x ".repeat(300), "y ".repeat(300));
        let words = SearchWords::new(["needle"]).unwrap();
        let snippet = words.snippet(&text).unwrap();
        assert!(snippet.starts_with("… x x") && snippet.ends_with("y …"), "{snippet}");
        assert!(snippet.contains("x the needle y"), "{snippet}");
        assert!(snippet.chars().count() <= SHOWN + 4, "{snippet}");
    }

    #[test]
    fn a_secret_is_redacted_but_can_be_searched_for() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        check(
            &["token"],
            &format!("the token is {secret}"),
            Some("the token is [redacted:github-token]"),
        );
    }

    #[test]
    fn a_line_is_skipped_only_if_it_cannot_contain_a_word() {
        let words = SearchWords::new(["retry", "a\"b", "größe"]).unwrap();
        let mut room = Vec::new();
        assert!(words.may_be_in(br#"{"text":"ReTRY"}"#, &mut room));
        assert!(!words.may_be_in(br#"{"text":"again"}"#, &mut room));
    }
}
