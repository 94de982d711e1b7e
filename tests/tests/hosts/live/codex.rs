//! rawr attached to a user's Codex: the unmodified Codex on a real terminal, and its app-server with a second client that
//! interferes at critical moments. The model is scripted.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where it stopped")]

mod at_once;
#[cfg(target_os = "linux")]
mod between;
mod by_itself;
#[cfg(target_os = "linux")]
mod cut_off;
pub mod deaths;
pub mod fixture;
mod goals;
#[cfg(target_os = "linux")]
mod leaving;
#[cfg(target_os = "linux")]
mod missed;
mod model;
#[cfg(target_os = "linux")]
mod once;
#[cfg(target_os = "linux")]
mod options;
mod person;
#[cfg(target_os = "linux")]
mod preflight;
#[cfg(target_os = "linux")]
mod questions;
mod races;
mod sample;
mod screen;
mod steps;
mod sub_agents;
mod titles;
pub mod unreadable;
