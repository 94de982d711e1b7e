//! Classes of words that say what a message does, whatever it is about. A class counts as one trait, so what is learned
//! of one of its words holds for the others, in every language.

use super::line::is_ideograph;
use super::model::hash;
use super::tokens::{Token, TokenKind};

/// A class, and its words.
struct WordClass {
    name: &'static str,
    words: &'static [&'static str],
}

const CLASSES: [WordClass; 12] = [
    WordClass {
        name: "speaks of a review",
        words: &[
            "review",
            "reviews",
            "reviewer",
            "comment",
            "comments",
            "feedback",
            "severity",
            "copilot",
            "finding",
            "findings",
            "nitpick",
            "nitpicks",
            "nit",
            "bot",
            "kommentare",
            "commentaires",
            "comentarios",
            "comentários",
            "审",
            "レ",
        ],
    },
    WordClass {
        name: "speaks of a commit or a release",
        words: &[
            "commit",
            "committed",
            "commits",
            "push",
            "pushed",
            "pr",
            "merge",
            "squash",
            "deploy",
            "release",
            "ship",
            "publish",
            "draft",
            "committe",
            "commite",
            "pushe",
            "pousse",
            "提",
            "推",
        ],
    },
    WordClass {
        name: "speaks of branches",
        words: &[
            "branch",
            "branches",
            "rebase",
            "conflict",
            "conflicts",
            "main",
            "master",
            "origin",
            "upstream",
            "stack",
        ],
    },
    WordClass {
        name: "moves on",
        words: &[
            "next",
            "another",
            "now",
            "then",
            "start",
            "begin",
            "moving",
            "move",
            "before",
            "continue",
            "let's",
            "lets",
            "nun",
            "jetzt",
            "als",
            "nächstes",
            "maintenant",
            "ensuite",
            "ahora",
            "siguiente",
            "agora",
            "próximo",
            "接",
            "次",
        ],
    },
    WordClass {
        name: "corrects",
        words: &[
            "still", "not", "wrong", "instead", "but", "actually", "hmm", "wait", "broken",
            "again", "fails", "failing", "doesn't", "isn't", "didn't", "nope", "no", "error",
            "errors", "should", "noch", "nicht", "falsch", "aber", "doch", "encore", "pas", "mais",
            "toujours", "sigue", "pero", "todavía", "ainda", "mas", "还", "不", "まだ",
        ],
    },
    WordClass {
        name: "agrees",
        words: &[
            "yes", "yeah", "yep", "yup", "ok", "okay", "sure", "go", "lgtm", "right", "ja", "gut",
            "oui", "sí", "vale", "sim", "好", "是", "は",
        ],
    },
    WordClass {
        name: "thanks or praises",
        words: &[
            "thanks",
            "thank",
            "thx",
            "great",
            "perfect",
            "nice",
            "cool",
            "awesome",
            "excellent",
            "love",
            "danke",
            "perfekt",
            "super",
            "merci",
            "parfait",
            "gracias",
            "perfecto",
            "obrigado",
            "perfeito",
            "谢",
        ],
    },
    WordClass {
        name: "points back",
        words: &[
            "it", "this", "that", "these", "those", "they", "them", "above", "there", "same",
            "both", "das", "es", "diese", "cela", "ça", "esto", "eso", "isso", "这", "那", "こ",
            "そ",
        ],
    },
    WordClass {
        name: "asks for a change",
        words: &[
            "add",
            "fix",
            "update",
            "create",
            "write",
            "remove",
            "implement",
            "change",
            "make",
            "rename",
            "refactor",
            "use",
            "delete",
            "move",
            "replace",
            "build",
            "füge",
            "behebe",
            "schreibe",
            "ajoute",
            "corrige",
            "écris",
            "añade",
            "arregla",
            "escribe",
            "adicione",
            "corrija",
            "加",
            "改",
            "修",
        ],
    },
    WordClass {
        name: "asks to look",
        words: &[
            "check",
            "look",
            "investigate",
            "explain",
            "show",
            "list",
            "analyze",
            "summarize",
            "research",
            "find",
            "verify",
            "examine",
            "prüfe",
            "erkläre",
            "vérifie",
            "explique",
            "revisa",
            "explica",
            "verifique",
            "查",
            "看",
        ],
    },
    WordClass {
        name: "speaks to you",
        words: &[
            "i", "you", "we", "me", "us", "our", "my", "your", "i'd", "i'm", "i've", "let's",
            "lets", "please", "we're", "ich", "du", "wir", "bitte", "je", "tu", "nous", "vous",
            "yo", "tú", "usted", "eu", "você", "我", "你", "请",
        ],
    },
    WordClass {
        name: "asks why or how",
        words: &[
            "why", "how", "what", "where", "which", "when", "does", "is", "are", "did", "warum",
            "wie", "was", "wo", "pourquoi", "comment", "qué", "cómo", "dónde", "porque", "como",
            "什", "怎", "何",
        ],
    },
];

const SPEAKS_TO_YOU: usize = 10;

/// The classes of some tokens.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Classes(u16);

impl Classes {
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        CLASSES
            .iter()
            .enumerate()
            .filter(move |(at, _)| self.0 & (1 << at) != 0)
            .map(|(_, c)| c.name)
    }

    pub(super) fn bits(self) -> u32 {
        u32::from(self.0)
    }

    /// A text that addresses no one, such as the finding of a reviewer.
    pub(super) fn addresses_no_one(self) -> bool {
        self.0 & (1 << SPEAKS_TO_YOU) == 0
    }
}

/// Some classes, by the hashes of their words.
pub(super) struct ClassTable(Vec<(u32, u16)>);

impl ClassTable {
    /// The classes of a person's message.
    pub(super) fn of_people() -> Self {
        Self::new(CLASSES.iter().map(|class| class.words.iter().copied()))
    }

    pub(super) fn new<'a>(classes: impl Iterator<Item = impl Iterator<Item = &'a str>>) -> Self {
        let mut all: Vec<(u32, u16)> = Vec::new();
        for (at, words) in classes.enumerate() {
            for word in words {
                // An ideograph is a token of its own.
                let single = word.chars().next().is_some_and(is_ideograph);
                let first = word.chars().next().map_or(0, char::len_utf8);
                let hash = if single {
                    hash(&word.as_bytes()[..first], 7)
                } else {
                    hash(word.as_bytes(), 0)
                };
                match all.iter_mut().find(|(old, _)| *old == hash) {
                    Some((_, bits)) => *bits |= 1 << at,
                    None => all.push((hash, 1 << at)),
                }
            }
        }
        all.sort_unstable();
        Self(all)
    }

    pub(super) fn of(&self, tokens: &[Token]) -> Classes {
        let words = tokens.iter().filter(|token| token.kind == TokenKind::Word);
        let found =
            words.filter_map(|token| self.0.binary_search_by_key(&token.hash, |w| w.0).ok());
        Classes(found.fold(0, |bits, at| bits | self.0[at].1))
    }
}
