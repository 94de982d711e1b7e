//! rawr beside a person's own Codex: the unmodified one on a real terminal, and its app-server with a second client that
//! does what a person may do at the worst moment. Its model is played by a script.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where it stopped")]

#[cfg(target_os = "linux")]
mod between;
#[cfg(target_os = "linux")]
mod cut_off;
mod deaths;
mod goals;
mod lab;
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
mod sub_agents;
