//! `rawr exec` with each of its agents: what happens to it, and what is owed then. The model is scripted.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod at_once;
mod by_hand;
mod fixture;
mod killed;
mod own_compactions;
mod refused;
mod silent;
mod stalled;
mod stands_still;
mod stopped;
mod typed;
mod window;
