//! A small world at one moment, and the steps that lead from one to the next. It does not know what a step does.

use crate::model_check::host::Host;
use crate::model_check::properties::Past;
use crate::model_check::same::Known;
use crate::model_check::worlds::{Budget, World};
use rawr_core::event::Choice;
use std::rc::Rc;

#[derive(Debug, Clone, Hash)]
pub struct State {
    /// Shared by all states in which only the host differs.
    pub rawr: Rc<Known>,
    /// What is on the disk for certain, where that is less.
    pub synced: Option<Rc<(Rc<Known>, Past)>>,
    pub host: Host,
    pub left: Budget,
    pub past: Past,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Said(Spoken),
    /// A report arrives although others were said before it, or will come once more after all others.
    Arrives {
        nth: usize,
        comes_again: bool,
    },
    Lost,
    /// The host begins with what it was asked.
    TakesUp,
    Refuses,
    /// The host's turn or compaction goes one step further.
    GoesOn,
    Fails,
    Interrupted,
    CompactsByItself,
    /// `None`: the judge cannot.
    Judged(Option<bool>),
    /// rawr's process is killed between two inputs, or over one, of which so many records are written.
    Dies,
    DiesOver {
        what: Spoken,
        written: usize,
        again: bool,
    },
    PowerCut,
    /// The host is killed, and rawr with it.
    HostDies,
}

/// An input to rawr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoken {
    /// The user's next message.
    Message,
    /// The host's oldest report.
    Report,
    /// Time has gone by to rawr's next deadline.
    Tick,
    Word(Choice),
}

impl State {
    pub fn submitted(&self, world: &World) -> u8 {
        world.may.inputs - self.left.inputs
    }

    /// As it is with one of these less; `None` where there is none left. Nothing is copied for nothing.
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
