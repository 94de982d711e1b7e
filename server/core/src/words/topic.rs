//! What a message is about, as far as its words tell: its words and numbers and the words inside its names, in prose, code and
//! logs alike, without the most common ones and without their endings.

use super::line::{is_ideograph, is_syllable};
use super::model::hash;
use super::tokens::{self, ReadingWindow};
use crate::steps;
use std::sync::LazyLock;

/// Keeps the hashes of words apart from others.
const SALT: u32 = 8;
/// In bytes. Shorter words tell nothing.
const SHORTEST: usize = 3;
/// The fewest digits of a number that may name something, such as an issue.
const SHORTEST_NUMBER: usize = 2;
/// In bytes. A longer run of letters is no word.
const LONGEST: usize = 40;

/// The most common words, which say nothing about a topic.
const COMMON: &str = "\
    able about above across actually add after again against ain all almost alone along already also although \
    always among and another any anyone anything anyway are aren around ask asked away back bad because been \
    before begin being below best better between big both bring but call came can cannot case cause change check \
    clear come comes complete could couldn course day days did didn different does doesn doing don done down \
    during each early easy either else end ended enough even ever every everyone everything exactly example fact \
    far few find fine first follow following for found four from full further gave general get gets getting give \
    given gives goes going gone good got great had hadn half hand happen happened happens hard has hasn have \
    haven having hello help her here high him his hold hope how however idea important instead into isn issue \
    its itself job just keep kept kind knew know known large last late later least left less let lets like \
    likely line little long look looked looking looks lot made main make makes making many may maybe mean means \
    might mind moment more most move much must need needed needs never new next nice non none nope not nothing \
    now number off okay old once one ones only open order other others our out over own part past people perhaps \
    place please point possible probably problem put question quick quite rather read ready real really reason \
    right run said same saw say saying says second see seem seems seen set several shall she short should \
    shouldn show side simple simply since small some someone something sometimes soon sorry sort start started \
    state still stop such sure take taken takes taking talk tell than thank thanks that the their them then \
    there therefore these they thing things think this those though thought three through time times today \
    together told too took toward tried true try trying turn two under until upon use used useful uses using \
    usually very via wait want wanted wants was wasn way ways well went were weren what when where whether which \
    while who whole whose why will with within without won word work working works would wouldn write wrong yeah \
    year yes yet you your aber als auch auf aus bei bitte das dass dem den der des die dies diese dieser doch \
    ein eine einen einer für hat ich ist jetzt kann kein mal mit nach nicht noch nur oder schon sich sie sind \
    und uns von vor war wenn werden wie wir wird zum zur aux avec cela ces cette dans donc elle est être fait \
    faire les leur mais nous par pas peut plus pour que qui sans ses son sont sur tout une vous como con cuando \
    del desde donde ella ese eso esta está este esto hay las los más muy para pero por porque sea ser sin sobre \
    sus también tiene todo una aos com dos ela ele esse essa foi isso mas muito não pela pelo quando sem seu sua \
    são também tem uma você";

static COMMON_HASHES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut hashes: Vec<u32> =
        COMMON.split_whitespace().map(|word| hash(stem(word).as_bytes(), SALT)).collect();
    hashes.sort_unstable();
    hashes
});

/// The words of some messages, each once.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Topic(Vec<u32>);

/// How much of a message is about the work at hand, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SharedTopic {
    /// Words of the message.
    pub words: u32,
    /// Those that the work at hand has too.
    pub shared: u32,
    /// Those that the agent's last message has.
    pub said: u32,
    /// Those that the person's messages before it have.
    pub asked: u32,
}

impl Topic {
    pub fn of(message: &str, reading: ReadingWindow) -> Self {
        let mut topic = Self::default();
        topic.add(message, reading);
        topic
    }

    pub fn add(&mut self, message: &str, reading: ReadingWindow) {
        let (head, tail) = tokens::ends(message, reading);
        read(&message[..head], &mut self.0);
        read(&message[tail..], &mut self.0);
        self.0.sort_unstable();
        self.0.dedup();
    }

    fn has(&self, word: u32) -> bool {
        self.0.binary_search(&word).is_ok()
    }

    /// What this message shares with what was asked and what was said before it.
    pub fn shared(&self, asked: &Self, said: &Self) -> SharedTopic {
        let mut shared = SharedTopic::default();
        for word in &self.0 {
            let (is_asked, is_said) = (asked.has(*word), said.has(*word));
            shared.words += 1;
            shared.shared += u32::from(is_asked || is_said);
            shared.said += u32::from(is_said);
            shared.asked += u32::from(is_asked);
        }
        shared
    }
}

