//! What a decision is about.

use crate::event::Entrance;
use crate::units::{Tokens, TurnId};

/// What a decision is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'q> {
    /// A turn ended.
    TurnEnd(&'q TurnId),
    /// A sampling request of this turn completed, and the turn goes on with another.
    MidTurn(&'q TurnId),
    /// This message came, and a compaction was deferred or proposed at the end of this turn.
    Preflight { turn: &'q TurnId, message: &'q str },
    /// A compaction was proposed at the end of this turn, and nothing has been said for long enough.
    Silence(&'q TurnId),
    /// The built-in compaction inside a turn.
    Inline(Inline<'q>),
    /// A person wants a compaction now. Only gates that nothing lifts still count.
    Person,
}

/// The occasions on which the built-in compaction is considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inline<'q> {
    /// Before a message, with an estimate of the tokens that it adds.
    BeforeInput(Tokens),
    /// Between two sampling requests of this turn.
    MidTurn(&'q TurnId),
    /// This turn ended.
    TurnEnd(&'q TurnId),
}

impl<'q> Question<'q> {
    pub(super) const fn turn(self) -> Option<&'q TurnId> {
        match self {
            Self::TurnEnd(turn)
            | Self::MidTurn(turn)
            | Self::Preflight { turn, .. }
            | Self::Silence(turn)
            | Self::Inline(Inline::MidTurn(turn) | Inline::TurnEnd(turn)) => Some(turn),
            Self::Inline(Inline::BeforeInput(_)) | Self::Person => None,
        }
    }

    /// Whether the question is what follows the end of this turn.
    pub(super) fn is_about_end_of(self, turn: &TurnId) -> bool {
        matches!(self, Self::TurnEnd(of) | Self::Inline(Inline::TurnEnd(of)) if of == turn)
    }

    pub(super) const fn entrance(self) -> Entrance {
        match self {
            Self::TurnEnd(_) | Self::Person => Entrance::TurnComplete,
            Self::MidTurn(_) => Entrance::MidTurn,
            Self::Preflight { .. } | Self::Silence(_) => Entrance::Preflight,
            Self::Inline(_) => Entrance::Inline,
        }
    }

    pub(super) const fn is_inside_a_turn(self) -> bool {
        matches!(self, Self::MidTurn(_) | Self::Inline(Inline::MidTurn(_)))
    }
}
