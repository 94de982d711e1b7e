//! What is remembered, for how long, and from where a count continues.

use super::*;

const O200K: TokenEncoding = TokenEncoding::O200kBase;

fn long(letter: &str) -> String {
    letter.repeat(WORTH_KEEPING)
}

/// The position from which each text is counted, and the number of texts that are kept in the end.
fn check(texts: &[(TokenEncoding, &str)], from: &[usize], kept: usize) {
    let mut memory = CountMemory::default();
    let found: Vec<_> = texts
        .iter()
        .map(|(encoding, text)| {
            let (counter, from) = memory.resume(*encoding, text);
            if from > 0 {
                memory.0.push_back(CountedText { text: text[..from].to_owned(), counter });
            }
            memory.count(*encoding, (*text).to_owned());
            from
        })
        .collect();
    assert_eq!((found.as_slice(), memory.0.len()), (from, kept));
}

#[test]
fn a_text_that_grew_is_counted_from_its_old_end() {
    let (first, grown) = (long("a "), format!("{}and more", long("a ")));
    let at = first.len();
    check(&[(O200K, &first), (O200K, &grown), (O200K, &grown)], &[0, at, grown.len()], 1);
}

#[test]
fn another_text_or_encoding_is_counted_from_the_start() {
    let (one, two) = (long("a "), long("b "));
    check(&[(O200K, &one), (O200K, &two), (TokenEncoding::Cl100kBase, &one)], &[0, 0, 0], 3);
}

#[test]
fn the_longest_known_prefix_is_used() {
    let (short, longer, longest) = (long("a "), long("a ").repeat(2), long("a ").repeat(3));
    let texts = [(O200K, &*longer), (O200K, &*short), (O200K, &*longest)];
    check(&texts, &[0, 0, longer.len()], 2);
}

#[test]
fn a_short_text_is_not_kept() {
    check(&[(O200K, "short"), (O200K, "short and more")], &[0, 0], 0);
}

#[test]
fn only_the_newest_texts_are_kept() {
    let texts: Vec<_> = (0..=KEPT_TEXTS).map(|n| long(&format!("{n} "))).collect();
    let texts: Vec<_> = texts.iter().map(|text| (O200K, text.as_str())).collect();
    check(&texts, &[0; KEPT_TEXTS + 1], KEPT_TEXTS);
}

#[test]
fn a_text_that_is_too_long_evicts_itself_and_older_ones() {
    let counted =
        |bytes| CountedText { text: "a".repeat(bytes), counter: TokenCounter::new(O200K) };
    let mut memory = CountMemory([counted(1), counted(KEPT_BYTES), counted(1)].into());
    memory.forget();
    assert_eq!(memory.0.len(), 1);
}
