//! Features that both classifiers take from tokens: words and their neighbors, sentences, sizes.

use super::concepts;
use super::line::{is_ideograph, is_syllable};
use super::model::{Features, hash, join};
use super::tokens::{Token, TokenKind};

/// Where in a message a sentence stands.
pub(super) const ANYWHERE: u32 = 11;
pub(super) const FIRST: u32 = 12;
pub(super) const LAST: u32 = 13;

/// Sentences, each with the mark that ends it.
pub(super) fn sentences(tokens: &[Token]) -> Vec<&[Token]> {
    tokens
        .split_inclusive(|token| matches!(token.kind, TokenKind::Stop | TokenKind::Question))
        .collect()
}

/// Words, pairs, what is written without blanks by threes, and words of other languages in English, all of them under one
/// salt.
pub(super) fn words(features: &mut Features, sentence: &[Token], salt: u32) {
    let mut before = (hash(b"^", 8), None);
    for token in sentence {
        let at = before.1.unwrap_or(token.from);
        if token.kind != TokenKind::Comma {
            features.text(join(token.hash, salt), token.from, token.to);
        }
        features.text(join(join(before.0, token.hash), salt), at, token.to);
        before = (token.hash, Some(token.from));
    }
    for part in sentence.windows(3) {
        let [first, second, third] = part else { continue };
        // Two characters are hardly more than a word.
        let together = first.to == second.from && second.to == third.from;
        if together && second.kind == TokenKind::Word {
            let hash = join(join(first.hash, second.hash), third.hash);
            features.text(join(hash, join(salt, 3)), first.from, third.to);
        }
    }
    concepts::each(sentence, |english, from, to| features.text(join(english, salt), from, to));
}

/// The name for a count: none, one, few, many.
pub(super) fn amount(count: u32, names: [&'static str; 4]) -> &'static str {
    names[match count {
        0 => 0,
        1 => 1,
        2..=4 => 2,
        _ => 3,
    }]
}

pub(super) fn asks(sentence: &[Token]) -> bool {
    sentence.last().is_some_and(|token| token.kind == TokenKind::Question)
}

/// What a sentence does to the claims in it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Modality {
    pub negated: bool,
    pub conditional: bool,
    pub future: bool,
}

/// Words that turn a claim into its opposite, put it under a condition, or put it off, in the languages that the
/// trainer's sentences are written in.
pub(super) struct ModalWords {
    words: Vec<(u32, u8)>,
}

const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "never",
    "none",
    "cannot",
    "can't",
    "isn't",
    "aren't",
    "don't",
    "doesn't",
    "didn't",
    "won't",
    "wasn't",
    "weren't",
    "hasn't",
    "haven't",
    "couldn't",
    "wouldn't",
    "without",
    "neither",
    "nothing",
    "nicht",
    "kein",
    "keine",
    "noch",
    "nie",
    "ohne",
    "pas",
    "jamais",
    "aucun",
    "aucune",
    "sans",
    "ninguna",
    "ningún",
    "nunca",
    "sin",
    "não",
    "nenhum",
    "nenhuma",
    "sem",
    "未",
    "没",
    "不",
    "无",
    "ない",
    "ません",
];
const CONDITIONS: &[&str] = &[
    "if", "once", "when", "until", "unless", "before", "whether", "while", "should", "would",
    "could", "might", "wenn", "sobald", "falls", "bevor", "bis", "ob", "si", "quand", "lorsque",
    "dès", "avant", "jusqu'à", "cuando", "hasta", "antes", "se", "quando", "até", "assim", "如",
    "若", "等", "ら",
];
const FUTURES: &[&str] = &[
    "will",
    "i'll",
    "we'll",
    "going",
    "let's",
    "let",
    "next",
    "now",
    "werde",
    "nächstes",
    "vais",
    "ensuite",
    "voy",
    "siguiente",
    "vou",
    "próximo",
    "接",
    "次",
    "将",
];

impl ModalWords {
    pub(super) fn new() -> Self {
        let groups = [(NEGATIONS, 1), (CONDITIONS, 2), (FUTURES, 4)];
        let mut words: Vec<(u32, u8)> = groups
            .iter()
            .flat_map(|(list, bit)| list.iter().map(|word| (word_hash(word), *bit)))
            .collect();
        words.sort_unstable();
        Self { words }
    }

    pub(super) fn of(&self, sentence: &[Token]) -> Modality {
        let bits = sentence
            .iter()
            .filter(|token| token.kind == TokenKind::Word)
            .filter_map(|token| self.words.binary_search_by_key(&token.hash, |word| word.0).ok())
            .fold(0, |bits, at| bits | self.words[at].1);
        Modality { negated: bits & 1 != 0, conditional: bits & 2 != 0, future: bits & 4 != 0 }
    }
}

fn word_hash(word: &str) -> u32 {
    let mut chars = word.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if is_ideograph(c) || is_syllable(c) => hash(word.as_bytes(), 7),
        _ => hash(word.as_bytes(), 0),
    }
}
