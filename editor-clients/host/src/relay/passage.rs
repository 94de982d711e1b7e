//! The bytes on their way to the app-server, cut into what may be asked about and what goes on as it is. Pure; whatever
//! goes wrong here, all that came is handed out, in order.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::question::Question;
use super::units::{self, Foreign, FoundUnit, Oversized, Step};

/// One direction of one connection.
#[derive(Debug)]
pub(super) struct Passage {
    /// What came and was not handed out.
    waiting: Vec<u8>,
    stand: PassageState,
    /// A message beyond this is not kept until its end has come.
    largest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum PassageState {
    #[default]
    Greeting,
    Messages,
    Oversized(Oversized),
    /// Nothing is looked at any more.
    Open,
}

/// To be handed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    pub(super) turn: Turn,
}

/// When a piece goes on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Whatever is held.
    AtOnce,
    /// When the answer is there.
    Asks(Question),
    /// It may begin a turn, or be in the middle of a message: behind all that is held, which waits no longer.
    Unseen,
}

/// How the app-server has answered the greeting, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Welcome {
    Plain,
    /// It has not, or in a language that is not known here.
    Other,
}

impl Default for Passage {
    fn default() -> Self {
        Self::up_to(units::LARGEST)
    }
}

impl Passage {
    fn up_to(largest: usize) -> Self {
        Self { waiting: Vec::new(), stand: PassageState::default(), largest }
    }

    pub(super) fn take(&mut self, bytes: &[u8], welcome: Welcome) -> Vec<Piece> {
        self.waiting.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        while !self.waiting.is_empty() {
            // A mistake in here must not cost a person's words.
            let looked = catch_unwind(AssertUnwindSafe(|| self.look(welcome)));
            match looked.unwrap_or(PreflightCheck::Foreign) {
                PreflightCheck::NotYet => break,
                PreflightCheck::Unit { bytes, turn, stand } => {
                    let rest = self.waiting.split_off(bytes);
                    let bytes = std::mem::replace(&mut self.waiting, rest);
                    pieces.push(Piece { bytes, turn });
                    self.stand = stand;
                }
                PreflightCheck::Oversized => {
                    self.stand = PassageState::Oversized(Oversized::default())
                }
                PreflightCheck::Foreign => {
                    self.stand = PassageState::Open;
                    let bytes = std::mem::take(&mut self.waiting);
                    pieces.push(Piece { bytes, turn: Turn::Unseen });
                }
            }
        }
        pieces
    }

    /// What is left when nothing more will come.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        let bytes = std::mem::take(&mut self.waiting);
        (!bytes.is_empty()).then_some(bytes)
    }

    fn look(&self, welcome: Welcome) -> PreflightCheck {
        let waiting = self.waiting.as_slice();
        let found = match (self.stand, welcome) {
            (PassageState::Greeting, _) => units::head(waiting),
            (PassageState::Messages, Welcome::Plain) => units::first(waiting, self.largest),
            (PassageState::Oversized(message), _) => return unseen(message.step(waiting)),
            (PassageState::Messages, Welcome::Other) | (PassageState::Open, _) => {
                FoundUnit::Foreign
            }
        };
        match found {
            FoundUnit::NotYet => PreflightCheck::NotYet,
            FoundUnit::Unit { bytes, text } => {
                let question = text.as_deref().and_then(Question::about);
                let turn = question.map_or(Turn::AtOnce, Turn::Asks);
                PreflightCheck::Unit { bytes, turn, stand: PassageState::Messages }
            }
            FoundUnit::Oversized => PreflightCheck::Oversized,
            FoundUnit::Foreign => PreflightCheck::Foreign,
        }
    }
}

enum PreflightCheck {
    NotYet,
    Unit { bytes: usize, turn: Turn, stand: PassageState },
    Oversized,
    Foreign,
}

fn unseen(step: Result<Option<Step>, Foreign>) -> PreflightCheck {
    match step {
        Ok(Some(Step { bytes, then })) => {
            let stand = then.map_or(PassageState::Messages, PassageState::Oversized);
            PreflightCheck::Unit { bytes, turn: Turn::Unseen, stand }
        }
        Ok(None) => PreflightCheck::NotYet,
        Err(Foreign) => PreflightCheck::Foreign,
    }
}

#[cfg(test)]
mod tests;
