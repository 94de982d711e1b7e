//! The embedded host with the real binary: models behind an endpoint, and every path of a compaction.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod by_hand;
mod commands;
mod endpoint;
mod fixture;
mod overflow;
mod paths;
mod pause;
mod sequence;
mod stopped;
