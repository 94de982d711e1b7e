//! Whether an agent's last message claims that the work is done, or announces another phase.

use super::classes::ClassTable;
use super::model::{Features, join, logistic};
use super::probability::{Evidence, Probability};
use super::stance;
use super::tokens::{self, ReadingWindow, TokenizedMessage};
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

const READING: ReadingWindow = ReadingWindow { head: 300, tail: 900, mask_quotes: true };

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
        // The same words claim something else in a question, after a negation or under a condition.
        let mood = u32::from(asks)
            | u32::from(modality.negated) << 1
            | u32::from(modality.conditional) << 2;
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
        ["no question near the end", "a question near the end", "questions near the end"]
            [questions.min(2)],
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
    add(traits::amount(counts.headings, ["no heading", "a heading", "headings", "many headings"]));
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
