//! The decision system of rawr: events go in, effects come out.
//!
//! This crate must not read a clock, a file or the network, start a task or write a log. The time is an argument,
//! timeouts are values that it returns, and every change of a thread is an [`Event`] that the caller stores.
//! Reading order: [`units`], [`policy`], [`event`], [`thread`] (state is a fold of events), [`assess`] (the gates),
//! [`sequence`] (the golden path), [`machine`] (the entrance).

pub mod excerpt;
pub mod steps;
pub mod units;
pub mod words;

pub mod boundary;
pub mod policy;
pub mod prompt;
pub mod rules;

pub mod compose;
pub mod coverage;
pub mod event;
pub mod judgment;
pub mod packet;
pub mod rewrite;
pub mod scratch;
pub mod signal;
pub mod thread;

pub mod assess;
pub mod sequence;

pub mod machine;

pub use event::{Event, Record};
pub use machine::{Effect, Input, Machine, Notice, Refusal};
pub use rules::Rules;
pub use thread::Thread;
