//! The rawr wire protocol: every method, every payload, the error codes and the framing. It must not decide anything, nor know how the sidecar works.

#![deny(missing_docs)]

mod action;
mod compaction;
mod config;
mod decision;
mod guard;
mod id;
mod input;
mod judgment;
mod lenient;
mod lifecycle;
mod names;
mod packet;
mod problem;
mod prompt;
mod scratch;
mod sequence;
mod signal;
mod thread;
mod tokens;
mod turn;

pub use action::*;
pub use compaction::*;
pub use config::*;
pub use decision::*;
pub use guard::*;
pub use id::{IdProblem, MAX_ID_BYTES, check_id};
pub use input::*;
pub use judgment::*;
pub use lenient::read_params;
pub use lifecycle::*;
pub use names::*;
pub use packet::*;
pub use problem::*;
pub use prompt::*;
pub use scratch::*;
pub use sequence::*;
pub use signal::*;
pub use thread::*;
pub use tokens::*;
pub use turn::*;

/// Raised when an older peer would misunderstand a newer one. Additions do not raise it.
pub const PROTOCOL_VERSION: u64 = 1;
