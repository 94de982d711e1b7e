//! The state of a small world, and its steps. Does not implement the steps.

use crate::host::SmallHost;
use crate::properties::CheckedHistory;
use crate::same::KnownMachine;
use crate::worlds::{Budget, SmallWorld};
use rawr_core::event::Choice;
use std::rc::Rc;

#[derive(Debug, Clone, Hash)]
pub struct ModelState {
    /// Shared by all states in which only the host differs.
    pub rawr: Rc<KnownMachine>,
    /// The synced state, if it is behind.
    pub synced: Option<Rc<(Rc<KnownMachine>, CheckedHistory)>>,
    pub host: SmallHost,
    pub left: Budget,
    pub past: CheckedHistory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelStep {
    Said(PendingInput),
    /// A report arrives before earlier ones, or will be repeated after all others.
    Arrives {
        nth: usize,
        comes_again: bool,
    },
    Lost,
    /// The host starts a requested action.
    TakesUp,
    Refuses,
    /// The host's turn or compaction advances by one step.
    GoesOn,
    Fails,
    Interrupted,
    CompactsByItself,
    /// `None`: the judge cannot.
    Judged(Option<bool>),
    /// rawr's process is killed between two inputs, or during one with so many records written.
    Dies,
    DiesOver {
        what: PendingInput,
        written: usize,
        again: bool,
    },
    PowerCut,
    /// The host and rawr are killed.
    HostDies,
}

/// An input to rawr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingInput {
    /// The user's next message.
    Message,
    /// The host's oldest report.
    Report,
    /// rawr's next deadline passes.
    Tick,
    Word(Choice),
}

impl ModelState {
    pub fn submitted(&self, world: &SmallWorld) -> u8 {
        world.may.inputs - self.left.inputs
    }

    /// The state with one less in this budget. `None` if there is none left. Avoids copies.
    pub fn spend(&self, of: fn(&mut Budget) -> &mut u8) -> Option<Self> {
        let mut left = self.left;
        *of(&mut left) = of(&mut left).checked_sub(1)?;
        Some(Self { left, ..self.clone() })
    }

    pub fn disturb(&self, of: fn(&mut Budget) -> &mut u8) -> Option<Self> {
        let mut left = self.left;
        *of(&mut left) = of(&mut left).checked_sub(1)?;
        left.disturbances = left.disturbances.checked_sub(1)?;
        Some(Self { left: left.at_most(left.disturbances), ..self.clone() })
    }
}
