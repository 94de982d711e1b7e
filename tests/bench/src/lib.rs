//! The bench of the sidecar: a load generator, the peers it is measured beside, and the yardsticks under both.
//! It must not be part of what ships, and must not read or change a user's own home. Linux only: it reads /proc.
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
mod report;
mod saved;
mod servers;
mod slow;
mod soak;
mod stats;
mod store;
mod system;
mod tokens;
