//! Reads what agents and rawr record of sessions. [`read`] folds the lines of one format into [`moment`]s, one line in
//! memory at a time. What another program wrote is read leniently: what is odd in one place costs only that place.
//!
//! This crate must not ask a clock or the network. Reading order: [`moment`], [`read`], [`said`], [`lines`].

mod lenient;
pub mod lines;
pub mod time;

pub mod claude;
pub mod plan;
pub mod profile;
pub mod tokens;

pub mod moment;
pub mod read;
pub mod said;
pub mod transcript;
pub mod turns;
