//! What the decision system would do, did and should do. [`play`] hands the moments of a record to the core as a host
//! would, under any policy; [`report`] says what would have happened. [`replay`] plays the user's own sessions, at the
//! [`prices`] that the user wrote down, and [`tune`] compares configurations by it. A [`scenario`] is made up instead of
//! recorded and says what is expected; [`policy_tests`] reads them. [`stats`] says what did happen, in threads of rawr.
//!
//! This crate must not ask a clock or the network, nor write anything. Reading order: [`play`], [`report`], [`replay`],
//! [`scenario`], [`stats`].

pub mod play;
pub mod policy_tests;
pub mod prices;
pub mod replay;
pub mod report;
pub mod scenario;
pub mod stats;
pub mod tokens;
pub mod tune;
