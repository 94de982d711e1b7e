//! Whether an agent's last message claims that the work is done, or announces another phase.

use super::classes::ClassTable;
use super::model::{Features, join, logistic, trait_feature};
use super::probability::{Evidence, Probability};
use super::stance;
use super::tokens::{self, Masking, ReadingWindow, TokenizedMessage};
use super::traits::{self, ANYWHERE, FIRST, LAST, ModalWords};
use super::weights::CLAIM;
use std::sync::LazyLock;

/// Rows of the table.
pub const ROWS: u32 = 21_800;
/// What the classifier answers, in the order of the table.
pub const HEADS: [&str; 2] = ["done", "announces"];

/// From this probability on, a message counts as one that claims to be done or announces another phase.
pub const HEARD_FROM: Probability = Probability::of_thousandths(700);
/// From this probability on, a completed turn may propose, where the person's next message decides.
pub const POSSIBLE_FROM: Probability = Probability::of_thousandths(100);

const READING: ReadingWindow = ReadingWindow { head: 300, tail: 900, masking: Masking::Quotes };

const NO_QUESTION: &str = "no question near the end";
const NO_HEADING: &str = "no heading";
/// Bits of a sentence's mood.
const ASKS: usize = 1;
const NEGATED: usize = 1 << 1;
const CONDITIONAL: usize = 1 << 2;
/// So many moods there are.
const MOODS: usize = 1 << 3;

static MODAL_WORDS: LazyLock<ModalWords> = LazyLock::new(ModalWords::new);
static STANCES: LazyLock<ClassTable> = LazyLock::new(stance::table);

/// What an agent's last message says about its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// That it claims that the work, or a phase of it, is complete.
    pub done: Probability,
    /// That it announces a phase that comes next.
    pub announces: Probability,
    /// The strongest reasons for the likelier of the two.
    pub evidence: Vec<Evidence>,
}

/// What makes a claim to be done less likely the end of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClaimSigns {
    /// One of the last four sentences is a question.
    pub asks: bool,
    /// A sentence speaks of what comes next.
    pub moves_on: bool,
    /// A sentence speaks of an end under a condition.
    pub conditional: bool,
    /// The message has headings.
    pub headings: bool,
}

impl ClaimSigns {
    /// From the hashes of a message's traits.
    pub fn of(traits: impl IntoIterator<Item = u32>) -> Self {
        const CALM: u32 = trait_feature(NO_QUESTION, 0);
        const PLAIN: u32 = trait_feature(NO_HEADING, 0);
        const MOVES_ON: [u32; MOODS] = stance::hashes(stance::MOVES_ON, 0);
        const MOVES_ON_LATE: [u32; MOODS] = stance::hashes(stance::MOVES_ON, MOODS);
        const ENDS: [u32; MOODS] = stance::hashes(stance::ENDS, 0);
        const ENDS_LATE: [u32; MOODS] = stance::hashes(stance::ENDS, MOODS);
        let conditional = |hashes: &[u32; MOODS], of: u32| {
            hashes.iter().position(|hash| *hash == of).is_some_and(|mood| mood & CONDITIONAL != 0)
        };
        let mut signs = Self { asks: true, headings: true, ..Self::default() };
        for of in traits {
            signs.asks &= of != CALM;
            signs.headings &= of != PLAIN;
            signs.moves_on |= MOVES_ON.contains(&of) || MOVES_ON_LATE.contains(&of);
            signs.conditional |= conditional(&ENDS, of) || conditional(&ENDS_LATE, of);
        }
        signs
    }
}

/// Reads an agent's last message.
pub fn of(message: &str) -> Claim {
    if message.trim().is_empty() {
        let nothing = Probability::of_thousandths(0);
        return Claim { done: nothing, announces: nothing, evidence: Vec::new() };
    }
    let features = features(message);
    let scores = CLAIM.score(&features);
    let [done, announces] = scores.map(logistic).map(Probability::of);
    let head = usize::from(announces > done);
    Claim { done, announces, evidence: CLAIM.evidence(message, &features, head) }
}

/// The features that the weights belong to. For the trainer.
pub fn features(message: &str) -> Features {
    features_of(message).0
}

/// With whether it closes with a question.
pub(super) fn features_of(message: &str) -> (Features, bool) {
    let tokens = tokens::read(message, READING);
    let mut features = Features::with_capacity(tokens.list.len() * 4 + 16);
    let sentences = traits::sentences(&tokens.list);
    let count = sentences.len();
    for (at, sentence) in sentences.iter().enumerate() {
        let modality = MODAL_WORDS.of(sentence);
        let asks = traits::asks(sentence);
        // These words claim something else in a question, after a negation or under a condition.
        let bit = |holds: bool, bit: usize| if holds { bit } else { 0 };
        let mood = bit(asks, ASKS)
            | bit(modality.negated, NEGATED)
            | bit(modality.conditional, CONDITIONAL);
        let mood = mood as u32;
        traits::words(&mut features, sentence, join(ANYWHERE, mood));
        if at == 0 {
            traits::words(&mut features, sentence, join(FIRST, mood));
        }
        if at + 2 >= count {
            traits::words(&mut features, sentence, join(LAST, mood));
        }
        stance::of(&mut features, &STANCES, sentence, mood, at + 2 >= count);
        if at + 1 == count {
            let mut is = |holds: bool, name| {
                if holds {
                    features.add_trait(name);
                }
            };
            is(asks, "a closing question");
            is(!asks && modality.negated, "a negation at the end");
            is(!asks && modality.conditional, "a condition at the end");
            is(!asks && modality.future, "a plan at the end");
        }
    }
    let asked = sentences.last().is_some_and(|last| traits::asks(last));
    structure(&mut features, message, &tokens);
    let questions = sentences.iter().rev().take(4).filter(|s| traits::asks(s)).count();
    features.add_trait(
        [NO_QUESTION, "a question near the end", "questions near the end"][questions.min(2)],
    );
    (features, asked)
}

fn structure(features: &mut Features, message: &str, tokens: &TokenizedMessage) {
    let counts = &tokens.counts;
    let mut add = |name| features.add_trait(name);
    add(match message.len() {
        0 => "an empty message",
        1..=80 => "one short sentence",
        81..=300 => "a few sentences",
        301..=900 => "a short report",
        901..=2500 => "a report",
        _ => "a long report",
    });
    add(traits::amount(counts.headings, [NO_HEADING, "a heading", "headings", "many headings"]));
    add(traits::amount(counts.entries, ["no list", "a list entry", "a list", "a long list"]));
    add(traits::amount(
        counts.numbered,
        ["no numbered list", "a numbered entry", "a numbered list", "a long numbered list"],
    ));
    add(traits::amount(
        counts.checks,
        ["no check mark", "a check mark", "check marks", "many check marks"],
    ));
    if counts.crosses > 0 {
        add("a cross or a warning sign");
    }
    if counts.rows > 0 {
        add("a table");
    }
    if counts.code > 0 {
        add("a block of code");
    }
    if message.trim_end().ends_with(':') {
        add("a colon at the end");
    }
}
