//! What rawr keeps of threads: the [`store`] of their events, decisions and states, [`capsule`]s of what there was before
//! a compaction, and [`redact`], through which all text passes before it reaches the disk. [`parallel`] works on many
//! threads at a time.

pub mod capsule;
pub mod parallel;
pub mod redact;
pub mod store;
