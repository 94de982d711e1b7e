//! Rules of the core, without any host: scripts of conversations, random inputs, and the checks of the repository itself. Most run in this process alone; `conversations`, `crash_walk` and `tokens` start
//! the sidecar.
//!
//! Run one topic, or one test of it:
//!
//! ```sh
//! cargo nextest run -p rawr-tests --test core scripts::
//! cargo nextest run -p rawr-tests --test core -E 'test(=layering::architecture_md_lists_the_modules_and_what_they_may_use)'
//! ```
//!
//! Add a rule of a decision as a script: write its inputs, play it with `UPDATE=1 cargo test -p rawr-tests --test core scripts`
//! and read what the core answered under each. `scripts.rs` describes the format.
//!
//! Tests of one binary may share a process: none may change the environment, the current folder or a signal's handler.
//! What it has to differ in goes to the child process that it starts.

mod conversations;
mod crash_walk;
mod docs;
mod fuzz_corpus;
mod layering;
mod properties;
mod release;
mod rules;
mod scripts;
mod suites;
mod tokens;
mod versions;
mod words;

use rawr_tests::root;
