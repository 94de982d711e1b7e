//! Tests of the `rawr` commands: output, exit codes, screens, side effects. Commands that run an agent are tested in `hosts`.
//!
//! Run one topic, or one test of it:
//!
//! ```sh
//! cargo nextest run -p rawr-tests --test cli threads::
//! cargo nextest run -p rawr-tests --test cli -E 'test(/help::/)'
//! ```
//!
//! Expected output stands in the test (`expect![[…]]`): `UPDATE_EXPECT=1 cargo test -p rawr-tests --test cli` rewrites it.
//! Screens are those of a real terminal (`rawr_tests::Terminal`).
//!
//! Add a test to the topic that it fits, or a new topic as a file with a line here.
//!
//! Tests of one binary may share a process: none may change the environment, the current folder or a signal's handler.
//! Set these on the child process that the test starts.

mod commands;
mod config_and_prompts;
mod fixture;
mod threads;
mod watch;
