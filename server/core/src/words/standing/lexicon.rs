//! The phrases of standing instructions: read once from a table, and found at a place of a text.

use std::collections::HashMap;
use std::sync::LazyLock;

static TABLE: &str = include_str!("../standing.txt");

/// The languages, as the table names them.
pub(super) const LANGUAGES: [&str; 10] =
    ["en", "de", "fr", "es", "pt", "it", "nl", "ru", "zh", "ja"];

/// Among [`LANGUAGES`].
pub(super) const ENGLISH: usize = 0;

/// What a phrase says, in the order of [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Before what a clause says: "please", "also".
    Filler,
    /// Joins two clauses: "but".
    Splits,
    /// Begins a question that may end without its mark.
    Asks,
    /// Outlives the turn: "from now on", "in this project".
    Lasting,
    /// Without the person's consent.
    Leave,
    /// At each commit, before each change.
    Ritual,
    /// "Always", "never".
    Always,
    /// Begins a prohibition.
    Forbid,
    /// Makes a clause without a subject a prohibition, wherever it stands.
    ForbidAny,
    /// Begins a prohibition of things: "no new dependencies".
    None,
    /// After a negation, no prohibition: "don't worry", "no problem".
    Idle,
    /// Points at something of this turn: "it", "the second".
    Points,
    /// Holds for now: "here", "this time".
    Passing,
    /// Begins a statement.
    Subject,
    /// "Must", "should".
    Duty,
    /// "Must not", "is off limits".
    DutyNot,
    /// "You must".
    You,
    /// "All", "each".
    Every,
    /// A preference, or a custom of the team: "I prefer", "we use".
    Prefer,
    /// Limits the work: "only change", "stick to".
    Only,
    /// To be asked first.
    Consult,
    /// "Alone", "as it is".
    Alone,
    /// "Leave", "keep".
    Leaves,
    /// A way to work: "small commits".
    Style,
    /// To write or to speak.
    Says,
    /// In a language, or in a form.
    Tongue,
    Use,
    /// Verbs of form: "name", "indent".
    Names,
    /// Instead of something, or for everything.
    Rather,
    /// "Remember", "important".
    Heed,
    /// "Make sure", "I want".
    Sure,
    /// What a program does: "fails", "returns".
    Happens,
    /// What someone says.
    Reports,
    /// How the work is done: commits, tests, comments, dependencies.
    Work,
    /// What instructions about work are about, and tasks too: files, messages.
    Topic,
    /// Words for things that are not there yet: "new", "additional".
    New,
    /// How something is to be kept: "short", "up to date".
    Quality,
    /// In a language that marks it, an order.
    Orders,
    /// Announces a list of rules.
    Rules,
    /// Verbs that begin an order. Only English has them, whose verbs look like nouns.
    Acts,
    /// What others do or did.
    Third,
    /// What the person wants, or what the team does: "I don't want", "we use".
    Custom,
    /// Only at one place: "in the".
    Local,
    /// A pronoun that is a subject.
    Pronoun,
    /// At the end of a clause, in a language without blanks, an order.
    Ends,
}

const NAMES: [(&str, Class); 45] = [
    ("filler", Class::Filler),
    ("splits", Class::Splits),
    ("asks", Class::Asks),
    ("lasting", Class::Lasting),
    ("leave", Class::Leave),
    ("ritual", Class::Ritual),
    ("always", Class::Always),
    ("forbid", Class::Forbid),
    ("forbidany", Class::ForbidAny),
    ("none", Class::None),
    ("idle", Class::Idle),
    ("points", Class::Points),
    ("passing", Class::Passing),
    ("subject", Class::Subject),
    ("duty", Class::Duty),
    ("dutynot", Class::DutyNot),
    ("you", Class::You),
    ("every", Class::Every),
    ("prefer", Class::Prefer),
    ("only", Class::Only),
    ("consult", Class::Consult),
    ("alone", Class::Alone),
    ("leaves", Class::Leaves),
    ("style", Class::Style),
    ("says", Class::Says),
    ("tongue", Class::Tongue),
    ("use", Class::Use),
    ("names", Class::Names),
    ("rather", Class::Rather),
    ("heed", Class::Heed),
    ("sure", Class::Sure),
    ("happens", Class::Happens),
    ("reports", Class::Reports),
    ("work", Class::Work),
    ("topic", Class::Topic),
    ("new", Class::New),
    ("quality", Class::Quality),
    ("orders", Class::Orders),
    ("rules", Class::Rules),
    ("acts", Class::Acts),
    ("third", Class::Third),
    ("custom", Class::Custom),
    ("local", Class::Local),
    ("pronoun", Class::Pronoun),
    ("ends", Class::Ends),
];

/// A set of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Classes(u64);

impl Classes {
    pub(super) const fn of(classes: &[Class]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < classes.len() {
            bits |= 1 << classes[at] as u64;
            at += 1;
        }
        Self(bits)
    }

    pub(super) const fn has(self, class: Class) -> bool {
        self.0 & (1 << class as u64) != 0
    }

    pub(super) const fn any(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }

    pub(super) const fn is_within(self, of: Self) -> bool {
        self.0 & !of.0 == 0
    }

    pub(super) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// The longest phrase of a language at a place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Match {
    /// In words; 0 if there is none.
    pub words: usize,
    pub classes: Classes,
}

/// A word of a phrase.
#[derive(Debug, PartialEq, Eq)]
enum Pattern {
    Word(String),
    Stem(String),
    Ending(String),
}

