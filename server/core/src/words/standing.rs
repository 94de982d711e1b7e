//! Standing instructions: sentences of a person about how to work that outlive their turn. Rules over classes of phrases
//! (`standing.txt`), the same for ten languages. Quotes, code, pasted output and questions are no instructions.

mod lexicon;

use super::line::is_ideograph;
use super::tokens::{self, Masking, ReadingWindow, Token, TokenKind};
use crate::steps;
use lexicon::{Class, Classes, LANGUAGES, LEXICON, Match};

/// Both ends of a message; what is longer was pasted.
const READING: ReadingWindow =
    ReadingWindow { head: 16_000, tail: 16_000, masking: Masking::AllQuotes };
/// A longer sentence, in characters, is a task.
const LONGEST: usize = 300;

/// A sentence of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence<'m> {
    /// Word for word, without the mark of a list entry.
    pub text: &'m str,
    /// Whether it is a standing instruction.
    pub stands: bool,
}

/// The sentences of a person's message that are prose and short enough for an instruction.
pub fn sentences(message: &str) -> Vec<Sentence<'_>> {
    let read = tokens::read(message, READING);
    let mut found = Vec::new();
    let mut in_rules = false;
    for tokens in split_sentences(&read.list, message) {
        let entry = tokens.first().is_some_and(Token::is_entry);
        let is_prose = |token: &&Token| !matches!(token.kind, TokenKind::Mark | TokenKind::Stop);
        let Some(first) = tokens.iter().find(is_prose) else { continue };
        let last = tokens.last().unwrap_or(first);
        let text = message[first.from as usize..last.to as usize].trim_end();
        let asks = last.kind == TokenKind::Question;
        let readable = text.chars().take(LONGEST + 1).count() <= LONGEST;
        let reading = readable.then(|| Reading::new(message, tokens));
        let stands = !asks
            && reading.as_ref().is_some_and(|reading| {
                reading.is_instruction() || in_rules && entry && !reading.is_passing()
            });
        in_rules = in_rules && entry || reading.is_some_and(|reading| reading.announces_rules());
        if readable && !asks && tokens.iter().any(|token| token.kind == TokenKind::Word) {
            found.push(Sentence { text, stands });
        }
    }
    found
}

/// Sentences, each with what ends it. The period of "e.g." or "z. B." ends none.
fn split_sentences<'t>(tokens: &'t [Token], message: &str) -> Vec<&'t [Token]> {
    let text = |token: &Token| &message[token.from as usize..token.to as usize];
    let is_letter = |text: &str| text.len() == 1 && text.starts_with(char::is_lowercase);
    let abbreviates = |text: &str| {
        is_letter(text) || text.rsplit_once('.').is_some_and(|(_, last)| is_letter(last))
    };
    let ends = |at: usize| {
        let token = &tokens[at];
        let before = at.checked_sub(1).map(|before| text(&tokens[before]));
        matches!(token.kind, TokenKind::Stop | TokenKind::Question)
            && !(text(token) == "." && before.is_some_and(abbreviates))
    };
    let mut sentences = Vec::new();
    let mut from = 0;
    for at in 0..tokens.len() {
        if ends(at) {
            sentences.push(&tokens[from..=at]);
            from = at + 1;
        }
    }
    sentences.push(&tokens[from..]);
    sentences
}

