//! The real sidecar over its real connection: what it answers, records and survives. Each test has a home of its own in a
//! temporary folder, starts the binary there and speaks the protocol with it. Commands are tested in `cli`, agents in `hosts`.
//!
//! Run one topic, or one test of it:
//!
//! ```sh
//! cargo nextest run -p rawr-tests --test sidecar durability::
//! cargo nextest run -p rawr-tests --test sidecar -E 'test(/held::a_message/)'
//! ```
//!
//! `RAWR_UNDER_TEST` names the binary; without it, cargo builds it first.
//!
//! Add a test to the topic that it fits, or a new topic as a file with a line here. Its parts:
//!
//! - `rawr_tests::TestHome`: the folder, `TestSidecar::start(&home)` the process, `StandIn` a host that answers by a script.
//! - `sidecar.call::<Method>(&params)` returns the result and panics on an error; `failure` and `request` are for refusals.
//! - A notification that the test does not read fails it, at the latest in `leave`, which ends the sidecar.
//!
//! Tests of one binary may share a process: none may change the environment, the current folder or a signal's handler.
//! What it has to differ in goes to the child process that it starts (`LaunchOptions`).

mod bad_input;
mod capsules;
mod config_effects;
mod durability;
mod faults;
mod fixture;
mod judge_endpoint;
mod judgment;
mod kills;
mod language;
mod live_files;
mod new_id;
mod one_client;
mod replay;
mod repo;
mod scratch;
mod security;
mod stalls;
mod state;
mod watch;
