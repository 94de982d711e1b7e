//! Replays recorded sessions: [`play`] hands the moments of a record to the decision core as a host would, under any policy.
//! [`report`] says what would have happened. A [`scenario`] is made up instead of recorded, and says what is expected.
//! [`stats`] says what did happen, in threads of rawr.
//!
//! This crate must not ask a clock or the network. Reading order: [`play`], [`report`], [`scenario`], [`stats`].

pub mod tokens;

pub mod report;

pub mod play;

pub mod scenario;
pub mod stats;