/// What a character is to the words of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Letter,
    Digit,
    /// Two of them side by side make a word.
    Ideograph,
    Other,
}

impl CharClass {
    fn of(c: char) -> Self {
        match c {
            // Hiragana is mostly grammar.
            '\u{3040}'..='\u{309f}' => Self::Other,
            c if is_ideograph(c) || is_syllable(c) => Self::Ideograph,
            c if c.is_alphabetic() => Self::Letter,
            c if c.is_ascii_digit() => Self::Digit,
            _ => Self::Other,
        }
    }
}

fn read(text: &str, found: &mut Vec<u32>) {
    steps::add(text.len());
    let mut word = String::new();
    let mut before = (' ', CharClass::Other);
    for c in text.chars() {
        let class = CharClass::of(c);
        // "camelCase" is two words.
        let goes_on = class == before.1 && !(c.is_uppercase() && before.0.is_lowercase());
        match class {
            CharClass::Letter | CharClass::Digit => {
                if !goes_on {
                    end(&mut word, found);
                }
                word.extend(c.to_lowercase());
            }
            CharClass::Ideograph => {
                end(&mut word, found);
                if goes_on {
                    let pair: String = [before.0, c].iter().collect();
                    found.push(hash(pair.as_bytes(), SALT));
                }
            }
            CharClass::Other => end(&mut word, found),
        }
        before = (c, class);
    }
    end(&mut word, found);
}

fn end(word: &mut String, found: &mut Vec<u32>) {
    steps::add(word.len());
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    let shortest = if is_number { SHORTEST_NUMBER } else { SHORTEST };
    if (shortest..=LONGEST).contains(&word.len()) {
        let hash = hash(stem(word).as_bytes(), SALT);
        if COMMON_HASHES.binary_search(&hash).is_err() {
            found.push(hash);
        }
    }
    word.clear();
}

/// Equal for "file" and "files", and for "parse", "parses", "parsed" and "parsing".
fn stem(word: &str) -> &str {
    let without = |word, endings: &[&str]| -> Option<&str> {
        let mut stems = endings.iter().filter_map(|ending| str::strip_suffix(word, ending));
        stems.find(|stem| stem.len() >= SHORTEST)
    };
    let singular = if word.ends_with("ss") { None } else { without(word, &["s"]) };
    let word = singular.unwrap_or(word);
    let word = without(word, &["ing", "ed"]).unwrap_or(word);
    without(word, &["ie", "e", "y"]).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::super::tokens::Masking;
    use super::*;

    const WHOLE: ReadingWindow = ReadingWindow { head: 1000, tail: 0, masking: Masking::Code };

    fn topic(message: &str) -> Topic {
        Topic::of(message, WHOLE)
    }

    #[test]
    fn a_topic_has_the_words_that_tell_something() {
        let check =
            |message: &str, same: &str| assert_eq!(topic(message), topic(same), "{message}");
        check("Can you please fix the parsers?", "fix parser");
        check("It doesn't look right, does it?", "");
        check("a file, files", "file");
        check("parse, parses, parsed, parsing", "parse");
        check("query, queries", "query");
        check("class, classes", "class");
        check("a string of strings", "string");
        check("parseConfig in src/config_reader.rs", "parse config src reader");
        check("issue #172, not #173", "172 173");
        check("Über die Größe von Tabellen", "über größe tabellen");
        check("解析器已修复", "解析 析器 器已 已修 修复");
        check("パーサを直した", "パーサ");
    }

    #[test]
    fn a_message_shares_words_with_what_was_asked_and_said() {
        let (asked, said) =
            (topic("The parser drops commas"), topic("The parser keeps commas now"));
        let shared =
            topic("Why does the parser drop semicolons but keep colons?").shared(&asked, &said);
        assert_eq!(shared, SharedTopic { words: 4, shared: 2, said: 1, asked: 2 });
    }

    #[test]
    fn a_hostile_text_costs_linear_work() {
        let cost = |text: &str| {
            steps::take();
            Topic::of(
                text,
                ReadingWindow { head: usize::MAX / 4, tail: 0, masking: Masking::Code },
            );
            steps::take()
        };
        for text in ["aA", "a1", "漢", "x", "é "] {
            let (once, twice) = (cost(&text.repeat(20_000)), cost(&text.repeat(40_000)));
            assert!(twice <= once * 2 + 100, "{text}: {once}, then {twice}");
        }
    }
}
