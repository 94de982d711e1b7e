//! The bytes on their way to the app-server, cut into what may be asked about and what goes on as it is. Pure; whatever
//! goes wrong here, all that came is handed out, in order.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::question::Question;
use super::units::{self, Found};

/// One direction of one connection.
#[derive(Debug, Default)]
pub(super) struct Passage {
    /// What came and was not handed out.
    waiting: Vec<u8>,
    stand: Stand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stand {
    #[default]
    Greeting,
    Messages,
    /// Nothing is looked at any more.
    Open,
}

/// To be handed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// Goes on only when the answer is there.
    pub(super) question: Option<Question>,
}

/// How the app-server has answered the greeting, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Welcome {
    Plain,
    /// It has not, or in a language that is not known here.
    Other,
}

impl Passage {
    pub(super) fn take(&mut self, bytes: &[u8], welcome: Welcome) -> Vec<Piece> {
        self.waiting.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        while self.stand != Stand::Open && !self.waiting.is_empty() {
            let (stand, waiting) = (self.stand, self.waiting.as_slice());
            // A mistake in here must not cost a person's words.
            let found = catch_unwind(AssertUnwindSafe(|| look(stand, waiting, welcome)));
            match found.unwrap_or(Looked::Foreign) {
                Looked::NotYet => return pieces,
                Looked::Unit { bytes, question } => {
                    let rest = self.waiting.split_off(bytes);
                    let bytes = std::mem::replace(&mut self.waiting, rest);
                    pieces.push(Piece { bytes, question });
                    self.stand = Stand::Messages;
                }
                Looked::Foreign => self.stand = Stand::Open,
            }
        }
        pieces.extend(self.rest());
        pieces
    }

    /// What is left when nothing more will come.
    pub(super) fn rest(&mut self) -> Option<Piece> {
        let bytes = std::mem::take(&mut self.waiting);
        (!bytes.is_empty()).then_some(Piece { bytes, question: None })
    }

    /// Nothing is held back any more, not even what is.
    pub(super) fn is_open(&self) -> bool {
        self.stand == Stand::Open
    }
}

enum Looked {
    NotYet,
    Unit { bytes: usize, question: Option<Question> },
    Foreign,
}

fn look(stand: Stand, waiting: &[u8], welcome: Welcome) -> Looked {
    let found = match (stand, welcome) {
        (Stand::Greeting, _) => units::head(waiting),
        (Stand::Messages, Welcome::Plain) => units::first(waiting),
        (Stand::Messages, Welcome::Other) | (Stand::Open, _) => Found::Foreign,
    };
    match found {
        Found::NotYet => Looked::NotYet,
        Found::Unit { bytes, text } => {
            Looked::Unit { bytes, question: text.as_deref().and_then(Question::about) }
        }
        Found::Foreign => Looked::Foreign,
    }
}

#[cfg(test)]
mod tests;