impl Pattern {
    fn fits(&self, word: &str) -> bool {
        match self {
            Self::Word(whole) => word == whole,
            Self::Stem(stem) => word.starts_with(stem.as_str()),
            // The ending alone is another word: "king" is no "*ing".
            Self::Ending(end) => word.len() > end.len() + 2 && word.ends_with(end.as_str()),
        }
    }
}

struct Phrase {
    language: usize,
    /// All but the first word.
    rest: Vec<Pattern>,
    classes: Classes,
}

pub(super) struct Lexicon {
    /// By the first word.
    words: HashMap<String, Vec<Phrase>>,
    /// By the stem of the first word.
    stems: HashMap<String, Vec<Phrase>>,
    /// By the length of a stem in bytes: whether there is one.
    stem_lengths: Vec<bool>,
    /// By the ending of the only word.
    endings: Vec<(Pattern, Vec<Phrase>)>,
}

pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(TABLE));

impl Lexicon {
    fn new(table: &str) -> Self {
        let mut new = Self {
            words: HashMap::new(),
            stems: HashMap::new(),
            stem_lengths: Vec::new(),
            endings: Vec::new(),
        };
        let mut class = None;
        for line in table.lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                class = NAMES.iter().find(|(known, _)| *known == name).map(|(_, class)| *class);
            } else if let Some((language, phrases)) = line.split_once(": ")
                && let Some(language) = LANGUAGES.iter().position(|known| *known == language)
                && let Some(class) = class
            {
                phrases.split(" | ").for_each(|phrase| new.add(language, class, phrase));
            }
        }
        new
    }

    fn add(&mut self, language: usize, class: Class, phrase: &str) {
        let mut patterns = patterns(phrase).into_iter();
        let classes = Classes::of(&[class]);
        let known = match patterns.next() {
            Some(Pattern::Word(word)) => self.words.entry(word).or_default(),
            Some(Pattern::Stem(stem)) => {
                if self.stem_lengths.len() <= stem.len() {
                    self.stem_lengths.resize(stem.len() + 1, false);
                }
                self.stem_lengths[stem.len()] = true;
                self.stems.entry(stem).or_default()
            }
            Some(ending @ Pattern::Ending(_)) => {
                let at = self.endings.iter().position(|(known, _)| *known == ending);
                let at = at.unwrap_or_else(|| {
                    self.endings.push((ending, Vec::new()));
                    self.endings.len() - 1
                });
                &mut self.endings[at].1
            }
            None => return,
        };
        let rest: Vec<_> = patterns.collect();
        match known.iter_mut().find(|known| known.language == language && known.rest == rest) {
            Some(known) => known.classes.add(classes),
            None => known.push(Phrase { language, rest, classes }),
        }
    }

    /// The longest phrase of each language that begins with the first of these words.
    pub(super) fn at(&self, words: &[String]) -> [Match; LANGUAGES.len()] {
        let mut best = [Match::default(); LANGUAGES.len()];
        let Some(first) = words.first() else { return best };
        let mut longest = |phrases: Option<&Vec<Phrase>>| {
            for phrase in phrases.into_iter().flatten() {
                let best = &mut best[phrase.language];
                let length = phrase.rest.len() + 1;
                let after = words.get(1..length);
                if length < best.words
                    || !after.is_some_and(|after| {
                        phrase.rest.iter().zip(after).all(|(pattern, word)| pattern.fits(word))
                    })
                {
                    continue;
                }
                if length > best.words {
                    *best = Match { words: length, classes: phrase.classes };
                } else {
                    best.classes.add(phrase.classes);
                }
            }
        };
        longest(self.words.get(first));
        for (length, _) in self.stem_lengths.iter().enumerate().filter(|(_, known)| **known) {
            longest(first.get(..length).and_then(|stem| self.stems.get(stem)));
        }
        for (ending, phrases) in &self.endings {
            longest(ending.fits(first).then_some(phrases));
        }
        best
    }
}

/// The words of a phrase, as those of a message are cut.
fn patterns(phrase: &str) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for part in phrase.split_whitespace() {
        if let Some(ending) = part.strip_prefix('*') {
            patterns.push(Pattern::Ending(ending.to_owned()));
            continue;
        }
        let (part, is_stem) = part.strip_suffix('*').map_or((part, false), |stem| (stem, true));
        patterns.extend(super::split(part).into_iter().map(Pattern::Word));
        if is_stem && let Some(Pattern::Word(last)) = patterns.pop() {
            patterns.push(Pattern::Stem(last));
        }
    }
    patterns
}

/// Whether the words of a language are written without blanks between them.
pub(super) fn has_no_blanks(language: usize) -> bool {
    language >= LANGUAGES.len() - 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::line::is_ideograph;

    #[test]
    fn every_line_of_the_table_belongs_to_a_class_and_a_language() {
        let mut class = "";
        for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                assert!(NAMES.iter().any(|(known, _)| *known == name), "{line}");
                class = name;
                continue;
            }
            let (language, phrases) = line.split_once(": ").unwrap();
            assert!(LANGUAGES.contains(&language) && !class.is_empty(), "{line}");
            for phrase in phrases.split(" | ") {
                let patterns = patterns(phrase);
                assert!(!patterns.is_empty(), "{class} {language}: {phrase}");
            }
        }
    }

    #[test]
    fn every_class_has_its_own_name() {
        for (at, (name, class)) in NAMES.iter().enumerate() {
            assert_eq!(*class as usize, at, "{name}");
        }
    }

    #[test]
    fn an_ideograph_is_a_word() {
        assert!(is_ideograph('不'));
        assert_eq!(patterns("不要").len(), 2);
    }
}
