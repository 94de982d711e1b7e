//! Whether a phase of work ended between an agent's last message and the person's next one: the two classifiers and the
//! facts, weighed together.

use super::claim::ClaimSigns;
use super::model::logistic;
use super::next::NextMessage;
use super::probability::Probability;
use super::topic::SharedTopic;
use super::weights::{PHASE, TURN};
use super::work::WorkAtHand;

/// What is known for certain about the turn that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TurnFacts {
    /// A commit or a push was made in it.
    pub committed: bool,
    /// Tests ran in it, and the last run passed.
    pub tests_passed: bool,
    /// Tests ran in it, and the last run failed.
    pub tests_failed: bool,
    /// The last step of a plan was completed in it.
    pub plan_finished: bool,
    /// A plan has open steps.
    pub plan_open: bool,
    /// The person stopped it.
    pub interrupted: bool,
}

/// Inputs of the combining model, in the order of its weights.
pub const INPUTS: usize = 22;

/// The inputs from the log-odds of the claim, the shares of the next message and what it is about. For the trainer.
pub fn inputs(
    claim: f64,
    announces: f64,
    next: [f64; 3],
    topic: SharedTopic,
    facts: TurnFacts,
) -> [f64; INPUTS] {
    let is = |holds: bool| if holds { 1.0 } else { 0.0 };
    let (done, leaves) = (logistic(claim), 1.0 - next[2]);
    let share = |part: u32| f64::from(part) / f64::from(topic.words.max(1));
    // The more words there are, the less one more says.
    let many = |words: u32| f64::from(words) / (f64::from(words) + 8.0);
    let new_words = many(topic.words - topic.shared);
    [
        claim.clamp(-6.0, 6.0) / 3.0,
        logistic(announces),
        leaves,
        next[1],
        done * leaves,
        is(leaves > 0.5),
        is(done > 0.5),
        is(facts.committed),
        is(facts.tests_passed),
        is(facts.tests_failed),
        is(facts.plan_finished),
        is(facts.plan_open),
        is(facts.interrupted),
        is(topic.words > 0),
        share(topic.shared),
        share(topic.said),
        share(topic.asked),
        many(topic.words),
        many(topic.shared),
        new_words,
        done * share(topic.shared),
        done * new_words,
    ]
}

/// Inputs of the model that does not know the next message, in the order of its weights.
pub const TURN_INPUTS: usize = 9;

/// The inputs from the share of the turn's own message that closes the work before it. For the trainer.
pub fn turn_inputs(committed: bool, closes: f64, signs: ClaimSigns) -> [f64; TURN_INPUTS] {
    let is = |holds: bool| if holds { 1.0 } else { 0.0 };
    let (moves_on, conditional) = (is(signs.moves_on), is(signs.conditional));
    let headings = is(signs.headings);
    let committed = is(committed);
    [
        committed,
        closes,
        moves_on,
        conditional,
        headings,
        committed * closes,
        committed * moves_on,
        committed * conditional,
        committed * headings,
    ]
}

/// The probability that a phase of work ended with a turn whose last message claims it, with the next message unknown.
/// `opening` is what the turn's own message was to the work before it.
pub fn ended_with_turn(
    work: &WorkAtHand,
    opening: Option<&NextMessage>,
    facts: TurnFacts,
) -> Probability {
    let closes = opening.map_or(0.0, |message| f64::from(message.close.thousandths()) / 1000.0);
    Probability::of(TURN.share(turn_inputs(facts.committed, closes, work.signs)))
}

/// The probability that a phase of work ended with the work at hand, knowing the next message.
pub fn ended(work: &WorkAtHand, next: &NextMessage, facts: TurnFacts) -> Probability {
    let shares = [next.new, next.close, next.same].map(|of| f64::from(of.thousandths()) / 1000.0);
    Probability::of(PHASE.share(inputs(work.claim, work.announces, shares, next.topic, facts)))
}
