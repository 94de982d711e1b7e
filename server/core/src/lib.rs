//! x
pub mod boundary;
pub mod policy;
pub mod prompt;
pub mod scratch;
pub mod signal;
pub mod units;
