//! The work at hand: what the person last asked for and what the agent last said, as small sets of hashes. The next
//! message is compared with it.

use super::claim;
use super::model::logistic;
use super::tokens::{self, ReadingWindow, TokenKind};
use super::weights::CLAIM;

/// Both ends of each message, quotes included.
const READING: ReadingWindow = ReadingWindow { head: 1500, tail: 1500, mask_quotes: false };
/// So many of the person's last messages count.
const MOST_MESSAGES: usize = 3;

/// What a thread works on, as far as its last messages tell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkAtHand {
    /// Names of code and paths.
    names: Vec<u32>,
    /// Longer words.
    words: Vec<u32>,
    /// Longer words of the agent's last message alone.
    said: Vec<u32>,
    /// The log-odds that the agent claims to be done.
    pub(super) claim: f64,
    /// The log-odds that it announces another phase.
    pub(super) announces: f64,
    /// Whether the agent's last message closes with a question.
    pub(super) asked: bool,
    /// Whether it offers numbered choices.
    pub(super) choices: bool,
    /// Whether it speaks of a commit or a push near its end.
    pub(super) speaks_of_commit: bool,
}

/// What a message shares with the work at hand.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Overlap {
    pub names: (u32, u32),
    pub words: (u32, u32),
    pub said: u32,
}

impl WorkAtHand {
    /// From the person's last messages, the newest last, and the agent's last message.
    pub fn new(asked: &[&str], agent: &str) -> Self {
        let mut work = Self::default();
        for message in asked.iter().rev().take(MOST_MESSAGES) {
            work.read(message, false);
        }
        work.read(agent, true);
        for set in [&mut work.names, &mut work.words, &mut work.said] {
            set.sort_unstable();
            set.dedup();
        }
        let (features, closing) = claim::features_of(agent);
        [work.claim, work.announces] = CLAIM.score(&features);
        work.asked = closing;
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
            let long = token.to - token.from >= 4;
            match token.kind {
                TokenKind::Name => self.names.push(token.hash),
                TokenKind::Word if long => {
                    self.words.push(token.hash);
                    if agent {
                        self.said.push(token.hash);
                    }
                }
                _ => {}
            }
            if agent && token.from as usize >= late && commits.contains(&token.hash) {
                self.speaks_of_commit = true;
            }
        }
        if agent {
            self.choices = read.counts.numbered >= 2;
        }
    }

    pub(super) fn overlap(&self, tokens: &[tokens::Token]) -> Overlap {
        let mut overlap = Overlap::default();
        let has = |set: &[u32], hash| u32::from(set.binary_search(&hash).is_ok());
        for token in tokens {
            match token.kind {
                TokenKind::Name => {
                    overlap.names.0 += has(&self.names, token.hash);
                    overlap.names.1 += 1;
                }
                TokenKind::Word if token.to - token.from >= 4 => {
                    overlap.words.0 += has(&self.words, token.hash);
                    overlap.words.1 += 1;
                    overlap.said += has(&self.said, token.hash);
                }
                _ => {}
            }
        }
        overlap
    }

    pub(super) fn claimed(&self) -> f64 {
        logistic(self.claim)
    }
}
