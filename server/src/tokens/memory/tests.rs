//! What is remembered, for how long, and from where a count goes on.

use super::*;

const O200K: Encoding = Encoding::O200kBase;

fn long(letter: &str) -> String {
    letter.repeat(WORTH_KEEPING)
}

/// From where each of the texts is counted, one after the other, and what is kept in the end.
fn check(texts: &[(Encoding, &str)], from: &[usize], kept: usize) {
    let mut memory = Memory::default();
    let found: Vec<_> = texts
        .iter()
        .map(|(encoding, text)| {
            let (counter, from) = memory.resume(*encoding, text);
            if from > 0 {
                memory.0.push_back(Counted { text: text[..from].to_owned(), counter });
            }
            memory.count(*encoding, (*text).to_owned());
            from
        })
        .collect();
    assert_eq!((found.as_slice(), memory.0.len()), (from, kept));
}

#[test]
fn a_text_that_grew_is_counted_from_where_it_grew() {
    let (first, grown) = (long("a "), format!("{}and more", long("a ")));
    let at = first.len();
    check(&[(O200K, &first), (O200K, &grown), (O200K, &grown)], &[0, at, grown.len()], 1);
}

#[test]
fn another_text_and_another_encoding_are_counted_afresh() {
    let (one, two) = (long("a "), long("b "));
    check(&[(O200K, &one), (O200K, &two), (Encoding::Cl100kBase, &one)], &[0, 0, 0], 3);
}

#[test]
fn the_longest_beginning_counts() {
    let (short, longer, longest) = (long("a "), long("a ").repeat(2), long("a ").repeat(3));
    let texts = [(O200K, &*longer), (O200K, &*short), (O200K, &*longest)];
    check(&texts, &[0, 0, longer.len()], 2);
}

#[test]
fn a_short_text_is_not_kept() {
    check(&[(O200K, "short"), (O200K, "short and more")], &[0, 0], 0);
}

#[test]
fn only_the_newest_few_are_kept() {
    let texts: Vec<_> = (0..=KEPT_TEXTS).map(|n| long(&format!("{n} "))).collect();
    let texts: Vec<_> = texts.iter().map(|text| (O200K, text.as_str())).collect();
    check(&texts, &[0; KEPT_TEXTS + 1], KEPT_TEXTS);
}

#[test]
fn what_is_too_long_to_keep_is_forgotten_with_all_that_is_older() {
    let counted = |bytes| Counted { text: "a".repeat(bytes), counter: Counter::new(O200K) };
    let mut memory = Memory([counted(1), counted(KEPT_BYTES), counted(1)].into());
    memory.forget();
    assert_eq!(memory.0.len(), 1);
}
