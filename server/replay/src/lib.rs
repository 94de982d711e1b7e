//! Replays recorded sessions: readers turn the lines of a host's record into [`moment`]s, and [`play`] hands these to the
//! decision core as a host would, under any policy. [`report`] says what would have happened. A [`scenario`] is made up
//! instead of recorded, and says what is expected. [`stats`] says what did happen, in threads of rawr.
//!
//! This crate must not ask a clock or the network. Reading order: [`moment`], [`read`], [`play`], [`report`], [`scenario`],
//! [`stats`].

#![deny(missing_docs)]

pub mod lines;
pub mod time;

pub mod tokens;

pub mod moment;
pub mod read;

pub mod report;

pub mod play;

pub mod scenario;
pub mod stats;
