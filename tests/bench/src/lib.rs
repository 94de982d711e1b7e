//! Benchmarks of the sidecar: a load generator, peers to compare with, and baselines for both. Not shipped, and it
//! never reads or changes a user's home. Linux only: it reads /proc.
//!
//! Reading order: [`plan`] (what a run measures), [`servers`], [`load`], [`lab`], [`report`] and [`goals`].

pub mod frame;
pub mod plan;

mod durable;
mod goals;
mod heard;
mod home;
mod lab;
mod link;
mod load;
mod many;
mod node;
mod records;
mod report;
mod saved;
mod servers;
mod size;
mod slow;
mod soak;
mod stats;
mod store;
mod system;
mod tokens;
mod typed;
mod words;