/// Words in lowercase, an ideograph alone.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut open = false;
    for c in text.chars() {
        let c = if c == '\u{2019}' { '\'' } else { c };
        let alone = is_ideograph(c);
        if alone || !(c.is_alphanumeric() || c == '\'') {
            open = false;
            if alone {
                words.push(c.to_string());
            }
            continue;
        }
        if !open {
            words.push(String::new());
            open = true;
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// One sentence as words, with the phrases of each language at each of them.
struct Reading {
    /// A name of code and anything masked is an empty word.
    words: Vec<String>,
    names: Vec<bool>,
    /// Ranges of words between the signs of the sentence.
    clauses: Vec<std::ops::Range<usize>>,
    matches: Vec<[Match; LANGUAGES.len()]>,
    /// Whether a colon or a heading announces what follows.
    announces: bool,
}

impl Reading {
    fn new(message: &str, tokens: &[Token]) -> Self {
        let mut new = Self {
            words: Vec::new(),
            names: Vec::new(),
            clauses: Vec::new(),
            matches: Vec::new(),
            announces: false,
        };
        let mut from = 0;
        for token in tokens {
            match token.kind {
                TokenKind::Word => {
                    new.words.push(
                        message[token.from as usize..token.to as usize]
                            .to_lowercase()
                            .replace('\u{2019}', "'"),
                    );
                    new.names.push(false);
                }
                TokenKind::Name | TokenKind::Masked => {
                    new.words.push(String::new());
                    new.names.push(token.kind == TokenKind::Name);
                }
                TokenKind::Comma => {
                    new.clauses.push(from..new.words.len());
                    from = new.words.len();
                }
                TokenKind::Mark => new.announces |= token.is_heading(),
                TokenKind::Stop | TokenKind::Question => {}
            }
        }
        new.announces |= !new.words.is_empty() && from == new.words.len();
        new.clauses.push(from..new.words.len());
        steps::add(new.words.len());
        let places = 0..new.words.len();
        new.matches = places.map(|at| LEXICON.at(&new.words[at..])).collect();
        new
    }

    fn is_instruction(&self) -> bool {
        let known: Vec<_> =
            (0..LANGUAGES.len()).map(|language| self.known_words(language)).collect();
        let most = known.iter().copied().max().filter(|known| *known > 0);
        (0..LANGUAGES.len())
            .filter(|language| Some(known[*language]) == most)
            .any(|language| InLanguage { reading: self, language }.says())
    }

    /// How many words belong to phrases of a language. A sentence is read in the languages with most of them.
    fn known_words(&self, language: usize) -> usize {
        let (mut at, mut known) = (0, 0);
        while let Some(found) = self.matches.get(at) {
            if !found[language].classes.is_within(ENDINGS) {
                known += found[language].words;
            }
            at += found[language].words.max(1);
        }
        known
    }

    /// Whether it holds for now, in any language.
    fn is_passing(&self) -> bool {
        let passing = Classes::of(&[Class::Passing, Class::Asks]);
        self.matches.iter().flatten().any(|found| found.classes.any(passing))
    }

    fn announces_rules(&self) -> bool {
        const MOST_WORDS: usize = 12;
        let rules = |found: &Match| found.classes.has(Class::Rules);
        self.announces && self.words.len() <= MOST_WORDS && self.matches.iter().flatten().any(rules)
    }
}

/// Endings alone tell no language.
const ENDINGS: Classes = Classes::of(&[Class::New, Class::Third]);

/// A sentence, read in one language.
struct InLanguage<'r> {
    reading: &'r Reading,
    language: usize,
}

/// What a clause says.
#[derive(Debug, Default)]
struct Clause {
    /// Classes of the phrases before what it says.
    before: Classes,
    /// Classes of the phrase that begins the clause.
    start: Classes,
    /// Classes of the phrase after that.
    next: Classes,
    /// Classes of the first few phrases after that.
    near: Classes,
    /// Classes of the phrase after the first of [`Class::Always`].
    after_always: Classes,
    /// Classes of all phrases, those before included.
    all: Classes,
    /// Whether it says, after its beginning, what a program does.
    happens: bool,
    /// Whether it goes on with the statement before it: "they pause but don't resume".
    goes_on: bool,
    /// How many words there are from its beginning on.
    words: usize,
}

const FIRM: Classes = Classes::of(&[Class::Lasting, Class::Ritual, Class::Leave]);
const PREFIX: Classes = Classes::of(&[
    Class::Filler,
    Class::Lasting,
    Class::Ritual,
    Class::Leave,
    Class::Heed,
    Class::Sure,
]);
/// In a language without blanks, one of these makes a clause an order.
const ORDERS: Classes =
    Classes::of(&[Class::Orders, Class::Always, Class::Forbid, Class::ForbidAny, Class::Duty]);
/// In a language whose verbs look like nouns, one of these begins an order.
const ADDRESSES: Classes = Classes::of(&[
    Class::Acts,
    Class::Always,
    Class::Consult,
    Class::Duty,
    Class::Every,
    Class::Forbid,
    Class::Leaves,
    Class::Names,
    Class::None,
    Class::Only,
    Class::Says,
    Class::Style,
    Class::Use,
    Class::Work,
]);

impl InLanguage<'_> {
    fn says(&self) -> bool {
        let clauses = self.clauses();
        // What stands alone between two signs belongs to the whole sentence: "…, always."
        let mut around = Classes::default();
        for clause in clauses.iter().filter(|clause| clause.words == 0) {
            around.add(clause.before);
        }
        let alone = |clause: &Clause| clause.words == 1 && clause.start.has(Class::Always);
        if clauses.len() > 1 && clauses.iter().any(alone) {
            around.add(Classes::of(&[Class::Lasting]));
        }
        let tongue = |clause: &Clause| clause.words == 1 && clause.start.has(Class::Tongue);
        if clauses.iter().skip(1).any(tongue) {
            around.add(Classes::of(&[Class::Tongue]));
        }
        // "Use this, not that."
        if clauses.iter().skip(1).any(|clause| clause.start.has(Class::Rather)) {
            around.add(Classes::of(&[Class::Rather]));
        }
        for clause in &clauses {
            if clause.words > 0 && self.instructs(clause, around) {
                return true;
            }
            if clause.before.any(FIRM) {
                around.add(clause.before);
            }
        }
        false
    }

    fn found(&self, at: usize) -> Match {
        self.reading.matches[at][self.language]
    }

    fn clauses(&self) -> Vec<Clause> {
        let mut clauses: Vec<Clause> = Vec::new();
        for range in &self.reading.clauses {
            let (mut from, mut at) = (range.start, range.start);
            while at < range.end {
                let found = self.found(at);
                if found.classes.has(Class::Splits) && at > from {
                    let mut clause = self.clause(from..at);
                    clause.goes_on = from > range.start && goes_on(clauses.last(), &clause);
                    clauses.push(clause);
                    from = at + found.words;
                }
                at += found.words.max(1);
            }
            let mut clause = self.clause(from.min(range.end)..range.end);
            clause.goes_on = from > range.start && goes_on(clauses.last(), &clause);
            clauses.push(clause);
        }
        clauses
    }

    fn clause(&self, range: std::ops::Range<usize>) -> Clause {
        const NEAR: usize = 4;
        let mut clause = Clause::default();
        let mut at = range.start;
        let fits = |found: Match, at| found.words > 0 && at + found.words <= range.end;
        while at < range.end {
            let found = self.found(at);
            if !found.classes.any(PREFIX) || !fits(found, at) {
                break;
            }
            clause.before.add(found.classes);
            at += found.words;
        }
        clause.words = range.end - at;
        clause.all = clause.before;
        let mut nth = 0;
        let mut always = None;
        while at < range.end {
            let found = self.found(at);
            let mut classes = if fits(found, at) { found.classes } else { Classes::default() };
            if self.reading.names[at] {
                classes.add(Classes::of(&[Class::Topic]));
            }
            clause.all.add(classes);
            clause.happens |= nth > 0 && classes.has(Class::Happens);
            match nth {
                0 => clause.start = classes,
                1 => clause.next = classes,
                _ => {}
            }
            if (1..=NEAR).contains(&nth) {
                clause.near.add(classes);
            }
            if always.is_some_and(|always| always + 1 == nth) {
                clause.after_always.add(classes);
            }
            if always.is_none() && classes.has(Class::Always) {
                always = Some(nth);
            }
            at += if fits(found, at) { found.words } else { 1 };
            if at == range.end && classes.has(Class::Ends) {
                clause.all.add(Classes::of(&[Class::Orders]));
            }
            nth += 1;
        }
        clause
    }

    /// The rules, from those that need least besides them.
    fn instructs(&self, clause: &Clause, around: Classes) -> bool {
        let Clause { start, next, near, mut all, happens, words, .. } = *clause;
        all.add(around);
        let any = |classes: &[Class]| start.any(Classes::of(classes));
        let no_blanks = lexicon::has_no_blanks(self.language);
        if start.has(Class::Asks) && !clause.before.has(Class::Lasting)
            || no_blanks && all.has(Class::Asks)
            || all.has(Class::Reports)
        {
            return false;
        }
        let (firm, points) = (all.any(FIRM), all.has(Class::Points));
        if clause.goes_on || all.has(Class::Passing) && !firm {
            return false;
        }
        if any(&[Class::You, Class::Prefer]) {
            return !points && !next.has(Class::Idle) && words > 1;
        }
        if start.has(Class::Custom) {
            return !points && !next.has(Class::Idle) && all.has(Class::Work);
        }
        let subject = start.has(Class::Subject);
        let work = all.has(Class::Work);
        let topic = work || all.has(Class::Topic);
        let duty = all.any(Classes::of(&[Class::Duty, Class::DutyNot]));
        let idle = any(&[Class::Idle]) || next.has(Class::Idle);
        let ordered = if no_blanks {
            all.any(ORDERS)
        } else {
            // "Search must" begins with a noun.
            let noun = start.has(Class::Acts) && next.has(Class::Duty);
            self.language != lexicon::ENGLISH || start.any(ADDRESSES) && !noun
        };
        let lasts = all.any(Classes::of(&[Class::Lasting, Class::Leave]));
        if firm && (lasts || !points) {
            return if subject { duty && topic && !happens } else { ordered && (!happens || duty) };
        }
        if start.has(Class::None) {
            let about = near.has(Class::Work) || next.has(Class::New) && topic;
            return about && !idle && !happens && !points;
        }
        let third = clause.after_always.has(Class::Third) && !clause.after_always.has(Class::Acts);
        if start.has(Class::Forbid) {
            let points = near.has(Class::Points) && !start.has(Class::Always);
            return !idle && !points && words > 1 && !third;
        }
        if all.has(Class::ForbidAny) && !subject && !points && !happens && words > 1 {
            return !all.has(Class::Idle) && !all.has(Class::Pronoun);
        }
        if all.has(Class::Always) && !happens && words > 1 {
            return !idle
                && !third
                && (!points || start.has(Class::Always))
                && if subject { duty && work } else { ordered && !all.has(Class::Pronoun) };
        }
        if points || happens {
            return false;
        }
        let about_work = any(&[Class::Work]) || any(&[Class::Every]) && near.has(Class::Work);
        if all.has(Class::DutyNot) {
            return about_work
                || subject && topic && next.any(Classes::of(&[Class::Work, Class::Topic]));
        }
        if all.has(Class::Duty) && about_work {
            return true;
        }
        if subject {
            return false;
        }
        let concrete = next.has(Class::Subject);
        let tongue = all.has(Class::Tongue);
        let local = all.has(Class::Local);
        any(&[Class::Only]) && topic
            || all.has(Class::Only) && tongue
            || any(&[Class::Consult])
            || all.has(Class::Use) && all.has(Class::Every) && work && !local
            || any(&[Class::Leaves]) && (all.has(Class::Alone) || topic && all.has(Class::Quality))
            || any(&[Class::Style])
            || near.has(Class::Style)
            || tongue && any(&[Class::Says, Class::Work, Class::Topic, Class::Every, Class::Use])
            || !local
                && any(&[Class::Use])
                && !concrete
                && (near.has(Class::Work) || work && all.has(Class::Rather))
            || !local && any(&[Class::Names]) && !concrete && near.has(Class::Work)
            || clause.before.has(Class::Sure) && all.has(Class::Every) && work
    }
}

/// Whether a clause behind "and" or "but" has the subject of the one before it. "Please" turns to the agent again.
fn goes_on(before: Option<&Clause>, clause: &Clause) -> bool {
    before.is_some_and(|before| {
        (before.start.has(Class::Subject) || before.goes_on || before.happens)
            && !before.start.any(Classes::of(&[Class::You, Class::Prefer]))
    }) && !clause.before.has(Class::Filler)
}
