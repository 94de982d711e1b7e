//! rawr's hooks with what an agent would hand them: the files that install them, and failures that no agent may see. Sessions of
//! the real agents are in `live::hooks`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod agent;
mod broken;
mod files;
pub mod fixture;
mod killed;
mod others;
mod sequences;
mod turns;
mod unfinished;
