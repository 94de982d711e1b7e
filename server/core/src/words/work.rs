//! The work at hand: what the person last asked for and what the agent last said, as small sets of hashes. The next
//! message is compared with it.

use super::claim::{self, ClaimSigns};
use super::model::logistic;
use super::offer::Offer;
use super::tokens::{self, Masking, ReadingWindow, TokenKind};
use super::topic::Topic;
use super::weights::CLAIM;

/// Both ends of each message, quotes included.
const READING: ReadingWindow = ReadingWindow { head: 1500, tail: 1500, masking: Masking::Code };
/// So many of the person's last messages count.
const MOST_MESSAGES: usize = 3;

/// What a thread works on, as far as its last messages tell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkAtHand {
    /// Names of code and paths.
    names: Vec<u32>,
    /// What the person asked for.
    pub(super) asked: Topic,
    /// What the agent's last message is about.
    pub(super) said: Topic,
    /// The log-odds that the agent claims to be done.
    pub(super) claim: f64,
    /// The log-odds that it announces another phase.
    pub(super) announces: f64,
    /// Whether the agent's last message closes with a question.
    pub(super) closes_with_question: bool,
    /// What its claim comes with.
    pub(super) signs: ClaimSigns,
    /// Whether it offers numbered choices.
    pub(super) choices: bool,
    /// Whether it speaks of a commit or a push near its end.
    pub(super) speaks_of_commit: bool,
    /// What it offers at its end.
    pub(super) offer: Offer,
}

impl WorkAtHand {
    /// From the person's last messages, the newest last, and the agent's last message.
    pub fn new(asked: &[&str], agent: &str) -> Self {
        let mut work = Self::default();
        for message in asked.iter().rev().take(MOST_MESSAGES) {
            work.read(message, false);
            work.asked.add(message, READING);
        }
        work.read(agent, true);
        work.said.add(agent, READING);
        work.names.sort_unstable();
        work.names.dedup();
        let (features, closing) = claim::features_of(agent);
        [work.claim, work.announces] = CLAIM.score(&features);
        work.closes_with_question = closing;
        work.signs = ClaimSigns::of(features.traits());
        work
    }

    /// The probability that the agent claimed to be done, which the trainer replaces by one from outside of its fold.
    pub fn with_claim(mut self, log_odds: f64) -> Self {
        self.claim = log_odds;
        self
    }

    fn read(&mut self, message: &str, agent: bool) {
        let read = tokens::read(message, READING);
        let commits = ["commit", "commits", "push", "merge", "pr"];
        let commits = commits.map(|word| super::model::hash(word.as_bytes(), 0));
        let late = message.len().saturating_sub(300);
        for token in &read.list {
            if token.kind == TokenKind::Name {
                self.names.push(token.hash);
            }
            if agent && token.from as usize >= late && commits.contains(&token.hash) {
                self.speaks_of_commit = true;
            }
        }
        if agent {
            self.choices = read.counts.numbered >= 2;
            self.offer = Offer::of(&read.list, message.len());
        }
    }

    /// How many names of a message the work at hand has too, and how many there are.
    pub(super) fn known_names(&self, tokens: &[tokens::Token]) -> (u32, u32) {
        let names = tokens.iter().filter(|token| token.kind == TokenKind::Name);
        names.fold((0, 0), |(known, all), token| {
            (known + u32::from(self.names.binary_search(&token.hash).is_ok()), all + 1)
        })
    }

    /// Whether the agent asks something near the end of its last message.
    pub fn asks(&self) -> bool {
        self.signs.asks
    }

    pub(super) fn claimed(&self) -> f64 {
        logistic(self.claim)
    }
}
