//! Splits the byte stream to the app-server into messages that may be held and bytes that pass unchanged. Pure. Every byte
//! that comes in goes out in order, whatever goes wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::question::PreflightQuestion;
use super::units::{self, FoundUnit, OversizedChunk, OversizedMessage, UnknownFrame};

/// One direction of one connection.
#[derive(Debug)]
pub(super) struct RelayBuffer {
    /// Bytes that arrived and were not returned yet.
    waiting: Vec<u8>,
    stand: RelayBufferState,
    /// A larger message is not buffered until its end.
    largest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum RelayBufferState {
    #[default]
    Greeting,
    Messages,
    Oversized(OversizedMessage),
    /// Pass-through: nothing is parsed any more.
    Open,
}

/// Bytes to forward.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RelayChunk {
    pub(super) bytes: Vec<u8>,
    pub(super) turn: ChunkTiming,
}

/// When a chunk is forwarded.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChunkTiming {
    /// Immediately, even if messages are held.
    AtOnce,
    /// When the driver releases it.
    Asks(PreflightQuestion),
    /// Unparsed: it may start a turn or be part of a message. All held messages are released first.
    Unseen,
}

/// The app-server's answer to the WebSocket handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandshakeAnswer {
    Plain,
    /// No answer yet, or an answer with extensions that are not supported here.
    Other,
}

impl Default for RelayBuffer {
    fn default() -> Self {
        Self::up_to(units::LARGEST)
    }
}

impl RelayBuffer {
    fn up_to(largest: usize) -> Self {
        Self { waiting: Vec::new(), stand: RelayBufferState::default(), largest }
    }

    pub(super) fn take(&mut self, bytes: &[u8], welcome: HandshakeAnswer) -> Vec<RelayChunk> {
        self.waiting.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        while !self.waiting.is_empty() {
            // A panic in the parser must not lose a user's message.
            let looked = catch_unwind(AssertUnwindSafe(|| self.look(welcome)));
            match looked.unwrap_or(PreflightCheck::Foreign) {
                PreflightCheck::NotYet => break,
                PreflightCheck::Unit { bytes, turn, stand } => {
                    let rest = self.waiting.split_off(bytes);
                    let bytes = std::mem::replace(&mut self.waiting, rest);
                    pieces.push(RelayChunk { bytes, turn });
                    self.stand = stand;
                }
                PreflightCheck::Oversized => {
                    self.stand = RelayBufferState::Oversized(OversizedMessage::default())
                }
                PreflightCheck::Foreign => {
                    self.stand = RelayBufferState::Open;
                    let bytes = std::mem::take(&mut self.waiting);
                    pieces.push(RelayChunk { bytes, turn: ChunkTiming::Unseen });
                }
            }
        }
        pieces
    }

    /// The remaining bytes at the end of the stream.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        let bytes = std::mem::take(&mut self.waiting);
        (!bytes.is_empty()).then_some(bytes)
    }

    fn look(&self, welcome: HandshakeAnswer) -> PreflightCheck {
        let waiting = self.waiting.as_slice();
        let found = match (self.stand, welcome) {
            (RelayBufferState::Greeting, _) => units::head(waiting),
            (RelayBufferState::Messages, HandshakeAnswer::Plain) => {
                units::first(waiting, self.largest)
            }
            (RelayBufferState::Oversized(message), _) => return unseen(message.step(waiting)),
            (RelayBufferState::Messages, HandshakeAnswer::Other) | (RelayBufferState::Open, _) => {
                FoundUnit::Foreign
            }
        };
        match found {
            FoundUnit::NotYet => PreflightCheck::NotYet,
            FoundUnit::Unit { bytes, text } => {
                let question = text.as_deref().and_then(PreflightQuestion::about);
                let turn = question.map_or(ChunkTiming::AtOnce, ChunkTiming::Asks);
                PreflightCheck::Unit { bytes, turn, stand: RelayBufferState::Messages }
            }
            FoundUnit::Oversized => PreflightCheck::Oversized,
            FoundUnit::Foreign => PreflightCheck::Foreign,
        }
    }
}

enum PreflightCheck {
    NotYet,
    Unit { bytes: usize, turn: ChunkTiming, stand: RelayBufferState },
    Oversized,
    Foreign,
}

fn unseen(step: Result<Option<OversizedChunk>, UnknownFrame>) -> PreflightCheck {
    match step {
        Ok(Some(OversizedChunk { bytes, then })) => {
            let stand = then.map_or(RelayBufferState::Messages, RelayBufferState::Oversized);
            PreflightCheck::Unit { bytes, turn: ChunkTiming::Unseen, stand }
        }
        Ok(None) => PreflightCheck::NotYet,
        Err(UnknownFrame) => PreflightCheck::Foreign,
    }
}

#[cfg(test)]
mod tests;
