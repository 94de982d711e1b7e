//! Words of other languages as the English words that say the same to an agent. Most of what the project wrote, and most
//! recorded sessions, are English; what is learned of an English word holds for its translations.

use super::classes::{each_word, word_hash};
use super::model::hash;
use super::tokens::Token;
use std::sync::LazyLock;

/// The hash of each word, and of the English one, sorted.
static WORDS: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| {
    let lines = include_str!("concepts.txt").lines().filter_map(|line| line.split_once(": "));
    let mut words: Vec<_> = lines
        .flat_map(|(english, words)| {
            let english = hash(english.as_bytes(), 0);
            words.split_whitespace().map(move |word| (word_hash(word), english))
        })
        .collect();
    words.sort_unstable();
    words.dedup_by_key(|(word, _)| *word);
    words
});

/// Calls `found` with the English word, and where the word begins and ends.
pub(super) fn each(tokens: &[Token], mut found: impl FnMut(u32, u32, u32)) {
    each_word(tokens, |hash, from, to| {
        if let Ok(at) = WORDS.binary_search_by_key(&hash, |(word, _)| *word) {
            found(WORDS[at].1, from, to);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::tokens::{self, Masking, ReadingWindow};

    #[test]
    fn words_are_known_in_english() {
        let check = |message: &str, expected: &[&str]| {
            let reading = ReadingWindow { head: 300, tail: 900, masking: Masking::Code };
            let mut found = Vec::new();
            each(&tokens::read(message, reading).list, |english, _, _| found.push(english));
            let of = |english: &&str| found.contains(&hash(english.as_bytes(), 0));
            let missed: Vec<_> = expected.iter().filter(|english| !of(english)).collect();
            assert!(missed.is_empty(), "{message}: not {missed:?}");
            assert_eq!(found.is_empty(), expected.is_empty(), "{message}");
        };
        check("add a button", &[]);
        check("ボタンを追加して", &["button", "add"]);
        check("修复这个按钮", &["fix", "this", "button"]);
        check("버튼을 추가해줘", &["button", "add"]);
        check("corrige el botón", &["fix", "button"]);
        check("исправь ошибку", &["fix", "error"]);
    }
}
